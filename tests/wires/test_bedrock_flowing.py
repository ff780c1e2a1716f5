"""Bedrock's events that only carry text, by the quick reading and the slow one, on both of its wires."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.core.answer.signals import ReasoningDelta, TextDelta
from tenuto.wires.base import Wire
from tenuto.wires.bedrock_converse.wire import WIRE as CONVERSE
from tenuto.wires.bedrock_invoke.makers import METRICS
from tenuto.wires.bedrock_invoke.wire import WIRE as INVOKE
from tenuto.wires.stream import plain_delta_in

WIRES = pytest.mark.parametrize("wire", [CONVERSE, INVOKE], ids=lambda wire: wire.name)

_odd: st.SearchStrategy[Any] = st.sampled_from(["Hi", "", None, 1, [], {}, {"text": "Hm"}])
_deltas = st.dictionaries(
    st.sampled_from(["text", "reasoningContent", "toolUse", "citation"]), _odd, max_size=2
)
_beside = st.sampled_from([METRICS, "amazon-bedrock-guardrailAction", "messageStop", "type", "p"])
_events = st.builds(
    lambda payload, beside: {"contentBlockDelta": payload, **beside},
    st.fixed_dictionaries(
        {"delta": _deltas | _odd},
        optional={"contentBlockIndex": st.sampled_from([0, 1, None, "x"]), "p": st.just("abc")},
    ),
    st.dictionaries(_beside, st.sampled_from([None, "INTERVENED", {"inputTokenCount": 1}])),
)


@pytest.mark.behaviour("N6", "S8")
@WIRES
@given(event=_events)
def test_the_quick_reading_of_an_event_is_the_slow_one(wire: Wire, event: dict[str, Any]) -> None:
    quick = plain_delta_in(wire, json.dumps(event).encode())
    if quick is not None:
        assert wire.parse_object(event, event=True) == [quick]


@pytest.mark.behaviour("S8")
@WIRES
@pytest.mark.parametrize(("delta", "signal"), [
    ({"text": "Hi"}, TextDelta("Hi")), ({"reasoningContent": {"text": "Hm"}}, ReasoningDelta("Hm")),
    ({"reasoningContent": {"signature": "c2ln"}}, None), ({"toolUse": {"input": "{"}}, None),
])  # fmt: skip
def test_texts_and_thoughts_are_read_quickly_and_nothing_else_is(
    wire: Wire, delta: dict[str, Any], signal: object
) -> None:
    event = {"contentBlockDelta": {"delta": delta, "contentBlockIndex": 0, "p": "abcdef"}}
    assert plain_delta_in(wire, json.dumps(event).encode()) == signal
