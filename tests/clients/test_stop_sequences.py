"""Stop sequences of the request that lie across a cut: no provider sees them there."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import openai
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import DONE, FarSide, event, json_answer, sse_answer
from support.replay import anthropic_messages as claude
from support.replay.openai_chat import END, MAX, R, Replay

import tenuto

FAILS = tenuto.Policy(**QUICK, on_incomplete="error")
POLICY = tenuto.Policy(**QUICK)
ROWS: list[Any] = [{"role": "user", "content": "Tell me."}]


def chat(replay: Replay, *answers: R, stop: Any = "END", **more: Any) -> Any:
    replay.say(*answers)
    client = tenuto.wrap(openai.OpenAI(base_url=replay.base_url, api_key="k"), policy=POLICY)
    with client:
        made = client.chat.completions.create(model="m", messages=ROWS, stop=stop, **more)
        if not more.get("stream"):
            return made.choices[0].message.content, made.choices[0].finish_reason
        choices = [chunk.choices[0] for chunk in made if chunk.choices]
        text = "".join(choice.delta.content or "" for choice in choices)
        return text, choices[-1].finish_reason


def message(
    replay: Replay, policy: tenuto.Policy, events: list[tenuto.Event], *, stream: bool
) -> Any:
    """What Anthropic's SDK gives of a request with a stop sequence."""
    bare = anthropic.Anthropic(base_url=replay.base_url.removesuffix("/v1"), api_key="k")
    asked: dict[str, Any] = {"model": "m", "max_tokens": 99, "messages": ROWS}
    asked["stop_sequences"] = ["END"]
    with tenuto.wrap(bare, policy=policy, on_event=events.append) as client:
        if not stream:
            return client.messages.create(**asked)
        with client.messages.stream(**asked) as running:
            return running.get_final_message()


@pytest.mark.behaviour("C14", "C15")
@pytest.mark.parametrize("stop", ["END", ["never", "END"]])
def test_a_body_ends_before_a_stop_sequence_that_lies_across_the_cut(stop):
    with Replay() as replay:
        got = chat(replay, R("All said. EN", MAX), R("D and more", MAX), R("never"), stop=stop)
        assert got == ("All said. ", END)
        assert len(replay.requests) == 2  # the second cut is behind the end


@pytest.mark.behaviour("C14", "S2")
@pytest.mark.parametrize("size", [1, 2, 50])
def test_a_stream_ends_there_but_for_what_was_handed_on(size):
    with Replay() as replay:
        cut, more = R("All said. EN", MAX), R("D and more", MAX, piece_chars=size)
        assert chat(replay, cut, more, R("never"), stream=True) == ("All said. EN", END)
        assert len(replay.requests) == 2
        cut, more = R("All said. E", MAX), R("ND and more", MAX, piece_chars=size)
        assert chat(replay, cut, more, R("never"), stream=True) == ("All said. E", END)


@pytest.mark.behaviour("C14")
def test_white_space_at_the_cut_may_begin_a_stop_sequence():
    with Replay() as replay:
        for stream in (False, True):
            got = chat(replay, R("One.\n\n", MAX), R("Q: two?"), stop="\n\nQ:", stream=stream)
            assert (got[0].strip(), got[1]) == ("One.", END)


@pytest.mark.behaviour("C1", "C15")
@pytest.mark.parametrize(
    ("cut", "rest"), [("The EN", "GINE."), ("The E", "N or D."), ("END is near. E", "ver.")]
)
def test_what_only_begins_like_a_stop_sequence_is_kept(cut, rest):
    with Replay() as replay:
        for stream in (False, True):
            got = chat(replay, R(cut, MAX), R(rest, piece_chars=1), stream=stream)
            assert got == (cut + rest, END)


@pytest.mark.behaviour("C14", "N4")
@pytest.mark.parametrize("stream", [False, True])
def test_anthropic_is_told_which_sequence_it_was(stream):
    events: list[tenuto.Event] = []
    with Replay() as replay:
        replay.say(claude.R("All said. EN", claude.MAX), claude.R("D and more"))
        made = message(replay, POLICY, events, stream=stream)
    assert made.content[0].text == ("All said. EN" if stream else "All said. ")
    assert (made.stop_reason, made.stop_sequence) == ("stop_sequence", "END")
    seen = [e.data["reason"] for e in events if e.name == "stop_reason_observed"]
    assert seen == ["max_tokens", "stop_sequence"]


OTHERS: dict[str, tuple[str, dict[str, Any], bytes, str, str, bytes]] = {
    "cohere": (
        "/v2/chat", {"model": "m", "messages": ROWS, "stop_sequences": ["END"]},
        (b'{"id":"a","message":{"role":"assistant","content":[{"type":"text","text":"%b"}]},'
        b'"finish_reason":"%b"}'), "MAX_TOKENS", "COMPLETE", b'"STOP_SEQUENCE"'),
    "ollama": (
        "/api/chat",
        {"model": "m", "messages": ROWS, "stream": False, "options": {"stop": ["END"]}},
        b'{"message":{"role":"assistant","content":"%b"},"done":true,"done_reason":"%b"}',
        "length", "stop", b'"stop"'),
    "gemini": (
        "/v1beta/models/m:generateContent",
        {"contents": [{"parts": [{"text": "Hi"}]}], "generationConfig": {"stopSequences": ["END"]}},
        b'{"candidates":[{"content":{"parts":[{"text":"%b"}]},"finishReason":"%b"}]}',
        "MAX_TOKENS", "STOP", b'"STOP"'),
    "converse": (
        "/model/m/converse",
        {"messages": [{"role": "user", "content": [{"text": "Hi"}]}],
         "inferenceConfig": {"stopSequences": ["END"]}},
        b'{"output":{"message":{"role":"assistant","content":[{"text":"%b"}]}},"stopReason":"%b"}',
        "max_tokens", "end_turn", b'"stop_sequence"'),
}  # fmt: skip


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize("wire", OTHERS)
def test_a_stop_sequence_is_read_from_the_request_of_each_wire(wire):
    path, asked, body, cut, end, shown = OTHERS[wire]
    said = body % (b"All said. EN", cut.encode()), body % (b"D and more", end.encode())
    with FarSide(*map(json_answer, said)) as far:
        root = far.base_url.removesuffix("/v1")
        with tenuto.http_client("httpx", policy=POLICY, base_url=root) as http:
            got = http.post(path, json=asked)
    assert b'"All said. "' in got.content
    assert shown in got.content
    assert b"more" not in got.content


# --- a stop sequence exactly at the cut -----------------------------------------------------------

PREFILLS = [
    pytest.param(tenuto.Policy(**QUICK, prefill="always"), id="stop"),
    pytest.param(tenuto.Policy(**QUICK, prefill="always", on_incomplete="error"), id="error"),
]


@pytest.mark.behaviour("C14", "P1")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("policy", PREFILLS)
def test_an_answer_whose_stop_sequence_follows_the_cut_at_once_is_whole(policy, stream):
    events: list[tenuto.Event] = []
    with Replay() as replay:
        met = claude.R("", "stop_sequence", beside={"stop_sequence": "END"})
        replay.say(claude.R("All said. ", claude.MAX), met, claude.R("never"))
        made = message(replay, policy, events, stream=stream)
        assert len(replay.requests) == 2
    assert "".join(block.text for block in made.content).strip() == "All said."
    assert (made.stop_reason, made.stop_sequence) == ("stop_sequence", "END")
    (end,) = [one.data for one in events if one.name == "turn_ended"]
    assert (end["status"], end["reason"]) == ("complete", "completed")
    assert (end["stop"], end["attempts"]) == ("stop_sequence", 2)


VLLM_CUT = b'{"choices":[{"message":{"content":"All said."},"finish_reason":"length"}]}'
VLLM_MET = b'{"choices":[{"message":{"content":""},"finish_reason":"stop","stop_reason":%b}]}'


def vllm(
    policy: tenuto.Policy, sequence: bytes, *, stream: bool, stop: Any = "END"
) -> tuple[Any, str]:
    """What a caller gets from vLLM, which names the sequence beside a plain "stop", and the reason
    of the turn's end."""
    events: list[tenuto.Event] = []
    stopped = event(b"", b'"stop"').replace(b'"stop"', b'"stop","stop_reason":%b' % sequence)
    answers = [json_answer(VLLM_CUT), json_answer(VLLM_MET % sequence)]
    if stream:
        cut = event(b"All said.") + event(b"", b'"length"') + DONE
        answers = [sse_answer(cut), sse_answer(stopped + DONE)]
    with FarSide(*answers) as far:
        bare = openai.OpenAI(base_url=far.base_url, api_key="k", max_retries=0)
        client: Any = tenuto.wrap(bare, policy=policy, on_event=events.append)
        with client:
            made = client.chat.completions.create(
                model="m", messages=ROWS, stop=stop, stream=stream
            )
            if stream:
                choices = [chunk.choices[0] for chunk in made if chunk.choices]
                text = "".join(choice.delta.content or "" for choice in choices)
                got = text, choices[-1].finish_reason
            else:
                got = made.choices[0].message.content, made.choices[0].finish_reason
    (end,) = [one.data for one in events if one.name == "turn_ended"]
    return got, str(end["reason"])


@pytest.mark.behaviour("C14", "P1")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("policy", PREFILLS)
def test_a_sequence_that_vllm_names_beside_a_plain_stop_is_the_end(policy, stream):
    assert vllm(policy, b'"END"', stream=stream) == (("All said.", END), "completed")


@pytest.mark.behaviour("C14", "C5")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("sequence", ["```", "#", "S", "def ", "Answer:", "\n\n"])
def test_a_sequence_that_answers_a_hint_shows_no_end(sequence, stream):
    named = json.dumps(sequence).encode()
    got = vllm(POLICY, named, stream=stream, stop=["END", sequence])
    assert got == (("All said.", MAX), "empty_output")


@pytest.mark.behaviour("C14", "C5")
@pytest.mark.parametrize("stream", [False, True])
def test_a_plain_stop_of_an_empty_continuation_shows_no_end(stream):
    assert vllm(POLICY, b"null", stream=stream) == (("All said.", MAX), "empty_output")


NAMED = {
    "cohere": (b'"MAX_TOKENS"', b'"STOP_SEQUENCE"'),
    "converse": (b'"max_tokens"', b'"stop_sequence"'),
}


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize("wire", NAMED)
def test_other_wires_with_a_stop_of_their_own_for_it_keep_it(wire):
    path, asked, body, *_ = OTHERS[wire]
    cut, met = NAMED[wire]
    said = [body % (text, stop.strip(b'"')) for text, stop in ((b"All said.", cut), (b"", met))]
    with FarSide(*map(json_answer, said)) as far:
        root = far.base_url.removesuffix("/v1")
        policy = tenuto.Policy(**QUICK, prefill="always", on_incomplete="error")
        with tenuto.http_client("httpx", policy=policy, base_url=root) as http:
            got = http.post(path, json=asked)
        assert len(far.requests) == 2
    assert got.status_code == 200
    assert b'"All said."' in got.content
    assert met in got.content
