"""The cases that are bytes of Chat Completions: what relays, gateways and servers were seen to send.

The reports that each kind comes from are public; the bytes here are made up in their likeness.
"""

from __future__ import annotations

import json
from typing import Any, Final

from checks.differential.far import Answer, Written
from checks.differential.spoken import EVENTS, JSON
from checks.differential.truth import State, Truth
from checks.differential.written import BODY, CHAT, STREAM, Script
from tenuto_sim.case import Ending

NAME: Final = "write_file"
GIVEN: Final = {"path": "a.txt", "content": "hi"}
RAW: Final = json.dumps(GIVEN)
MOON: Final = "The moon pulls the sea, twice a day."
OPENAI: Final = ("openai-chat",)
_USAGE: Final = {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}


def chunk(delta: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a chunk with one choice."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish, **more.pop("choice", {})}
    top = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**top, "choices": [choice], **more}


BEGIN: Final = chunk({"role": "assistant", "content": ""})
COUNTED: Final = {**chunk(usage=_USAGE), "choices": []}


def piece(
    given: Any = None, *, name: str | None = None, index: int = 0, **more: Any
) -> dict[str, Any]:
    """Return a chunk with a piece of a call; the first piece has the name."""
    call: dict[str, Any] = {"index": index, "function": {}}
    if name is not None:
        call |= {"id": f"call_{index}", "type": "function"}
        call["function"]["name"] = name
    if given is not None:
        call["function"]["arguments"] = given
    return chunk({"tool_calls": [{**call, **more}]})


def stream(
    *events: dict[str, Any] | bytes, done: bool = True, ending: Ending = Ending.WHOLE
) -> Answer:
    """Return a stream of chunks, or of bytes as they are."""
    made = [
        e if isinstance(e, bytes) else b"data: " + json.dumps(e).encode() + b"\n\n" for e in events
    ]
    return Answer(200, EVENTS, b"", (*made, *([b"data: [DONE]\n\n"] if done else [])), ending)


def body(text: str | None = None, *calls: str, finish: str = "stop", **more: Any) -> Answer:
    """Return a whole answer, with a call for each text of arguments."""
    message: dict[str, Any] = {"role": "assistant", "content": text, **more.pop("message", {})}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": NAME, "arguments": raw}}
            for n, raw in enumerate(calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": finish, **more.pop("choice", {})}
    top = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "usage": _USAGE}
    return Answer(200, JSON, json.dumps({**top, "choices": [choice], **more}).encode())


def refusal(status: int, message: str, **more: Any) -> Answer:
    """Return an error with a status."""
    error = {
        "message": message,
        "type": "invalid_request_error",
        "param": None,
        "code": None,
        **more,
    }
    return Answer(status, JSON, json.dumps({"error": error}).encode())


def far(*answers: Any) -> Any:
    """Return what makes a far side of these answers, for streams and for bodies alike."""
    return lambda sdk, stream: Written(answers)


def _asked_again(request: Any) -> bool:
    return len(request["messages"]) > 1


_CALL: Final = Truth(State.WHOLE, calls=((NAME, GIVEN),), odd=True)
_TEXT: Final = Truth(State.WHOLE, MOON, odd=True)
_CUT: Final = Truth(State.CUT, MOON)
_OWED: Final = Truth(State.CUT, calls=((NAME, GIVEN),))


def _pieces(name: str, *pieces: Any) -> Script:
    answer = stream(BEGIN, *pieces, chunk({}, "tool_calls"), COUNTED)
    return Script(f"A/{name}", far(answer), _CALL, CHAT, STREAM, tools=True)


_A: Final = (
    _pieces("whole_again", piece("", name=NAME), piece(RAW), piece(RAW)),
    _pieces("pieces_then_whole", piece("", name=NAME), piece(RAW[:9]), piece(RAW[9:]), piece(RAW)),
    _pieces("cumulative", piece("", name=NAME), *(piece(RAW[:n]) for n in (5, 14, 22, len(RAW)))),
    _pieces("placeholder", piece("{}", name=NAME), piece(RAW[:9]), piece(RAW[9:])),
    _pieces("placeholder_then_whole", piece("{}", name=NAME), piece(RAW)),
    _pieces("named_again", piece("", name=NAME), piece(RAW, name=NAME)),
    Script("A/repeated_characters", far(stream(
        BEGIN, piece("", name=NAME), *(piece(p) for p in ('{"path":', '"aa', "aa", "aa", '"', "}")),
        chunk({}, "tool_calls"), COUNTED)),
        Truth(State.WHOLE, calls=((NAME, {"path": "aaaaaa"}),)), CHAT, STREAM, tools=True),
)  # fmt: skip

_TWO: Final = (chunk({"content": MOON[:9]}), chunk({"content": MOON[9:]}, "stop"))
_B: Final = tuple(
    Script(f"B/{name}", far(stream(BEGIN, *frames, COUNTED)), _TEXT, CHAT, STREAM)
    for name, frames in (
        ("data_alone", (_TWO[0], b"data:\n\n", _TWO[1])),
        ("data_and_a_space", (_TWO[0], b"data: \n\n", _TWO[1])),
        ("retry_alone", (_TWO[0], b"retry: 3000\n\n", _TWO[1])),
        ("event_alone", (_TWO[0], b"event: ping\n\n", _TWO[1])),
        ("id_alone", (_TWO[0], b"id: 7\n\n", _TWO[1])),
        ("comment_behind_an_id",
         (b"id: 1\ndata: " + json.dumps(_TWO[0]).encode() + b"\n\n", b": ping\n\n", _TWO[1])),
        ("comment", (_TWO[0], b": ping\n\n", _TWO[1])),
        ("blank_lines", (_TWO[0], b"\n\n\n", _TWO[1])),
        ("data_alone_first", (b"data:\n\n", *_TWO)),
    )
)  # fmt: skip

_H: Final = (
    Script("H/calls_then_stop", far(stream(BEGIN, chunk({"content": "I look. "}), piece(RAW, name=NAME),
           chunk({}, "tool_calls"), chunk({}, "stop"), COUNTED)),
           Truth(State.WHOLE, "I look. ", ((NAME, GIVEN),), frozenset({"tool_calls"}), odd=True),
           CHAT, STREAM, tools=True),
    Script("P/a_stop_on_each_call", far(stream(BEGIN, piece(RAW, name=NAME) | {},
           chunk({}, "tool_calls"), piece(RAW, name=NAME, index=1), chunk({}, "tool_calls"), COUNTED)),
           Truth(State.WHOLE, calls=((NAME, GIVEN), (NAME, GIVEN)), odd=True), CHAT, STREAM, tools=True),
)  # fmt: skip

_EARLY: Final = chunk({"reasoning_content": "Hm."}, "stop")
_BREAKS: Final = tuple(
    Script(f"P/early_stop_{ending}", far(
        stream(BEGIN, _EARLY, chunk({"content": MOON[:21]}), done=False, ending=ending),
        stream(BEGIN, chunk({"content": MOON[21:]}), chunk({}, "stop"), COUNTED)), _CUT, CHAT, STREAM)
    for ending in (Ending.CUT_OFF, Ending.RESET, Ending.EOF, Ending.DROP)
)  # fmt: skip
_P: Final = (
    *_BREAKS,
    Script("P/stop_between_texts_then_a_break", far(
        stream(BEGIN, chunk({"content": MOON[:9]}, "stop"), chunk({"content": MOON[9:21]}), done=False,
               ending=Ending.CUT_OFF),
        stream(BEGIN, chunk({"content": MOON[21:]}), chunk({}, "stop"), COUNTED)), _CUT, CHAT, STREAM),
    Script("P/a_break_after_a_true_stop", far(
        stream(BEGIN, chunk({"content": MOON}), chunk({}, "stop"), done=False, ending=Ending.CUT_OFF)),
        Truth(State.WHOLE, MOON, odd=True), CHAT, STREAM),
    Script("P/early_stop_whole_answer", far(
        stream(BEGIN, _EARLY, chunk({"content": MOON}), chunk({}, "stop"), COUNTED)), _TEXT, CHAT, STREAM),
)  # fmt: skip

_Q: Final = (
    Script("Q/message_for_delta", far(stream(
        chunk(choice={"message": {"role": "assistant", "content": MOON[:9]}}),
        chunk(choice={"message": {"content": MOON[9:]}}), chunk({}, "stop"), COUNTED)),
        _TEXT, CHAT, STREAM),
    Script("Q/one_chunk", far(stream(chunk({"role": "assistant", "content": MOON}, "stop"), COUNTED)),
           Truth(State.WHOLE, MOON), CHAT, STREAM),
    Script("66/answer_in_the_reasoning", far(stream(BEGIN, chunk({"reasoning": MOON}), chunk({}, "stop"),
           COUNTED), stream(BEGIN, chunk({"content": MOON}, "stop"), COUNTED)),
           Truth(State.EMPTY, MOON), CHAT, STREAM),
    Script("56/heartbeats_alone", far(
        stream(b": PROCESSING\n\n", b": PROCESSING\n\n", done=False),
        stream(BEGIN, chunk({"content": MOON}), chunk({}, "stop"), COUNTED)), Truth(State.ERROR, MOON),
        CHAT, STREAM),
    Script("47/native_stop_is_an_error", far(
        stream(BEGIN, chunk({"content": MOON[:21]}),
               chunk({}, "stop", choice={"native_finish_reason": "error"})),
        stream(BEGIN, chunk({"content": MOON[21:]}), chunk({}, "stop"))), _CUT, CHAT, STREAM),
    Script("49/call_beside_a_filter", far(
        stream(BEGIN, piece(RAW, name=NAME), chunk({}, "content_filter"), COUNTED)),
        Truth(State.CUT), CHAT, STREAM, tools=True),
    Script("62/cut_call_as_an_error", far(
        stream(BEGIN, chunk({"content": "I write."}), {"error": {
            "message": "Tool call parsing interrupted", "type": "InternalServerError", "code": 500}},
            done=False),
        stream(BEGIN, piece(RAW, name=NAME), chunk({}, "tool_calls"), COUNTED)),
        Truth(State.ERROR, "I write.", ((NAME, GIVEN),)), CHAT, STREAM, tools=True),
    Script("3.8/broken_first_event", far(
        stream(b'data: {"id": "c1", "choices": [{"delta": {"role"\n\n', done=False, ending=Ending.DROP),
        stream(chunk({"role": "assistant", "content": MOON}), chunk({}, "stop"), COUNTED)),
        Truth(State.ERROR, MOON), CHAT, STREAM),
    Script("3.8/role_only_in_a_broken_attempt", far(
        stream(chunk({"role": "assistant"}), done=False, ending=Ending.CUT_OFF),
        stream(chunk({"content": MOON}), chunk({}, "stop"), COUNTED)),
        Truth(State.ERROR, MOON), CHAT, STREAM),
)  # fmt: skip


def _filtered(name: str, error: dict[str, Any]) -> Script:
    half = chunk({"content": MOON[:9]})
    return Script(f"F/stream_{name}", far(stream(BEGIN, half, error, done=False),
                  stream(BEGIN, chunk({"content": MOON[9:]}), chunk({}, "stop"))),
                  Truth(State.BLOCKED, MOON[:9]), OPENAI, STREAM)  # fmt: skip


_FILTERS: Final[tuple[tuple[int, str, dict[str, str]], ...]] = (
    (400, "Content Exists Risk", {}),
    (400, "The request was rejected by the content filter", {"code": "censorship_blocked"}),
    (403, "Content violates usage guidelines.", {"code": "permission_denied"}),
    (400, "Blocked by guardrail", {"type": "guardrail"}),
    (400, "Rejected", {"code": "content_violation"}),
    (500, "output new_sensitive (1027)", {"type": "server_error"}),
    (400, "Blocked by the content management policy.", {"code": "content_filter"}),
)
_F: Final = (
    _filtered("minimax", {"type": "error", "error": {"type": "server_error",
                                                      "message": "output new_sensitive (1027)"}}),
    _filtered("code", {"error": {"message": "blocked", "code": "content_filter", "type": None}}),
    *(
        Script(f"F/status_{status}_{number}", far(refusal(status, words, **more)),
               Truth(State.BLOCKED), CHAT)
        for number, (status, words, more) in enumerate(_FILTERS)
    ),
    *(
        Script(f"F/continuation_{status}_{number}", far(
            stream(BEGIN, chunk({"content": MOON[:21]}), chunk({}, "length"), COUNTED),
            refusal(status, words, **more)), _CUT, CHAT, STREAM)
        for number, (status, words, more) in enumerate(_FILTERS)
    ),
)  # fmt: skip

_HISTORY: Final = (
    (
        "reasoning_content",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
    ),
    ("reasoning_details", "Missing reasoning_details in the assistant message."),
)


def _sends_back(member: str, words: str) -> Any:
    def answer(request: Any) -> Answer:
        rows = [m for m in request["messages"] if m["role"] == "assistant" and m.get("tool_calls")]
        if any(not row.get(member) for row in rows):
            return refusal(400, words)
        value: Any = (
            "I must write." if member == "reasoning_content" else [{"type": "x", "id": "r1"}]
        )
        begin = chunk({"role": "assistant", "content": None, member: value})
        if rows:
            return stream(begin, piece(RAW, name=NAME), chunk({}, "tool_calls"), COUNTED)
        return stream(begin, piece('{"path":"a', name=NAME), chunk({}, "length"), COUNTED)

    return far(answer)


def _signed(request: Any) -> Answer:
    rows = [m for m in request["messages"] if m["role"] == "assistant" and m.get("tool_calls")]
    if any("extra_content" not in call for row in rows for call in row["tool_calls"]):
        return refusal(400, "Function call is missing a thought_signature in functionCall parts.")
    signed: Any = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    if rows:
        return stream(BEGIN, piece(RAW, name=NAME, **signed), chunk({}, "tool_calls"))
    return stream(BEGIN, piece('{"path":"a', name=NAME, **signed), chunk({}, "length"))


_G: Final = (
    *(Script(f"G/{member}", _sends_back(member, words), _OWED, OPENAI, STREAM, tools=True)
      for member, words in _HISTORY),
    Script("G/extra_content", far(_signed), _OWED, OPENAI, STREAM, tools=True, model="gemini-3.5-flash"),
)  # fmt: skip


def _words_of(count: int, *, drops_at: int) -> Any:
    words = [f"w{number} " for number in range(count)]

    def made(sdk: str, streams: bool) -> Written:
        asked: list[Any] = []

        def answer(request: Any) -> Answer:
            asked.append(request)
            if len(asked) == 1:
                return stream(BEGIN, chunk({"content": "".join(words[:drops_at])}), done=False,
                              ending=Ending.CUT_OFF)  # fmt: skip
            said = "".join(m["content"] for m in request["messages"] if m["role"] == "assistant")
            at = len(said.split())
            end = min(count, at + (request.get("max_tokens") or count))
            chunks = [
                chunk({"content": "".join(words[n : min(n + 500, end)])})
                for n in range(at, end, 500)
            ]
            usage = {
                "prompt_tokens": 5,
                "completion_tokens": end - at,
                "total_tokens": 5 + end - at,
            }
            last = chunk({}, "stop" if end == count else "length")
            return stream(BEGIN, *chunks, last, {**chunk(usage=usage), "choices": []})

        return Written([answer])

    return made


_R: Final = tuple(
    Script(f"R/limit_that_nobody_set_{count}", _words_of(count, drops_at=drops),
           Truth(State.CUT, "".join(f"w{n} " for n in range(count))), OPENAI, STREAM)
    for count, drops in ((20_000, 100), (6_000, 3), (9_000, 8_000))
)  # fmt: skip

_DSML: Final = (
    '<\uff5cDSML\uff5cfunction_calls>\n<\uff5cDSML\uff5cinvoke name="write_file">\n'
    '<\uff5cDSML\uff5cparameter name="path" string="true">a.txt</\uff5cDSML\uff5cparameter>\n'
    "</\uff5cDSML\uff5cinvoke>\n</\uff5cDSML\uff5cfunction_calls>"
)
_UNPARSABLE: Final = "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]"
_BODIES: Final = (
    Script("J/unparsable_call_as_500", far(refusal(500, _UNPARSABLE, type="server_error", code=500),
           body(None, RAW, finish="tool_calls")), Truth(State.ERROR, calls=((NAME, GIVEN),)), CHAT, BODY,
           tools=True),
    Script("L/call_written_as_text", far(body(_DSML)), Truth(State.WHOLE, _DSML), CHAT, BODY, tools=True),
    Script("3.11/text_under_error", far(body(MOON[:21], finish="error"), refusal(500, "No.")), _CUT, CHAT,
           BODY),
    Script("3.11/text_under_an_unknown_stop", far(body(MOON[:21], finish="odd_new"), refusal(500, "No.")),
           _CUT, CHAT, BODY),
    Script("guard/legacy_whole", far(body(MOON)), Truth(State.WHOLE, MOON), CHAT, BODY),
    Script("K/empty_tool_result", far(lambda request: refusal(400, "messages: text content must be non-empty")
           if any(m["role"] == "tool" and not m["content"] for m in request["messages"]) else body(MOON)),
           Truth(State.WHOLE, MOON, refuses=True, odd=True), OPENAI, BODY),
)  # fmt: skip

SCRIPTS: Final[tuple[Script, ...]] = (*_A, *_B, *_H, *_P, *_Q, *_F, *_G, *_R, *_BODIES)
