"""What is said of an answer is true of each that looks like it (N14)."""

from __future__ import annotations

import dataclasses
import enum
import json
from pprint import pformat
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.eventstream import EventStream
from google.genai import types as genai
from openai.types.responses import Response

from tenuto import Confidence, StopReason, decide, detect, detect_conversation, detect_each

HIGH, MEDIUM = Confidence.HIGH, Confidence.MEDIUM


def chat(finish: str = "length", number: int = 1) -> dict[str, Any]:
    message = {"role": "assistant", "content": "The moon's \"pull", "refusal": None}
    return {
        "id": f"c{number}", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }  # fmt: skip


def claude(stop: str, number: int) -> dict[str, Any]:
    return {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude",
        "content": [{"type": "text", "text": "Hi"}], "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }  # fmt: skip


def gemini(finish: str, number: int = 1) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": "Hi"}]}
    told = {"candidates": [{"content": content, "finishReason": finish}]}
    return {**told, "responseId": f"r{number}"}


def response(status: str) -> dict[str, Any]:
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m",
        "output": [], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip


# --- the sentences


def ollama(reason: str) -> dict[str, Any]:
    said = {"model": "m", "created_at": "2026-11-29T10:00:00Z", "done": True, "response": ""}
    return said | {"done_reason": reason}


@dataclasses.dataclass
class ModelResponse:
    """As pydantic-ai has it."""

    state: str = "incomplete"
    finish_reason: str | None = None
    parts: Any = dataclasses.field(
        default_factory=lambda: [SimpleNamespace(content="Hi", part_kind="text")]
    )
    kind: str = "response"


WORKING = "The provider is still working on the answer: fetch it again."
INTERACTION = {"id": "i", "object": "interaction", "model": "m", "status": "in_progress"}
SAID: dict[str, tuple[Any, StopReason, Confidence, str]] = {
    "a response in progress": (response("in_progress"), StopReason.PAUSED, HIGH, WORKING),
    "a response that waits": (response("queued"), StopReason.PAUSED, HIGH, WORKING),
    "a response of the SDK": (
        Response.model_validate(response("in_progress")), StopReason.PAUSED, HIGH, WORKING,
    ),
    "an interaction": (INTERACTION, StopReason.PAUSED, HIGH, WORKING),
    "a model that was loaded": (
        ollama("load"), StopReason.UNKNOWN, HIGH,
        "The server loaded the model, and no answer was asked for.",
    ),
    "a model that was unloaded": (
        ollama("unload"), StopReason.UNKNOWN, HIGH,
        "The server unloaded the model, and no answer was asked for.",
    ),
    "an answer of pydantic-ai that may still arrive": (
        ModelResponse(), StopReason.DROPPED, MEDIUM,
        "The answer is not complete: it is still arriving, or its stream was left.",
    ),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", SAID)
def test_the_sentence_is_true_of_what_is_not_over(name: str) -> None:
    source, reason, sure, said = SAID[name]
    stop = detect(source)
    assert (stop.reason, stop.confidence, stop.message) == (reason, sure, said)


@pytest.mark.behaviour("N14")
def test_a_conversation_says_the_same_of_a_response_that_runs() -> None:
    asked = {"role": "user", "content": "When?"}
    assert detect_conversation([asked, response("in_progress")]).why == WORKING


@pytest.mark.behaviour("N14")
def test_what_brought_nothing_is_asked_for_again_and_what_is_no_answer_is_not() -> None:
    told = {text: decide(detect(text)).proceed for text in ("", '{"a": [1', "Good morning.")}
    assert told == {"": True, '{"a": [1': True, "Good morning.": False}


# --- vLLM


@dataclasses.dataclass
class RequestOutput:
    """As vLLM has it."""

    outputs: list[Any]
    request_id: str = "r"
    finished: bool = True


MATCHED: tuple[tuple[object, StopReason], ...] = (
    (106, StopReason.END_TURN),
    (128009, StopReason.END_TURN),
    ("###", StopReason.STOP_SEQUENCE),
    (None, StopReason.END_TURN),
)


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize(("matched", "reason"), MATCHED)
def test_a_token_that_ended_an_answer_may_be_the_models_own(
    matched: object, reason: StopReason
) -> None:
    output = SimpleNamespace(text="Hi", finish_reason="stop", stop_reason=matched)
    assert detect(RequestOutput([output])).reason is reason


# --- several answers, and what stands between them

LINE = "2026-11-28 10:00:01 retry 2 of 3"
WHOLE, CUT = json.dumps(chat("stop", 1)), json.dumps(chat("length", 2))
TWO, AMID = ["stop", "length"], ["stop", "no_answer", "length"]
LINES: dict[str, tuple[str, list[str]]] = {
    "two dicts": (f"{chat('stop', 1)!r}\n{chat('length', 2)!r}\n", TWO),
    "three dicts": ("\n".join(repr(chat("stop", number)) for number in range(3)), ["stop"] * 3),
    "two dicts of Anthropic": (
        f"{claude('end_turn', 1)!r}\n{claude('max_tokens', 2)!r}\n", ["end_turn", "max_tokens"],
    ),
    "two dicts printed on several lines": (
        f"{pformat(chat('stop', 1))}\n{pformat(chat('length', 2))}\n", TWO,
    ),
    "a dict behind JSON": (f"{WHOLE}\n{chat('length', 2)!r}\n", TWO),
    "JSON behind a dict": (f"{chat('stop', 1)!r}\n{CUT}\n", TWO),
    "a dict amid lines of JSON": (
        f"{WHOLE}\n{CUT}\n{chat('stop', 3)!r}\n{json.dumps(chat('length', 4))}\n", TWO * 2,
    ),
    "a line of a log between dicts": (f"{chat('stop', 1)!r}\n{LINE}\n{chat('length', 2)!r}\n", AMID),
    "a line of a log": (f"{WHOLE}\n{LINE}\n{CUT}\n", AMID),
    "a line of a log with brackets": (f"{WHOLE}\n{LINE} [INFO] [3/10]\n{CUT}\n", AMID),
    "a line that begins with a number": (f"{WHOLE}\n12:30 next\n{CUT}\n", AMID),
    "a line that begins with a colon": (f"{WHOLE}\n:00:01 next\n{CUT}\n", AMID),
    "a line behind lines": (f"{WHOLE}\n{CUT}\n{LINE}\n{WHOLE}\n", [*TWO, "no_answer", "stop"]),
    "numbers of lines": (f"1\t{WHOLE}\n2\t{CUT}\n", TWO),
    "a line below one answer": (f"{CUT}\n{LINE}\n", ["length"]),
    "a line above one answer": (f"{LINE}\n{CUT}\n", ["length"]),
    "lines below one answer": (f"{CUT}\n{LINE}\n:00 x\n12 [3/10]\n", ["length"]),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("form", [str, str.encode])
def test_a_line_that_is_no_json_is_one_thing_that_is_no_answer(name: str, form: Any) -> None:
    text, told = LINES[name]
    stops = detect_each(form(text))
    assert [stop.raw or stop.detail for stop in stops] == told
    answers = sum(word != "no_answer" for word in told)
    stop = detect(form(text))
    assert stop == stops[0] if answers == 1 else stop.metadata["answers"] == str(answers)


# --- objects of SDKs and frameworks


class FinishReason(enum.StrEnum):
    """As google-genai has it."""

    MAX_TOKENS = "MAX_TOKENS"


def inlined(finish: str, number: int) -> genai.InlinedResponse:
    held = genai.GenerateContentResponse.model_validate(gemini(finish, number))
    return genai.InlinedResponse(response=held)


def of_llamaindex(finish: object) -> Any:
    raw = {"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finish_reason": finish}
    raw |= {"index": 0, "usage_metadata": {"prompt_token_count": 9}, "grounding_metadata": None}
    held = {"message": {"role": "assistant"}, "raw": raw, "delta": None, "logprobs": None}
    return SimpleNamespace(raw=raw, to_dict=lambda: held)


FAILED = genai.InlinedResponse(error=genai.JobError(code=8, message="Too many requests"))
OBJECTS: dict[str, tuple[Any, list[str]]] = {
    "LlamaIndex": (of_llamaindex("MAX_TOKENS"), ["MAX_TOKENS"]),
    "LlamaIndex with an enum": (of_llamaindex(FinishReason.MAX_TOKENS), ["MAX_TOKENS"]),
    "a line of a batch": (inlined("MAX_TOKENS", 1), ["MAX_TOKENS"]),
    "lines of a batch": ([inlined("STOP", 1), inlined("MAX_TOKENS", 2)], ["STOP", "MAX_TOKENS"]),
    "lines of a batch, one failed": ([inlined("STOP", 1), FAILED], ["STOP", "8"]),
    "the same as dicts": ([{"response": gemini("STOP")}, {"response": gemini("STOP", 2)}], ["STOP"] * 2),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_around_an_answer_is_opened(name: str) -> None:
    source, raws = OBJECTS[name]
    assert [stop.raw for stop in detect_each(source)] == raws


@pytest.mark.behaviour("N14")
def test_an_envelope_of_another_program_is_not_opened() -> None:
    for envelope in (
        {"response": None, "error": {"code": 8, "message": "No."}},
        {"response": {"candidates": [{"name": "Ann"}]}},
        {"response": {"ok": True}, "metadata": {}},
    ):
        assert detect(envelope).detail == "no_answer"


@pytest.mark.behaviour("N14")
def test_a_stream_of_botocore_is_unread_alone_too() -> None:
    stream = object.__new__(EventStream)
    assert detect(stream).detail == "unread"
    assert detect({"ResponseMetadata": {}, "stream": stream}).detail == "unread"


# --- texts that are chosen from

GAME = [{"index": 0, "text": "Paris", "next": "n2"}, {"index": 1, "text": "Rome", "next": None}]
OF_GAMES: dict[str, dict[str, Any]] = {
    "a quiz": {"id": "q1", "model": "quiz-v2", "choices": GAME},
    "a quiz without a model": {"id": "q1", "question": "Where?", "choices": GAME},
    "a configurator": {"id": "cfg-7", "model": "ID.4", "created": 1764000000, "choices": GAME},
}


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", OF_GAMES)
def test_texts_to_choose_from_are_no_answer(name: str) -> None:
    assert detect(OF_GAMES[name]).detail == "no_answer"


COMPLETIONS: tuple[dict[str, Any], ...] = (
    {"choices": [{"text": "Paris", "log_probs": None}], "model": "palmyra"},
    {"choices": [{"text": "Paris", "logprobs": None}], "model": "m"},
    {"choices": [{"text": "Paris", "finish_reason": None}], "model": "m"},
    {"choices": [{"text": "Paris"}], "object": "text_completion"},
    {"choices": [{"text": "Paris"}], "usage": {"completion_tokens": 1}},
)


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("number", range(len(COMPLETIONS)))
def test_a_completion_has_what_only_answers_have(number: int) -> None:
    # A reason without a value is that of an event, which goes on.
    goes_on = "finish_reason" in COMPLETIONS[number]["choices"][0]
    reason = StopReason.DROPPED if goes_on else StopReason.END_TURN
    assert (detect(COMPLETIONS[number]).reason, detect(COMPLETIONS[number]).detail) == (
        reason,
        None,
    )


# --- errors

STRIPE = {"code": "rate_limit", "message": "Too many.", "type": "invalid_request_error"}
ERRORS: dict[str, tuple[Any, Confidence, str | None]] = {
    "a code beside a general type": ({"error": STRIPE}, MEDIUM, "rate_limited"),
    "a game's": (
        {"type": "error", "error": {"type": "not_found", "message": "No such room"}},
        MEDIUM, "invalid_request",
    ),
    "Anthropic's": (
        {"type": "error", "error": {"type": "not_found_error", "message": "No such room"}},
        HIGH, "invalid_request",
    ),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_as_sure_as_its_words_are_rare(name: str) -> None:
    source, sure, detail = ERRORS[name]
    stop = detect(source)
    assert (stop.reason, stop.confidence, stop.detail) == (StopReason.ERROR, sure, detail)
