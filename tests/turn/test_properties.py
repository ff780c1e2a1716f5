"""The pipe against whatever bytes a provider may send: real bytes, no socket, one property a test."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.pairing import some_or_every

from tenuto.core.deciding.view import LIMITS
from tenuto.core.errors import PolicyError
from tenuto.core.events.event import Event
from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import ConnectionLost, Head, Request, SendRequest
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted, ScriptedUpstream, lost
from tenuto.turn.pipeline.engine import Engine

TEXT = (
    "Caf\u00e9 owners, \u6771\u4eac visitors and \U0001f469\u200d\U0001f4bb engineers:\n\n"
    "1. Boil the water.\n2. Warm the pot.\n\n```python\nif x:\n    pour(x)\n```\nThat is all."
)
CALLS = [
    ("call_a", "write", '{"path": "a.txt", "n": 1.0}'),
    ("call_b", "read", '{"path": "\\u00e9"}'),
]
ROWS = (
    b'{"role": "system",  "content": "Be brief \\u2014 and kind."}',
    b'{"content":"Tell me.","role":"user","weight":1.0,"odd":123456789012345678901234567890}',
)
QUICK = Policy(backoff_s=0.0)
MOST = 1 + sum(getattr(QUICK, key) for key in LIMITS.values())


def body_of_request(stream: bool, **more: Any) -> bytes:
    tail = b"".join(b', "%s": %s' % (k.encode(), json.dumps(v).encode()) for k, v in more.items())
    return b'{"model": "m", "messages": [ %s ], "stream": %s, "seed": 7%s}' % (
        b" , ".join(ROWS),
        b"true" if stream else b"false",
        tail,
    )


# --- what a provider sends --------------------------------------------------------------------


def event(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    value = {"id": "c1", "object": "chat.completion.chunk"}
    return b"data: " + json.dumps(value | {"choices": [choice]} | more).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
USAGE = b'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":30}}\n\n'


def events_of(text: str, calls: Any = (), finish: str | None = None, size: int = 30) -> list[bytes]:
    made = [event({"role": "assistant", "content": ""})]
    made += [event({"content": text[n : n + size]}) for n in range(0, len(text), size)]
    for number, (call_id, name, raw) in enumerate(calls):
        function = {"name": name, "arguments": ""}
        head = {"index": number, "id": call_id, "type": "function", "function": function}
        made.append(event({"tool_calls": [head]}))
        for n in range(0, len(raw), 18):
            piece = {"index": number, "function": {"arguments": raw[n : n + 18]}}
            made.append(event({"tool_calls": [piece]}))
    made.append(event({}, finish or ("tool_calls" if calls else "stop")))
    return [*made, USAGE, DONE]


def document(text: str, calls: Any = (), finish: str | None = None) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": i, "type": "function", "function": {"name": n, "arguments": a}}
            for i, n, a in calls
        ]
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": finish or ("tool_calls" if calls else "stop"),
    }
    usage = {"prompt_tokens": 9, "completion_tokens": 30}
    return json.dumps(
        {"id": "c1", "choices": [choice], "usage": usage}, ensure_ascii=False
    ).encode()


STREAMS = {
    "text": b"".join(events_of(TEXT)),
    "calls": b"".join(events_of("I will write.\n", CALLS)),
    "calls_only": b"".join(events_of("", CALLS)),
    "comments": b": hi\n\n" + b": ping\n\n".join(events_of(TEXT, size=40)),
    "carriage_returns": b"".join(events_of(TEXT, size=40)).replace(b"\n", b"\r\n"),
}
ANSWERS: dict[str, tuple[str, Any]] = {
    "text": (TEXT, []),
    "calls": ("I will write.\n", CALLS),
    "calls_only": ("", CALLS),
    "comments": (TEXT, []),
    "carriage_returns": (TEXT, []),
}


class Limited(NamedTuple):
    """An answer that goes on from the request's own text, up to a place where the limit cuts it."""

    place: int
    cuts: Any


class Ideal:
    """A provider that breaks its first answers and then goes on exactly where it was cut."""

    def __init__(self, text: str, calls: Any, *broken: Scripted | ConnectionLost | Limited) -> None:
        self.text, self.calls, self.broken = text, calls, broken
        self.transmitted: list[SendRequest] = []
        self.opened: list[ScriptedUpstream] = []

    def connect(self, command: SendRequest) -> ScriptedUpstream | ConnectionLost:
        self.transmitted.append(command)
        asked = json.loads(command.body)
        said = "".join(m["content"] or "" for m in asked["messages"] if m["role"] == "assistant")
        broken = self.broken[len(self.transmitted) - 1 : len(self.transmitted)]
        answer = broken[0] if broken else None
        if isinstance(answer, Limited):
            events = b"".join(events_of(self.text[len(said) : answer.place], finish="length"))
            answer = Scripted.stream(*chunked(events, answer.cuts))
        if answer is None:
            assert self.text.startswith(said), "a request holds what was said, and only that"
            rest = self.text[len(said) :]
            if asked["stream"]:
                answer = Scripted.stream(b"".join(events_of(rest, self.calls)))
            else:
                answer = Scripted.body(document(rest, self.calls))
        if isinstance(answer, ConnectionLost):
            return answer
        self.opened.append(ScriptedUpstream(answer))
        return self.opened[-1]


# --- what the caller gets ---------------------------------------------------------------------


@dataclass
class Heard:
    """A turn as its caller sees it."""

    head: Head | None = None
    raw: bytes = b""
    text: str = ""
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    finishes: list[str] = field(default_factory=list)
    dones: int = 0
    errors: list[Any] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    events: list[Event] = field(default_factory=list)

    @property
    def made(self) -> list[tuple[str, str, str]]:
        return [(c["id"], c["name"], c["arguments"]) for c in self.calls.values()]

    @property
    def ending(self) -> dict[str, object]:
        (ended,) = [e for e in self.events if e.name == "turn_ended"]
        return ended.data


def turn(
    connect: Callable[[SendRequest], Any],
    stream: bool = True,
    policy: Policy = QUICK,
    **more: Any,
) -> tuple[Drive, Heard]:
    heard = Heard()
    body = body_of_request(stream, **more)
    request = Request("POST", "https://host/v1/chat/completions", ((b"accept", b"*/*"),), body)
    run = Engine(policy, heard.events.append).begin(request)
    assert run is not None
    return Drive(run, connect), heard


def play(connect: Callable[[SendRequest], Any], stream: bool = True, **more: Any) -> Heard:
    drive, heard = turn(connect, stream, **more)
    head, *pieces = drive.pieces()
    assert isinstance(head, Head)
    heard.head = head
    heard.raw = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    if "event-stream" in head.get(b"content-type"):
        read_stream(heard)
    else:
        read_body(heard)
    return heard


def read_stream(heard: Heard) -> None:
    # As SDKs do, what the end left unfinished is not looked at: such bytes pass as they came.
    lines = (
        heard.raw.decode()
        .replace("\r\n", "\n")
        .replace("\r", "\n")
        .rpartition("\n\n")[0]
        .split("\n")
    )
    for line in lines:
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:"):  # a comment, or a field that nobody knows
            continue
        if data == "[DONE]":
            heard.dones += 1
            continue
        value = json.loads(data)
        heard.errors += [value["error"]] if "error" in value else []
        heard.ids |= {value["id"]} if "id" in value else set()
        for choice in value.get("choices", ()):
            delta = choice.get("delta") or {}
            heard.text += delta.get("content") or ""
            heard.finishes += [choice["finish_reason"]] if choice.get("finish_reason") else []
            for piece in delta.get("tool_calls", ()):
                made = heard.calls.setdefault(
                    piece["index"], {"id": "", "name": "", "arguments": ""}
                )
                made["id"] += piece.get("id") or ""
                made["name"] += piece["function"].get("name") or ""
                made["arguments"] += piece["function"].get("arguments") or ""


def read_body(heard: Heard) -> None:
    value = json.loads(heard.raw)
    if "error" in value:
        heard.errors.append(value["error"])
        return
    (choice,) = value["choices"]
    heard.text = choice["message"]["content"] or ""
    heard.finishes = [choice["finish_reason"]]
    heard.dones = 1
    for number, made in enumerate(choice["message"].get("tool_calls") or ()):
        heard.calls[number] = {"id": made["id"], **made["function"]}


def check_requests(transmitted: list[SendRequest]) -> None:
    """Every request is JSON, and what the client sent stands in it byte for byte (C7)."""
    assert len(transmitted) <= MOST
    bodies = [command.body for command in transmitted]
    for body in bodies:
        json.loads(body)
    for body in bodies[1:]:
        if body != bodies[0]:
            assert b'"messages":[' + b",".join(ROWS) in body
            assert b'"seed":7' in body


def check_heard(heard: Heard) -> None:
    """One terminal, and no call that is not whole."""
    assert heard.head is not None
    if heard.errors:
        assert len(heard.errors) == 1
        assert heard.finishes == []
    else:
        assert len(heard.finishes) == 1
        assert heard.head.status == 200
    assert heard.dones <= 1
    assert len(heard.ids) <= 1
    for _, name, raw in heard.made:
        assert name
        assert isinstance(json.loads(raw), dict)
    if heard.calls:  # beside another stop, they came whole in an answer that was cut
        whole = heard.ending["status"] == "complete"
        assert heard.finishes == ["tool_calls" if whole else "length"]


def check_whole_but_for_its_end(heard, text, calls) -> None:
    """The same, or that it lacks the end alone: where all text came and its stop did not, nobody can
    know that nothing follows (S3a)."""
    if heard.text == text and not calls and not heard.finishes:
        assert heard.ending["reason"] in ("completed", "provider_error")
        return
    check_whole(heard, text, calls)


def check_whole(heard: Heard, text: str, calls: Any) -> None:
    check_heard(heard)
    assert heard.text == text, "nothing lost, nothing twice"
    assert heard.made == list(calls)
    # Where all was said before the break, there is nothing to go on with, and no end was heard.
    nothing_left = heard.ending["reason"] == "empty_output" and not calls
    assert heard.ending["status"] == "complete" or nothing_left


def cut_points(data: bytes) -> range:
    return range(len(data) + 1)


def chunked(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True) if a < b]


any_cuts = st.lists(st.integers(0, 10_000), max_size=8)


# --- the properties ---------------------------------------------------------------------------


@pytest.mark.behaviour("C25", "P8")
@pytest.mark.parametrize("name", STREAMS)
@given(any_cuts)
@settings(max_examples=25)
def test_a_normal_stream_comes_out_byte_for_byte_however_it_was_cut(name, cuts) -> None:
    script = Script(Scripted.stream(*chunked(STREAMS[name], cuts)))
    heard = play(script.connect)
    assert heard.raw == STREAMS[name]
    assert [command.body for command in script.transmitted] == [body_of_request(True)]
    check_whole(heard, *ANSWERS[name])


@pytest.mark.behaviour("C25", "P8", "S8")
def test_a_normal_stream_fed_byte_by_byte_comes_out_byte_for_byte() -> None:
    for data in STREAMS.values():
        script = Script(Scripted.stream(*(data[n : n + 1] for n in range(len(data)))))
        assert play(script.connect).raw == data


@pytest.mark.behaviour("C25")
@given(any_cuts)
@settings(max_examples=25)
def test_a_normal_body_comes_out_byte_for_byte(cuts) -> None:
    for answer in (document(TEXT), document("", CALLS)):
        script = Script(Scripted.body(*chunked(answer, cuts)))
        heard = play(script.connect, stream=False)
        assert heard.raw == answer
        assert len(script.transmitted) == 1


@pytest.mark.behaviour("C5", "C7", "S1", "S2", "S3", "T16")
@some_or_every
@pytest.mark.parametrize(
    ("name", "end"),
    [*((name, "in order") for name in STREAMS), ("calls", "by a broken connection")],
)
def test_a_stream_that_is_cut_at_any_byte_is_finished_exactly(name, end, every) -> None:
    data, (text, calls) = STREAMS[name], ANSWERS[name]
    # How a connection ends has nothing to do with where in an event it does: a few places in each.
    behind, step = ((), 1) if end == "in order" else ((lost(),), 7)
    for cut in cut_points(data)[:: step if every else 3 * step]:
        provider = Ideal(text, calls, Scripted.stream(data[:cut], *behind))
        heard = play(provider.connect)
        check_requests(provider.transmitted)
        check_whole_but_for_its_end(heard, text, calls)


@pytest.mark.behaviour("C5", "S1", "T16")
@pytest.mark.parametrize("end", ["in order", "by a broken connection"])
def test_a_body_that_is_cut_at_any_byte_is_asked_for_again(end) -> None:
    behind = () if end == "in order" else (lost(),)
    for text, calls in ((TEXT, []), ("Well.", CALLS)):
        data = document(text, calls)
        for cut in range(len(data)):
            provider = Ideal(text, calls, Scripted.body(data[:cut], *behind))
            heard = play(provider.connect, stream=False)
            check_requests(provider.transmitted)
            check_whole(heard, text, calls)


@pytest.mark.behaviour("C1", "C7", "C16", "C19", "S2")
@example([30, 81], [])  # it is put aside there while it may still become a repetition
@given(st.lists(st.integers(1, len(TEXT) - 1), min_size=1, max_size=3, unique=True), any_cuts)
@example([58, 98], [])  # the continuation comes in one piece, with line breaks
@settings(max_examples=60)
def test_text_that_the_limit_cuts_anywhere_is_continued_exactly(places, cuts) -> None:
    places.sort()
    broken, start = [], 0
    for place in places:
        piece = TEXT[len(TEXT[:start].rstrip()) : place] if start else TEXT[:place]
        start = place
        if not piece.strip():
            return  # a response of white space alone is another story
        broken.append(Limited(place, cuts))
    provider = Ideal(TEXT, [], *broken)
    heard = play(provider.connect)
    check_requests(provider.transmitted)
    check_whole(heard, TEXT, [])
    assert len(provider.transmitted) == len(places) + 1


@pytest.mark.behaviour("T1", "T5", "T16", "S4")
@given(st.data(), st.booleans(), st.sampled_from(["length", "tool_calls", "stop"]))
@settings(max_examples=60)
def test_calls_that_are_cut_anywhere_never_reach_the_caller(data, stream, finish) -> None:
    calls = [list(call) for call in CALLS]
    which = data.draw(st.integers(0, 1))
    broken = calls[which]
    broken[2] = broken[2][
        : data.draw(st.integers(0 if finish == "length" else 1, len(broken[2]) - 1))
    ]
    answer = (
        Scripted.stream(b"".join(events_of("Well. ", calls, finish)))
        if stream
        else Scripted.body(document("Well. ", calls, finish))
    )
    provider = Ideal("Well. ", CALLS, answer)
    check_whole(play(provider.connect, stream=stream), "Well. ", CALLS)
    check_requests(provider.transmitted)
    script = Script(answer)
    heard = play(script.connect, stream=stream)
    check_heard(heard)
    check_requests(script.transmitted)
    # The other call is whole, unless it is the last that came before the limit.
    whole = [] if which == 0 and finish == "length" else [CALLS[1 - which]]
    assert (heard.made, heard.text.strip()) == (whole, "Well.")
    assert heard.ending["reason"] == "tool_call_truncated"


GARBAGE = (b"data: {\n\n", b"data: <html>\n\n", b"data: \xff\xfe\n\n", b'data: {"a":"\n\n')


@pytest.mark.behaviour("S9", "S2", "N6")
@pytest.mark.parametrize("name", ["text", "calls"])
@given(st.integers(0, 100), st.sampled_from(GARBAGE), any_cuts)
@settings(max_examples=30)
def test_garbage_between_events_is_a_fault_and_the_text_goes_on(name, at, garbage, cuts) -> None:
    text, calls = ANSWERS[name]
    events = events_of(text, calls)
    events.insert(at % len(events), garbage)
    provider = Ideal(text, calls, Scripted.stream(*chunked(b"".join(events), cuts)))
    heard = play(provider.connect)
    check_requests(provider.transmitted)
    check_whole_but_for_its_end(heard, text, calls)


@pytest.mark.behaviour("N6", "T16", "S9")
@given(
    st.sampled_from(sorted(STREAMS)),
    st.lists(st.tuples(st.integers(0, 9_000), st.binary(min_size=1, max_size=6)), max_size=4),
    st.booleans(),
)
@settings(max_examples=120)
def test_random_bytes_anywhere_lead_to_one_end_and_no_broken_call(name, inserted, stream) -> None:
    data = STREAMS[name] if stream else document(*ANSWERS[name])
    for place, junk in inserted:
        at = place % (len(data) + 1)
        data = data[:at] + junk + data[at:]
    answer = Scripted.stream(data) if stream else Scripted.body(data)
    script = Script(answer)
    drive, heard = turn(script.connect, stream)
    head, *pieces = drive.pieces()
    assert isinstance(head, Head)
    raw = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    assert len([e for e in heard.events if e.name == "turn_ended"]) == 1
    check_requests(script.transmitted)
    if heard.ending["status"] != "complete":
        # As the data of an event: elsewhere it is the garbage that was put in.
        assert len(re.findall(rb"^data: ?\[DONE\]\r?$", raw, re.MULTILINE)) <= 1
        assert raw.count(b'"tenuto_incomplete"') + raw.count(b'"finish_reason":"length"') <= 1
    else:
        assert all(isinstance(json.loads(made), dict) for made in arguments_in(raw, stream))


def arguments_in(raw: bytes, stream: bool) -> list[str]:
    """The argument texts that a lenient reader finds."""
    found: dict[Any, str] = {}
    parts = (
        raw.decode("utf-8", "replace").splitlines() if stream else [raw.decode("utf-8", "replace")]
    )
    for part in parts:
        try:
            value = json.loads(part.removeprefix("data:"))
            (choice,) = value["choices"]
            pieces = (choice.get("delta") or choice.get("message"))["tool_calls"]
        except (ValueError, LookupError, TypeError, AttributeError):
            continue
        for number, piece in enumerate(pieces):
            key = piece.get("index", number)
            found[key] = found.get(key, "") + (piece["function"].get("arguments") or "")
    return list(found.values())


@pytest.mark.behaviour("S8", "T16")
@given(st.randoms(use_true_random=False), st.sampled_from(["text", "calls", "calls_only"]))
@settings(max_examples=60)
def test_events_in_any_order_lead_to_one_end_and_no_broken_call(random, name) -> None:
    events = events_of(*ANSWERS[name])[:-1]
    random.shuffle(events)
    script = Script(Scripted.stream(b"".join(events) + DONE))
    heard = play(script.connect)
    check_heard(heard)
    check_requests(script.transmitted)


ALWAYS = {
    "cut text": events_of("Some more. ", finish="length"),
    "cut call": events_of("", [("a", "write", '{"pa')], "length"),
    "malformed call": events_of("", [("a", "write", "{a}")]),
    "missing call": events_of("Calling. ", finish="tool_calls"),
    "empty": events_of(""),
    "thought": events_of("<think>hm</think>"),
    "dropped": [event({"content": "Some. "}), b'data: {"choi'],
    "nothing": [],
    "error": [event({"content": "So. "}), b'data: {"error":{"message":"no"}}\n\n', DONE],
    "unknown": events_of("Some. ", finish="brand_new"),
}


@pytest.mark.behaviour("C2", "C5", "E5", "P1", "P5", "S1")
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("on_incomplete", ["stop", "notice", "error"])
@pytest.mark.parametrize("name", ALWAYS)
def test_a_provider_that_never_does_better_is_given_up(name, on_incomplete, stream) -> None:
    answer = Scripted.stream(*ALWAYS[name])
    if not stream:
        whole = b"".join(ALWAYS[name])
        parts = [
            json.loads(e[6:])
            for e in whole.split(b"\n\n")
            if e.startswith(b"data: {") and e.endswith(b"}")
        ]
        text = "".join(c["delta"].get("content") or "" for p in parts for c in p.get("choices", ()))
        finish = [c["finish_reason"] for p in parts for c in p.get("choices", ())]
        if name in ("dropped", "nothing", "error") or "call" in name:
            return
        answer = Scripted.body(document(text, (), next(f for f in finish if f)))
    script = Script(answer)
    policy = Policy(backoff_s=0.0, on_incomplete=on_incomplete)
    heard = play(script.connect, stream, policy=policy)
    assert heard.ending["status"] in ("partial", "failed")
    check_requests(script.transmitted)
    assert len(heard.errors) + len(heard.finishes) == 1
    assert heard.calls == {}
    if on_incomplete == "error":
        assert len(heard.errors) == 1
    elif heard.finishes:
        # `stop` is told to nobody unless the provider said so itself, after it was asked again.
        assert heard.finishes[0] in ("length", "brand_new") or name == "missing call"
    started = [e for e in heard.events if e.name == "continuation_attempt"]
    ended = [e for e in heard.events if e.name == "continuation_terminated"]
    assert len(ended) == bool(started)
    assert all(int(str(e.data["attempts_left"])) >= 0 for e in started)


@pytest.mark.behaviour("C23", "P6")
@pytest.mark.parametrize("name", ["continued", "normal", "resumed", "given up"])
def test_a_caller_that_leaves_at_any_point_cancels_exactly_once(name) -> None:
    cut = Scripted.stream(*events_of("Half of it", finish="length"))
    rest = Scripted.stream(*events_of(" and the rest of it."))
    broken = Scripted.stream(*events_of("Half of it")[:-3], lost())
    script = {
        "continued": (cut, rest),
        "normal": (rest,),
        "resumed": (broken, rest),
        "given up": (cut,),
    }[name]
    for taken in range(200):
        provider = Script(*script)
        drive, heard = turn(provider.connect)
        pieces: Iterator[Head | bytes] = drive.pieces()
        left = all(next(pieces, None) is not None for _ in range(taken))
        drive.close()
        drive.close()
        names = [e.name for e in heard.events]
        assert all(upstream.closed for upstream in provider.opened)
        if taken:
            assert names.count("turn_ended") == 1
            assert names.count("cancelled") == (heard.ending["reason"] == "cancelled")
            assert names.count("continuation_terminated") == ("continuation_attempt" in names)
        if not left:
            assert "cancelled" not in names
            break
    else:
        raise AssertionError("the turn did not end")


@pytest.mark.behaviour("P1b")
def test_a_connection_that_is_never_made_is_left_to_the_sdk() -> None:
    drive, _ = turn(Script(lost()).connect)
    with pytest.raises(ConnectionError, match="scripted"):
        list(drive.pieces())


@pytest.mark.behaviour("C28", "P8")
@pytest.mark.parametrize("stream", [True, False])
def test_what_is_left_alone_passes_byte_for_byte_its_break_included(stream) -> None:
    data = STREAMS["text"] if stream else document(TEXT, finish="length")
    make = Scripted.stream if stream else Scripted.body
    script = Script(make(data[:40], data[40:]))
    heard = play(script.connect, stream, n=2)
    assert heard.raw == data
    assert script.transmitted[0].body == body_of_request(stream, n=2)
    script = Script(make(data[:40], data[40:90], lost()))
    drive, _ = turn(script.connect, stream, n=2)
    with pytest.raises(ConnectionError, match="scripted"):
        list(drive.pieces())
    assert len(script.transmitted) == 1


@pytest.mark.behaviour("S1")
def test_a_break_behind_the_last_word_is_no_news() -> None:
    events = events_of(TEXT)
    for known in (events[:-1], events[:-2]):
        heard = play(Script(Scripted.stream(*known, lost())).connect)
        assert (heard.text, heard.finishes, heard.errors) == (TEXT, ["stop"], [])
        assert heard.ending["status"] == "complete"


@pytest.mark.behaviour("P2")
def test_a_decide_that_raises_costs_no_answer(caplog) -> None:
    def broken(decision: object) -> str | None:
        raise ZeroDivisionError

    provider = Ideal(TEXT, [], Scripted.body(document(TEXT[:40], finish="length")))
    policy = Policy(backoff_s=0.0, decide=broken)
    check_whole(play(provider.connect, stream=False, policy=policy), TEXT, [])
    assert "decide raised" in caplog.text


@pytest.mark.behaviour("P2")
@pytest.mark.parametrize("stream", [True, False])
def test_a_decide_that_names_no_rung_is_an_error_of_its_callers(stream) -> None:
    policy = Policy(backoff_s=0.0, decide=lambda decision: "continue")
    provider = Ideal(TEXT, [], Scripted.body(document(TEXT[:40], finish="length")))
    with pytest.raises(PolicyError, match="decide returned 'continue' for the outcome"):
        play(provider.connect, stream=stream, policy=policy)
    assert len(provider.transmitted) == 1


@pytest.mark.behaviour("C17", "P5")
def test_the_limit_that_a_provider_names_holds_for_the_rest_of_the_turn() -> None:
    message = "max_tokens is too large: 90000. This model supports at most 300 completion tokens"
    refused = Scripted.body(json.dumps({"error": {"message": message}}).encode(), status=400)
    cut = Scripted.body(document(TEXT[:40], finish="length"))
    provider = Ideal(TEXT, [], refused, cut)
    heard = play(provider.connect, stream=False, max_tokens=90_000)
    check_whole(heard, TEXT, [])
    asked = [json.loads(command.body)["max_tokens"] for command in provider.transmitted]
    assert asked == [90_000, 300, 300]


@pytest.mark.behaviour("P5", "H5")
def test_keys_that_a_provider_rejects_stay_out_for_the_rest_of_the_turn() -> None:
    def refusing(key: str) -> Scripted:
        message = f"Unrecognized request argument supplied: {key}"
        return Scripted.body(json.dumps({"error": {"message": message}}).encode(), status=400)

    cut = Scripted.body(document(TEXT[:40], finish="length"))
    provider = Ideal(TEXT, [], refusing("metadata"), refusing("user"), cut)
    heard = play(provider.connect, stream=False, user="me", metadata={})
    assert heard.text == TEXT
    kept = [{"metadata", "user"} & json.loads(c.body).keys() for c in provider.transmitted]
    assert kept == [{"metadata", "user"}, {"user"}, set(), set()]
