"""The bytes are the provider's: its SDK's types accept them, and know every key."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest
from google.genai import types
from pydantic import ValidationError
from support.asking.gemini_generate import CASES, GeminiAsker, model, result, user

from tenuto_sim import Case, Simulator
from tenuto_sim.gemini_generate.seals import signature

HEADERS = {"x-goog-api-key": "key"}
BROKEN = {"cut_off_mid_text", "reset_mid_text", "body_short", "body_cut", "body_empty"}
"""What they hold is no JSON, or their transfer never ends in order."""
FOREIGN = {"call_array_arguments", "call_double_encoded", "event_not_json"}
"""The SDK's types are what these break on purpose."""


def documents(text: str) -> list[dict[str, Any]]:
    """The documents of a body or of the events of a stream."""
    if text.startswith("{"):
        return [json.loads(text)]
    events = re.split(r"\r?\n\r?\n", text.lstrip("\ufeff"))
    lines = [[line for line in event.splitlines() if line[:5] == "data:"] for event in events]
    return [json.loads("\n".join(line[5:] for line in told)) for told in lines if told]


def ask(sim: Simulator, case: Case, mode: str) -> str:
    method = "generateContent" if mode == "body" else "streamGenerateContent?alt=sse"
    contents = [user(f"bytes of {case.name} {mode}")]
    if case.after_tool_result:
        call = {"functionCall": {"name": "write_file", "args": {}}}
        contents += [model(call | {"thoughtSignature": signature("write_file")}), user(result())]
    body: dict[str, Any] = {"contents": contents}
    if case.wants_tools:
        declared = [{"name": "write_file", "parameters": {"type": "OBJECT"}}]
        body["tools"] = [{"functionDeclarations": declared}]
    url = f"{sim.root_url}/v1beta/models/sim/{case.name}:{method}"
    return httpx.post(url, json=body, headers=HEADERS).text


def read(text: str) -> int:
    """Read every document as the SDK's type, which forbids keys that it does not know."""
    told = documents(text)
    for document in told:
        if "error" in document:
            assert document["error"].keys() >= {"code", "message", "status"}
        else:
            types.GenerateContentResponse.model_validate(document)
    return len(told)


@pytest.mark.filterwarnings("ignore:[\\s\\S]* is not a valid FinishReason")
@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_the_sdks_own_types_know_every_key(coarse: Simulator, case: Case) -> None:
    for mode in sorted(case.modes):
        if case.name in BROKEN:
            continue
        if case.name in FOREIGN:
            with pytest.raises((ValidationError, ValueError)):
                read(ask(coarse, case, mode))
            continue
        assert read(ask(coarse, case, mode))


def test_the_events_of_a_stream_add_up_to_the_body(bare: GeminiAsker) -> None:
    for name in ("normal", "tools", "tool_with_text", "think_then_text", "cjk"):
        case = CASES[name]
        whole, told = bare.ask_case(case, "body"), bare.ask_case(case, "stream")
        assert (whole.stop, told.stop) == ("STOP", "STOP")
        assert whole.text == bare.wanted(whole, case)[0]
        assert told.text == bare.wanted(told, case)[0]
        assert whole.inputs == bare.wanted(whole, case)[1]
        assert told.usage.total_token_count > told.usage.prompt_token_count
