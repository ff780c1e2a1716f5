"""What we write: the official SDK's own types accept it, and read back it says the same."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.signals import Usage
from tenuto.detection import read
from tenuto.turn.stream.merger import merger
from tenuto.wires.answer import Answer
from tenuto.wires.chat_like import render
from tenuto.wires.chat_like.render import ChatLayout
from tenuto.wires.openai_chat.wire import WIRE

FIRST = {
    "id": "c1", "object": "chat.completion", "created": 1, "model": "m", "x_unknown": [1],
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "cut"}, "finish_reason": "length", "logprobs": None}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, "queue_time": 0.5},
}  # fmt: skip
CALLS = (
    ToolCall("a", "f", '{"x":1}', Finding.WHOLE),
    ToolCall("b", "g", "{}", Finding.WHOLE),
)
LEGACY = (ToolCall(render.LEGACY_CALL_ID, "f", '{"x":1}', Finding.WHOLE),)
answers = st.builds(
    Answer,
    text=st.text(max_size=20) | st.just("half \ud83d"),
    reasoning=st.text(max_size=5),
    calls=st.sampled_from([(), CALLS, LEGACY]),
    native_stop=st.sampled_from(["stop", "length", "content_filter"]),
    usage=st.none() | st.just(Usage(3, 9, 4)),
    raw_usage=st.none() | st.just(FIRST["usage"]),
)


def said(response: Any) -> tuple[Any, ...]:
    usage = response.usage
    return (
        response.text,
        response.reasoning,
        [(c.id, c.name, c.arguments) for c in response.calls],
        response.stop.raw,
        usage and (usage.input_tokens, usage.output_tokens),
    )


def meant(answer: Answer, usage: bool) -> tuple[Any, ...]:
    calls = [(c.id, c.name, c.arguments) for c in answer.calls]
    return (
        answer.text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass"),
        answer.reasoning,
        calls,
        answer.native_stop,
        (3, 9) if usage and answer.usage else None,
    )


@given(answers)
def test_a_body_is_what_the_sdk_expects_and_says_what_was_meant(answer):
    first = {key: value for key, value in FIRST.items() if key != "usage"}
    body = render.render_body(first, first, answer)
    value = json.loads(body)  # as the SDK does: pydantic's own parser refuses lone surrogates
    ChatCompletion.model_validate(value)
    assert (value["id"], value["x_unknown"]) == ("c1", [1])
    assert said(read(body)) == meant(answer, True)


@given(answers, st.booleans())
def test_a_stream_is_what_the_sdk_expects_and_says_what_was_meant(answer, include_usage):
    writer = merger(ChatLayout("m"))
    writer.begin({**FIRST, "object": "chat.completion.chunk"})
    stream = (
        (writer.reasoning(answer.reasoning) if answer.reasoning else b"")
        + (writer.text(answer.text) if answer.text else b"")
        + writer.end(answer, include_usage=include_usage)
    )
    lines = [line[6:] for line in stream.split(b"\n\n") if line]
    assert lines.pop() == b"[DONE]"
    for line in lines:
        ChatCompletionChunk.model_validate(json.loads(line))
        assert json.loads(line)["id"] == "c1"
    assert said(read(stream)) == meant(answer, include_usage)


def test_an_envelope_of_our_own_is_enough_for_the_sdk():
    ChatCompletionChunk.model_validate_json(merger(ChatLayout("m")).text("x")[6:].strip())


def test_an_error_of_ours_is_read_as_one_that_recovery_was_spent_on():
    partial = Answer("half", "why")
    body = render.render_error("dropped", "m", partial)
    assert json.loads(body)["error"]["partial"] == {"text": "half", "reasoning": "why"}
    assert WIRE.parse_fault(502, {}, body).kind.value == "upstream_gave_up"
    fault = read(merger(ChatLayout("m")).error("dropped", "m")).fault
    assert fault is not None
    assert fault.kind.value == "upstream_gave_up"
