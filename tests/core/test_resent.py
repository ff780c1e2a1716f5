"""Pieces of arguments that are sent again, and pieces that only look like it."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.builder import Builder
from tenuto.core.answer.resent import as_sent_once
from tenuto.core.answer.response import Response
from tenuto.core.answer.signals import CallDelta, Ended, StopSeen
from tenuto.core.answer.stop import StopReason

CLEAN = StopSeen("tool_calls", "finish_reason", StopReason.TOOL_CALL)
CUT = StopSeen("length", "finish_reason", StopReason.MAX_TOKENS)
NEEDS = {"write": {"type": "object", "required": ["a"]}}

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ha{}[]",:\\ é', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=3), values, min_size=1, max_size=3)


def cut(text: str, random: Random) -> list[str]:
    at = sorted(random.sample(range(1, len(text)), min(5, len(text) - 1)))
    return [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]


def read(pieces: list[str], *stop: StopSeen) -> Response:
    builder = Builder(parameters=lambda: NEEDS)
    builder.feed(CallDelta(0, "a", "write", None))
    for piece in pieces:
        builder.feed(CallDelta(0, None, None, piece))
    builder.feed(stop[0] if stop else CLEAN)
    builder.feed(Ended())
    return builder.build()


SENT_AGAIN = {
    "whole": lambda pieces: [*pieces, "".join(pieces)],
    "whole twice": lambda pieces: [*pieces, "".join(pieces), "".join(pieces)],
    "piece by piece": lambda pieces: [*pieces, *pieces],
    "restarted": lambda pieces: [*pieces[:2], *pieces],
    "half of it once more": lambda pieces: [*pieces, *pieces[:2]],
    "all so far": lambda pieces: ["".join(pieces[: n + 1]) for n in range(len(pieces))],
    "behind {}": lambda pieces: ["{}", *pieces],
    "behind null": lambda pieces: ["null", *pieces],
    "all so far behind {}": lambda pieces: ["{}", *("".join(pieces[: n + 1]) for n in range(len(pieces)))],
    "whole behind {}": lambda pieces: ["{}", *pieces, "".join(pieces)],
    "before {}": lambda pieces: [*pieces, "{}"],
    "with white space": lambda pieces: [*pieces, " ", "".join(pieces)],
}  # fmt: skip


@pytest.mark.behaviour("T13a")
@given(objects, st.randoms(use_true_random=False))
def test_arguments_that_are_sent_again_are_one_calls_arguments(value: Any, random: Random) -> None:
    """The same pieces are sent again in each way: drawing them is what takes time."""
    pieces = cut(json.dumps(value), random)
    for how, again in SENT_AGAIN.items():
        response = read(again(pieces))
        (call,) = response.calls
        assert (call.finding, json.loads(call.arguments)) == (Finding.WHOLE, value), how
        assert response.repaired == ("arguments_sent_again" in response.stop.anomalies), how


@pytest.mark.behaviour("T13a")
@given(objects, st.randoms(use_true_random=False))
def test_pieces_of_a_text_are_left_alone_whatever_they_repeat(value: Any, random: Random) -> None:
    text = json.dumps(value)
    response = read(cut(text, random))
    assert [call.arguments for call in response.calls] == [text]
    assert not response.repaired


@pytest.mark.behaviour("T13a")
@pytest.mark.parametrize(
    "pieces",
    [
        ['{"a":"ha', "ha", "ha", '"}'],
        ['{"a":[1', ",1", ",1", "]}"],
        ['{"a":"', '{\\"a\\":\\"', '{\\"a\\":\\"', '"}'],
        ["{", '"a"', ":", "{", '"a"', ":", "1", "}", "}"],
        ['{"a":', "[", "[", "]", "]", "}"],
        ['{"a":"{}', "{}", '{}"}'],
    ],
)
def test_pieces_that_repeat_what_came_so_far_are_kept(pieces: list[str]) -> None:
    assert [call.arguments for call in read(pieces).calls] == ["".join(pieces)]


@pytest.mark.behaviour("T13a")
@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (['{"a":"x', '{"a":"x', 'y"}', 'y"}'], '{"a":"xy"}'),  # each piece twice
        (['{"a":', '"Os', '"Os', 'lo"}'], '{"a":"Oslo"}'),  # one of them
        (['{"a":', "1}", "1}"], '{"a":1}'),  # the last one
        (['{"a":"x"}', '{"a":"xy"}', '{"a":"xy","b":1}'], '{"a":"xy","b":1}'),  # closed each time
        (['{"a":[', '{"a":[1', '{"a":[1]}'], '{"a":[1]}'),  # all so far, also JSON as it came
        (['{"a":', '{"a":{"b":1}', '{"a":{"b":1}}'], '{"a":{"b":1}}'),
        (['{"a":[', '{"a":[1]}'], '{"a":[1]}'),
    ],
)
def test_other_ways_of_sending_pieces_again(pieces: list[str], text: str) -> None:
    assert [call.arguments for call in read(pieces).calls] == [text]


@pytest.mark.behaviour("T13a", "T1")
@pytest.mark.parametrize(
    ("pieces", "finding"),
    [
        (['{"a":1}', '{"a":2}'], Finding.MALFORMED),
        (['{"a":1}', "}"], Finding.MALFORMED),
        (['{"a":1', "}", "}"], Finding.MALFORMED),
        (["{'a': 1}", "{'a': 1}"], Finding.MALFORMED),
        (["{}", '{"a":'], Finding.TRUNCATED),
        (['{"a":"x', '{"a":"xy'], Finding.TRUNCATED),
    ],
)
def test_what_no_reading_makes_whole_is_broken(pieces: list[str], finding: Finding) -> None:
    assert [call.finding for call in read(pieces).calls] == [finding]


@pytest.mark.behaviour("T13a")
def test_what_the_end_cut_off_is_never_taken_for_sent_again() -> None:
    (call,) = read(['{"a":[', '{"a":[1]}'], CUT).calls
    assert call.finding is Finding.TRUNCATED


@pytest.mark.behaviour("T13a")
@pytest.mark.parametrize("pieces", [["{"] * 20_000, ["0 "] * 20_000, ["["] * 20_000])
def test_pieces_from_anybody_are_read_in_bounded_time(pieces: list[str]) -> None:
    assert as_sent_once(pieces, Finding.MALFORMED) != "".join(pieces)


# --- whole calls that are sent again ------------------------------------------------------------


def calls(*deltas: CallDelta, needs: Any = NEEDS) -> list[tuple[str, str]]:
    builder = Builder(parameters=lambda: needs)
    for delta in deltas:
        builder.feed(delta)
    builder.feed(CLEAN)
    builder.feed(Ended())
    return [(call.id, call.arguments) for call in builder.build().calls]


def one(arguments: str | None, call_id: str | None = "a", index: int | None = None) -> CallDelta:
    return CallDelta(index, call_id, "write", arguments, may_lack_id=index is None)


@pytest.mark.behaviour("T13a")
@pytest.mark.parametrize("index", [None, 0])
@pytest.mark.parametrize("less", ["{}", '{"a":"x"}', '{"a":"x","b":[1]}', None])
def test_a_call_that_is_sent_again_under_its_id_with_more_is_one_call(
    less: str | None, index: int | None
) -> None:
    more = '{"a":"xy","b":[1,2]}'
    assert calls(one(less, index=index), one(more, index=index)) == [("a", more)]


@pytest.mark.behaviour("T13a")
def test_without_an_id_it_is_one_call_where_the_first_lacks_something() -> None:
    lacks, more = '{"b":1}', '{"a":"x","b":1}'
    assert [text for _, text in calls(one(lacks, None), one(more, None))] == [more]
    alone = calls(one('{"a":"x"}', None), one(more, None))
    assert [text for _, text in alone] == ['{"a":"x"}', more]
    unknown = calls(one(lacks, None), one(more, None), needs={})
    assert [text for _, text in unknown] == [lacks, more]


@pytest.mark.behaviour("T13a", "T13")
def test_calls_that_differ_stay_two_under_one_id() -> None:
    assert len(calls(one('{"a":1}'), one('{"a":2}'))) == 2
    assert len(calls(one('{"a":1}', "a"), one('{"a":1,"b":2}', "b"))) == 2
    assert len(calls(one('{"a":1}', "a", 0), one('{"a":1,"b":2}', "a", 1))) == 2
