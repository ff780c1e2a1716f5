"""Answers in the objects of frameworks, as plain values.

LangChain's messages, generations and response metadata, pydantic-ai's responses, vLLM's own
outputs, and one choice of a body. Each is told by members that only it has, and its stop is read
from where the framework keeps it. (Read in langchain-core 1.8 and pydantic-ai 2.68, and in
vLLM's documentation, 2026-11-28.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from tenuto.core.answer.signals import (
    CallDelta,
    ChoiceSeen,
    Ended,
    ReasoningDelta,
    RefusalDelta,
    Signal,
    StopSeen,
    TextDelta,
    Usage,
    UsageSeen,
)
from tenuto.core.answer.stop import StopReason
from tenuto.detection.objects import plain
from tenuto.wires.gemini_generate import wire as gemini_generate
from tenuto.wires.json import JsonObject, arguments_of, count
from tenuto.wires.members import list_in, object_in, objects_in, word_in
from tenuto.wires.openai_responses import wire as openai_responses
from tenuto.wires.stops import STOP_NAMES, stop_reader

_read_stop = stop_reader({})


class Foreign(NamedTuple):
    """An answer of a framework. `whole`: whether it is a whole answer rather than a piece of a
    stream; `id`: the framework's id of it, or ""; `content`: False for what is told of an answer
    without its text and its calls."""

    signals: list[Signal]
    whole: bool
    id: str = ""
    content: bool = True


def foreign(value: JsonObject) -> list[Foreign] | None:
    """Return the answers in a framework's object; None if it is none.

    >>> message = {"type": "ai", "content": "Hi", "response_metadata": {"finish_reason": "length"}}
    >>> [answer.signals[-1].raw for answer in foreign(message)]
    ['length']
    >>> foreign({"choices": []}) is None
    True
    """
    if _MARKS.isdisjoint(value):  # fast, since every object is asked
        return None
    return next((read(value) for fits, read in _FORMS if fits(value)), None)


_MARKS = frozenset(
    {"response_metadata", "generations", "generation_info", "model_name", "model_provider"}
    | {"token_usage", "outputs", "parts", "meta", "replies"}
)
"""Every form has one of these members."""


def _stop_in(told: JsonObject, where: str) -> StopSeen | None:
    for name in STOP_NAMES:  # LangChain keeps each provider's own name
        if (seen := _read_stop(told.get(name), f"{where}{name}")) is not None:
            return seen
    if "prompt_feedback" in told:  # Gemini's, of a prompt that was blocked
        blocked = gemini_generate.WIRE.parse_object({**told, "candidates": []}, event=False)
        seen = next((one for one in blocked if isinstance(one, StopSeen)), None)
        if seen is not None:
            return replace(seen, field=f"{where}prompt_feedback.block_reason")
    if "status" in told:  # Responses, which has no stop of its own
        response = {"object": "response", "output": [], **told}
        seen_there = openai_responses.WIRE.parse_object(response, event=False)
        stop = next((one for one in seen_there if isinstance(one, StopSeen)), None)
        return stop and StopSeen(stop.raw, f"{where}{stop.field}", stop.reason, stop.detail)
    return None


def _text_of(content: object) -> str:
    """Return the text of a content: a text, or the parts of one."""
    if isinstance(content, str):
        return content
    parts = (
        part if isinstance(part, str) else object_in(part).get("text") for part in list_in(content)
    )
    return "".join(part for part in parts if isinstance(part, str))


def _said(
    text: str, calls: Iterator[CallDelta], told: object, stop: StopSeen | None
) -> list[Signal]:
    signals: list[Signal] = [TextDelta(text)] if text else []
    signals += calls
    if isinstance(told, dict):
        used = Usage(count(told.get("input_tokens")), count(told.get("output_tokens")))
        signals += [UsageSeen(used)] if used != Usage() else []
    return [*signals, stop] if stop is not None else signals


# --- LangChain

_AI = ("ai", "AIMessage", "AIMessageChunk", "assistant")


def _is_message(value: JsonObject) -> bool:
    return value.get("type") in _AI and isinstance(value.get("response_metadata"), dict)


def _message(value: JsonObject) -> list[Foreign]:
    told = value["response_metadata"]
    stop = _stop_in(told, "response_metadata.")
    text = _text_of(value.get("content"))
    signals = _said(text, _langchain_calls(value), value.get("usage_metadata"), stop)
    end = [Ended()] if value.get("chunk_position") == "last" else []
    signals = [*_thought(value), *_refused(value), *signals, *end]
    return [Foreign(signals, value["type"] != "AIMessageChunk", word_in(value, "id") or "")]


def paired(items: Sequence[object]) -> JsonObject | None:
    """Return the message of a pair as LangGraph streams them, with what it tells of each; None: it
    is something else.

    >>> paired([{"type": "ai", "response_metadata": {}}, {"langgraph_step": 1}])
    {'type': 'ai', 'response_metadata': {}}
    """
    if len(items) != 2 or not isinstance(items[1], dict) or _is_message(items[1]):
        return None
    message = plain(items[0])
    return message if isinstance(message, dict) and _is_message(message) else None


def _langchain_calls(value: JsonObject) -> Iterator[CallDelta]:
    pieces = objects_in(value.get("tool_call_chunks"))
    if pieces:
        for piece in pieces:
            yield CallDelta(
                count(piece.get("index")), word_in(piece, "id"), word_in(piece, "name"),
                piece.get("args") if isinstance(piece.get("args"), str) else None,
            )  # fmt: skip
        return
    calls = [*objects_in(value.get("tool_calls")), *objects_in(value.get("invalid_tool_calls"))]
    beside = objects_in(object_in(value.get("additional_kwargs")).get("tool_calls"))
    calls = calls or [{"id": call.get("id"), **_function(call)} for call in beside]
    for number, call in enumerate(calls):
        arguments = arguments_of(call.get("args"))[0]
        yield CallDelta(number, word_in(call, "id"), word_in(call, "name"), arguments)


def _function(call: JsonObject) -> JsonObject:
    """Return a call of OpenAI's as LangChain writes its own."""
    function = object_in(call.get("function"))
    return {"name": function.get("name"), "args": function.get("arguments")}


def _thought(message: JsonObject) -> Iterator[ReasoningDelta]:
    """Return the reasoning that stands beside the content, where there is none within it."""
    thought = object_in(message.get("additional_kwargs")).get("reasoning_content")
    if isinstance(thought, str) and thought:
        yield ReasoningDelta(thought)


def _refused(message: JsonObject) -> Iterator[RefusalDelta]:
    """Return the words by which the model declined: OpenAI's of a chat beside the content, those of
    Responses within it."""
    beside = object_in(message.get("additional_kwargs")).get("refusal")
    within = [part.get("refusal") for part in objects_in(message.get("content"))]
    for words in (beside, *within):
        if isinstance(words, str) and words:
            yield RefusalDelta(words)


def _generation(value: JsonObject) -> list[Foreign]:
    message = _stored(object_in(value.get("message")))
    told = object_in(value.get("generation_info"))
    stop = _stop_in(told, "generation_info.")
    if stop is None and _is_message(message):
        return _message(message)
    text = _text_of(value.get("text"))
    calls = _langchain_calls(message)
    signals = _said(text, calls, message.get("usage_metadata"), stop)
    return [Foreign([*_thought(message), *_refused(message), *signals], True)]


def _is_generation(value: object) -> bool:
    return isinstance(value, dict) and "generation_info" in value and "text" in value


def _first(value: object) -> object:
    return next(iter(list_in(value)), None)


def _prompts(value: JsonObject) -> list[list[JsonObject]]:
    """Return the generations of each prompt; those of one may stand alone."""
    rows = list_in(value.get("generations"))
    rows = rows if isinstance(_first(rows), list) else [rows]
    return [
        found for row in rows if (found := [one for one in objects_in(row) if _is_generation(one)])
    ]


def _result(value: JsonObject) -> list[Foreign]:
    """Read the generations of each prompt: one answer with several choices."""
    return [
        _of_choices([_generation(one)[0] for one in generations]) for generations in _prompts(value)
    ]


def _of_choices(choices: Sequence[Foreign]) -> Foreign:
    """Return several choices as one answer."""
    first, *others = choices
    more = [ChoiceSeen(number, tuple(one.signals)) for number, one in enumerate(others, 1)]
    return first._replace(signals=[*first.signals, *more])


def _is_metadata(value: JsonObject) -> bool:
    """Return whether an object is a message's metadata alone: a stop beside the model's name, and
    nothing of an answer."""
    told = "model_name" in value or "model_provider" in value or "token_usage" in value
    return told and _stop_in(value, "") is not None and _CONTENT.isdisjoint(value)


_CONTENT = frozenset(
    {"content", "choices", "candidates", "output", "outputs", "message", "messages", "parts"}
)


def _metadata(value: JsonObject) -> list[Foreign]:
    stop = _stop_in(value, "")
    return [Foreign([stop] if stop is not None else [], True, content=False)]


# --- pydantic-ai, Haystack, LlamaIndex


def _is_model_response(value: JsonObject) -> bool:
    return value.get("kind") == "response" and isinstance(value.get("parts"), list)


def _model_response(value: JsonObject) -> list[Foreign]:
    stop = _stop_in(object_in(value.get("provider_details")), "provider_details.")
    stop = stop or _stop_in({"finish_reason": value.get("finish_reason")}, "")
    stop = stop or _STATES.get(str(value.get("state")))
    parts = objects_in(value["parts"])
    text = "".join(_text_of(p.get("content")) for p in parts if p.get("part_kind") == "text")
    called = [part for part in parts if part.get("part_kind") == "tool-call"]
    calls = (
        CallDelta(
            number, word_in(call, "tool_call_id"), word_in(call, "tool_name"),
            arguments_of(call.get("args"))[0],
        )
        for number, call in enumerate(called)
    )  # fmt: skip
    return [Foreign(_said(text, iter(calls), value.get("usage"), stop), True)]


_STATES: dict[str, StopSeen] = {
    "interrupted": StopSeen("interrupted", "state", StopReason.DROPPED),
    # It still streams, or its stream was left: nothing tells which.
    "incomplete": StopSeen("incomplete", "state", StopReason.DROPPED, "incomplete", known=False),
    "suspended": StopSeen("suspended", "state", StopReason.PAUSED),
}
"""What the states of pydantic-ai's responses mean, where they have no stop."""


def _is_haystack(value: JsonObject) -> bool:
    meta = object_in(value.get("meta"))
    return value.get("role") == "assistant" and _stop_in(meta, "") is not None


def _haystack(value: JsonObject) -> list[Foreign]:
    stop = _stop_in(value["meta"], "meta.")
    parts = objects_in(value.get("content"))
    called = [call for part in parts if (call := object_in(part.get("tool_call")))]
    calls = (
        CallDelta(
            number, word_in(call, "id"), word_in(call, "tool_name"),
            arguments_of(call.get("arguments"))[0],
        )
        for number, call in enumerate(called)
    )  # fmt: skip
    return [Foreign(_said(_text_of(value.get("content")), calls, None, stop), True)]


def _replies(value: JsonObject) -> list[Foreign]:
    """Read what a generator of Haystack returns: messages, or texts with what is told beside
    them."""
    answers: list[Foreign] = []
    beside = list_in(value.get("meta"))
    for number, reply in enumerate(list_in(value.get("replies"))):
        if isinstance(reply, str):
            told = object_in(beside[number]) if number < len(beside) else {}
            answers.append(Foreign(_said(reply, iter(()), None, _stop_in(told, "meta.")), True))
        elif isinstance(message := plain(reply), dict) and _is_haystack(message):
            answers += _haystack(message)
    return answers


def _is_replies(value: JsonObject) -> bool:
    if not isinstance(value.get("replies"), list):
        return False
    return any(
        each.signals[-1:] and isinstance(each.signals[-1], StopSeen) for each in _replies(value)
    )


# --- vLLM


def _is_vllm(value: JsonObject) -> bool:
    first = _first(value.get("outputs"))
    told = isinstance(first, dict) and {"text", "finish_reason"} <= first.keys()
    return told and "request_id" in value and "finished" in value


def _vllm(value: JsonObject) -> list[Foreign]:
    whole, this_id = value["finished"] is True, word_in(value, "request_id") or ""
    choices = []
    for number, output in enumerate(objects_in(value["outputs"])):
        stop = _stop_in({"finish_reason": output.get("finish_reason")}, f"outputs[{number}].")
        matched = output.get("stop_reason")  # a token's number may be that of the model's own end
        if stop is not None and stop.reason is StopReason.END_TURN and isinstance(matched, str):
            stop = replace(stop, reason=StopReason.STOP_SEQUENCE)
        said = _said(_text_of(output.get("text")), iter(()), None, stop)
        choices.append(Foreign(said, whole, this_id))
    return [_of_choices(choices)]


def unwrapped(value: JsonObject) -> JsonObject:
    """Return the body that an object is a part of, or that it holds: for a choice, a candidate,
    LlamaIndex's response, a stored message of LangChain, and the result of a Haystack pipeline. Any
    other object is returned as it is.

    >>> unwrapped({"index": 0, "message": {"role": "assistant"}, "finish_reason": "stop"}).keys()
    dict_keys(['choices'])
    """
    if _is_choice(value):
        return {"choices": [value]}
    if "parts" in object_in(value.get("content")) and not _STOP_OF_GEMINI.isdisjoint(value):
        return {"candidates": [value]}
    if "data" in value or "kwargs" in value:
        return _stored(value)
    if len(value) == 1 and "replies" in (inner := object_in(next(iter(value.values())))):
        return inner
    if "raw" not in value or "delta" not in value or not _is_of_llamaindex(value):
        return value
    raw = plain(value["raw"])
    return unwrapped(raw) if isinstance(raw, dict) else value


def _stored(value: JsonObject) -> JsonObject:
    """Return a message of LangChain that `messages_to_dict` or `dumpd` stored, as a message; any
    other object as it is."""
    kind, held, kept = value.get("type"), value.get("data"), value.get("kwargs")
    if kind in _AI and isinstance(held, dict) and "response_metadata" in held:
        return {"type": kind, **held}
    name = next(reversed(list_in(value.get("id"))), None)
    if kind == "constructor" and "lc" in value and name in _AI and isinstance(kept, dict):
        return {"type": name, **kept}
    return value


def _is_of_llamaindex(value: JsonObject) -> bool:
    return "message" in value or ("text" in value and "additional_kwargs" in value)


_STOP_OF_GEMINI = frozenset({"finishReason", "finish_reason"})


def _is_choice(value: JsonObject) -> bool:
    """Return whether an object is a choice of a chat. Cohere's whole answers have an id, and a list
    as their content."""
    said = value.get("message") or value.get("delta")
    if "finish_reason" not in value or "generation_info" in value or not isinstance(said, dict):
        return False
    return "id" not in value and not isinstance(said.get("content"), list)


_Form = tuple[Callable[[JsonObject], bool], Callable[[JsonObject], list[Foreign]]]

_FORMS: tuple[_Form, ...] = (
    (_is_message, _message),
    (lambda value: bool(_prompts(value)), _result),
    (_is_generation, _generation),
    (_is_metadata, _metadata),
    (_is_model_response, _model_response),
    (_is_haystack, _haystack),
    (_is_replies, _replies),
    (_is_vllm, _vllm),
)
