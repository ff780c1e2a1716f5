"""The row of Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tenuto.sim.asked import Asked
from tenuto.sim.case import Ending, Framing, Odd
from tenuto.sim.envelope import dump
from tenuto.sim.errors import Failure
from tenuto.sim.framing import Event, frame
from tenuto.sim.openai_chat import dialects, errors, history, render, request
from tenuto.sim.prose import key_of
from tenuto.sim.reply import Settings
from tenuto.sim.tables_own import own_tables
from tenuto.sim.wire import Wire
from tenuto.sim.writing import marks


def _impossible(body: Any) -> Failure | None:
    return (
        history.basic_violation(body)
        if isinstance(body, dict)
        else errors.failure(history.NOT_JSON)
    )


def _violation(
    headers: Mapping[str, str],
    body: Mapping[str, Any],
    settings: Settings,
    dialect: dialects.Dialect = dialects.OPENAI,
) -> Failure | None:
    rejects = settings.prefill == "reject"
    if words := dialect.forbids(body):
        return errors.failure(words)
    if dialect.row_keys:
        rows = [_plain(row, dialect.row_keys) for row in body["messages"]]
        body = {**body, "messages": rows}
    return history.header_violation(headers) or history.violation(
        body,
        max_output_tokens=settings.max_output_tokens,
        prefill_refusal=history.PREFILL_REFUSALS[settings.prefill_refusal] if rejects else None,
    )


def _plain(row: Any, more: frozenset[str]) -> Any:
    """A row as OpenAI has it; reasoning alone counts as what it says."""
    if row.get("role") != "assistant":
        return row
    plain = {name: item for name, item in row.items() if name not in more}
    return plain | {"content": plain.get("content") or row.get("reasoning_content")}


def _read(
    body: Mapping[str, Any], settings: Settings, dialect: dialects.Dialect = dialects.OPENAI
) -> Asked:
    continues = dialect.continues(body)
    if continues is None:
        return request.read(body, settings)
    return replace(request.read(body, settings), prefill="continue" if continues else "restart")


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
    read=request.read,
    impossible=_impossible,
    violation=_violation,
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

IN_DIALECTS: Final[Mapping[str, Wire]] = {
    name: replace(
        WIRE,
        path=dialect.path,
        read=partial(_read, dialect=dialect),
        violation=partial(_violation, dialect=dialect),
        document=partial(render.document, dialect=dialect),
        payloads=partial(render.payloads, dialect=dialect),
        event=partial(_event, dialect),
        located=dialect.located,
        stamped=dialect.refused,
        marks=WIRE.marks if dialect.done else lambda step: int(step.odd is Odd.DOUBLE_DONE),
        last_event=WIRE.last_event if dialect.done else b"",
    )
    for name, dialect in dialects.DIALECTS.items()
}
"""As the providers of these names speak it."""
