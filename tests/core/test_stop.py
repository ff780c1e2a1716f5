"""Our words for why a model stopped."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.core.answer.fault import FAULT_CLASSES, Fault, FaultKind
from tenuto.core.answer.stop import CLEAN, GRAVITY, SENTENCES, Stop, StopReason, graver, printable

R = StopReason


@pytest.mark.behaviour("S6")
def test_the_order_of_gravity_is_total_and_ends_with_the_clean_stops() -> None:
    assert sorted(GRAVITY) == sorted(StopReason)
    assert set(GRAVITY[-len(CLEAN) :]) == CLEAN
    assert graver(R.END_TURN, R.ERROR) is graver(R.ERROR, R.END_TURN) is R.ERROR


@pytest.mark.behaviour("N3")
@pytest.mark.parametrize("grave", [R.MAX_TOKENS, R.SAFETY_BLOCKED, R.MALFORMED_TOOL_CALL])
def test_truncation_safety_and_malformed_outweigh_every_clean_stop(grave) -> None:
    assert all(graver(grave, clean) is grave for clean in CLEAN)


@pytest.mark.behaviour("N5")
@pytest.mark.parametrize("reason", list(StopReason))
def test_every_reason_has_a_sentence_for_a_person(reason) -> None:
    assert set(SENTENCES) == set(StopReason)
    message = Stop(reason, detail="time_limit").message
    assert message.endswith("(time_limit).")
    assert Stop(reason, raw="given").message == SENTENCES[reason]
    assert "not ended" in Stop(reason, terminal=False).message


@given(st.text(max_size=200))
def test_a_native_value_is_made_printable_and_bounded(value) -> None:
    shown = printable(value)
    assert shown.isprintable()
    assert len(shown) <= 80
    assert printable("\x1b[31m\r\nx") == "\\x1b[31m\\r\\nx"


@pytest.mark.behaviour("P5")
def test_every_kind_of_fault_has_its_class() -> None:
    assert set(FAULT_CLASSES) == set(FaultKind)
    retryable = {kind for kind in FaultKind if Fault(kind).retryable}
    assert retryable == {
        FaultKind.RATE_LIMITED,
        FaultKind.OVERLOADED,
        FaultKind.NOT_THIS_API,
        FaultKind.SERVER,
        FaultKind.TIMEOUT,
        FaultKind.CONNECTION,
        FaultKind.GARBAGE,
    }
    assert FAULT_CLASSES[FaultKind.CONTEXT_OVERFLOW].compress
    assert FAULT_CLASSES[FaultKind.AUTHENTICATION].fallback
    assert not FAULT_CLASSES[FaultKind.INVALID_REQUEST].fallback


@pytest.mark.behaviour("N3")
@pytest.mark.parametrize(
    ("given", "error", "named"),
    [
        ({"reason": "length"}, ValueError, "Stop.reason"),
        ({"reason": None}, TypeError, "Stop.reason"),
        ({"confidence": "sure"}, ValueError, "Stop.confidence"),
        ({"confidence": 1}, TypeError, "Stop.confidence"),
        ({"raw": 3}, TypeError, "Stop.raw"),
        ({"anomalies": ["no_stop"]}, TypeError, "Stop.anomalies"),
        ({"anomalies": (1,)}, TypeError, "Stop.anomalies"),
        ({"metadata": {"category": 1}}, TypeError, "Stop.metadata"),
        ({"metadata": [("category", "cyber")]}, TypeError, "Stop.metadata"),
    ],
)
def test_a_stop_says_which_of_its_fields_is_wrong(given, error, named) -> None:
    with pytest.raises(error, match=named):
        Stop(**({"reason": R.END_TURN} | given))


@pytest.mark.behaviour("P1")
def test_a_stop_is_plain_values_for_json_and_can_be_copied_and_kept_in_a_set() -> None:
    made = Stop(R.REFUSAL, "refusal", anomalies=("no_stop",), metadata={"category": "cyber"})
    told = made.as_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["metadata"] == {"category": "cyber"}
    assert pickle.loads(pickle.dumps(made)) == made == copy.deepcopy(made)
    assert len({made, Stop(R.END_TURN)}) == 2
