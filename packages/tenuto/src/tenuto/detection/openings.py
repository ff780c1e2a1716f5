"""The events by which a stream begins. A second one in a recording begins another answer."""

from __future__ import annotations

import re
from collections.abc import Callable

from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, object_in

_OPENINGS = frozenset(
    {"message_start", "message-start", "response.created", "stream-start"}
    | {"interaction.start", "interaction.created"}
)

may_be_opening: Callable[[bytes], re.Match[bytes] | None] = re.compile(
    rb'"(?:message_start|message-start|response\.created|stream-start|interaction\.(?:start|created)'
    rb'|messageStart|role)"'
).search
"""Matches the data of every event that may be one; a quick look, since every event is asked."""


def is_opening(value: JsonObject) -> bool:
    """Return whether an event is the first of a stream, on the wires that have such an event.

    >>> is_opening({"type": "message_start"}), is_opening({"messageStart": {}}), is_opening({})
    (True, True, False)
    """
    names = (value.get("type"), value.get("event_type"))
    named = any(isinstance(name, str) and name in _OPENINGS for name in names)
    return named or "messageStart" in value


def names_role(value: JsonObject) -> tuple[bool, bool]:
    """Return whether a chunk of a chat names the role, as the first one does, and whether it says
    nothing else. Some servers name the role in each chunk.

    >>> names_role({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
    (True, True)
    """
    delta = object_in(object_in(next(iter(list_in(value.get("choices"))), None)).get("delta"))
    return bool(delta.get("role")), not any(v for key, v in delta.items() if key != "role")
