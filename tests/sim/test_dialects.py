"""The simulator speaks Chat Completions as those do whose SDKs know no other: what it writes is valid to
their types, and their oddities are there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import groq.types.chat
import httpx
import pytest
import together.types.chat
from cerebras.cloud.sdk.types.chat import chat_completion as cerebras
from support.asking.openai_chat import TOOLS, verdicts
from support.asking.sharing_openai_chat import ASKERS

from tenuto_sim import CASES, Bare, Simulator
from tenuto_sim.openai_chat.wire import IN_DIALECTS

TYPES: dict[str, tuple[Any, Any]] = {
    "groq": (groq.types.chat.ChatCompletion, groq.types.chat.ChatCompletionChunk),
    "together": (together.types.chat.ChatCompletion, together.types.chat.ChatCompletionChunk),
    "cerebras": (cerebras.ChatCompletionResponse, cerebras.ChatChunkResponse),
}
LOOSE = {"together": ("tool",)}
"""Whose types want a role in every piece of a message, and a number and an id in every call and piece of
one; its SDK never checks them. The cases whose bodies lack that."""

ODD: dict[str, Any] = {
    "groq": lambda last, failed: "usage" in last["x_groq"] and failed["x_groq"]["error"],
    "together": lambda last, failed: last["choices"][0]["finish_reason"] == "eos",
    "cerebras": lambda last, failed: "time_info" in last and failed["status_code"] == 500,
}


@pytest.fixture(scope="module", params=ASKERS, ids=lambda asker: asker.dialect)
def asker(request: pytest.FixtureRequest) -> Iterator[Any]:
    with Simulator(dialect=request.param.dialect) as sim:
        made = request.param(sim)
        yield made
        made.close()


def answer(asker: Any, name: str, stream: bool) -> list[Any]:
    """The documents that answer."""
    asked = {"model": f"sim/{name}", "messages": [{"role": "user", "content": f"{name} {stream}"}]}
    path = IN_DIALECTS[asker.dialect].path
    given = asked | {"tools": TOOLS, "stream": stream}
    raw = httpx.post(asker.sim.root_url + path, json=given, timeout=5).text
    rows = [row[6:] for row in raw.split("\n\n") if row.startswith("data: {")] if stream else [raw]
    return [json.loads(row) for row in rows]


@pytest.mark.parametrize("name", ["normal", "tool", "length_once", "reasoning_only_stop"])
def test_what_a_case_sends_is_valid_to_the_sdks_types(asker: Any, name: str) -> None:
    body, chunk = TYPES[asker.dialect]
    if name not in LOOSE.get(asker.dialect, ()):
        body.model_validate(answer(asker, name, stream=False)[0])
    for document in answer(asker, name, stream=True) if asker.dialect not in LOOSE else ():
        chunk.model_validate(document)


def test_usage_stop_and_error_stand_where_the_provider_has_them(asker: Any) -> None:
    last = answer(asker, "normal", stream=True)[-1]
    failed = answer(asker, "error_chunk_mid_text", stream=True)[-1]
    assert ODD[asker.dialect](last, failed)


@pytest.mark.parametrize("mode", ["body", "stream"])
def test_the_bare_sdk_reads_whole_answers_and_is_silent_about_cut_ones(
    asker: Any, mode: str
) -> None:
    for name in ("text", "tool", "length_once"):
        got = asker.ask_case(CASES[name], mode)
        cut = Bare.SILENT in verdicts(asker, got, CASES[name])
        assert cut == (name == "length_once"), (name, got)


def test_a_dialect_that_nobody_speaks_is_refused() -> None:
    with pytest.raises(ValueError, match="groq, together, cerebras"):
        Simulator(dialect="esperanto")
