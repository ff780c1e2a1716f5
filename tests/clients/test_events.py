"""What a turn tells: its report, its decisions, its events, and what was billed."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from support.asking.wrapping import QUICK, Wrapped
from support.pairing import in_every_mode
from support.replay.openai_chat import ASK, FILES, MAX, SAFETY, TOOL, Call, R, Refused
from support.telling import check_each_turn

import tenuto
from tenuto.core.answer.fault import FAULT_CLASSES, FaultKind
from tenuto.core.answer.stop import StopReason
from tenuto.core.deciding.endings import ENDINGS
from tenuto.core.deciding.ladders import LADDERS
from tenuto.core.events.advice import ADVICE, FAULT_ADVICE, advice_on, suggestion_on
from tenuto_sim import CASES, Simulator

both = pytest.mark.parametrize("mode", ["body", "stream"])

CUT = Call(arguments='{"path": "a.t')
SECRETS = ("sk-secret-key", "the prompt", "the answer", "a.txt", "tool description")


@pytest.fixture(scope="module")
def world() -> Iterator[tuple[Simulator, Wrapped]]:
    with Simulator(token_chars=40) as sim:
        asker = Wrapped(sim, tenuto.Policy(**QUICK))
        yield sim, asker
        asker.close()


# --- the report ---------------------------------------------------------------------------------


@pytest.mark.behaviour("P1")
@both
@pytest.mark.parametrize(
    ("answers", "status", "reason", "stop", "suggestion"),
    [
        ([R("A")], "complete", "completed", "end_turn", "none"),
        ([R("A", MAX), R("B")], "complete", "completed", "end_turn", "none"),
        ([R("A", MAX)] * 4, "partial", "retry_limit", "max_tokens", "increase_budget"),
        (
            [R("", MAX, [CUT])] * 4,
            "partial",
            "tool_call_truncated",
            "max_tokens",
            "increase_budget",
        ),
        ([R("")] * 4, "failed", "empty_output", "end_turn", "retry"),
        ([R("", SAFETY)], "failed", "safety_blocked", "safety_blocked", "modify_prompt"),
        ([Refused(401)], "failed", "provider_error", "error", "stop"),
        ([Refused(400)], "failed", "provider_error", "error", "stop"),
        ([Refused(503)] * 4, "failed", "provider_error", "error", "retry"),
    ],
)
def test_a_turn_ends_complete_partial_or_failed_and_says_why(
    play, mode, way, answers, status, reason, stop, suggestion
):
    turn = play(*answers)
    turn.tell(mode, way, **FILES, max_tokens=1_000)
    end = turn.ending
    assert (end["status"], end["reason"], end["stop"]) == (status, reason, stop)
    assert end["suggestion"] == suggestion
    assert end["attempts"] == len(end["usage"]) == turn.sent
    assert bool(end["advice"]) is (status != "complete")


@pytest.mark.behaviour("P6")
@both
def test_the_event_of_a_repair_names_what_was_repaired(play, mode, way):
    turn = play(R("", MAX, [CUT]), R("", TOOL, [Call()]))
    turn.tell(mode, way, **FILES, max_tokens=1_000)
    told = [(one["issue"], one["outcome"]) for one in turn.of("tool_payload_repair")]
    assert told == [("arguments_cut", "sent"), ("arguments_cut", "repaired")]


@pytest.mark.behaviour("P1")
def test_each_reason_for_an_end_has_its_advice():
    rungs = [rung for ladder in LADDERS.values() for rung in ladder]
    reasons = {guard.ends_as for rung in rungs for guard in rung.guards} - {""}
    reasons |= {rung.ends[1] for rung in rungs if rung.ends}
    reasons |= {ending.reason for ending in ENDINGS.values()}
    reasons |= {"stopped", "policy_error"}  # by what the policy's own `decide` says, or raises
    assert reasons == ADVICE.keys()


@pytest.mark.behaviour("P1")
def test_trying_again_is_advised_where_it_may_help_and_nowhere_else():
    elsewhere = {FaultKind.LIMIT, FaultKind.UPSTREAM_GAVE_UP}  # a reason of its own; later, indeed
    of_no_use = {
        kind
        for kind, known in FAULT_CLASSES.items()
        if known.reason in (StopReason.ERROR, StopReason.MALFORMED_TOOL_CALL)
        and not known.retryable
    }
    # A page may pass, but whoever is given one in the end has something to look at.
    advised = set(map(FaultKind, FAULT_ADVICE)) - {FaultKind.NOT_THIS_API}
    assert of_no_use - elsewhere == advised


@pytest.mark.behaviour("P1")
@pytest.mark.parametrize("reason", ADVICE)
def test_another_try_is_suggested_only_where_the_advice_is_to_try_again(reason: str) -> None:
    for kind in (None, *FaultKind):
        tells = advice_on(reason, kind)
        again = tells.startswith(("Try again", "Send the conversation again"))
        assert (suggestion_on(reason, kind) == "retry") is (again or reason == "cancelled"), kind


@pytest.mark.behaviour("P1")
@both
def test_a_refused_key_is_not_to_be_tried_again_later(play, mode, way):
    turn = play(Refused(401))
    turn.tell(mode, way, **FILES, max_tokens=1_000)
    assert "key" in turn.ending["advice"]
    assert "gain" not in turn.ending["advice"]


# --- the usage ----------------------------------------------------------------------------------

BILLED = {
    "status": "complete",
    "reason": "completed",
    "attempts": [
        {"input_tokens": 30, "output_tokens": 7},
        {"input_tokens": 44, "output_tokens": 5},
    ],
    "billed_output_tokens": 12,
}


def raw(turn: Any, way: str, **more: Any) -> tuple[Any, str]:
    """Headers and body of the response as the SDK's caller can see them."""
    given = {"model": "m", "messages": [ASK], **more}
    if way == "sync":
        response = turn.client.chat.completions.with_raw_response.create(**given)
        return response.headers, response.http_response.read().decode()

    async def ask() -> tuple[Any, str]:
        made = await turn.async_client.chat.completions.with_raw_response.create(**given)
        return made.headers, (await made.http_response.aread()).decode()

    return turn.loop.run_until_complete(ask())  # type: ignore[no-any-return]


@pytest.mark.behaviour("P1")
@pytest.mark.parametrize("answers", [[R("A")], [R("A", MAX), R("B")]], ids=["one", "two"])
def test_a_whole_body_names_its_turn_where_somebody_listens(play, way, answers):
    turn = play(*answers)
    headers, _ = raw(turn, way)
    assert headers["x-tenuto-turn"] == turn.events[-1].turn


@pytest.mark.behaviour("C19")
def test_what_was_billed_stands_in_a_header_of_a_whole_body(play, way):
    turn = play(R("A", MAX, tokens=7, input_tokens=30), R("B", tokens=5, input_tokens=44))
    headers, body = raw(turn, way)
    assert json.loads(headers["x-tenuto-usage"]) == {"turn": turn.events[-1].turn, **BILLED}
    assert headers["x-tenuto-turn"] == turn.events[-1].turn
    assert json.loads(body)["usage"] == {
        "prompt_tokens": 30,
        "completion_tokens": 12,
        "total_tokens": 42,
    }


@pytest.mark.behaviour("C19")
@pytest.mark.parametrize("tokens", [(None, None, None), (None, 5, 5)], ids=["none", "one"])
def test_what_no_attempt_was_counted_for_is_not_said_to_be_nothing(play, way, tokens):
    first, second, billed = tokens
    headers, _ = raw(play(R("A", MAX, tokens=first), R("B", tokens=second)), way)
    told = json.loads(headers["x-tenuto-usage"])
    assert told["attempts"][0] is None
    assert told["billed_output_tokens"] == billed


@pytest.mark.behaviour("C19")
def test_what_was_billed_stands_in_a_comment_before_the_end_of_a_stream(play, way):
    turn = play(R("A", MAX, tokens=7, input_tokens=30), R("B", tokens=5, input_tokens=44))
    _, body = raw(turn, way, stream=True, stream_options={"include_usage": True})
    lines = body.splitlines()
    (comment,) = [line for line in lines if line.startswith(":")]
    told = json.loads(comment.removeprefix(": x-tenuto-usage "))
    assert told == {"turn": turn.events[-1].turn, **BILLED}
    *_, usage, done = [line.removeprefix("data: ") for line in lines if line.startswith("data")]
    assert done == "[DONE]"
    assert json.loads(usage)["usage"]["completion_tokens"] == 12
    assert json.loads(usage)["choices"] == []


@pytest.mark.behaviour("C19", "C17a")
@both
def test_an_error_tells_what_was_billed_too(play, mode, way):
    turn = play(*[R("", tokens=3)] * 2)
    if mode == "stream":
        _, body = raw(turn, way, stream=True)
        assert '"billed_output_tokens":' in body
        return
    error = turn.tell(mode, way).error
    assert isinstance(error, openai.APIStatusError)
    assert json.loads(error.response.headers["x-tenuto-usage"])["billed_output_tokens"] == 6


@pytest.mark.behaviour("C25", "P8", "C19")
def test_a_turn_that_needed_nothing_has_neither_header_nor_comment(play, way):
    headers, _ = raw(play(R("A")), way)
    assert "x-tenuto-usage" not in headers
    _, body = raw(play(R("A")), way, stream=True)
    assert "tenuto" not in body


# --- decisions ----------------------------------------------------------------------------------


@pytest.mark.behaviour("P2")
@both
def test_a_callback_is_told_each_decision_and_may_agree(play, mode, way):
    seen: list[tenuto.Decision] = []
    turn = play(R("A", MAX), R("B"), decide=seen.append)
    assert turn.tell(mode, way).text == "AB"
    first, second = seen
    assert (first.outcome, first.rung, first.proceed, first.suggestion) == (
        "text_cut",
        "continue_with_hint",
        True,
        "retry",
    )
    assert first.why == "text_cut: continue the text after a hint"
    assert (second.outcome, second.proceed, second.suggestion) == ("done", False, "none")


@pytest.mark.behaviour("P2")
@both
def test_a_callback_is_told_what_the_decision_is_made_from(play, mode, way):
    seen: list[tenuto.Decision] = []
    turn = play(
        R("A", MAX, tokens=7, input_tokens=30),
        R("BC", tokens=5, input_tokens=44),
        decide=seen.append,
    )
    turn.tell(mode, way)
    first, second = seen
    assert first.stop is not None
    assert (first.stop.reason, first.stop.raw) == ("max_tokens", MAX)
    assert (first.model, first.attempts, first.chars) == (turn.events[-1].model, 1, 1)
    assert (second.attempts, second.chars) == (2, 3)
    assert second.elapsed_s >= first.elapsed_s >= 0
    assert first.provider == second.provider == turn.events[-1].provider


@pytest.mark.behaviour("P2")
@both
def test_a_callback_may_end_the_turn(play, mode, way):
    turn = play(R("A", MAX), decide=lambda decision: "stop" if decision.proceed else None)
    got = turn.tell(mode, way)
    assert (got.text, got.finish, turn.sent) == ("A", "length", 1)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "stopped")


@pytest.mark.behaviour("P2")
@both
def test_a_callback_may_take_another_rung_of_the_ladder_within_its_budget(play, mode, way):
    def answer(decision: tenuto.Decision) -> str | None:
        return "answer_calls_as_failed"

    turn = play(*[R("", MAX, [CUT])] * 5, decide=answer, continuation_tool_repair_attempts=1)
    turn.tell(mode, way, **FILES, max_tokens=1_000)
    assert turn.added(1)[1]["role"] == turn.added(2)[1]["role"] == "tool"
    assert turn.sent == 4, "two answers, and then the table's own rung: nobody spends more than is"


@pytest.mark.behaviour("P2")
def test_a_callback_cannot_pass_a_guard(play):
    turn = play(R("A", MAX), R("B"), decide=lambda _: "continue_with_prefill")
    assert turn.tell().text == "AB"
    assert turn.added(1)[1]["role"] == "user", "with a hint: this model takes no prefill"


# --- faults -------------------------------------------------------------------------------------


@pytest.mark.behaviour("P5")
@both
@pytest.mark.parametrize(
    ("status", "kind", "again"),
    [
        (408, "timeout", True),
        (429, "rate_limited", True),
        (500, "server", True),
        (503, "overloaded", True),
        (504, "timeout", True),
        (529, "overloaded", True),
        (400, "invalid_request", False),
        (401, "authentication", False),
        (403, "authentication", False),
        (422, "invalid_request", False),
    ],
)
def test_what_may_be_retried_is_and_nothing_else(play, mode, status, kind, again):
    turn = play(R("A", MAX), Refused(status), R("B"))
    got = turn.tell(mode)
    assert (got.text, turn.sent) == (("AB", 3) if again else ("A", 2))
    (fault,) = turn.of("fault")
    assert (fault["kind"], fault["status"], fault["retryable"]) == (kind, status, again)


@pytest.mark.behaviour("P5")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_retry_after_is_waited_for_and_no_shorter(play, way, mode):
    busy = Refused(429, headers={"retry-after": "0.3"})
    turn = play(R("A", MAX), busy, R("B"), retry_after_max_s=0.3)
    assert turn.tell(mode, way).text == "AB"
    times = [request.at_s for request in turn.replay.requests]
    assert times[2] - times[1] >= 0.3
    assert turn.of("fault")[0]["wait_s"] == pytest.approx(0.3)


@pytest.mark.behaviour("P5", "C5")
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
def test_told_to_wait_beyond_the_cap_nothing_is_waited_for(play, way, mode, on_incomplete):
    busy = Refused(429, headers={"retry-after": "90"})
    turn = play(R("A", MAX), busy, R("B"), retry_after_max_s=89.0, on_incomplete=on_incomplete)
    got = turn.tell(mode, way)
    assert turn.sent == 2
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "provider_error")
    assert turn.of("fault")[0]["wait_s"] == 0
    if on_incomplete == "stop":
        assert (got.text, got.finish) == ("A", "length")
    elif mode == "body":
        assert got.error.response.headers["retry-after"] == "90"
        assert got.error.response.headers["x-should-retry"] == "false"
    else:
        assert got.error is not None


@pytest.mark.behaviour("P5")
def test_the_longest_wait_that_a_provider_may_ask_for_is_two_minutes():
    assert tenuto.Policy().retry_after_max_s == 120


@pytest.mark.behaviour("P5")
def test_a_programming_error_is_not_retried(play):
    turn = play(R("A", MAX), R("B"))
    calls: list[Any] = []

    def wrong(request: Any) -> None:
        calls.append(request)
        if len(calls) == 2:
            raise TypeError("a mistake in a hook")

    http = turn.client._client
    http.event_hooks = {"request": [wrong]}
    try:
        got = turn.tell()
    finally:
        http.event_hooks = {}
    assert (got.text, got.finish) == ("A", "length"), "and what was said is kept (C5)"
    (fault,) = turn.of("fault")
    assert (fault["kind"], fault["code"], fault["retryable"]) == ("caller", "TypeError", False)
    assert len(calls) == 2


# --- events -------------------------------------------------------------------------------------


@pytest.mark.behaviour("P6", "N4")
@both
def test_a_continued_turn_is_told_step_by_step(play, mode, way):
    answers = [R("A" * 8, MAX, tokens=10), R("B" * 4, MAX, tokens=10), R("C", tokens=1)]
    turn = play(*answers)
    more: Any = {"stream_options": {"include_usage": True}} if mode == "stream" else {}
    turn.tell(mode, way, max_tokens=100, **more)
    observed = "stop_reason_observed"
    attempt = "continuation_attempt"
    request = ("attempt_started", "attempt_ended", observed)
    assert [event.name for event in turn.events] == [
        *("turn_started", *request, "continuation_started", attempt, *request, attempt),
        *(*request, "continuation_terminated", "turn_ended"),
    ]
    assert len({event.turn for event in turn.events}) == 1
    assert {event.model for event in turn.events} == {"sim"}
    assert turn.of(observed)[0] == {
        "iteration": 1,
        "reason": "max_tokens",
        "raw": "length",
        "detail": None,
        "confidence": "high",
        "anomalies": [],
        "outcome": "text_cut",
        "rung": "continue_with_hint",
    }
    assert turn.of(attempt) == [
        {
            "index": index,
            "output_tokens": 10 * index,
            "output_chars": chars,
            "tokens_left": 400 - 10 * index,
            "attempts_left": 3 - index,
            "prefill": False,
        }
        for index, chars in ((1, 8), (2, 12))
    ]
    (ended,) = turn.of("continuation_terminated")
    assert ended.pop("duration_s") > 0
    assert ended == {
        "result": "recovered",
        "reason": "completed",
        "attempts": 2,
        "output_chars": 13,
    }
    asked = turn.of("attempt_started")
    assert [each["recovery"] for each in asked] == [None, "continuation", "continuation"]
    assert [each["max_tokens"] for each in asked] == [100, 200, 300]
    assert [each["output_chars"] for each in asked] == [0, 8, 12]
    assert [each["status"] for each in turn.of("attempt_ended")] == [200, 200, 200]


@pytest.mark.behaviour("P6")
@pytest.mark.parametrize(
    ("answers", "settings", "reason"),
    [
        ([R("A", MAX), R("B")], {}, "completed"),
        ([R("A", MAX)] * 4, {}, "retry_limit"),
        ([R("A", MAX, tokens=200)] * 2, {}, "budget_exhausted"),
        ([R("A", MAX)] * 2, {"continuation_max_output_chars": 1}, "output_cap"),
        ([R("A", MAX), R("B", SAFETY)], {}, "safety_blocked"),
        ([R("A", MAX), Refused(403)], {}, "provider_error"),
    ],
)
def test_a_continuation_ends_for_one_of_the_reasons(play, answers, settings, reason):
    turn = play(*answers, **settings)
    turn.tell(max_tokens=100)
    assert [event["reason"] for event in turn.of("continuation_terminated")] == [reason]


@pytest.mark.behaviour("P6", "C23")
def test_a_stream_that_is_abandoned_in_a_continuation_ends_it_as_cancelled(play):
    turn = play(R("A", MAX), R("B" * 4_000))
    stream = turn.client.chat.completions.create(model="m", messages=[ASK], stream=True)
    for chunk in stream:
        if "B" in (chunk.choices[0].delta.content or ""):
            break
    stream.close()
    assert [event["reason"] for event in turn.of("continuation_terminated")] == ["cancelled"]
    assert turn.of("cancelled")[0]["output_chars"] > 1
    assert [each["status"] for each in turn.of("attempt_ended")] == [200, 200]


@pytest.mark.behaviour("P6", "C10")
@in_every_mode(CASES.values())
def test_each_started_continuation_has_one_end_and_each_turn_one(world, case, mode):
    sim, asker = world
    before = len(sim.requests)
    asker.ask_case(case, mode)
    check_each_turn(asker.events)
    for request in sim.requests[before:]:
        for row in request.json["messages"]:
            if row["role"] == "assistant":
                assert (row.get("content") or "").strip() or row.get("tool_calls")


# --- what does not leave (N9, N10) --------------------------------------------------------------


@pytest.mark.behaviour("N9")
@both
def test_an_unknown_stop_is_logged_once_for_provider_and_model_and_value(play, caplog, mode):
    with caplog.at_level(logging.WARNING, logger="tenuto"):
        for model in (f"{mode}-a", f"{mode}-a", f"{mode}-b"):
            play(R("A", f"odd\x1b[31m-{mode}")).tell(mode, model=model)
    said = [
        record.getMessage() for record in caplog.records if "unknown stop" in record.getMessage()
    ]
    assert len(said) == 2
    assert "\x1b" not in "".join(said)
    assert all(f"unknown stop value 'odd\\x1b[31m-{mode}' from " in line for line in said)


KEYS = {
    "a key of a known look": (
        "rejected:sk-proj-0123456789abcdefghij",
        "sk-proj-0123456789abcdefghij",
    ),
    "the request's own key": ("quota of 0fbe-1c2d-own-key is spent", "0fbe-1c2d-own-key"),
    "a long text": ("x" * 5_000, "x" * 81),
}


@pytest.mark.behaviour("N9", "N10", "P8b")
@both
@pytest.mark.parametrize("name", KEYS)
def test_a_stop_value_is_told_without_secrets_and_bounded(play, caplog, mode, way, name):
    """Proxies put anything into it; the caller's own answer has it as it came (N4)."""
    stop, secret = KEYS[name]
    own = {"extra_headers": {"x-api-key": "0fbe-1c2d-own-key"}}
    turn = play(R("A", stop))
    with caplog.at_level(logging.DEBUG, logger="tenuto"):
        got = turn.tell(mode, way, model=f"{mode}-{way}-{name}", **own)
    assert got.finish == stop
    events = json.dumps([event.as_dict() for event in turn.events])
    assert '"raw": "' in events
    ours = [r.getMessage() for r in caplog.records if r.name == "tenuto"]
    assert any("unknown stop" in line for line in ours)
    assert secret not in events + "".join(ours)
    strict = play(R("A", stop), on_incomplete="error").tell(mode, way, **own)
    assert secret not in str(strict.error)


@pytest.mark.behaviour("N10")
@both
def test_what_the_provider_said_of_a_fault_is_repeated_without_secrets(play, mode, way):
    refused = Refused(400, "No access for sk-proj-0123456789abcdefghij here", code="no_access")
    got = play(R("A ", MAX), refused, on_incomplete="error").tell(mode, way)
    assert "No access for [removed] here" in str(got.error)


@both
def test_no_key_prompt_answer_or_argument_is_in_any_event(play, mode, way, caplog):
    """N10: names, numbers and reasons alone."""
    call = Call(arguments='{"path": "a.txt", "conte')
    turn = play(
        *(R("the answer ", MAX), R("goes on", MAX, [call]), Refused(500, "the prompt is bad")),
        *(R("", TOOL), R("", reasoning="the answer"), R("")),
    )
    with caplog.at_level(logging.DEBUG, logger="tenuto"):
        turn.ask(
            [{"role": "user", "content": "the prompt"}],
            mode,
            way,
            **FILES,
            max_tokens=1_000,
            extra_headers={"authorization": "Bearer sk-secret-key"},
        )
    told = json.dumps([event.as_dict() for event in turn.events])
    assert turn.sent > 3
    for secret in SECRETS:
        assert secret not in told
        assert secret not in caplog.text


@both
def test_what_the_far_side_says_is_made_printable_and_bounded(play, mode):
    """N10, P8b."""
    turn = play(R("A", "x\x1b[31m\n" + "y" * 500))
    turn.tell(mode, model="m\n" + "z" * 500)
    for event in turn.events:
        for value in (event.model, event.data.get("raw") or ""):
            assert str(value).isprintable()
            assert len(str(value)) <= 80


def test_a_watcher_that_raises_costs_no_answer(stage, way, caplog):
    base, replay = stage
    replay.say(R("A", MAX), R("B"))

    def broken(event: tenuto.Event) -> None:
        raise RuntimeError(event.name)

    client: Any = base.client if way == "sync" else base.async_client
    made = tenuto.wrap(client, policy=tenuto.Policy(**QUICK), on_event=broken)
    answer = made.chat.completions.create(model="m", messages=[ASK])
    if way == "async":
        answer = base.loop.run_until_complete(answer)
    assert answer.choices[0].message.content == "AB"
