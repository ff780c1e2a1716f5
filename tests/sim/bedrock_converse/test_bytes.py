"""The bytes are the provider's: botocore reads them, and its model of the service knows every key."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import botocore.session
import pytest
from support.asking.bedrock_converse import CASES, TOOLS
from support.aws import as_botocore_reads

from tenuto_sim import Case, Simulator, Step, saying
from tenuto_sim.case import Odd
from tenuto_sim.exchange import Exchange
from tenuto_sim.plan import Plan

RUNTIME: Any = botocore.session.get_session().get_service_model("bedrock-runtime")
# The model's enums and types are what these break on purpose.
FOREIGN = {
    "length_foreign_spelling", "length_no_usage", "unknown_stop", "unknown_stop_control",
    "finish_null_string", "finish_empty_string", "finish_upper", "abort", "done_no_finish",
    "call_null_arguments", "call_array_arguments", "call_double_encoded", "call_no_id",
    "call_no_index", "body_error_only", "body_cut", "body_empty", "body_short", "unknown_event",
    "event_not_json", "bad_checksum", "cut_off_mid_text", "reset_mid_text",
}  # fmt: skip
PADDING = "p"
SIGNED = {"authorization": "AWS4-HMAC-SHA256 ..."}


def request_for(case: Case, mode: str) -> dict[str, Any]:
    prompt = {"text": f"bytes of {case.name}, {mode}"}
    history: list[Any] = [{"role": "user", "content": [prompt]}]
    if case.after_tool_result:
        call = {"toolUseId": "tooluse_1", "name": "write_file", "input": {}}
        history.append({"role": "assistant", "content": [{"toolUse": call}]})
        result = {"toolUseId": "tooluse_1", "content": [{"text": "ok"}]}
        history.append({"role": "user", "content": [{"toolResult": result}]})
    tools = {"toolConfig": TOOLS} if case.wants_tools else {}
    return {"messages": history} | tools | dict(case.request)


def ask(sim: Simulator, case: Case, mode: str) -> tuple[bytes, Any]:
    what = "converse" if mode == "body" else "converse-stream"
    url = f"{sim.root_url}/model/sim%2F{case.name}/{what}"
    body = json.dumps(request_for(case, mode)).encode()
    asked = urllib.request.Request(url, body, SIGNED)
    with urllib.request.urlopen(asked) as response:
        return response.read(), response.headers


def wrong(value: Any, shape: Any, path: str = "") -> list[str]:
    """Where a value is not what a shape of botocore's says."""
    match shape.type_name:
        case "structure" if shape.name == "Document" or getattr(shape, "is_document_type", False):
            return []
        case "structure":
            known = shape.members
            found = [f"{path}.{key} is unknown" for key in value if key not in known]
            found += [f"{path}.{key} lacks" for key in shape.required_members if key not in value]
            pairs = [(value[key], known[key], f"{path}.{key}") for key in value if key in known]
            return found + [line for pair in pairs for line in wrong(*pair)]
        case "list":
            return [line for item in value for line in wrong(item, shape.member, f"{path}[]")]
        case "map":
            return [line for item in value.values() for line in wrong(item, shape.value, path)]
        case "string":
            enum = getattr(shape, "enum", None)
            fits = isinstance(value, str) and (not enum or value in enum)
            return [] if fits else [f"{path} is {value!r}"]
        case "integer" | "long":
            return [] if type(value) is int else [f"{path} is {value!r}"]
    return []


ORDERLY = [case for case in CASES.values() if case.name not in FOREIGN and case.bare != "raises"]


@pytest.mark.parametrize("case", ORDERLY, ids=lambda case: case.name)
def test_what_a_case_sends_is_what_botocores_model_says(case):
    with Simulator() as sim:
        for mode in case.modes:
            raw, headers = ask(sim, case, mode)
            assert headers["x-amzn-requestid"]
            if mode == "body":
                shape = RUNTIME.operation_model("Converse").output_shape
                assert wrong(json.loads(raw), shape) == []
                continue
            assert headers["content-type"] == "application/vnd.amazon.eventstream"
            members = RUNTIME.shape_for("ConverseStreamOutput").members
            for said, payload in as_botocore_reads(raw):
                assert (said[":message-type"], said[":content-type"]) == ("event",
                                                                          "application/json")  # fmt: skip
                event = json.loads(payload)
                event.pop(PADDING)
                assert wrong(event, members[said[":event-type"]], said[":event-type"]) == []


@pytest.mark.parametrize(
    "case",
    [case for case in CASES.values() if any(step.error.startswith("mid") for step in case.plan)],
    ids=lambda case: case.name,
)
def test_an_error_in_a_stream_is_an_exception_that_the_model_knows(case):
    if "stream" not in case.modes:
        return
    members = RUNTIME.shape_for("ConverseStreamOutput").members
    with Simulator() as sim:
        said, payload = as_botocore_reads(ask(sim, case, "stream")[0])[-1]
    assert said[":message-type"] == "exception"
    assert "p" in json.loads(payload)
    assert members[said[":exception-type"]].metadata["exception"]


def test_pieces_of_text_are_blocks_of_their_own_and_pieces_of_a_call_are_one():
    answers = [saying("Many words.", ("look", {"at": "one place"}))]
    made = Exchange()
    made.conversations.plan = Plan(answers, lambda *_: Step(odd=Odd.MANY_BLOCKS))
    body = json.dumps(request_for(CASES["tools"], "stream")).encode()
    answer = made.answer("POST", "/model/sim/converse-stream", SIGNED, body)
    events = as_botocore_reads(b"".join(answer.events or ()))
    pieces: dict[int, list[str]] = {}
    for headers, payload in events:
        if headers[":event-type"] == "contentBlockDelta":
            read = json.loads(payload)
            delta = read["delta"]
            piece = delta["text"] if "text" in delta else delta["toolUse"]["input"]
            pieces.setdefault(read["contentBlockIndex"], []).append(piece)
    *texts, call = pieces.values()
    assert len(texts) > 1
    assert "".join(text for (text,) in texts) == "Many words."
    assert len(call) > 1
    assert json.loads("".join(call)) == {"at": "one place"}
