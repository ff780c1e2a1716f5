"""A call that the provider says a second time, and text behind calls."""

from dataclasses import replace

import pytest

from tenuto.core.answer.builder import Builder
from tenuto.core.answer.signals import (
    CallDelta,
    Ended,
    Signal,
    StopSeen,
    TextDelta,
    Usage,
    UsageSeen,
)
from tenuto.core.answer.stop import StopReason

PAY = '{"amount": 100}'
CALLED = StopSeen("tool_calls", "finish_reason", StopReason.TOOL_CALL)
CUT = StopSeen("length", "finish_reason", StopReason.MAX_TOKENS)


def read(*signals: Signal):
    builder = Builder()
    for signal in (*signals, Ended()):
        builder.feed(signal)
    return builder.build()


def pay(arguments: str | None = PAY, index: int | None = 0, call_id: str = "a") -> CallDelta:
    return CallDelta(index, call_id, "pay", arguments)


@pytest.mark.behaviour("T13", "T12a")
@pytest.mark.parametrize("index", [0, None])
@pytest.mark.parametrize(
    "before",
    [(pay(),), (pay(), pay()), (pay(""), CallDelta(0, None, None, PAY))],
    ids=["whole", "twice", "in pieces"],
)
def test_a_whole_call_that_is_said_again_under_its_id_is_one_call(before, index) -> None:
    if index is None:
        before = tuple(CallDelta(None, d.id, d.name, d.arguments) for d in before)
    got = read(*before, pay(index=index), CALLED)
    assert [(call.id, call.arguments) for call in got.calls] == [("a", PAY)]
    assert "call_repeated" in got.stop.anomalies
    assert got.repaired, "what came would be two calls to a reader of the bytes"


@pytest.mark.behaviour("T13", "T12a")
@pytest.mark.parametrize(
    "again",
    [pay(call_id="b"), pay('{"amount": 7}'), pay(index=1)],
    ids=["another id", "other arguments", "another index"],
)
def test_a_call_that_differs_in_anything_is_another_call(again) -> None:
    got = read(pay(), again, CALLED)
    assert [call.name for call in got.calls] == ["pay", "pay"]
    assert len({call.id for call in got.calls}) == 2


@pytest.mark.behaviour("T13a")
def test_a_whole_call_that_is_said_again_without_the_id_of_the_first_is_one_call() -> None:
    got = read(pay(), pay(call_id=""), CALLED)
    assert [(call.id, call.arguments) for call in got.calls] == [("a", PAY)]
    assert got.repaired
    neither = read(pay(call_id=""), pay(call_id=""), CALLED)
    assert len(neither.calls) == 2, "where no call has an id, they may be two"


@pytest.mark.behaviour("T3")
@pytest.mark.parametrize(
    ("signals", "behind"),
    [
        ((TextDelta("Hm. "), pay(), CUT), False),
        ((pay(), TextDelta(" \n"), CUT), False),
        ((pay(), TextDelta("The ti"), CUT), True),
        ((pay(), TextDelta("So "), pay('{"amount": 7}', 1, "b"), CUT), False),
        ((pay(), TextDelta("The ti"), replace(pay(), whole=True), CUT), True),
        ((TextDelta("The ti"), CUT), False),
    ],
    ids=["before", "blank", "behind", "between", "behind one that is sent again", "no call"],
)
def test_text_behind_the_last_call_is_told_from_text_before_it(signals, behind) -> None:
    assert read(*signals).text_behind_calls is behind


@pytest.mark.behaviour("T12b")
def test_arguments_that_are_not_read_lack_nothing_that_is_known() -> None:
    builder = Builder(5, parameters=lambda: {"pay": {"required": ["amount"]}})
    builder.feed(replace(pay("{"), unseen=True))
    builder.feed(CallDelta(0, None, None, "}"))
    builder.feed(UsageSeen(Usage(1, 5)))
    builder.feed(CALLED)
    builder.feed(Ended())
    assert [call.finding.value for call in builder.build().calls] == ["whole"]
