"""The id that a provider gives its answer, by which the caller's object is found again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

import msgspec

_KEYS = ("id", "responseId", "generation_id", "response_id", "request_id")
"""The names that it has on the wires and in SDKs' objects. Cohere's streams begin with the first of
its two."""

_INSIDE = ("response", "message", "interaction", "data")
"""Where the first event of a stream holds the answer that it begins, and mistralai its events."""

_MOST_CHARS = 256
"""A longer id is not kept."""


def answer_id(value: object) -> str:
    """Return the id of the answer in a body, an event, or an SDK's object of either; "" if it has
    none.

    >>> answer_id({"responseId": "r1"}), answer_id({"type": "x", "message": {"id": "msg_1"}})
    ('r1', 'msg_1')
    >>> answer_id({"id": ""}), answer_id({"id": 7}), answer_id([])
    ('', '', '')
    """
    return next(filter(_is_id, _candidates(value)), "")


def _candidates(value: object) -> Iterator[Any]:
    for place in (value, *(member(value, name) for name in _INSIDE)):
        yield from (member(place, key) for key in _KEYS)


def member(value: object, name: str) -> Any:
    """Return a member of a dict, or an attribute of an SDK's object; None if it has none.

    >>> member({"id": "r1"}, "id"), member(None, "id")
    ('r1', None)
    """
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _is_id(found: object) -> bool:
    return isinstance(found, str) and 0 < len(found) <= _MOST_CHARS


Id = Annotated[str, msgspec.Meta(max_length=_MOST_CHARS)] | None
"""An id as typed readings take it; None: there is none."""


class Inner(msgspec.Struct, gc=False):  # thousands are kept, and none can be part of a cycle
    """An answer in the event that begins it."""

    id: Id = None


class Ids(msgspec.Struct, gc=False):
    """The same places on the wires that have a short path (`wires.short`), read without the rest.

    >>> read_ids(b'{"type": "message_start", "message": {"id": "msg_1", "content": []}}').names
    ['msg_1']
    """

    id: Id = None
    response_id: Id = msgspec.field(default=None, name="responseId")
    response: Inner | None = None
    message: Inner | None = None

    @property
    def names(self) -> list[str]:
        """The ids; often one."""
        inner = self.response or self.message
        return [each for each in (self.id, self.response_id, inner and inner.id) if each]


read_ids: Callable[[bytes], Ids] = msgspec.json.Decoder(Ids).decode
"""Reads the ids of a body or an event. Raises `UNREADABLE` for anything else."""
