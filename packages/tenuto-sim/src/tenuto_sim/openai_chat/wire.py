"""The simulator's row for Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tenuto_sim.case import Ending, Framing, Odd
from tenuto_sim.envelope import dump
from tenuto_sim.framing import Event, frame
from tenuto_sim.openai_chat import dialects, errors, history, render
from tenuto_sim.openai_chat.dialects import Dialect
from tenuto_sim.prose import key_of
from tenuto_sim.tables_own import own_tables
from tenuto_sim.wire import Wire
from tenuto_sim.writing import marks


def _event(dialect: dialects.Dialect, chunk: dict[str, Any], _: int) -> Event:
    return dialect.event, dump(dialect.said(chunk))


def _headers(key: str) -> Mapping[str, str]:
    return {
        "openai-organization": "sim",
        "openai-processing-ms": "7",
        "openai-version": "2020-10-01",
        "x-request-id": f"req_{key}",
    }


WIRE: Final = Wire(
    name="openai-chat",
    tables=own_tables(),
    path=dialects.OPENAI.path,
    read=dialects.read,
    impossible=history.impossible,
    violations=dialects.violations,
    refuse=errors.failure,
    errors=errors.ERRORS,
    too_many_tokens=errors.too_many_tokens,
    unknown_key=errors.unknown_argument,
    core_keys=frozenset(
        {"model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens"}
        | {"tools", "tool_choice", "response_format"}
    ),
    document=render.document,
    payloads=render.payloads,
    done=render.DONE,
    marks=lambda step: 0 if step.ending is Ending.COUNT_ALONE else marks(step),
    answer_id=lambda key: "chatcmpl-" + key_of(key, length=29),
    headers=_headers,
    last_event=frame([render.DONE], Framing.PLAIN)[0],
)


def in_dialect(dialect: Dialect) -> Wire:
    """Return the wire of providers with a dialect."""
    return replace(
        WIRE,
        path=dialect.path,
        read=partial(dialects.read, dialect=dialect),
        violations=partial(dialects.violations, dialect=dialect),
        document=partial(render.document, dialect=dialect),
        payloads=partial(render.payloads, dialect=dialect),
        event=partial(_event, dialect),
        located=dialect.located,
        stamped=dialect.refused,
        marks=WIRE.marks if dialect.done else lambda step: int(step.odd is Odd.DOUBLE_DONE),
        last_event=WIRE.last_event if dialect.done else b"",
    )


IN_DIALECTS: Final[dict[str, Wire]] = {
    name: in_dialect(dialect) for name, dialect in dialects.DIALECTS.items()
}
"""The rows of providers with a dialect, by name."""
