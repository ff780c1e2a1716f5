"""The row of Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from tenuto.sim.openai_chat.dialects import DIALECTS, OPENAI, read, violations
from tenuto.sim.openai_chat.errors import ERRORS, failure, too_many_tokens, unknown_argument
from tenuto.sim.openai_chat.history import impossible
from tenuto.sim.openai_chat.render import DONE, render_body, render_events
from tenuto.sim.prose import key_of
from tenuto.sim.wire import Wire


def _headers(key: str) -> Mapping[str, str]:
    return {
        "openai-organization": "sim",
        "openai-processing-ms": "7",
        "openai-version": "2020-10-01",
        "x-request-id": f"req_{key}",
    }


WIRE: Final = Wire(
    name="openai-chat",
    path=OPENAI.path,
    read=read,
    impossible=impossible,
    violations=violations,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_argument,
    core_keys=frozenset(
        {"model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens"}
        | {"tools", "tool_choice", "response_format"}
    ),
    render_body=render_body,
    render_events=render_events,
    answer_id=lambda key: "chatcmpl-" + key_of(key, length=29),
    headers=_headers,
    last_event=f"data: {DONE}\n\n".encode(),
)

IN_DIALECTS: Final[Mapping[str, Wire]] = {
    name: replace(
        WIRE,
        path=dialect.path,
        read=partial(read, dialect=dialect),
        violations=partial(violations, dialect=dialect),
        render_body=partial(render_body, dialect=dialect),
        render_events=partial(render_events, dialect=dialect),
        located=dialect.located,
        stamped=dialect.refused,
        last_event=WIRE.last_event if dialect.done else b"",
    )
    for name, dialect in DIALECTS.items()
}
"""As the providers of these names speak it."""
