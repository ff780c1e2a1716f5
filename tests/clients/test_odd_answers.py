"""Answers that are right but unusual, and far sides that stall or misname what they send."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import openai
import pytest
from support.asking.wrapping import QUICK
from support.events import openai_chat as chat
from support.events.framing import sse
from support.far_sides import RESET, STREAM, FarSide, answer, json_answer, sse_answer

import tenuto

CUSTOM = {"id": "call_a", "type": "custom", "custom": {"name": "shell", "input": "ls -l | wc"}}
SIGNED = {
    "id": "call_b",
    "type": "function",
    "function": {"name": "read", "arguments": '{"path": "a"}'},
    "extra_content": {"google": {"thought_signature": "c2lnbmVk"}},
}


def body_of(message: dict[str, Any], finish: str) -> bytes:
    return json.dumps(chat.whole({"role": "assistant", **message}, finish)).encode()


def stream_of(*deltas: dict[str, Any], finish: str) -> bytes:
    return b"".join(sse(chat.chunks(deltas, finish), done=True))


def wrapped(far: FarSide, events: list[tenuto.Event] | None = None, **more: Any) -> openai.OpenAI:
    client = openai.OpenAI(base_url=far.base_url, api_key="key", **more)
    on_event = events.append if events is not None else None
    return tenuto.wrap(client, policy=tenuto.Policy(**QUICK), on_event=on_event)


def ask(client: openai.OpenAI, **more: Any) -> Any:
    messages: list[Any] = [{"role": "user", "content": "Hi"}]
    return client.chat.completions.create(model="m", messages=messages, **more)


@pytest.mark.behaviour("C25", "P8", "T1")
def test_a_custom_tool_call_is_handed_out_as_it_came():
    with FarSide(
        json_answer(body_of({"content": None, "tool_calls": [CUSTOM]}, "tool_calls"))
    ) as far:
        (call,) = ask(wrapped(far)).choices[0].message.tool_calls
        assert (call.type, call.custom.input) == ("custom", "ls -l | wc")
        assert len(far.requests) == 1
    pieces = (
        {"tool_calls": [{"index": 0, **CUSTOM, "custom": {"name": "shell", "input": "ls"}}]},
        {"tool_calls": [{"index": 0, "custom": {"input": " -l"}}]},
    )
    sent = stream_of(*pieces, finish="tool_calls")
    with FarSide(answer(sent, "content-type: text/event-stream", length=False)) as far:
        with wrapped(far).chat.completions.with_streaming_response.create(
            model="m", messages=[{"role": "user", "content": "Hi"}], stream=True
        ) as response:
            assert b"".join(response.iter_bytes()) == sent
        assert len(far.requests) == 1


@pytest.mark.behaviour("T3", "T16")
def test_a_custom_tool_call_that_the_limit_cut_is_not_handed_out():
    cut = body_of({"content": None, "tool_calls": [CUSTOM]}, "length")
    whole = body_of({"content": None, "tool_calls": [CUSTOM]}, "tool_calls")
    with FarSide(json_answer(cut), json_answer(cut), json_answer(whole)) as far:
        (call,) = ask(wrapped(far)).choices[0].message.tool_calls
        assert call.custom.input == "ls -l | wc"
        assert len(far.requests) == 3
        answered = json.loads(far.requests[2][1])["messages"]
        assert answered[1]["tool_calls"][0]["type"] == "custom"


@pytest.mark.behaviour("C24", "T13")
def test_further_keys_of_a_call_survive_a_continuation():
    cut = body_of({"content": "Half "}, "length")
    rest = body_of({"content": "said.", "tool_calls": [SIGNED]}, "tool_calls")
    with FarSide(json_answer(cut), json_answer(rest)) as far:
        message = ask(wrapped(far)).choices[0].message
        assert message.content == "Half said."
        assert message.tool_calls[0].to_dict()["extra_content"] == SIGNED["extra_content"]


@pytest.mark.behaviour("C25", "E1")
def test_an_answer_that_is_an_image_is_not_empty():
    images = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
    with FarSide(json_answer(body_of({"content": "", "images": images}, "stop"))) as far:
        assert ask(wrapped(far)).choices[0].message.images == images
        assert len(far.requests) == 1


@pytest.mark.behaviour("S2", "C24")
def test_what_stands_beside_the_text_of_each_body_is_kept():
    ran, thought = {"type": "search"}, {"type": "reasoning.text", "text": "Hm."}
    halves: list[dict[str, Any]] = [
        {"content": "Half ", "images": ["a"], "executed_tools": [ran], "only_first": 1},
        {"content": "and half.", "images": ["b"], "reasoning_details": [thought]},
    ]
    cut, rest = body_of(halves[0], "length"), body_of(halves[1], "stop")
    with FarSide(json_answer(cut), json_answer(rest)) as far:
        message = ask(wrapped(far)).choices[0].message
    assert message.content == "Half and half."
    assert message.model_extra == {
        "images": ["a", "b"],
        "executed_tools": [ran],
        "reasoning_details": [thought],
        "only_first": 1,
    }


@pytest.mark.behaviour("P8", "S8")
def test_an_event_stream_is_known_by_its_bytes_and_not_by_its_name():
    with FarSide(answer(STREAM, "content-type: application/json", length=False)) as far:
        chunks = list(ask(wrapped(far), stream=True))
        assert "".join(c.choices[0].delta.content or "" for c in chunks) == "All said."
        assert len(far.requests) == 1


@pytest.mark.behaviour("P1b")
@pytest.mark.parametrize("max_retries", [0, 2])
def test_a_body_that_stalls_is_the_sdks_to_retry(max_retries):
    released = threading.Event()
    good = json_answer(body_of({"content": "All said."}, "stop"))

    def stalling() -> Iterator[bytes]:
        yield good[:-10]
        released.wait(20)

    def answers() -> Iterable[Any]:
        return (stalling(), good)

    with FarSide(*answers()) as far:
        client = wrapped(far, timeout=0.3, max_retries=max_retries)
        if max_retries:
            assert ask(client).choices[0].message.content == "All said."
            assert len(far.requests) == 2
        else:
            with pytest.raises(openai.APITimeoutError):
                ask(client)
        released.set()


@pytest.mark.behaviour("P1", "P1a", "P1c")
@pytest.mark.parametrize(
    ("lost", "raises"),
    [
        pytest.param("ended in a timeout", openai.APITimeoutError, id="ended in a timeout"),
        pytest.param("lost its connection", openai.APIConnectionError, id="lost its connection"),
    ],
)
def test_an_error_for_a_stream_that_breaks_again_and_again_says_how_and_how_often(lost, raises):
    released = threading.Event()
    begun = stream_of({"content": "Half "}, finish="length").partition(b"\n\n")[0] + b"\n\n"

    def breaking() -> Iterator[bytes]:
        yield answer(begun, "content-type: text/event-stream", length=False)
        if "timeout" in lost:
            released.wait(20)
        else:
            yield RESET

    with FarSide(*(breaking() for _ in range(8))) as far:
        client = wrapped(far, timeout=0.3, max_retries=0)
        with pytest.raises(openai.APIError) as caught:
            list(ask(client, stream=True))
        released.set()
        assert type(caught.value) is raises, "what the bare SDK raises"
        (note,) = list(getattr(caught.value.__cause__, "__notes__", []))
        assert f"The last of {len(far.requests)} attempts {lost}." in note
        assert len(far.requests) > 1


@pytest.mark.behaviour("C5")
def test_a_client_that_is_closed_before_a_continuation_keeps_the_text_and_is_named():
    events: list[tenuto.Event] = []
    cut = stream_of({"content": "Half "}, finish="length")
    with FarSide(answer(cut, "content-type: text/event-stream", length=False)) as far:
        client = wrapped(far, events)
        stream = ask(client, stream=True)
        first = next(stream)
        client.close()
        rest = list(stream)
        said = "".join(c.choices[0].delta.content or "" for c in (first, *rest) if c.choices)
        assert said.strip() == "Half"
        assert rest[-1].choices[0].finish_reason == "length"
        assert "the client was closed" in str(events[-1].data["advice"])


def test_what_is_no_policy_is_refused_by_name():
    client = openai.OpenAI(api_key="key")
    with pytest.raises(tenuto.PolicyError, match=r"policy is \{\}"):
        tenuto.wrap(client, policy={})  # type: ignore[arg-type]
    with pytest.raises(tenuto.PolicyError, match="on_event is 5"):
        tenuto.wrap(client, on_event=5)  # type: ignore[arg-type]


def test_wrapping_again_with_a_watcher_keeps_the_policy():
    with FarSide(json_answer(body_of({"content": "Half"}, "length"))) as far:
        events: list[tenuto.Event] = []
        client = openai.OpenAI(base_url=far.base_url, api_key="key")
        once = tenuto.wrap(client, policy=tenuto.Policy(continuation_max_attempts=0))
        assert ask(tenuto.wrap(once, on_event=events.append)).choices[0].finish_reason == "length"
        assert len(far.requests) == 1
        assert events


@pytest.mark.behaviour("S2", "C5")
def test_what_stands_beside_the_stop_of_a_cut_is_not_lost():
    beside = {"content": "Half ", "reasoning_content": "Hm.", "images": [{"type": "image_url"}]}
    cut = stream_of(finish="length").replace(
        b'"delta": {}', b'"delta": ' + json.dumps(beside).encode()
    )
    rest = stream_of({"content": "and half."}, finish="stop")
    with FarSide(sse_answer(cut), sse_answer(rest)) as far:
        deltas = [chunk.choices[0].delta.to_dict() for chunk in ask(wrapped(far), stream=True)]
        assert len(far.requests) == 2
    assert "".join(d.get("content") or "" for d in deltas) == "Half and half."
    assert [d["reasoning_content"] for d in deltas if "reasoning_content" in d] == ["Hm."]
    assert [d["images"] for d in deltas if "images" in d] == [beside["images"]]


@pytest.mark.behaviour("C24", "T5", "S2")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("cut", [False, True], ids=["no call came", "the call was cut"])
def test_texts_of_two_attempts_at_a_call_are_two_paragraphs(stream, cut):
    def said(text: str, arguments: str, finish: str) -> bytes:
        function = {"name": "f", "arguments": arguments}
        call = {"id": "call_1", "type": "function", "function": function}
        if not stream:
            calls = {"tool_calls": [call]} if arguments else {}
            return json_answer(body_of({"content": text} | calls, finish))
        deltas: list[dict[str, Any]] = [{"content": text}]
        deltas += [{"tool_calls": [{"index": 0} | call]}] if arguments else []
        return sse_answer(stream_of(*deltas, finish=finish))

    first = said("ok", '{"a": "b' if cut else "", "length" if cut else "tool_calls")
    with FarSide(first, said("I call it.", '{"a": "b"}', "tool_calls")) as far:
        made = ask(wrapped(far), stream=stream)
        parts = [c.choices[0].delta for c in made] if stream else [made.choices[0].message]
        assert len(far.requests) == 2
    assert "".join(part.content or "" for part in parts) == "ok\n\nI call it."
    assert [part for part in parts if part.tool_calls]
