"""The events of a turn, over every case of the simulator on every wire."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from support.one_turn import Played, events
from support.pairing import one_mode, some_or_every
from support.telling import check_each_turn

import tenuto
from checks.recorder import playing
from checks.recorder.far import Written
from checks.recorder.groups_sim import Place, far
from checks.recorder.inside import CASES_ON
from checks.recorder.questions import of_case
from tenuto.core.settings.policy import Policy
from tenuto.detection import recognize
from tenuto.providers.learned import Learned
from tenuto.turn.drivers.commands import ConnectionLost, Head, Request, SendRequest
from tenuto.turn.drivers.scripted import Scripted
from tenuto.turn.pipeline.engine import Engine
from tenuto.turn.record.turn_log import TurnLog
from tenuto.turn.settings.environment import Environment
from tenuto.turn.short_path.body import Short

POLICY = tenuto.Policy(backoff_s=0.5)
URL = "https://host.example/v1/chat/completions"
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Say it."}]}


def contents(asked: Any, played: Any) -> list[str]:
    """Texts of the request and the answer that no event may hold."""
    said = [text for text in _strings(json.loads(asked.body)) if " " in text]
    answer = recognize(played.received)[0].text
    return [*said, *(answer[at : at + 20] for at in range(0, max(len(answer) - 20, 0), 20))]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


@pytest.mark.behaviour("P6", "N10", "C23")
@some_or_every
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize("wire", sorted(CASES_ON))
def test_each_recovery_and_each_turn_has_one_end_in_every_case_of_the_simulator(wire, mode, every):
    # One case of five, on each wire other ones.
    first = sorted(CASES_ON).index(wire)
    for number, case in enumerate(CASES_ON[wire].values()):
        if mode not in (case.modes if every else [one_mode(number, case)]):
            continue
        if not every and (number + first) % 5:
            continue
        asked = of_case(wire, case, stream=mode == "stream")
        played = playing.by_turn(far(Place(wire)), asked, POLICY)
        check_each_turn(played.events, contents(asked, played))
        if played.said:
            for behind in {0, 1, played.written // 2, *played.begun_at}:
                again = playing.by_turn(Written(*played.said), asked, POLICY, behind)
                check_each_turn(again.events, contents(asked, again))


def body(text: str, stop: str = "stop", status: int = 200) -> Scripted:
    message = {"role": "assistant", "content": text}
    value: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": stop}]}
    value |= {"usage": {"prompt_tokens": 10, "completion_tokens": 5}}
    made = Scripted.body(json.dumps(value).encode())
    return replace(made, head=replace_status(made.head, status))


def replace_status(head: Head, status: int) -> Head:
    return Head(status, head.headers)


def sent(answer: Scripted) -> bytes:
    return b"".join(piece for piece in answer.pieces if isinstance(piece, bytes))


def refused(status: int) -> Scripted:
    made = Scripted.body(b'{"error": {"message": "No.", "type": "server_error"}}')
    return replace(made, head=replace_status(made.head, status))


def recoveries(played: Played) -> list[tuple[Any, ...]]:
    told: list[tuple[Any, ...]] = []
    for event in played.events:
        if event.name.endswith("_started") and "recovery" not in event.data:
            told.append((event.name, event.data.get("outcome")))
        elif "result" in event.data:
            data = event.data
            told.append((event.name, data["result"], data["reason"], data["attempts"]))
    return told[1:]  # that of the turn


@pytest.mark.behaviour("P6")
def test_a_retry_within_a_recovery_ends_before_it_and_the_recovery_goes_on() -> None:
    played = Played(URL, ASKED, body(""), refused(503), body("It."))
    assert recoveries(played) == [
        ("empty_recovery_started", "empty"),
        ("retry_started", "fault"),
        ("retry_ended", "recovered", "completed", 1),
        ("empty_recovery_ended", "recovered", "completed", 1),
    ]
    check_each_turn(played.events)


@pytest.mark.behaviour("P6")
def test_a_recovery_that_another_kind_takes_over_says_so() -> None:
    cut_call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a'}}
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "B", "tool_calls": [cut_call]},
    }
    broken = {"choices": [{**choice, "finish_reason": "length"}]}
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    again = dict(cut_call, function={"name": "f", "arguments": "{}"})
    message = {"role": "assistant", "content": None, "tool_calls": [again]}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    bodies = [Scripted.body(json.dumps(each).encode()) for each in (broken, whole)]
    script = (body("A", "length"), *bodies)
    played = Played(URL, {**ASKED, "tools": tools}, *script)
    assert recoveries(played) == [
        ("continuation_started", "text_cut"),
        ("continuation_terminated", "superseded", "arguments_cut", 1),
        ("tool_repair_started", "arguments_cut"),
        ("tool_repair_ended", "recovered", "completed", 1),
    ]
    check_each_turn(played.events)


@pytest.mark.behaviour("P6")
def test_an_empty_answer_is_recovered_by_text_that_is_then_cut_for_good() -> None:
    played = Played(URL, ASKED, body(""), body("A", "length"), continuation_max_attempts=0)
    assert recoveries(played) == [
        ("empty_recovery_started", "empty"),
        ("empty_recovery_ended", "recovered", "retry_limit", 1),
    ]


@pytest.mark.behaviour("P6")
def test_the_tokens_that_recovery_took_stand_in_the_end_of_the_turn() -> None:
    played = Played(URL, ASKED, body("A", "length"), body("B", "length"), body("C"))
    (ended,) = played.of("turn_ended")
    assert (ended["recovery_input_tokens"], ended["recovery_output_tokens"]) == (20, 10)


class Clock:
    """Two clocks of which the one that tells the day goes back while the other goes on."""

    def __init__(self, tick_s: float = 0.0) -> None:
        self.now_s, self.wall_s, self.tick_s = 100.0, 5_000.0, tick_s

    def now(self) -> float:
        self.now_s += self.tick_s
        return self.now_s

    def wall(self) -> float:
        self.wall_s -= 50.0
        return self.wall_s


def played_by_clock(
    *replies: tuple[float, Any], stream: bool = False, tick_s: float = 0.0
) -> list[Any]:
    """The events of a turn in which each reply takes so many seconds, and each look at the clock
    `tick_s`."""
    clock = Clock(tick_s)
    told: list[Any] = []
    environment = Environment(Policy(), told.append, Learned(), clock.now, clock.wall)
    engine = Engine(Policy(), told.append)
    engine.environment = replace(environment, jitter=lambda: 1.0)
    asked = json.dumps({**ASKED, "stream": stream}).encode()
    run = engine.begin(Request("POST", URL, (), asked, timeout_s=600.0))
    assert run is not None
    left, reply = iter(replies), None
    while (command := next_of(run, reply)) is not None:
        reply = None
        if isinstance(command, tenuto.sansio.Sleep):
            clock.now_s += command.seconds
        elif isinstance(command, SendRequest | tenuto.sansio.ReadMore):
            seconds, reply = next(left)
            clock.now_s += seconds
    return told


def next_of(run: Any, reply: Any) -> Any:
    try:
        return run.send(reply)
    except StopIteration:
        return None


OK = Head(200, ((b"content-type", b"application/json"),))
STREAM = Head(200, ((b"content-type", b"text/event-stream"),))
BUSY = Head(503, ((b"content-type", b"application/json"), (b"retry-after", b"7")))


@pytest.mark.behaviour("P6")
def test_durations_are_those_of_the_steady_clock_and_times_never_go_back() -> None:
    cut, rest = (sent(body(*said)) for said in (("A", "length"), ("B", "stop")))
    error = b'{"error": {"message": "No."}}'
    told = played_by_clock(
        *((2.0, OK), (1.0, cut), (0.0, b"")),
        *((3.0, BUSY), (0.0, error), (0.0, b"")),
        *((4.0, OK), (0.5, rest), (0.0, b"")),
    )
    took = {(e.name, e.attempt): e.data["duration_s"] for e in told if "duration_s" in e.data}
    assert took == {
        ("attempt_ended", 1): 3.0,
        ("attempt_ended", 2): 3.0,
        ("waited", 2): 7.0,
        ("attempt_ended", 3): 4.5,
        ("continuation_terminated", 3): 14.5,
        ("turn_ended", 3): 17.5,
    }
    first = [e.data["first_byte_s"] for e in told if e.name == "attempt_ended"]
    assert first == [2.0, 3.0, 4.0]
    assert [e.time for e in told] == sorted(e.time for e in told)
    assert told[-1].time - told[0].time == 17.5
    (waited,) = [e.data for e in told if e.name == "waited"]
    assert (waited["planned_s"], waited["asked"]) == (7.0, True)


@pytest.mark.behaviour("P6")
@pytest.mark.parametrize("pieces", [1, 200])
def test_the_time_that_reading_took_is_told_of_sampled_pieces(pieces: int) -> None:
    """Each look at this clock takes a quarter of a second, so that what is timed shows."""
    said = {"choices": [{"index": 0, "delta": {"content": "A"}, "finish_reason": None}]}
    end = {"choices": [{"index": 0, "delta": {"content": "."}, "finish_reason": "stop"}]}
    came = [(0.0, piece) for piece in events(*[said] * (pieces - 1), end).pieces]
    told = played_by_clock((0.0, STREAM), *came, (0.0, b""), stream=True, tick_s=0.25)
    (ended,) = [e.data for e in told if e.name == "attempt_ended"]
    assert ended["detection_s"] >= 0.25
    assert ended["detection_s"] < 0.25 * 20, "of one piece, not of all"


@pytest.mark.behaviour("P6")
def test_the_time_that_reading_took_is_told_of_a_body() -> None:
    answered = body("All said.").pieces
    told = played_by_clock(
        (0.0, OK), *[(0.0, piece) for piece in answered], (0.0, b""), tick_s=0.25
    )
    (ended,) = [e.data for e in told if e.name == "attempt_ended"]
    assert ended["detection_s"] == 0.25


@pytest.mark.behaviour("P6")
def test_of_a_stream_the_time_of_its_first_piece_is_told() -> None:
    said = events({"choices": [{"index": 0, "delta": {"content": "A"}, "finish_reason": "stop"}]})
    pieces = [(1.5, piece) for piece in said.pieces]
    told = played_by_clock((2.0, STREAM), *pieces, (0.0, b""), stream=True)
    (ended,) = [e.data for e in told if e.name == "attempt_ended"]
    assert (ended["first_byte_s"], ended["first_piece_s"]) == (2.0, 3.5)


@pytest.mark.behaviour("P6")
@pytest.mark.parametrize("answered", [True, False])
def test_a_provider_that_goes_silent_is_told_of(answered) -> None:
    cut = sent(body("A", "length"))
    silent = ConnectionLost(tenuto.FaultKind.TIMEOUT, TimeoutError())
    second = [(1.0, OK), (60.0, silent)] if answered else [(60.0, silent)]
    rest = sent(body("B"))
    told = played_by_clock(
        *((0.0, OK), (0.0, cut), (0.0, b"")), *second, *((0.0, OK), (0.0, rest), (0.0, b""))
    )
    (stalled,) = [e for e in told if e.name == "stalled"]
    assert (stalled.attempt, stalled.answered, stalled.output_chars) == (2, answered, 1)
    lost = [e.lost for e in told if e.name == "attempt_ended"]
    assert lost == [None, "timeout", None]


@pytest.mark.behaviour("P6", "P1b")
def test_a_connection_that_the_sdk_makes_anew_ends_its_turn_as_failed() -> None:
    lost = ConnectionLost(tenuto.FaultKind.CONNECTION, ConnectionError())
    told = played_by_clock((0.5, lost))
    check_each_turn(told)
    assert [e.name for e in told[2:]] == ["attempt_ended", "fault", "turn_ended"]
    assert (told[-1].status, told[-1].reason) == ("failed", "provider_error")
    assert (told[2].lost, told[2].duration_s) == ("connection", 0.5)


@pytest.mark.behaviour("P6")
def test_an_answer_that_is_handed_on_unread_ends_its_turn_without_a_status() -> None:
    coded = Head(200, (*OK.headers, (b"content-encoding", b"compress")))
    told = played_by_clock((0.0, coded), (0.0, b"x"), (0.0, b""))
    check_each_turn(told)
    (alone,) = [e for e in told if e.name == "left_alone"]
    assert alone.why == "unreadable"
    assert (told[-1].status, told[-1].reason) == (None, "passed_on_unread")


@pytest.mark.behaviour("N9")
def test_each_unknown_stop_is_told_and_the_first_of_a_process_says_that_it_was_logged() -> None:
    word = f"odd_{next(itertools.count(1))}_of_this_test"
    asked = [Played(URL, ASKED, body("A", word)) for _ in range(2)]
    told = [tuple(seen.values()) for played in asked for seen in played.of("unknown_stop_seen")]
    assert told == [(word, True), (word, False)]


@pytest.mark.behaviour("S4")
def test_what_was_held_back_of_a_stream_is_told() -> None:
    said = [{"choices": [{"index": 0, "delta": {"content": "A"}, "finish_reason": None}]}]
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    said += [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}]
    more = {"index": 0, "function": {"arguments": "{}"}}
    said += [{"choices": [{"index": 0, "delta": {"tool_calls": [more]}, "finish_reason": None}]}]
    said += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]
    asked = {**ASKED, "stream": True, "tools": [{"type": "function", "function": {"name": "f"}}]}
    whole = Played(URL, asked, events(*said))
    limited = Played(URL, asked, events(*said), hold_max_bytes=2)
    held = 1 + len("{}") + 1 + len(b"data: [DONE]\n\n")  # at least one for each event
    assert whole.of("turn_ended")[0]["held_bytes"] == held
    assert whole.of("hold_back_exceeded") == []
    (too_much, *_) = limited.of("hold_back_exceeded")
    assert too_much["limit_bytes"] == 2
    assert 2 < too_much["held_bytes"] < held


def test_nothing_is_made_for_a_turn_that_nobody_listens_to() -> None:
    turn = tenuto.sansio.Turn("POST", URL, [], json.dumps(ASKED).encode())
    assert isinstance(turn._told, Short)  # no record, no watch, no event
    turn = tenuto.sansio.Turn("POST", URL, [("x-tenuto", "on")], json.dumps(ASKED).encode())
    assert isinstance(turn._told, TurnLog)
    assert turn._told.events is None
    turn = tenuto.sansio.Turn("POST", URL, [], json.dumps(ASKED).encode(), on_event=print)
    assert isinstance(turn._told, TurnLog)
    assert turn._told.events is not None
