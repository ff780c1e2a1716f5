"""The cases that are bytes of the other wires: Anthropic, Responses, Gemini, Ollama."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from functools import partial
from typing import Any, Final

from checks.differential.bytes_chat import GIVEN, MOON, NAME, RAW
from checks.differential.far import Answer, Written
from checks.differential.spoken import EVENTS, JSON, between, says
from checks.differential.spoken import answer as spoken_answer
from checks.differential.truth import State, Truth
from checks.differential.written import BODY, STREAM, Script
from tenuto_sim.case import Ending

_WHOLE: Final = Truth(State.WHOLE, MOON)
_ODD: Final = Truth(State.WHOLE, MOON, odd=True)
_CALL: Final = Truth(State.WHOLE, calls=((NAME, GIVEN),), odd=True)
_OWED: Final = Truth(State.CUT, calls=((NAME, GIVEN),))
_CUT: Final = Truth(State.CUT, MOON)
HALF, REST = MOON[:21], MOON[21:]


def far(*answers: Any) -> Any:
    """Return what makes a far side of these answers."""
    return lambda sdk, stream: Written(answers)


def named(*events: dict[str, Any], ending: Ending = Ending.WHOLE) -> Answer:
    """Return a stream whose events have the names of their types."""
    made = (
        b"event: " + event["type"].encode() + b"\ndata: " + json.dumps(event).encode() + b"\n\n"
        for event in events
    )
    return Answer(200, EVENTS, b"", tuple(made), ending)


def document(value: Any, status: int = 200) -> Answer:
    """Return a whole body."""
    return Answer(status, JSON, json.dumps(value).encode())


# Anthropic


def start(content: Any = (), usage: Any = None, **more: Any) -> dict[str, Any]:
    """Return the first event of a message; None leaves its content or its usage out."""
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
    }
    message |= {"stop_reason": None, "stop_sequence": None, **more}
    if content is not None:
        message["content"] = list(content)
    message["usage"] = usage or {"input_tokens": 5, "output_tokens": 1}
    return {"type": "message_start", "message": message}


def block(
    index: int, given: dict[str, Any], *deltas: dict[str, Any], stop: bool = True
) -> list[Any]:
    """Return the events of a block."""
    made: list[Any] = [{"type": "content_block_start", "index": index, "content_block": given}]
    made += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return made + ([{"type": "content_block_stop", "index": index}] if stop else [])


def text(said: str, index: int = 0, **more: Any) -> list[Any]:
    """Return a block of text."""
    return block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": said}, **more)


def tool(*pieces: str, index: int = 0, given: Any = None, **more: Any) -> list[Any]:
    """Return a block with a call, whose input comes in pieces."""
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
    made = {"type": "tool_use", "id": f"toolu_{index}", "name": NAME, "input": given or {}}
    return block(index, made, *deltas, **more)


def end(reason: str | None = "end_turn", **usage: Any) -> list[Any]:
    """Return the events that end a message."""
    delta = {"stop_reason": reason, "stop_sequence": None}
    told = {"output_tokens": 9, **usage}
    return [{"type": "message_delta", "delta": delta, "usage": told}, {"type": "message_stop"}]


def message(content: Any, stop: str = "end_turn", **more: Any) -> Answer:
    """Return a whole message."""
    made = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": content,
    }
    usage = {"input_tokens": 5, "output_tokens": 9}
    return document({**made, "stop_reason": stop, "stop_sequence": None, "usage": usage, **more})


_THOUGHT: Final = block(
    *(0, {"type": "thinking", "thinking": "", "signature": ""}),
    *(
        {"type": "thinking_delta", "thinking": "hm"},
        {"type": "signature_delta", "signature": "c2ln"},
    ),
)


def _claude(key: str, truth: Truth, *answers: Any, **more: Any) -> Script:
    return Script(key, far(*answers), truth, ("anthropic",), more.pop("modes", STREAM), **more)


def _accepts(refused: Any, said: Answer) -> Any:
    def answer(request: Any) -> Answer:
        if not refused(request):
            return said
        error = {
            "type": "invalid_request_error",
            "message": "text content blocks must be non-empty",
        }
        return document({"type": "error", "error": error}, 400)

    return answer


def _empty_text(request: Any) -> bool:
    rows = [*_blocks(request.get("system"))]
    for row in request["messages"]:
        rows += _blocks(row["content"])
    return any(each.get("type") == "text" and not each["text"].strip() for each in rows)


def _blocks(content: Any) -> list[Any]:
    if not isinstance(content, list):
        return []
    return [*content, *(inner for each in content for inner in _blocks(each.get("content")))]


_CACHED: Final = {"type": "text", "text": "", "cache_control": {"type": "ephemeral"}}
_ASKED: Final = {"role": "user", "content": "Why do tides come twice a day?"}
_USED: Final = {"type": "tool_use", "id": "toolu_1", "name": NAME, "input": GIVEN}
_SEARCH: Final = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
_REFUSED: Final = Truth(State.WHOLE, MOON, refuses=True, odd=True)
_RESULT: Final = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}


def _history(name: str, more: dict[str, Any]) -> Script:
    return _claude(f"K/{name}", _REFUSED, _accepts(_empty_text, message([{"type": "text", "text": MOON}])),
                   modes=BODY, tools=True, more=more)  # fmt: skip


_CLAUDE: Final = (
    _claude("Q/message_in_its_start", _ODD, named(start([{"type": "text", "text": MOON}]), *end())),
    _claude("Q/text_in_the_start_of_a_block", _ODD,
            named(start(), *block(0, {"type": "text", "text": MOON}), *end())),
    _claude("C/gap_in_the_indexes", _CALL, named(start(), *_THOUGHT, *tool(RAW, index=2), *end("tool_use")),
            tools=True),
    _claude("C/begins_at_one", _ODD, named(start(), *text(MOON, 1), *end())),
    _claude("C/end_of_a_block_that_never_began", _ODD,
            named(start(), {"type": "content_block_stop", "index": 0}, *text(MOON), *end())),
    _claude("C/another_end_of_a_block", _ODD,
            named(start(), *text(MOON), {"type": "content_block_stop", "index": 1}, *end())),
    _claude("C/start_without_content", _ODD, named(start(None), *text(MOON), *end())),
    _claude("C/start_without_usage", _ODD, named(
        {"type": "message_start", "message": {k: v for k, v in start()["message"].items() if k != "usage"}},
        *text(MOON), *end())),
    _claude("C/block_without_text", _ODD,
            named(start(), *block(0, {"type": "text"}, {"type": "text_delta", "text": MOON}), *end())),
    _claude("C/delta_without_its_block", _ODD, named(
        start(), {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": MOON}},
        {"type": "content_block_stop", "index": 0}, *end())),
    _claude("58/block_closed_too_early", _CALL, named(
        start(), *tool(RAW[:9]), {"type": "content_block_delta", "index": 0,
                                   "delta": {"type": "input_json_delta", "partial_json": RAW[9:]}},
        *end("tool_use")), tools=True),
    _claude("A/input_sent_again", _CALL, named(start(), *tool(RAW, RAW), *end("tool_use")), tools=True),
    _claude("A/cumulative_input", _CALL,
            named(start(), *tool(RAW[:8], RAW[:20], RAW), *end("tool_use")), tools=True),
    _claude("A/placeholder_input", _CALL, named(start(), *tool("{}", RAW[:9], RAW[9:]), *end("tool_use")),
            tools=True),
    _claude("P/stop_then_text_then_a_break", _CUT,
            named(start(), *text(MOON[:9]), end()[0], *text(MOON[9:21], 1, stop=False), ending=Ending.CUT_OFF),
            named(start(), *text(REST), *end())),
    _claude("P/a_break_after_a_true_stop", _ODD,
            named(start(), *text(MOON), end()[0], ending=Ending.CUT_OFF)),
    _claude("E/revised_input", _CUT,
            named(start(usage={"input_tokens": 25, "output_tokens": 1}), *text(HALF),
                  *end("max_tokens", input_tokens=10_682)),
            named(start(usage={"input_tokens": 40, "output_tokens": 1}), *text(REST),
                  *end("end_turn", input_tokens=10_700))),
    _claude("E/zero_first", _CUT,
            named(start(usage={"input_tokens": 0, "output_tokens": 0}), *text(HALF),
                  *end("max_tokens", input_tokens=812)),
            named(start(usage={"input_tokens": 0, "output_tokens": 0}), *text(REST),
                  *end("end_turn", input_tokens=820))),
    _claude("64/input_that_is_no_json", _OWED,
            named(start(), *tool('{"path": Dave, "content": "1d"}'), *end("tool_use")),
            named(start(), *tool(RAW), *end("tool_use")), tools=True),
    _claude("52/pause_with_streamed_input", _CUT,
            named(start(), *block(0, _SEARCH, {"type": "input_json_delta", "partial_json": '{"query":'},
                                  {"type": "input_json_delta", "partial_json": '"tides"}'}),
                  *end("pause_turn")),
            named(start(), *text(MOON), *end())),
    _history("empty_system_block", {"system": [_CACHED]}),
    _history("empty_text_beside_a_call", {"messages": [
        _ASKED, {"role": "assistant", "content": [_CACHED, _USED]}, {"role": "user", "content": [_RESULT]}]}),
    _history("empty_text_in_a_result", {"messages": [
        _ASKED, {"role": "assistant", "content": [_USED]},
        {"role": "user", "content": [{**_RESULT, "content": [{"type": "text", "text": ""}]}]}]}),
)  # fmt: skip

# Responses

_ITEM: Final = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
_AT: Final = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
_FIRST: Final = {"type": "response.output_item.added", "output_index": 0,
                 "item": {**_ITEM, "status": "in_progress", "content": []}}  # fmt: skip


def part(said: str = MOON, kind: str = "output_text") -> dict[str, Any]:
    """Return a part of a message."""
    made = {"text": said, "annotations": []} if kind == "output_text" else {"refusal": said}
    return {"type": kind, **made}


def response(status: str, output: Any = (), **more: Any) -> dict[str, Any]:
    """Return a response."""
    top = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": list(output),
    }
    fixed: dict[str, Any] = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {**top, **fixed, **({"status": status} if status else {}), **more}


def responses(
    *events: dict[str, Any], output: Any, status: str = "completed", **more: Any
) -> Answer:
    """Return a stream of a response; `output` is that of its last event."""
    usage = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12,
             "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    last = response(status, output, usage=usage, **more)
    first = {"type": "response.created", "response": response("in_progress")}
    made = [first, *events, {"type": f"response.{status}", "response": last}]
    return named(*({**event, "sequence_number": n} for n, event in enumerate(made)))


def _message(said: str = MOON, kind: str = "output_text") -> dict[str, Any]:
    return {**_ITEM, "content": [part(said, kind)]}


_PART: Final = {"type": "response.content_part.added", **_AT, "part": part("")}
_DONE: Final = {"type": "response.output_text.done", **_AT, "text": MOON, "logprobs": []}
_PART_DONE: Final = {"type": "response.content_part.done", **_AT, "part": part()}
_ITEM_DONE: Final = {"type": "response.output_item.done", "output_index": 0, "item": _message()}
_USES: Final = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": NAME, "arguments": RAW,
                "status": "completed"}  # fmt: skip


def _resp(key: str, truth: Truth, *answers: Any, **more: Any) -> Script:
    return Script(
        key, far(*answers), truth, ("openai-responses",), more.pop("modes", STREAM), **more
    )


_RESPONSES: Final = (
    _resp("Q/text_done", _ODD, responses(_FIRST, _PART, _DONE, _PART_DONE, _ITEM_DONE, output=[_message()])),
    _resp("Q/part_done", _ODD, responses(_FIRST, _PART, _PART_DONE, _ITEM_DONE, output=[_message()])),
    _resp("Q/item_done", _ODD, responses(_FIRST, _ITEM_DONE, output=[_message()])),
    _resp("Q/item_done_alone", _ODD, responses(_ITEM_DONE, output=[_message()])),
    _resp("Q/final_event_alone", _ODD, responses(output=[_message()])),
    _resp("Q/refusal_done", Truth(State.BLOCKED, MOON, odd=True), responses(
        _FIRST, {"type": "response.refusal.done", **_AT, "refusal": MOON}, output=[_message(kind="refusal")])),
    _resp("Q/refusal_in_the_final_event", Truth(State.BLOCKED, MOON, odd=True),
          responses(output=[_message(kind="refusal")])),
    _resp("69/arguments_done_alone", _CALL, responses(
        {"type": "response.output_item.added", "output_index": 0,
         "item": {**_USES, "arguments": "", "status": "in_progress"}},
        {"type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 0,
         "arguments": RAW, "name": NAME},
        {"type": "response.output_item.done", "output_index": 0, "item": _USES}, output=[_USES]), tools=True),
    _resp("I/stop_reason_length", _CUT, document(response("", [_message(HALF)], stop_reason="length")),
          document(response("completed", [_message(REST)])), modes=BODY),
    _resp("54/stream_in_the_place_of_a_body", _ODD, lambda _: Answer(
        200, JSON, b"".join(responses(_FIRST, _PART, {"type": "response.output_text.delta", **_AT,
        "delta": MOON, "logprobs": []}, _ITEM_DONE, output=[]).events or ())), modes=BODY),
    _resp("K/reasoning_without_its_item", _REFUSED, lambda request: document(
        {"error": {"message": "Item 'rs_1' of type 'reasoning' was provided without its required following"
                              " item.", "type": "invalid_request_error", "param": None, "code": None}}, 400)
        if any(item.get("type") == "reasoning" for item in request["input"])
        else document(response("completed", [_message()])), modes=BODY,
        more={"store": False, "input": [_ASKED, {"type": "reasoning", "id": "rs_1", "summary": [],
                                                 "encrypted_content": "enc"}, _ASKED]}),
)  # fmt: skip

# Gemini

_COUNT: Final = {"promptTokenCount": 5, "candidatesTokenCount": 7, "totalTokenCount": 12}


def candidate(*parts: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """Return an event with one candidate."""
    made: dict[str, Any] = {"index": 0}
    if parts:
        made["content"] = {"role": "model", "parts": list(parts)}
    return {"candidates": [made | ({"finishReason": finish} if finish else {})], **more}


def gemini(*events: dict[str, Any], ending: Ending = Ending.WHOLE) -> Answer:
    """Return a stream of such events."""
    made = tuple(b"data: " + json.dumps(event).encode() + b"\r\n\r\n" for event in events)
    return Answer(200, EVENTS, b"", made, ending)


def _gemini(key: str, truth: Truth, *answers: Any, **more: Any) -> Script:
    return Script(key, far(*answers), truth, ("gemini",), more.pop("modes", STREAM), **more)


def _uses(**given: Any) -> dict[str, Any]:
    return {"functionCall": {"name": NAME, "args": given, "id": "f1"}}


_LAST: Final = candidate(finish="STOP", usageMetadata=_COUNT)
_SAYS: Final = {"text": MOON}
_LACKS_SEAL: Final = {"error": {"code": 400, "status": "INVALID_ARGUMENT",
                                "message": "Function call is missing a thought_signature."}}  # fmt: skip


def _error(code: int, status: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": "Something is wrong.", "status": status}}


def _unsealed(request: Any) -> bool:
    parts = [part for row in request["contents"] for part in row["parts"]]
    return any("functionCall" in part and "thoughtSignature" not in part for part in parts)


def _decoded(
    *breaks: int, every: int = 1, calls: bool = False, ending: Ending = Ending.CUT_OFF
) -> Any:
    """Return what makes a server that keeps its state: each event has the token to go on behind it.

    The N-th request breaks behind the N-th number of events. `every`: which events have a token.
    """
    said = [
        {"text": "I count.", "thought": True},
        *({"text": MOON[at : at + 9]} for at in range(0, len(MOON), 9)),
    ]
    said = [*said[:2], _uses(**GIVEN)] if calls else said

    def event(at: int) -> dict[str, Any]:
        last = at == len(said) - 1
        made = candidate(said[at], finish="STOP" if last else None, usageMetadata=_COUNT)
        if not last and not (at + 1) % every:
            made["candidates"][0]["continuationToken"] = b64encode(b"%d" % (at + 1)).decode()
        return made

    def answer(request: Any, ends: int | None) -> Answer:
        start = int(b64decode(request.get("continuationToken") or "MA=="))
        events = [event(at) for at in range(start, len(said))][:ends]
        return gemini(*events, ending=Ending.WHOLE if ends is None else ending)

    return far(*(partial(answer, ends=ends) for ends in (*breaks, None)))


_GEMINI: Final = (
    *(Script(f"T/broken_{ending}_{'_'.join(map(str, breaks))}", _decoded(*breaks, ending=ending),
             _CUT, ("gemini",), STREAM)
      for ending in (Ending.CUT_OFF, Ending.EOF, Ending.RESET)
      for breaks in ((1,), (2,), (3,), (1, 1, 1), (2, 0), (2, 0, 0, 1))),
    Script("T/broken_behind_a_token", _decoded(4, every=2), _CUT, ("gemini",), STREAM),
    Script("T/broken_behind_a_call", _decoded(2, 1, calls=True), Truth(State.CUT, MOON[:9], ((NAME, GIVEN),)),
           ("gemini",), STREAM, tools=True),
    _gemini("A/call_again_with_more", Truth(State.WHOLE, calls=((NAME, GIVEN),), odd=True),
            gemini(candidate(_uses(path="a.txt")), candidate(_uses(**GIVEN)), _LAST), tools=True),
    _gemini("A/call_again_whole", Truth(State.WHOLE, calls=((NAME, GIVEN),), odd=True),
            gemini(candidate(_uses(**GIVEN)), candidate(_uses(**GIVEN)), _LAST), tools=True),
    _gemini("74/last_event_without_content", _WHOLE, gemini(candidate(_SAYS), _LAST)),
    _gemini("P/stop_then_text_then_a_break", _CUT,
            gemini(candidate({"text": MOON[:9]}, finish="STOP"), candidate({"text": MOON[9:21]}),
                   ending=Ending.CUT_OFF), gemini(candidate({"text": REST}), _LAST)),
    _gemini("43/malformed_call_with_a_signature", _OWED,
            gemini(candidate({"thoughtSignature": "c2ln"}, finish="MALFORMED_FUNCTION_CALL")),
            gemini(candidate(_uses(**GIVEN)), _LAST), tools=True),
    _gemini("M/unexpected_call_without_tools", Truth(State.EMPTY, MOON),
            document(candidate(finish="UNEXPECTED_TOOL_CALL", usageMetadata=_COUNT)),
            lambda request: document(candidate(finish="UNEXPECTED_TOOL_CALL", usageMetadata=_COUNT))
            if "call again" in json.dumps(request) else
            document(candidate(_SAYS, finish="STOP", usageMetadata=_COUNT)), modes=BODY),
    _gemini("3.11/too_many_tool_calls", _CUT,
            document(candidate({"text": HALF}, finish="TOO_MANY_TOOL_CALLS", usageMetadata=_COUNT)),
            document(_error(500, "INTERNAL"), 500), modes=BODY),
    *(_gemini(f"3.11/error_{code}_{where}", Truth(State.ERROR, MOON),
              gemini(*([candidate({"text": HALF})] if where == "mid_stream" else []), _error(code, status)))
      for code, status in ((400, "INVALID_ARGUMENT"), (429, "RESOURCE_EXHAUSTED"), (503, "UNAVAILABLE"))
      for where in ("mid_stream", "first")),
    _gemini("K/call_without_a_signature", _REFUSED, lambda request: document(_LACKS_SEAL, 400)
            if _unsealed(request) else document(candidate(_SAYS, finish="STOP", usageMetadata=_COUNT)),
            modes=BODY, model="gemini-3-pro-preview", tools=True, more={"contents": [
                {"role": "user", "parts": [{"text": "ls"}]},
                {"role": "model", "parts": [{"function_call": {"name": NAME, "args": GIVEN}}]},
                {"role": "user", "parts": [{"function_response": {"name": NAME, "response": {"ok": 1}}}]}]}),
    *(_gemini(f"F/blocked_{reason.lower()}", Truth(State.BLOCKED), document(
        {"promptFeedback": {"blockReason": reason}, "usageMetadata": _COUNT}), modes=BODY)
      for reason in ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST")),
)  # fmt: skip

# Others

_LOADED: Final = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done_reason": "load", "done": True,
                  "message": {"role": "assistant", "content": ""}}  # fmt: skip
_OLLAMA: Final = (
    Script("N/only_loaded", far(document(_LOADED)), Truth(State.EMPTY, MOON), ("ollama",), BODY),
)


def _between(extra: bytes) -> Any:
    def made(sdk: str, stream: bool) -> Written:
        said = spoken_answer(sdk, says(MOON), stream=stream, number=0)
        return Written([between(said, extra)])

    return made


_FRAMES: Final = tuple(
    Script(f"B/{name}", _between(extra), _ODD, sdks, STREAM)
    for name, extra in (
        ("data_alone", b"data:\n\n"), ("retry_alone", b"retry: 3000\n\n"), ("comment", b": ping\n\n"),
        ("comment_behind_an_id", b"id: 1\n\n: ping\n\n"), ("event_alone", b"event: ping\n\n"),
    )
    for sdks in (("openai-responses", "anthropic", "gemini", "mistral", "cohere"),)
)  # fmt: skip

SCRIPTS: Final[tuple[Script, ...]] = (*_CLAUDE, *_RESPONSES, *_GEMINI, *_OLLAMA, *_FRAMES)
