"""Whatever events come in whatever order, the SDK can put together what a mender makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic._models import construct_type
from anthropic.lib.streaming._messages import accumulate_event, build_events
from anthropic.types import RawMessageStreamEvent
from hypothesis import given, settings
from hypothesis import strategies as st

from tenuto.wires.anthropic_messages.mending import Mender

Event = dict[str, Any]
INDEX = st.sampled_from([0, 0, 1, 1, 2, 5, None, "1", -1, [0]])
TYPES = st.sampled_from(["text", "thinking", "tool_use", "server_tool_use", None, 3])
WORDS = st.sampled_from(["a", "", None])


def members(**of: Any) -> Any:
    """Objects that have all of these members, or lack some."""
    return st.fixed_dictionaries({}, optional=of)


BLOCKS = members(
    type=TYPES, text=WORDS, thinking=WORDS, signature=WORDS, id=st.just("t1"), name=st.just("f"),
    input=st.sampled_from([{}, {"a": 1}, None]),
)  # fmt: skip
DELTAS = st.one_of(
    st.fixed_dictionaries({"type": st.just("text_delta")}, optional={"text": WORDS}),
    st.fixed_dictionaries({"type": st.just("thinking_delta")}, optional={"thinking": WORDS}),
    st.fixed_dictionaries({"type": st.just("signature_delta"), "signature": st.just("s")}),
    st.fixed_dictionaries({"type": st.just("input_json_delta"), "partial_json": st.just("{}")}),
    members(text=WORDS, type=st.sampled_from([None, 4, [], "future_delta"])),
    st.none(),
)
USAGE = st.one_of(
    st.none(), members(input_tokens=st.just(3), output_tokens=st.sampled_from([4, None]))
)
MESSAGES = members(
    id=st.just("m"), content=st.one_of(st.none(), st.just([]), st.just("Hi"), st.lists(BLOCKS, max_size=1)),
    usage=USAGE,
)  # fmt: skip
ENDS = members(stop_reason=st.sampled_from(["end_turn", None]), stop_sequence=st.none())


def events() -> Any:
    kinds = {
        "message_start": members(message=st.one_of(st.none(), MESSAGES)),
        "content_block_start": members(index=INDEX, content_block=st.one_of(st.none(), BLOCKS)),
        "content_block_delta": members(index=INDEX, delta=DELTAS),
        "content_block_stop": members(index=INDEX),
        # A usage that is missing altogether is written by the turn's end.
        "message_delta": st.fixed_dictionaries(
            {"usage": members(output_tokens=st.sampled_from([4, None]))}, optional={"delta": ENDS}
        ),
        "message_stop": st.just({}),
    }
    told = [held.map(lambda e, k=kind: {"type": k, **e}) for kind, held in kinds.items()]
    return st.lists(st.one_of(*told), max_size=12)


def _is_read(event: Event) -> bool:
    delta = event.get("delta") or {}
    return isinstance(delta.get("type"), str) or bool(delta.keys() - {"type"})


# The SDK warns of a block whose type is no text, and goes on; so it does without Tenuto.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.behaviour("S2a")
@settings(max_examples=150)
@given(came=events())
def test_no_order_of_events_makes_the_sdk_crash(came: list[Event]) -> None:
    mender, snapshot, bufs = Mender("m"), None, dict[int, bytes]()
    for event in came:
        mended = mender.mend(event)
        if mended is None and event["type"] == "content_block_delta" and not _is_read(event):
            continue  # it damaged a call, which the turn holds back and asks for again
        for each in [event] if mended is None else mended:
            made: Any = construct_type(type_=RawMessageStreamEvent, value=each)
            snapshot = accumulate_event(event=made, current_snapshot=snapshot, json_bufs=bufs)
            build_events(event=made, message_snapshot=snapshot)


@pytest.mark.behaviour("S2a", "P8")
def test_a_stream_as_the_provider_writes_it_needs_nothing():
    usage = {"input_tokens": 1, "output_tokens": 1}
    tool = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    stream: list[Event] = [
        {"type": "message_start", "message": {"id": "m", "content": [], "usage": usage}},
        {"type": "ping"},
        {"type": "content_block_start", "index": 0,
         "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
        {"type": "content_block_delta", "index": 0,
         "delta": {"type": "signature_delta", "signature": "s"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1,
         "delta": {"type": "citations_delta", "citation": {}}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": tool},
        {"type": "content_block_delta", "index": 2,
         "delta": {"type": "input_json_delta", "partial_json": ""}},
        {"type": "content_block_stop", "index": 2},
        {"type": "content_block_start", "index": 3, "content_block": {"type": "of_tomorrow"}},
        {"type": "content_block_delta", "index": 3, "delta": {"type": "of_tomorrow_delta"}},
        {"type": "content_block_stop", "index": 3},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": usage},
        {"type": "message_stop"},
    ]  # fmt: skip
    mender = Mender("m")
    assert [mender.mend(event) for event in stream] == [None] * len(stream)
    assert mender.odd == []
