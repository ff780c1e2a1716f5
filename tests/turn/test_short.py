"""The short path: a healthy turn is handed on before anything is built, and every other one ends as
if there were no short path."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import tenuto
from tenuto.providers.table import ROWS
from tenuto.wires.mistral import wire as mistral
from tenuto.wires.openai_chat import wire as openai_chat
from tenuto.wires.registry import wires

HEADERS = [("authorization", "Bearer key"), ("content-type", "application/json")]
HEAD = tenuto.sansio.Head(200, ((b"content-type", b"application/json"), (b"server", b"cloudflare")))
POLICY = tenuto.Policy()
PACKAGE = f"{Path(tenuto.__file__).parent}/"
MOST_CALLS = 30
"""Of a turn; one that builds the machine takes more than two hundred."""

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
SAID: Any = [{"role": "user", "content": "Where is it?"}]
CHAT_CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "read", "arguments": '{"path": "a.txt"}'},
}


LIMIT = 900


def chat(content: Any = "It is here.", finish: str = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    choices = [{"message": message, "finish_reason": finish}]
    return {"object": "chat.completion", "choices": choices, **chat_usage(9)}


def anthropic(*blocks: Any, stop: str = "end_turn") -> dict[str, Any]:
    return {"type": "message", "content": [*blocks], "stop_reason": stop, **usage(9)}


def responses(*items: Any) -> dict[str, Any]:
    return {"object": "response", "status": "completed", "output": [*items], **usage(9)}


def gemini(*parts: Any) -> dict[str, Any]:
    candidate = {"content": {"parts": [*parts]}, "finishReason": "STOP"}
    return {"candidates": [candidate], **gemini_usage(9)}


def usage(used: int) -> dict[str, Any]:
    return {"usage": {"input_tokens": 7, "output_tokens": used}}


def chat_usage(used: int) -> dict[str, Any]:
    return {"usage": {"prompt_tokens": 7, "completion_tokens": used}}


def gemini_usage(used: int) -> dict[str, Any]:
    """Half of it in thoughts, which Gemini counts apart."""
    counted = {"candidatesTokenCount": used - used // 2, "thoughtsTokenCount": used // 2}
    return {"usageMetadata": {"promptTokenCount": 7, **counted}}


USAGES = {
    "openai-chat": chat_usage,
    "anthropic-messages": usage,
    "openai-responses": usage,
    "gemini-generate": gemini_usage,
}


ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "openai-chat": (
        "https://api.openai.com/v1/chat/completions",
        {
            "model": "m",
            "max_completion_tokens": LIMIT,
            "messages": SAID,
            "tools": [{"type": "function", "function": {"name": "read", "parameters": SCHEMA}}],
        },
    ),
    "anthropic-messages": (
        "https://api.anthropic.com/v1/messages",
        {
            "model": "m",
            "max_tokens": LIMIT,
            "messages": SAID,
            "tools": [{"name": "read", "input_schema": SCHEMA}],
        },
    ),
    "openai-responses": (
        "https://api.openai.com/v1/responses",
        {
            "model": "m",
            "max_output_tokens": LIMIT,
            "input": SAID,
            "tools": [{"type": "function", "name": "read", "parameters": SCHEMA}],
        },
    ),
    "gemini-generate": (
        "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
        {
            "contents": [{"role": "user", "parts": [{"text": "Where is it?"}]}],
            "generationConfig": {"maxOutputTokens": LIMIT},
            "tools": [{"functionDeclarations": [{"name": "read", "parameters": SCHEMA}]}],
        },
    ),
}

TEXT = {"type": "text", "text": "It is here."}
USE = {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "a.txt"}}
MESSAGE = {"type": "message", "content": [{"type": "output_text", "text": "It is here."}]}
CALLED = {"type": "function_call", "call_id": "a", "name": "read", "arguments": '{"path": "x"}'}

HEALTHY = {
    "openai-chat": [chat(), chat(None, "tool_calls", tool_calls=[CHAT_CALL])],
    "anthropic-messages": [anthropic(TEXT), anthropic(TEXT, USE, stop="tool_use")],
    "openai-responses": [responses(MESSAGE), responses({"type": "reasoning"}, CALLED)],
    "gemini-generate": [
        gemini({"text": "It is here."}),
        gemini({"functionCall": {"name": "read", "args": {"path": "a.txt"}}}),
    ],
}
"""Whole answers: one of text and one with a call."""

LINES = {"lines": 3}
LACKING = {
    "openai-chat": chat(
        None,
        "tool_calls",
        tool_calls=[{**CHAT_CALL, "function": {"name": "read", "arguments": json.dumps(LINES)}}],
    ),
    "anthropic-messages": anthropic({**USE, "input": LINES}, stop="tool_use"),
    "openai-responses": responses({**CALLED, "arguments": json.dumps(LINES)}),
    "gemini-generate": gemini({"functionCall": {"name": "read", "args": LINES}}),
}
"""A call without its required member."""


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


def play(
    wire: str, *bodies: bytes, head: tenuto.sansio.Head = HEAD, piece: int = 0, **given: Any
) -> tuple[tenuto.sansio.Turn, list[Any]]:
    """A turn that these bodies answer, each in pieces, and its commands."""
    url, asked = ASKED[wire]
    given.setdefault("policy", POLICY)
    turn = tenuto.sansio.Turn("POST", url, given.pop("headers", HEADERS), encoded(asked), **given)
    answers = iter(bodies)
    pieces: Iterator[bytes] = iter(())
    commands: list[Any] = []
    reply: Any = None
    while (command := turn.next(reply)) is not None:
        commands.append(command)
        reply = None
        if isinstance(command, tenuto.sansio.SendRequest):
            reply, body = head, next(answers)
            size = piece or max(len(body), 1)
            pieces = iter([body[at : at + size] for at in range(0, len(body), size)])
        elif isinstance(command, tenuto.sansio.ReadMore):
            reply = next(pieces, b"")
    return turn, commands


def written(commands: list[Any]) -> bytes:
    return b"".join(c.data for c in commands if isinstance(c, tenuto.sansio.SendData))


def own_ids(data: bytes) -> bytes:
    """The same bytes with the ids that Tenuto makes up all alike."""
    data = re.sub(rb'"turn":"[0-9a-f]{40}"', b'"turn":"own"', data)
    return re.sub(rb"\bt[0-9a-f]{5}(?=\d{3}\b)", b"t-own", data)


def sent(commands: list[Any]) -> int:
    return sum(isinstance(command, tenuto.sansio.SendRequest) for command in commands)


def calls_of(wire: str, body: bytes) -> int:
    """How many functions of ours a turn calls."""
    play(wire, body)
    play(wire, body)
    count = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(PACKAGE)

    sys.setprofile(profile)
    try:
        play(wire, body)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.behaviour("C25", "C26")
@pytest.mark.parametrize("wire", HEALTHY)
@pytest.mark.parametrize("which", ["text", "call"])
def test_a_whole_body_is_handed_on_as_it_came_in_a_few_calls(wire: str, which: str) -> None:
    body = encoded(HEALTHY[wire][which == "call"])
    turn, commands = play(wire, body, piece=100)
    assert written(commands) == body
    assert [type(c).__name__ for c in commands if not isinstance(c, tenuto.sansio.ReadMore)] == [
        "SendRequest",
        "StartResponse",
        "SendData",
    ]
    assert commands[-1].last
    assert calls_of(wire, body) <= MOST_CALLS
    report = turn.report
    assert report is not None
    assert (report.status, report.reason, report.attempts) == ("complete", "completed", 1)


@pytest.mark.behaviour("C25")
@pytest.mark.parametrize("wire", HEALTHY)
def test_a_report_that_is_computed_when_asked_for_is_the_one_of_a_turn_with_a_listener(
    wire: str,
) -> None:
    for value in HEALTHY[wire]:
        quiet, _ = play(wire, encoded(value))
        heard, _ = play(wire, encoded(value), on_event=lambda event: None)
        assert quiet.report == heard.report is not None


def test_a_turn_has_no_report_before_its_end_and_a_cancelled_one_once_it_is_closed() -> None:
    url, asked = ASKED["openai-chat"]
    turn = tenuto.sansio.Turn("POST", url, HEADERS, encoded(asked), policy=tenuto.Policy())
    turn.next()
    turn.next(HEAD)
    assert turn.report is None
    turn.close()
    assert turn.next() is None
    report = turn.report
    assert report is not None
    assert report.reason == "cancelled"


CUT = {
    "openai-chat": [
        chat("It is", "length"),
        chat("", "stop"),
        chat("<think>Hm.</think>"),
        chat(None, "stop", refusal="No."),
        chat(None, "tool_calls"),
        chat(None, "tool_calls", tool_calls=[{**CHAT_CALL, "id": ""}]),
        chat(None, "tool_calls", tool_calls=[CHAT_CALL, CHAT_CALL]),
        chat(
            None,
            "tool_calls",
            tool_calls=[{**CHAT_CALL, "function": {"name": "read", "arguments": '{"path": "a.'}}],
        ),
        {**chat(), "error": {"message": "No."}},
        {**chat(), "object": "error"},
        {"choices": [*chat()["choices"], *chat()["choices"]]},
    ],
    "anthropic-messages": [
        anthropic(TEXT, stop="max_tokens"),
        anthropic(TEXT, stop="pause_turn"),
        anthropic({"type": "text", "text": " "}),
        anthropic(TEXT, stop="tool_use"),
        anthropic(USE),
        anthropic({**USE, "input": "{"}, stop="tool_use"),
        anthropic(USE, USE, stop="tool_use"),
        {**anthropic(TEXT), "type": "error"},
    ],
    "openai-responses": [
        {**responses(MESSAGE), "status": "incomplete"},
        responses({**MESSAGE, "status": "incomplete"}),
        responses({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}),
        responses({**CALLED, "arguments": '{"path"'}),
        responses({**CALLED, "status": "incomplete"}),
        responses(CALLED, CALLED),
        responses({"type": "reasoning"}),
    ],
    "gemini-generate": [
        gemini({"text": " "}),
        gemini({"text": "Hm.", "thought": True}),
        gemini({"functionCall": {"name": "read", "args": "{"}}),
        {**gemini({"text": "It is here."}), "prompt_feedback": {"block_reason": "SAFETY"}},
        {"candidates": [{"content": {"parts": [{"text": "It"}]}, "finishReason": "MAX_TOKENS"}]},
    ],
}
"""Answers of which something may have to be done, or told."""

for lacking_wire, lacking in LACKING.items():
    CUT[lacking_wire] += [
        {**lacking, **USAGES[lacking_wire](LIMIT)},
        {**lacking, **USAGES[lacking_wire](LIMIT + 1)},
    ]


@pytest.mark.behaviour("C25", "N3", "T1", "T4", "T13", "E1")
@pytest.mark.parametrize(
    ("wire", "value"), [(wire, value) for wire, values in CUT.items() for value in values]
)
def test_an_answer_that_is_not_certain_to_be_whole_ends_as_without_a_short_path(
    wire: str, value: dict[str, Any]
) -> None:
    short = wires()[wire].short
    assert short is not None
    assert not short.ids_if_whole(encoded(value), limit_of(wire))
    whole = encoded(HEALTHY[wire][0])
    for on_incomplete in ("stop", "error"):
        policy = tenuto.Policy(on_incomplete=on_incomplete, empty_retries=1)
        bodies = [encoded(value), *[whole] * 9]
        quiet, quiet_commands = play(wire, *bodies, policy=policy)
        heard, heard_commands = play(wire, *bodies, policy=policy, on_event=lambda event: None)
        assert own_ids(written(quiet_commands)) == own_ids(written(heard_commands))
        assert sent(quiet_commands) == sent(heard_commands)
        opened = [
            [c.head.status for c in commands if isinstance(c, tenuto.sansio.StartResponse)]
            for commands in (quiet_commands, heard_commands)
        ]
        assert opened[0] == opened[1]
        assert quiet.report == heard.report


@pytest.mark.behaviour("T12b", "C25")
@pytest.mark.parametrize("wire", LACKING)
def test_a_call_that_lacks_a_member_below_the_limit_takes_the_short_path(wire: str) -> None:
    short, lacking = wires()[wire].short, LACKING[wire]
    assert short is not None
    uncounted = {key: lacking[key] for key in lacking if not key.startswith("usage")}
    for value, limit, whole in (
        (lacking, limit_of(wire), True),
        (lacking, None, True),
        (uncounted, None, True),
        (uncounted, limit_of(wire), False),  # only the machine may know where else it is counted
        (lacking, 0, False),
    ):
        assert (short.ids_if_whole(encoded(value), limit) is not None) is whole
    for value in (lacking, uncounted):
        quiet, quiet_commands = play(wire, encoded(value))
        heard, heard_commands = play(wire, encoded(value), on_event=lambda event: None)
        assert written(quiet_commands) == written(heard_commands) == encoded(value)
        assert quiet.report == heard.report
    assert calls_of(wire, encoded(lacking)) <= MOST_CALLS


@pytest.mark.behaviour("T12b", "C25")
@pytest.mark.parametrize("config", ["generationConfig", "generation_config"])
@pytest.mark.parametrize("name", ["maxOutputTokens", "max_output_tokens"])
def test_a_limit_in_either_spelling_is_one(config: str, name: str) -> None:
    wire = "gemini-generate"
    url, asked = ASKED[wire]
    short = wires()[wire].short
    assert short is not None
    asked = {key: value for key, value in asked.items() if key != "generationConfig"}
    asks = short.asks(encoded({**asked, config: {name: 9}}), url)
    assert asks is not None
    lacking = encoded(LACKING[wire])  # its usage is 9
    assert short.ids_if_whole(lacking, asks.max_tokens) is None


def limit_of(wire: str) -> int | None:
    """The limit that the short path reads in a request."""
    short, (url, asked) = wires()[wire].short, ASKED[wire]
    assert short is not None
    asks = short.asks(encoded(asked), url)
    assert asks is not None
    assert asks.max_tokens == LIMIT
    return asks.max_tokens


@pytest.mark.behaviour("C28")
def test_bytes_that_are_no_utf_8_are_left_to_the_machine() -> None:
    for wire, values in HEALTHY.items():
        short = wires()[wire].short
        assert short is not None
        for value in values:
            body = encoded(value)[:-1] + b',"about":"\xff"}'
            assert short.ids_if_whole(body.replace(b"\xff", b"f"), LIMIT)
            assert not short.ids_if_whole(body, LIMIT)


def with_members(body: bytes, members: bytes) -> bytes:
    return body[:-1] + b"," + members + b"}"


_DIGITS = b"9" * 5_000
HOSTILE: dict[str, Any] = {
    "an error under an escaped key": rb'"\u0065rror":{"message":"No."}',
    "an error that is taken back": b'"error":{"message":"No."},"error":null',
    "an error that comes second": b'"error":null,"error":{"message":"No."}',
    "an empty error": b'"error":{}',
    "no number of JSON": b'"x":NaN',
    "a number that no double holds": b'"x":1e999',
    "a number that no int holds": b'"x":' + _DIGITS,
    "such a number in a text": b'"x":"' + _DIGITS + b'"',
    "half a surrogate pair": rb'"x":"\ud800"',
    "a bare line end in a text": b'"x":"a\nb"',
    "nesting": b'"x":' + b"[" * 2_000 + b"]" * 2_000,
    "a comma too many": b'"x":1,',
    "all tokens used": b'"usage":{"completion_tokens":900,"output_tokens":900}',
    "odd usage": b'"usage":"many"',
    "a private key": b'"_x":1',
}
AROUND: dict[str, Any] = {
    "a mark of its encoding": lambda body: b"\xef\xbb\xbf" + body,
    "white space": lambda body: b"\n " + body + b"\r\n",
    "a further object": lambda body: body + b"{}",
    "a zero byte": lambda body: body + b"\0",
    "an array": lambda body: b"[" + body + b"]",
    "UTF-16": lambda body: body.decode().encode("utf-16"),
    "too little": lambda body: body[:-1],
}


@pytest.mark.behaviour("C25", "C28", "N12")
@pytest.mark.parametrize("wire", HEALTHY)
@pytest.mark.parametrize("which", ["text", "call"])
def test_whatever_else_stands_in_a_healthy_body_it_ends_as_without_a_short_path(
    wire: str, which: str
) -> None:
    healthy = encoded(HEALTHY[wire][which == "call"])
    bodies = {what: with_members(healthy, members) for what, members in HOSTILE.items()}
    bodies |= {what: change(healthy) for what, change in AROUND.items()}
    policy = tenuto.Policy(backoff_s=0.0, continuation_max_attempts=1)
    length = tenuto.sansio.Head(200, (*HEAD.headers, (b"content-length", b"7")))
    for what, body in bodies.items():
        for head in (HEAD, length):
            answers = [body, *[healthy] * 9]
            quiet, quiet_commands = play(wire, *answers, head=head, policy=policy)
            heard, heard_commands = play(
                wire, *answers, head=head, policy=policy, on_event=lambda event: None
            )
            assert own_ids(written(quiet_commands)) == own_ids(written(heard_commands)), what
            assert sent(quiet_commands) == sent(heard_commands), what
            assert quiet.report == heard.report, what


@pytest.mark.behaviour("P8")
def test_a_body_in_a_coding_is_looked_at_decoded_and_handed_on_coded() -> None:
    coded = gzip.compress(encoded(chat()))
    head = tenuto.sansio.Head(200, (*HEAD.headers, (b"Content-Encoding", b"gzip")))
    _, commands = play("openai-chat", coded, head=head, piece=10)
    assert (written(commands), sent(commands)) == (coded, 1)
    assert next(c for c in commands if isinstance(c, tenuto.sansio.StartResponse)).head == head
    # What calls itself coded and is not cannot be read by whoever decodes it.
    _, commands = play("openai-chat", encoded(chat()), coded, head=head)
    assert sent(commands) == 2
    assert b"It is here." in written(commands)


def test_a_body_larger_than_the_limit_is_handed_on_as_it_comes() -> None:
    body = encoded(chat("It is here. " * 50))
    policy = tenuto.Policy(body_max_bytes=200)
    turn, commands = play("openai-chat", body, piece=60, policy=policy)
    assert written(commands) == body
    assert sum(isinstance(command, tenuto.sansio.SendData) for command in commands) > 1
    assert turn.report is None


@pytest.mark.behaviour("P8c")
def test_headers_for_tenuto_do_not_leave_with_a_healthy_turn() -> None:
    _, commands = play("openai-chat", encoded(chat()), headers=[*HEADERS, ("X-Tenuto", "off")])
    assert commands[0].headers == tuple((k.encode(), v.encode()) for k, v in HEADERS)


def test_headers_may_come_as_bytes() -> None:
    pairs = [(name.encode(), value.encode()) for name, value in HEADERS]
    _, commands = play("openai-chat", encoded(chat()), headers=pairs)
    assert commands[0].headers == tuple(pairs)


@pytest.mark.behaviour("N11")
@pytest.mark.parametrize("by", ["host", "server"])
def test_a_provider_that_means_its_stop_otherwise_is_left_to_the_machine(
    by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ROWS, "_all", dict(ROWS.all()))
    monkeypatch.setattr(ROWS, "changes", ROWS.changes + 1)
    at: dict[str, Any] = {"hosts": ["own.example"]} if by == "host" else {"server": "own-server"}
    tenuto.register_provider(
        tenuto.Provider("own", wire="openai-chat", overrides={"stop": "max_tokens"}, **at)
    )
    host = "own.example" if by == "host" else "another.example"
    url, asked = f"https://{host}/v1/chat/completions", encoded(ASKED["openai-chat"][1])
    head = tenuto.sansio.Head(200, ((b"Server", b"own-server/1.0"),))
    turn = tenuto.sansio.Turn("POST", url, HEADERS, asked, policy=tenuto.Policy())
    replies: list[Any] = [head, encoded(chat("It")), b"", head, encoded(chat(" is.")), b""]
    command, transmitted = turn.next(), 0
    for _ in range(20):
        if command is None or transmitted == 2:
            break
        transmitted += isinstance(command, tenuto.sansio.SendRequest)
        takes = isinstance(command, tenuto.sansio.SendRequest | tenuto.sansio.ReadMore)
        command = turn.next(replies.pop(0) if takes else None)
    assert transmitted == 2


def test_a_wire_that_is_made_from_another_has_not_its_short_path() -> None:
    assert openai_chat.WIRE.short is not None
    assert mistral.WIRE.short is None
    assert replace(openai_chat.WIRE, read=lambda value, *, event: []).short is None
    assert replace(openai_chat.WIRE, name="another").short is not None


PLAIN_ROWS: dict[str, list[Any]] = {
    "openai-chat": [SAID, [*SAID, {"role": "assistant", "content": "Here."}, *SAID]],
    "anthropic-messages": [
        SAID,
        [{"role": "user", "content": [TEXT, {"type": "image", "source": {}}]}],
        [*SAID, {"role": "assistant", "content": [TEXT]}, *SAID],
    ],
    "openai-responses": ["Where?", [], SAID, [*SAID, {"role": "assistant", "content": "Here."}]],
    "gemini-generate": [
        [{"parts": [{"text": "Where?"}, {"inlineData": {}}]}],
        [{"role": "user", "parts": []}, {"role": "model", "parts": [{"text": "Here."}]}],
    ],
}
NOTICE = "Here\n\n[This answer is incomplete: retry limit.]"
UNSURE_ROWS: dict[str, list[Any]] = {
    "openai-chat": [
        [*SAID, {"role": "assistant", "content": " "}],
        [*SAID, {"role": "assistant", "content": NOTICE}],
        [*SAID, {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}],
        [{"role": "tool", "content": "1", "tool_call_id": "a"}],
        [{"role": "user", "content": "Hi", "_own": 1}],
        [{"role": "user", "content": 5, "function_call": {}}],
    ],
    "anthropic-messages": [
        [{"role": "user", "content": [{"type": "text", "text": " "}, TEXT]}],
        [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}],
        [*SAID, {"role": "assistant", "content": [USE]}],
        [*SAID, {"role": "assistant", "content": NOTICE}],
        [*SAID, {"role": "assistant", "content": [{"type": "text", "text": NOTICE}]}],
        [*SAID, {"role": "assistant", "content": []}],
    ],
    "openai-responses": [
        [{"type": "function_call_output", "call_id": "a", "output": "1"}],
        [*SAID, {"role": "assistant", "content": NOTICE}],
        [*SAID, {"role": "assistant", "content": ""}],
        [{"type": "reasoning", "id": "rs"}],
        5,
    ],
    "gemini-generate": [
        [],
        [{"role": "user", "parts": [{"functionResponse": None}]}],
        [{"role": "model", "parts": [{"text": " "}]}],
        [{"role": "model", "parts": [{"text": NOTICE}]}],
        [{"role": "model", "parts": [{"function_call": {"name": "read"}}]}],
        [{"role": "user", "parts": [{"text": "Hi", "_own": 1}]}],
    ],
}


@pytest.mark.behaviour("H1", "H5", "C25")
@pytest.mark.parametrize("wire", PLAIN_ROWS)
def test_a_history_is_plain_where_the_machine_repairs_nothing_of_it(wire: str) -> None:
    short = wires()[wire].short
    url, asked = ASKED[wire]
    path = url.partition("api.openai.com")[2] or "/v1" + url.partition("/v1")[2]
    key = next(key for key in ("messages", "input", "contents") if key in asked)
    assert short is not None
    for rows in PLAIN_ROWS[wire]:
        body = encoded({**asked, key: rows})
        parsed = wires()[wire].request(body, 0, path, openai_chat_dialect())
        assert parsed is not None
        asks = short.asks(body, path)
        assert asks is not None
        assert (asks.stream, asks.follows, asks.alone) == (False, "", False)
        assert not parsed.repairs
    for rows in UNSURE_ROWS[wire]:
        assert short.asks(encoded({**asked, key: rows}), path) is None
    escaped = encoded({**asked, key: PLAIN_ROWS[wire][-1]}).replace(
        b'"role"', b'"\\u005fown":1,"role"'
    )
    assert short.asks(escaped, path) is None


@pytest.mark.parametrize("wire", PLAIN_ROWS)
def test_a_request_is_uncertain_with_what_may_be_our_notice_or_cannot_be_read(wire: str) -> None:
    short = wires()[wire].short
    url, asked = ASKED[wire]
    path = url.partition("api.openai.com")[2] or "/v1" + url.partition("/v1")[2]
    assert short is not None
    body = encoded(asked)
    assert short.asks(body, path) is not None
    for members in (
        b'"x":"[This answer is incomplete: retry limit.]"',
        rb'"x":"[\u0054his answer is incomplete: retry limit.]"',
        rb'"x":"[T\u0068is answer is incomplete: retry limit.]"',
        rb'"\u005fx":1',
        b'"x":' + _DIGITS,
        b'"x":"\xff"',
        rb'"x":"\ud800',
        b'"x":NaN',
    ):
        assert short.asks(with_members(body, members), path) is None, members
    assert short.asks(with_members(body, rb'"x":"caf\u00e9 \u003cb\u003e"'), path) is not None


def openai_chat_dialect() -> Any:
    return ROWS.all()["openai"].dialect


def test_turns_of_one_policy_share_what_they_were_taught() -> None:
    policy = tenuto.Policy()
    url, asked = ASKED["openai-responses"]
    cut = encoded({**responses(MESSAGE), "id": "resp_1", "status": "incomplete"})
    more = {"type": "message", "content": [{"type": "output_text", "text": " Behind the door."}]}
    rest = encoded({**responses(more), "id": "resp_2"})
    play("openai-responses", cut, rest, policy=policy)
    body = encoded({**asked, "previous_response_id": "resp_1"})
    turn = tenuto.sansio.Turn("POST", url, HEADERS, body, policy=policy)
    command = turn.next()
    assert isinstance(command, tenuto.sansio.SendRequest)
    assert json.loads(command.body)["previous_response_id"] == "resp_2"


# --- streams ------------------------------------------------------------------------------------

EVENTS = tenuto.sansio.Head(200, ((b"content-type", b"text/event-stream"),))
MOST_CALLS_AN_EVENT = 3


def named(value: dict[str, Any]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (value["type"].encode(), encoded(value))


def chat_events(*texts: str) -> list[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        value = {"object": "chat.completion.chunk", "choices": [choice], "obfuscation": "k3f"}
        return b"data: " + encoded(value) + b"\n\n"

    said = [chunk({"content": text}) for text in texts]
    return [chunk({"role": "assistant"}), *said, chunk({}, "stop"), b"data: [DONE]\n\n"]


def anthropic_events(*texts: str) -> list[bytes]:
    def delta(text: str) -> dict[str, Any]:
        piece = {"type": "text_delta", "text": text}
        return {"type": "content_block_delta", "index": 0, "delta": piece}

    block, usage = {"type": "text", "text": ""}, {"output_tokens": 9}
    values: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "a", "content": [], "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "ping"},
        *map(delta, texts),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    ]
    return [named(value) for value in values]


def responses_events(*texts: str) -> list[bytes]:
    place = {"item_id": "m", "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "annotations": [], "text": ""}
    item = {"id": "m", "type": "message", "content": [], "status": "in_progress"}
    values: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "r", "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", **place, "part": part},
        *({"type": "response.output_text.delta", **place, "delta": text} for text in texts),
        {"type": "response.output_text.done", **place, "text": "".join(texts)},
        {"type": "response.content_part.done", **place, "part": {**part, "text": "".join(texts)}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**responses(MESSAGE), "id": "r"}},
    ]
    return [named({**value, "sequence_number": n}) for n, value in enumerate(values)]


def gemini_events(*texts: str) -> list[bytes]:
    values: list[dict[str, Any]] = [gemini({"text": text}) for text in texts]
    for number, value in enumerate(values):
        value["usageMetadata"] = {"candidatesTokenCount": number, "totalTokenCount": number + 9}
        if number + 1 < len(values):
            del value["candidates"][0]["finishReason"]
    return [b"data: " + encoded(value) + b"\r\n\r\n" for value in values]


STREAMS: dict[str, Any] = {
    "openai-chat": chat_events,
    "anthropic-messages": anthropic_events,
    "openai-responses": responses_events,
    "gemini-generate": gemini_events,
}
TEXTS = ["Once", " there", " was", "\n\n", "a town", " “so”", "\n", " by the", " river", "."]


def stream(wire: str, pieces: list[bytes], **given: Any) -> tuple[tenuto.sansio.Turn, list[Any]]:
    """A turn that is answered with these pieces of a stream."""
    url, asked = ASKED[wire]
    if wire == "gemini-generate":
        url = url.replace(":generateContent", ":streamGenerateContent?alt=sse")
    else:
        asked = {**asked, "stream": True}
    given.setdefault("policy", POLICY)
    turn = tenuto.sansio.Turn("POST", url, HEADERS, encoded(asked), **given)
    left: Iterator[bytes] = iter(())
    commands: list[Any] = []
    reply: Any = None
    while (command := turn.next(reply)) is not None:
        commands.append(command)
        reply = None
        if isinstance(command, tenuto.sansio.SendRequest):
            left, reply = iter(pieces), EVENTS
        elif isinstance(command, tenuto.sansio.ReadMore):
            reply = next(left, b"")
    return turn, commands


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def had(commands: list[Any]) -> list[int]:
    """How many bytes the caller has whenever more is read."""
    size, found = 0, []
    for command in commands:
        size += len(command.data) if isinstance(command, tenuto.sansio.SendData) else 0
        if isinstance(command, tenuto.sansio.ReadMore):
            found.append(size)
    return found


@pytest.mark.behaviour("C25", "C26", "S4", "C7")
@pytest.mark.parametrize("wire", STREAMS)
@pytest.mark.parametrize("size", [0, 1, 7, 150, 2_000, 16_000])
def test_a_healthy_stream_gives_the_same_bytes_at_the_same_time(wire: str, size: int) -> None:
    events = STREAMS[wire](*TEXTS * 4)
    pieces = cut(b"".join(events), size) if size else events
    quiet, quiet_commands = stream(wire, pieces)
    heard, heard_commands = stream(wire, pieces, on_event=lambda event: None)
    assert written(quiet_commands) == b"".join(events) == written(heard_commands)
    assert had(quiet_commands) == had(heard_commands)
    assert quiet.report == heard.report is not None
    assert heard.report.status == "complete"


@pytest.mark.behaviour("C25")
@pytest.mark.parametrize("wire", STREAMS)
def test_a_further_event_of_a_healthy_stream_takes_a_few_calls(wire: str) -> None:
    def calls(events: list[bytes]) -> int:
        count = 0

        def profile(frame: FrameType, event: str, _: object) -> None:
            nonlocal count
            count += event == "call" and frame.f_code.co_filename.startswith(PACKAGE)

        stream(wire, events)
        sys.setprofile(profile)
        try:
            stream(wire, events)
        finally:
            sys.setprofile(None)
        return count

    few, many = (calls(STREAMS[wire](*TEXTS * times)) for times in (4, 8))
    assert (many - few) / (4 * len(TEXTS)) <= MOST_CALLS_AN_EVENT


@pytest.mark.behaviour("C25", "S3", "N3", "S6")
@pytest.mark.parametrize("wire", STREAMS)
def test_a_stream_that_is_not_certain_to_be_whole_ends_as_without_a_short_path(wire: str) -> None:
    events = STREAMS[wire](*TEXTS)
    odd = {
        "cut": events[:-2],
        "comment": [*events[:5], b": wait\n\n", *events[5:]],
        "error": [*events[:5], b'event: error\ndata: {"error":{"message":"No."}}\n\n'],
        "twice": [*events, events[-1]],
        "garbage": [*events[:5], b"data: {\n\n", *events[5:]],
        "text behind the stop": [*events[:-1], events[4], events[-1]],
        "not UTF-8": [*events[:5], events[5].replace(b'"', b'"\xff', 1), *events[6:]],
        "a name that is not UTF-8": [*events[:5], b"event: no\xf4ne\n" + events[5], *events[6:]],
        "a number that no int holds": [
            *events[:5],
            events[5].replace(b"{", b'{"x":' + _DIGITS + b",", 1),
            *events[6:],
        ],
        "a page": [b"<html>"],
        "a body": [encoded(HEALTHY[wire][0])],
    }
    policy = tenuto.Policy(backoff_s=0.0, continuation_max_attempts=1)
    for what, pieces in odd.items():
        quiet, quiet_commands = stream(wire, pieces, policy=policy)
        heard, heard_commands = stream(wire, pieces, policy=policy, on_event=lambda event: None)
        assert own_ids(written(quiet_commands)) == own_ids(written(heard_commands)), what
        assert sent(quiet_commands) == sent(heard_commands), what
        assert had(quiet_commands) == had(heard_commands), what
        assert quiet.report == heard.report, what


@pytest.mark.parametrize("wire", STREAMS)
def test_an_event_larger_than_the_limit_is_given_up_as_soon_as_without_a_short_path(
    wire: str,
) -> None:
    policy = tenuto.Policy(event_max_bytes=900, backoff_s=0.0)
    pieces = cut(b"".join(STREAMS[wire](*TEXTS[:4], "long " * 400, *TEXTS)), 300)
    quiet, quiet_commands = stream(wire, pieces, policy=policy)
    heard, heard_commands = stream(wire, pieces, policy=policy, on_event=lambda event: None)
    assert own_ids(written(quiet_commands)) == own_ids(written(heard_commands))
    assert had(quiet_commands) == had(heard_commands)
    assert quiet.report == heard.report


def test_events_without_the_type_of_their_text_are_left_to_the_machine() -> None:
    for wire, data in {
        "anthropic-messages": b'{"type":"content_block_delta","delta":{"text":"Hi"}}',
        "openai-responses": b'{"type":"response.content_part.added","part":{"text":""}}',
    }.items():
        short = wires()[wire].short
        assert short is not None
        assert short.event(data)[0].value == "unsure"


@pytest.mark.behaviour("C23")
@pytest.mark.parametrize("wire", STREAMS)
def test_a_caller_that_leaves_before_the_end_is_written_has_cancelled_the_turn(wire: str) -> None:
    url, asked = ASKED[wire]
    if wire == "gemini-generate":
        url = url.replace(":generateContent", ":streamGenerateContent?alt=sse")
    body = encoded({**asked, "stream": True} if "contents" not in asked else asked)
    reports: list[Any] = []
    for hear in (None, lambda event: None):
        turn = tenuto.sansio.Turn("POST", url, HEADERS, body, policy=POLICY, on_event=hear)
        left, command = iter([b"".join(STREAMS[wire](*TEXTS))]), turn.next()
        reply: Any
        while not isinstance(command, tenuto.sansio.SendData):
            reply = None
            if isinstance(command, tenuto.sansio.SendRequest):
                reply = EVENTS
            elif isinstance(command, tenuto.sansio.ReadMore):
                reply = next(left, b"")
            command = turn.next(reply)
        turn.close()
        reports.append(turn.report)
    assert reports[0] == reports[1] is not None
    assert reports[0].reason == "cancelled"
