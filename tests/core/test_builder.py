"""What the signals of one attempt add up to, in whatever order and pieces they come."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.builder import Builder
from tenuto.core.answer.fault import FAULT_CLASSES, Fault, FaultKind
from tenuto.core.answer.response import Response, think_closing, visible
from tenuto.core.answer.signals import (
    CallDelta,
    Ended,
    FaultSeen,
    HalfSeen,
    ReasoningDelta,
    RefusalDelta,
    Signal,
    StopSeen,
    TextDelta,
    TransferEnded,
    Usage,
    UsageSeen,
)
from tenuto.core.answer.stop import GRAVITY, Confidence, StopReason, graver
from tenuto.core.deciding.outcome import Outcome, classify

R = StopReason


def stop(reason: StopReason, **more: Any) -> StopSeen:
    return StopSeen(more.pop("raw", reason.value), "finish_reason", reason, **more)


def built(*signals: Signal, cap_tokens: int | None = None) -> Response:
    builder = Builder(cap_tokens)
    for signal in signals:
        builder.feed(signal)
    return builder.build()


TEXT = TextDelta("Some text.")
END, MAX, TOOL = stop(R.END_TURN), stop(R.MAX_TOKENS), stop(R.TOOL_CALL)


def call(
    index: int | None = 0,
    call_id: str | None = "a",
    name: str | None = "write",
    arguments: str | None = "{}",
) -> CallDelta:
    return CallDelta(index, call_id, name, arguments)


# --- the stop ---------------------------------------------------------------------------------


@pytest.mark.behaviour("N3")
@pytest.mark.parametrize("kind", list(FaultKind))
def test_an_error_outweighs_every_native_value(kind) -> None:
    for seen in StopReason:
        response = built(TEXT, stop(seen), FaultSeen(Fault(kind)))
        assert response.stop.reason is FAULT_CLASSES[kind].reason
        assert response.stop.raw == seen.value
    assert built(FaultSeen(Fault(kind, code="c"))).stop.raw == "c"


@pytest.mark.behaviour("N3")
@pytest.mark.parametrize("seen", list(StopReason))
def test_calls_turn_a_clean_stop_alone_into_a_tool_call(seen) -> None:
    clean = seen in (R.END_TURN, R.STOP_SEQUENCE, R.TOOL_CALL)
    response = built(TEXT, call(), stop(seen))
    assert response.stop.reason is (R.TOOL_CALL if clean else seen)


@pytest.mark.behaviour("N3", "N14", "E8")
def test_a_tool_call_stop_without_calls_is_an_anomaly() -> None:
    response = built(TEXT, TOOL)
    assert response.stop.anomalies == ("tool_calls_missing",)
    assert (response.stop.reason, response.stop.raw) == (R.TOOL_CALL, "tool_call")
    assert response.stop.message.endswith("but the answer holds no tool call.")
    assert classify(response) is Outcome.CALLS_MISSING


@pytest.mark.behaviour("N3")
def test_a_refusal_outweighs_a_clean_stop_and_no_graver_one() -> None:
    assert built(RefusalDelta("I can't."), END).stop.reason is R.REFUSAL
    assert built(RefusalDelta("I can't."), Ended()).stop.reason is R.REFUSAL
    assert built(RefusalDelta("I can't."), MAX).stop.reason is R.MAX_TOKENS


@pytest.mark.behaviour("N5")
def test_confidence_is_high_for_a_known_value_medium_for_an_unknown_and_low_for_none() -> None:
    assert built(TEXT, END).stop.confidence is Confidence.HIGH
    assert built(TEXT, stop(R.UNKNOWN, known=False)).stop.confidence is Confidence.MEDIUM
    assert built(TEXT).stop.confidence is Confidence.LOW
    assert built().stop.confidence is Confidence.LOW


@pytest.mark.behaviour("N1a", "S1")
def test_an_orderly_end_without_a_stop_is_inferred_and_any_other_is_a_drop() -> None:
    inferred = built(TEXT, Ended()).stop
    assert (inferred.reason, inferred.confidence) == (R.END_TURN, Confidence.MEDIUM)
    assert inferred.anomalies == ("no_stop",)
    assert built(call(), Ended()).stop.reason is R.TOOL_CALL
    assert built(call(arguments='{"a'), Ended()).stop.reason is R.UNKNOWN
    empty = built(Ended()).stop
    assert (empty.reason, empty.confidence) == (R.UNKNOWN, Confidence.LOW)
    for signals in ((), (TEXT,), (call(),), (TEXT, UsageSeen(Usage(1, 1)))):
        assert built(*signals).stop.reason is R.DROPPED


@pytest.mark.behaviour("N5")
def test_while_a_stream_runs_its_stop_is_not_terminal() -> None:
    builder = Builder()
    builder.feed(TEXT)
    assert not builder.build(over=False).stop.terminal
    assert not builder.progress().terminal
    builder.feed(END)
    assert builder.build(over=False).stop.terminal
    assert builder.progress().reason is R.END_TURN


@pytest.mark.behaviour("S6")
@pytest.mark.parametrize("one", list(StopReason))
@pytest.mark.parametrize("other", list(StopReason))
def test_of_two_stops_the_graver_one_is_believed(one, other) -> None:
    response = built(TEXT, stop(one), stop(other))
    wanted = graver(one, other)
    assert GRAVITY.index(wanted) == min(GRAVITY.index(one), GRAVITY.index(other))
    assert response.stop.reason is wanted
    assert ("tool_calls_missing" in response.stop.anomalies) == (wanted is R.TOOL_CALL)
    assert ("stops_differ" in response.stop.anomalies) == (one is not other)
    assert ("stop_repeated" in response.stop.anomalies) == (one is other)


@pytest.mark.behaviour("S6")
def test_what_comes_after_the_stop_is_kept() -> None:
    usage = Usage(3, 9)
    response = built(TEXT, END, TextDelta(" More."), UsageSeen(usage), Ended(), Ended())
    assert (response.text, response.usage) == ("Some text. More.", usage)
    assert response.stop.anomalies == ("content_after_stop",)
    assert built(TEXT, END, UsageSeen(usage)).stop.anomalies == ()
    late = built(END, call()).stop
    assert (late.reason, late.anomalies) == (R.TOOL_CALL, ("content_after_stop",))


MORE = [TextDelta(" More."), ReasoningDelta("Hm"), RefusalDelta("No."), call()]
CLOSED = TransferEnded(delimited=False)


@pytest.mark.behaviour("S1a")
@pytest.mark.parametrize("more", MORE, ids=lambda signal: type(signal).__name__)
@pytest.mark.parametrize("over", [HalfSeen(), CLOSED], ids=["break", "mere close"])
def test_a_stop_with_content_behind_it_is_no_end_where_the_answer_breaks_off(
    more: Signal, over: Signal
) -> None:
    assert built(TEXT, END, more, over).stop.reason is R.DROPPED
    assert built(TEXT, END, more, more, END, over).stop.reason is not R.DROPPED, "a stop came last"
    assert built(TEXT, END, more, over, Ended()).stop.reason is not R.DROPPED
    assert built(TEXT, END, UsageSeen(Usage(3, 9)), over).stop.reason is R.END_TURN
    assert built(TEXT, END, TextDelta(" \n"), over).stop.reason is R.END_TURN
    assert built(TEXT, END, more, TransferEnded()).stop.reason is not R.DROPPED


@pytest.mark.behaviour("S1a")
def test_nor_is_a_stop_beside_each_piece_of_the_text() -> None:
    pieces: list[Signal] = [TextDelta("Some "), END, TextDelta("text"), END]
    assert built(*pieces, HalfSeen()).stop.reason is R.DROPPED
    assert built(*pieces, TransferEnded()).stop.reason is R.END_TURN
    assert built(*pieces, TextDelta(" and "), TEXT, END, HalfSeen()).stop.reason is R.END_TURN
    thought: list[Signal] = [ReasoningDelta("Hm"), END, ReasoningDelta("Well"), END]
    said = [TextDelta("Some "), TextDelta("text.")]
    assert built(*thought, *said, END, HalfSeen()).stop.reason is R.END_TURN
    assert built(TEXT, END, END, HalfSeen()).stop.reason is R.END_TURN


@pytest.mark.behaviour("S1a")
def test_nor_where_the_text_behind_it_ends_inside_a_word() -> None:
    half = TextDelta(" And mo")
    assert built(TEXT, END, half, TransferEnded()).stop.reason is R.DROPPED
    assert built(TEXT, END, half, TransferEnded(), Ended()).stop.reason is R.END_TURN
    assert built(TextDelta("And mo"), END, TransferEnded()).stop.reason is R.END_TURN


@pytest.mark.behaviour("S1a")
def test_an_error_behind_late_text_leaves_no_clean_stop() -> None:
    error = FaultSeen(Fault(FaultKind.SERVER))
    assert built(TEXT, END, error).stopped
    assert not built(TEXT, END, TextDelta(" More."), error).stopped
    assert not built(TEXT, stop(R.ERROR), error).stopped
    assert not built(TEXT, MAX, error).stopped


@pytest.mark.behaviour("N12")
def test_a_clean_stop_exactly_at_the_cap_is_suspicious() -> None:
    def anomalies(used: int | None, reason: StopSeen = END, cap: int | None = 100) -> Any:
        return built(TEXT, reason, UsageSeen(Usage(1, used)), cap_tokens=cap).stop.anomalies

    assert anomalies(100) == ("suspected_truncation",)
    assert anomalies(99) == anomalies(None) == anomalies(100, cap=None) == anomalies(100, MAX) == ()


@pytest.mark.behaviour("N4")
def test_raw_value_field_and_detail_travel_along() -> None:
    seen = built(TEXT, StopSeen("RECITATION", "a.b", R.SAFETY_BLOCKED, "recitation")).stop
    assert (seen.raw, seen.field, seen.detail) == ("RECITATION", "a.b", "recitation")


# --- calls ------------------------------------------------------------------------------------


def arguments(*deltas: CallDelta) -> list[tuple[str, str]]:
    return [(c.name, c.arguments) for c in built(*deltas, TOOL).calls]


@pytest.mark.behaviour("T12")
@pytest.mark.parametrize("raw", ["", " ", "null", None])
def test_empty_arguments_mean_an_empty_object_on_a_clean_stop_only(raw) -> None:
    for clean in (END, TOOL, stop(R.STOP_SEQUENCE)):
        (made,) = built(call(arguments=raw), clean).calls
        assert (made.arguments, made.finding) == ("{}", Finding.WHOLE)
    for other in (MAX, stop(R.UNKNOWN), stop(R.SAFETY_BLOCKED), Ended(), UsageSeen(Usage())):
        response = built(call(arguments=raw), other)
        assert response.calls[0].finding is Finding.TRUNCATED
        assert classify(response) is not Outcome.DONE
    both = built(call(arguments=raw), TOOL, FaultSeen(Fault(FaultKind.SERVER)))
    assert both.calls[0].finding is Finding.TRUNCATED
    assert built(call(arguments=raw), TOOL).repaired


@pytest.mark.behaviour("T12", "T1")
@pytest.mark.parametrize(
    ("raw", "handed_on", "finding"),
    [
        ('{"a": 1}', '{"a": 1}', Finding.WHOLE),
        (' {"a": 1e400} ', ' {"a": 1e400} ', Finding.WHOLE),
        (json.dumps('{"a": 1}'), '{"a": 1}', Finding.WHOLE),
        (json.dumps(json.dumps('{"a": 1}')), '{"a": 1}', Finding.WHOLE),
        (json.dumps(json.dumps(json.dumps("{}"))), json.dumps("{}"), Finding.MALFORMED),
        ("[1]", "[1]", Finding.MALFORMED),
        ("7", "7", Finding.MALFORMED),
        ("true", "true", Finding.MALFORMED),
        ('{"a": 1', '{"a": 1', Finding.TRUNCATED),
        ('{"a": 1}}', '{"a": 1}}', Finding.MALFORMED),
        ("{'a': 1}", "{'a': 1}", Finding.MALFORMED),
    ],
)
def test_arguments_are_judged_by_their_raw_text(raw, handed_on, finding) -> None:
    response = built(call(arguments=raw), TOOL)
    (made,) = response.calls
    assert (made.arguments, made.finding) == (handed_on, finding)
    assert response.repaired == (handed_on != raw and finding is Finding.WHOLE)


@pytest.mark.behaviour("T13")
@pytest.mark.parametrize(
    "deltas",
    [
        (call(0, "a", "one", '{"x"'), call(0, None, None, ":1}"), call(1, "b", "two", "{}")),
        # no index: a new id or name begins a call
        (call(None, "a", "one", '{"x":1}'), call(None, "b", "two", "{}")),
        (
            call(None, "a", "one", '{"x"'),
            call(None, None, None, ":1}"),
            call(None, "b", "two", "{}"),
        ),
        (call(None, None, "one", '{"x":1}'), call(None, None, "two", "{}")),
        # interleaved
        (
            call(0, "a", "one", '{"x"'),
            call(1, "b", "two", "{"),
            call(0, None, None, ":1}"),
            call(1, None, None, "}"),
        ),
        (
            call(None, "a", "one", '{"x"'),
            call(None, "b", "two", "{"),
            call(None, "a", None, ":1}"),
            call(None, "b", None, "}"),
        ),
        # one index for all
        (call(0, "a", "one", '{"x"'), call(0, None, None, ":1}"), call(0, "b", "two", "{}")),
        (call(0, "a", "one", '{"x":1}'), call(0, "b", "two", "{"), call(0, None, None, "}")),
        (call(0, None, "one", '{"x":1}'), call(0, None, "two", "{}")),
        # id and name in every delta, or in a later one
        (call(0, "a", "one", '{"x"'), call(0, "a", "one", ":1}"), call(1, "b", "two", "{}")),
        (call(0, None, None, '{"x"'), call(0, "a", "one", ":1}"), call(1, "b", "two", "{}")),
        (call(0, "", "one", '{"x":1}'), call(1, "", "two", "{}")),
    ],
)
def test_deltas_of_every_shape_are_sorted_into_their_calls(deltas) -> None:
    assert arguments(*deltas) == [("one", '{"x":1}'), ("two", "{}")]


@pytest.mark.behaviour("T13")
def test_ids_are_made_where_they_are_missing_or_given_twice() -> None:
    response = built(call(0, "a"), call(1, "a"), call(2, None), call(3, "tenuto002"), TOOL)
    ids = [c.id for c in response.calls]
    assert ids[0] == "a"
    assert len(set(ids)) == 4
    assert all(i.isalnum() and len(i) == 9 for i in ids[1:]), "what the strictest provider takes"
    assert response.repaired
    assert {"call_id_duplicate", "call_id_missing"} <= set(response.stop.anomalies)
    assert not built(call(0, "a"), call(1, "b"), TOOL).repaired


@pytest.mark.behaviour("T1")
def test_a_call_without_a_name_is_malformed() -> None:
    (made,) = built(call(name=None), TOOL).calls
    assert (made.finding, made.detail) == (Finding.MALFORMED, "no_name")


def test_what_the_wire_put_right_is_an_anomaly() -> None:
    response = built(CallDelta(0, "a", "w", "{}", ("call_type_missing",)), TOOL)
    assert response.repaired
    assert response.stop.anomalies == ("call_type_missing",)


# --- whatever order ---------------------------------------------------------------------------


@pytest.mark.behaviour("T1", "T12")
@pytest.mark.parametrize(
    ("said", "again", "kept"),
    [
        ('{"a', '{"a": 1}', '{"a": 1}'),
        ("", '{"a": 1}', '{"a": 1}'),
        ('{"a": 1}', "", '{"a": 1}'),
        ('{"a": 1}', "{}", '{"a": 1}'),
        ('{"a', " ", '{"a'),
    ],
)
def test_what_is_said_once_more_as_a_whole_takes_nothing_back(said, again, kept) -> None:
    first = CallDelta(0, "a", "f", said)
    end = (stop(StopReason.TOOL_CALL), Ended())
    response = built(first, CallDelta(0, "a", None, again, whole=True), *end)
    assert [call.arguments for call in response.calls] == [kept]
    assert ("call_arguments_differ" in response.stop.anomalies) == (not again.startswith(said))


def pieces(text: str, random: Random) -> list[str]:
    cuts = sorted(random.sample(range(len(text) + 1), random.randint(0, min(4, len(text)))))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def interleaved(streams: list[list[Signal]], random: Random) -> list[Signal]:
    """One order that keeps the order of each stream."""
    order = [n for n, stream in enumerate(streams) for _ in stream]
    random.shuffle(order)
    left = [iter(stream) for stream in streams]
    return [next(left[n]) for n in order]


calls_made = st.lists(
    st.sampled_from(['{"a": [1, "\\u00e9"]}', "", "null", '{"a": tru', "[1]", '"{\\"b\\": 2}"']),
    max_size=3,
)


@pytest.mark.behaviour("S8", "S6")
@given(
    st.text(max_size=20),
    st.text(max_size=20),
    calls_made,
    st.sampled_from([None, *StopReason]),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_any_order_and_chunking_of_deltas_gives_the_same_response(
    text, thought, made, reason, ended, random
) -> None:
    def read(chunked: bool) -> Response:
        heads: list[Signal] = [CallDelta(n, f"id{n}", "write", None) for n, _ in enumerate(made)]
        texts = pieces(text, random) if chunked else [text]
        thoughts = pieces(thought, random) if chunked else [thought]
        streams: list[list[Signal]] = [
            [TextDelta(part) for part in texts],
            [ReasoningDelta(part) for part in thoughts],
            [UsageSeen(Usage(1, 2))],
        ]
        for n, raw in enumerate(made):
            parts = pieces(raw, random) if chunked else [raw]
            streams.append([CallDelta(n, None, None, part) for part in parts])
        body = [s for stream in streams for s in stream]
        body = interleaved(streams, random) if chunked else body
        end: list[Signal] = [] if reason is None else [stop(reason)]
        return built(*heads, *body, *end, *([Ended()] if ended else []))

    # Only whether text came behind the calls, and the usage behind all, is a matter of the order.
    one, other = (
        replace(read(chunked), text_behind_calls=False, counted=False) for chunked in (True, False)
    )
    assert one == other


odd_texts = st.text(max_size=6) | st.sampled_from(
    ["<think>", "</think>", "{", '"', "\\u12", "\ud800"]
)
any_signal = st.one_of(
    odd_texts.map(TextDelta),
    odd_texts.map(ReasoningDelta),
    odd_texts.map(RefusalDelta),
    st.builds(CallDelta, st.none() | st.integers(), st.none() | odd_texts, st.none() | odd_texts, st.none() | odd_texts),
    st.builds(StopSeen, odd_texts, odd_texts, st.sampled_from(StopReason), st.none() | odd_texts, st.booleans()),
    st.builds(Usage, st.none() | st.integers(), st.none() | st.integers()).map(UsageSeen),
    st.builds(Fault, st.sampled_from(FaultKind), odd_texts).map(FaultSeen),
    st.just(Ended()),
)  # fmt: skip


@pytest.mark.behaviour("N6")
@given(st.lists(any_signal, max_size=12), st.none() | st.integers())
def test_no_signals_whatever_make_the_builder_raise(signals, cap) -> None:
    builder = Builder(cap)
    for signal in signals:
        builder.feed(signal)
        builder.progress()
    response = builder.build()
    assert builder.build() == response, "asking changes nothing"
    assert classify(response) in Outcome
    ids = [c.id for c in response.calls]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    assert response.text == "".join(s.text for s in signals if isinstance(s, TextDelta))


# --- think blocks -----------------------------------------------------------------------------


@pytest.mark.behaviour("E1")
@pytest.mark.parametrize(
    ("text", "seen", "closing"),
    [
        ("", "", ""),
        ("  \n", "", ""),
        ("<think>hm</think> Yes.", "Yes.", ""),
        ("<think>hm", "", "\n</think>\n\n"),
        ("<thinking>hm", "", "\n</thinking>\n\n"),
        ("Yes. <think>but", "Yes.", "\n</think>\n\n"),
        ("<think>a</think><think>b</think>", "", ""),
        ("a <thinker> b", "a <thinker> b", ""),
    ],
)
def test_think_blocks_are_nothing_to_read(text, seen, closing) -> None:
    assert visible(text) == seen
    assert think_closing(text) == closing
    assert visible(text + closing) == seen
