"""Several choices in one answer: it is over when all of them are, and the gravest end counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tenuto import StreamDetector, detect, detect_each
from tenuto.core.answer.stop import Confidence, Stop, StopReason

R = StopReason
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"q": 1}'}}
Choice = dict[str, Any]


def chat(*choices: Choice, event: bool = False) -> dict[str, Any]:
    made = []
    for number, choice in enumerate(choices):
        said: dict[str, Any] = {"role": "assistant", "content": choice.get("text")}
        said |= {"tool_calls": [CALL | {"index": 0}]} if choice.get("call") else {}
        said |= {"refusal": "No."} if choice.get("refuses") else {}
        index = choice.get("index", number)
        where = "delta" if event else "message"
        made.append({"index": index, where: said, "finish_reason": choice.get("stop")})
    return {"id": "c", "model": "m", "choices": made}


def completion(*choices: Choice, event: bool = False) -> dict[str, Any]:
    made = [
        {"index": c.get("index", n), "text": c.get("text", ""), "finish_reason": c.get("stop")}
        for n, c in enumerate(choices)
    ]
    counted = {} if event else {"usage": {"completion_tokens": 2}}
    return {"id": "c", "object": "text_completion", "choices": made, **counted}


GEMINI_STOPS = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", None: None}


def gemini(*choices: Choice, event: bool = False) -> dict[str, Any]:
    made = []
    for number, choice in enumerate(choices):
        parts: list[Any] = [{"text": choice["text"]}] if choice.get("text") else []
        parts += [{"functionCall": {"name": "f", "args": {}}}] if choice.get("call") else []
        stop = GEMINI_STOPS[choice.get("stop")]
        ends = {"finishReason": stop} if stop else {}
        index = choice.get("index", number)
        made.append({"index": index, "content": {"role": "model", "parts": parts}, **ends})
    return {"responseId": "r", "candidates": made}


def mistral(*choices: Choice, event: bool = False) -> dict[str, Any]:
    kind = "chat.completion.chunk" if event else "chat.completion"
    return chat(*choices, event=event) | {"object": kind}


def dashscope(*choices: Choice, event: bool = False) -> dict[str, Any]:
    return {"request_id": "r", "output": {"choices": chat(*choices)["choices"]}}


def command(*choices: Choice, event: bool = False) -> dict[str, Any]:
    """Cohere's Command on Bedrock, with `num_generations`."""
    ends = {"stop": "COMPLETE", "length": "MAX_TOKENS", None: None}
    made = [
        {"id": str(n), "text": c.get("text", ""), "finish_reason": ends[c.get("stop")]}
        for n, c in enumerate(choices)
    ]
    return {"id": "c", "generations": made, "prompt": "q"}


def vllm(*choices: Choice, event: bool = False) -> dict[str, Any]:
    made = [
        {"index": n, "text": c.get("text", ""), "finish_reason": c.get("stop")}
        for n, c in enumerate(choices)
    ]
    return {"request_id": "0", "outputs": made, "finished": all(c.get("stop") for c in choices)}


Made = Callable[..., dict[str, Any]]
BODIES: tuple[Made, ...] = (chat, completion, gemini, mistral, dashscope, command, vllm)
STREAMS: tuple[Made, ...] = (chat, completion, gemini, mistral)
SAID = {"text": "All of it."}
WHOLE, CUT, OPEN = ({**SAID, "stop": stop} for stop in ("stop", "length", None))
bodies = pytest.mark.parametrize("made", BODIES, ids=lambda made: made.__name__)
streams = pytest.mark.parametrize("made", STREAMS, ids=lambda made: made.__name__)


def told(source: object) -> tuple[StopReason, Confidence]:
    stop = detect(source)
    return stop.reason, stop.confidence


@pytest.mark.behaviour("S6", "N14")
@bodies
@pytest.mark.parametrize("order", [(WHOLE, CUT), (CUT, WHOLE), (WHOLE, WHOLE, CUT)])
def test_the_gravest_end_of_a_body_counts(made: Made, order: tuple[Choice, ...]) -> None:
    assert told(made(*order)) == (R.MAX_TOKENS, Confidence.HIGH)


@pytest.mark.behaviour("S6", "N14")
@bodies
@pytest.mark.parametrize("order", [(WHOLE, OPEN), (OPEN, WHOLE)])
def test_a_choice_without_an_end_is_not_said_to_have_one(
    made: Made, order: tuple[Choice, ...]
) -> None:
    stop = detect(made(*order))
    # vLLM says itself that it isn't finished. Without a stop of the first choice, DashScope's
    # bodies are events.
    if made is vllm or (made is dashscope and order[0] is OPEN):
        assert (stop.reason, stop.raw) == (R.DROPPED, None)
    else:
        assert (stop.reason, stop.confidence) == (R.END_TURN, Confidence.MEDIUM)
        assert (stop.raw, "no_stop" in stop.anomalies) == (None, True)


@pytest.mark.behaviour("S6", "N3", "N14")
@pytest.mark.parametrize("made", [chat, mistral, dashscope], ids=lambda made: made.__name__)
def test_a_refusal_in_any_choice_is_told(made: Made) -> None:
    refused = {"refuses": True, "stop": "stop"}
    assert [told(made(*order)) for order in ((WHOLE, refused), (refused, WHOLE))] == [
        (R.REFUSAL, Confidence.HIGH)
    ] * 2


@pytest.mark.behaviour("S6", "N3", "N14")
@pytest.mark.parametrize("made", [chat, gemini, mistral, dashscope], ids=lambda made: made.__name__)
def test_a_call_in_any_choice_is_told_and_not_said_to_be_missing(made: Made) -> None:
    called = {"call": True, "stop": "tool_calls"}
    for order in ((WHOLE, called), (called, WHOLE)):
        stop = detect(made(*order))
        assert (stop.reason, stop.anomalies) == (R.TOOL_CALL, ("stops_differ",))


@pytest.mark.behaviour("T11", "N14")
def test_a_broken_call_in_any_choice_is_told() -> None:
    body = chat(WHOLE, {"call": True, "stop": "length"})
    body["choices"][1]["message"]["tool_calls"][0] = {
        **CALL,
        "function": {"name": "f", "arguments": '{"q": "ha'},
    }
    assert detect(body).broken == "truncated"


def stream(made: Made, *pieces: Choice) -> list[dict[str, Any]]:
    return [made(piece, event=True) for piece in pieces]


PIECES = ({"index": 0, **SAID}, {"index": 1, **SAID}, {"index": 0, "stop": "stop"})
END = {"index": 1, "stop": "stop"}


@pytest.mark.behaviour("S6", "S1", "N14")
@streams
def test_a_stream_in_which_a_choice_never_ended_broke_off(made: Made) -> None:
    assert told(stream(made, *PIECES)) == (R.DROPPED, Confidence.LOW)
    assert told(stream(made, *PIECES, END)) == (R.END_TURN, Confidence.HIGH)


@pytest.mark.behaviour("S6", "N14")
@pytest.mark.parametrize("made", [chat, completion, mistral], ids=lambda made: made.__name__)
def test_an_end_mark_behind_an_open_choice_is_no_stop_of_it(made: Made) -> None:
    sent = b"".join(b"data: %s\n\n" % json.dumps(one).encode() for one in stream(made, *PIECES))
    stop = detect(sent + b"data: [DONE]\n\n")
    assert (stop.reason, stop.confidence, stop.raw) == (R.END_TURN, Confidence.MEDIUM, None)


@pytest.mark.behaviour("S6", "N5", "N14")
@streams
def test_a_stream_runs_until_every_choice_has_ended(made: Made) -> None:
    detector = StreamDetector()
    ends = [detector.feed(event).terminal for event in stream(made, *PIECES, END)]
    assert ends == [False, False, False, True]


@pytest.mark.behaviour("S6", "N14")
@pytest.mark.parametrize("made", [chat, gemini], ids=lambda made: made.__name__)
def test_choices_without_numbers_are_told_apart_by_their_place(made: Made) -> None:
    body = made(WHOLE, CUT)
    for choice in body["choices" if made is chat else "candidates"]:
        del choice["index"]
    stop: Stop = detect(body)
    assert (stop.reason, stop.field and "[1]" in stop.field) == (R.MAX_TOKENS, True)


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("number", [1, 2])
def test_one_choice_of_several_is_read_by_itself(number: int) -> None:
    """As one takes it out of a body."""
    body = chat({"index": number, **SAID, "stop": "length"})
    assert detect(body["choices"][0]).reason is R.MAX_TOKENS
    assert told(body) == (R.MAX_TOKENS, Confidence.HIGH)


def generation(stop: str) -> dict[str, Any]:
    """As LangChain has it."""
    ended = {"finish_reason": stop}
    message = {"type": "ai", "content": "Hi", "response_metadata": ended}
    return {"text": "Hi", "generation_info": ended, "message": message}


class Result:
    """As LangChain has it: `LLMResult`, `ChatResult`."""

    def __init__(self, generations: Any) -> None:
        self.generations = generations

    def model_dump(self, **options: Any) -> dict[str, Any]:
        return {"generations": self.generations, "llm_output": None}


def dumped(generations: Any) -> dict[str, Any]:
    return Result(generations).model_dump()


ORDERS = (("stop", "length"), ("length", "stop"), ("stop", "stop", "length"))


@pytest.mark.behaviour("S6", "N14")
@pytest.mark.parametrize("form", [Result, dumped, lambda given: json.dumps(dumped(given))])
@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_the_gravest_of_the_generations_for_a_prompt_counts(
    form: Any, order: tuple[str, ...]
) -> None:
    generations = [generation(stop) for stop in order]
    assert told(form(generations)) == told(form([generations])) == (R.MAX_TOKENS, Confidence.HIGH)
    whole = [generation("stop")]
    for prompts, raws in (
        ([generations] * 2, ["length"] * 2),
        ([generations, whole], ["length", "stop"]),
    ):
        assert [stop.raw for stop in detect_each(form(prompts))] == raws
