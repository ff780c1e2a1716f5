"""Find answers in a row that no kind fits: half of the wrappers in the wild are a program's own.

Theory of operation
-------------------
The walk goes through objects and lists from the outside, at most `_DEEPEST` steps. An object of a
known API is an answer and is not searched further. What was asked is not searched: requests and
histories hold answers of the past. A string that holds JSON or a stream is opened. A list of a
stream's events, of its lines or of its pieces is one answer.

The first place that is not deeper than the others with a stop counts; the same answer often stands
twice in a row, as it came and as an SDK read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from tenuto.judging.answers import is_event, model_of, read_stop, shape_of, text_in
from tenuto.judging.beside import limit_in, places_in, tokens_in, word_in, worst_stop
from tenuto.judging.held import Held, Told
from tenuto.judging.messages import are_messages, calls_in, is_conversation
from tenuto.judging.names import IDS, MODELS, STOPS
from tenuto.judging.opening import in_base64, joined_pieces, opened_text
from tenuto.wires.json import JsonObject
from tenuto.wires.members import objects_in
from tenuto.wires.stops import SHARED_STOPS

_DEEPEST = 6
_MOST_NODES = 4_000
_MOST_ITEMS = 64
"""So many items of a list are looked at: a list of answers is told one by one."""

ASKED = frozenset(
    {"request", "requests", "req", "inputs", "input", "prompt", "prompts", "messages", "history"}
    | {
        "tools",
        "functions",
        "invocationParams",
        "kwargs_request",
        "generic_request",
        "request_body",
    }
    | {"modelInput", "config", "params", "parameters", "model_parameters", "postData", "headers"}
    | {"target", "expected", "reference", "references", "label", "labels", "logprobs", "doc"}
    | {"canonical_json", "few_shot", "examples", "instructions", "schema", "json_schema"}
)
"""Members that hold what was asked, or what is no answer of this row."""

_ANSWERS = (
    "generated_text", "completion", "output_text", "generation", "response_text", "output_content",
)  # fmt: skip
"""Members that hold nothing but what a model wrote."""

_RAW = ("response", "output", "result")
"""Members that may hold what a provider sent, as text."""

_ANY = ("content", "text", "response", "output", "message")
TEXTS = (*_ANSWERS, *_ANY, "answer", "result")
"""Where a program of somebody's own keeps the text beside the stop, the surest first: the others
may be what was asked, or the answer that was expected."""

_WHOSE = "model|llm|assistant|ai|bot|gpt|generated|predicted|final|full|raw"
_WHAT = "answer|completion|response|output|generation|reply|prediction|continuation|text"
_HOW = "verbatim|text|raw|str"
_KNOWN_TEXTS = frozenset(TEXTS)
_own_name = re.compile(
    rf"(?:\w*?_)?(?:{_WHOSE})_(?:{_WHAT})s?|(?:{_WHAT})_(?:{_HOW})|prediction|reply|continuation"
    r"|(?:completion|response|output|generation|answer)s"
).fullmatch


def is_own_name(name: str) -> bool:
    """Return whether a member has another name that says whose text it is.

    >>> [is_own_name(name) for name in ("model_answer", "my_raw_response", "completions", "answer")]
    [True, True, True, False]
    """
    return _own_name(name) is not None


class Place(NamedTuple):
    """Something found in a row. `at`: its path; `deep`: how deep it is; `beside`: the object that
    holds it, if its members say more of it."""

    answer: object
    at: str
    deep: int
    beside: Mapping[str, Any] = MappingProxyType({})


def found_within(row: object) -> list[Held]:
    """Return the answers within a row, often none.

    >>> body = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "length"}]}
    >>> [held.answer == body for held in found_within({"mine": {"raw": body}})]
    [True]
    >>> found_within({"request": {"messages": [{"role": "assistant", "content": "Hi"}]}})
    []
    """
    walk = _Walk()
    places = list(walk.through(row, "", 0))
    if not places:
        return []
    request, request_at = walk.asked
    row = row if isinstance(row, dict) else {}
    least = min(place.deep for place in places)
    return [
        Held(
            answer=place.answer,
            request=request,
            request_at=request_at,
            id=word_in(place.beside, IDS),
            model=word_in(place.beside, MODELS) or _model_around(row, place.answer),
            limit=limit_in(place.beside),
        )
        for place in places
        if place.deep <= least + 1
    ]


def _model_around(row: Mapping[str, Any], answer: object) -> str:
    """Return the model that a row names, where the answer in it names none."""
    return "" if model_of(answer) else word_in(row, MODELS)


class _Walk:
    def __init__(self) -> None:
        self._nodes = 0
        self.asked: tuple[object, str] = (None, "")

    def through(self, value: object, at: str, deep: int) -> Iterator[Place]:
        self._nodes += 1
        if deep > _DEEPEST or self._nodes > _MOST_NODES:
            return
        if isinstance(value, dict):
            yield from self._object(value, at, deep)
        elif isinstance(value, list):
            yield from self._list(value, at, deep)
        elif isinstance(value, str):
            inner = opened_text(value)
            if isinstance(inner, bytes):
                yield Place(inner, at, deep)
            elif inner is not None:
                yield from self.through(inner, at, deep)

    def _object(self, value: JsonObject, at: str, deep: int) -> Iterator[Place]:
        data = in_base64(value)
        if data is not None:
            inner = opened_text(data.decode("utf-8", "replace"))
            yield from (
                self.through(inner, at, deep)
                if not isinstance(inner, bytes)
                else iter([Place(inner, at, deep)])
            )
            return
        if deep and shape_of(value) is not None:
            yield Place(value, at, deep)
            return
        answers = answers_in(value)
        # What stands beside a stop is a text, whatever it quotes.
        quotes = text_member(value) if answers else ""
        trains = "instruction" in value  # beside the answer that it should have, which is no API's
        inner_places = [
            place
            for key, item in value.items()
            if isinstance(item, dict | list | str)
            and not self._is_asked(key, item, at)
            and not (isinstance(item, str) and (key == quotes or (quotes and key in _ANSWERS)))
            for place in self.through(item, f"{at}.{key}" if at else str(key), deep + 1)
            if not (trains and isinstance(item, str) and isinstance(place.answer, Told))
        ]
        if inner_places:
            yield from inner_places
        else:
            yield from (Place(told, at, deep, value) for told in answers)

    def _is_asked(self, key: str, item: object, at: str) -> bool:
        if key not in ASKED:
            return False
        if self.asked[0] is None and isinstance(item, dict):
            self.asked = item, f"{at}.{key}" if at else key
        return True

    def _list(self, value: list[object], at: str, deep: int) -> Iterator[Place]:
        data = joined_pieces(value)
        if data is not None:
            yield Place(data, at, deep)
            return
        if value and is_event(value[0]):
            yield Place(value, at, deep)
            return
        if are_messages(value):
            yield from self._messages(value, at, deep)
            return
        events = _unwrapped_events(value)
        if events is not None:
            yield Place(events, at, deep)
            return
        for number, item in enumerate(value[:_MOST_ITEMS]):
            yield from self.through(item, f"{at}[{number}]", deep + 1)

    def _messages(self, messages: list[object], at: str, deep: int) -> Iterator[Place]:
        """Yield the answers in a conversation that keeps more than texts. Of what is said, nothing
        is opened: people quote, too."""
        for number, message in enumerate(objects_in(messages)[:_MOST_ITEMS]):
            here = f"{at}[{number}]"
            kept = [
                place
                for key, item in message.items()
                if key not in _SAID
                and isinstance(item, dict | list | str)
                and not self._is_asked(key, item, here)
                for place in self.through(item, f"{here}.{key}", deep + 2)
            ]
            told = None if kept else told_in(message)
            yield from kept if told is None else [Place(told, here, deep + 1, message)]


_SAID = frozenset({"content", "text", "parts", "value", "message"})
"""Members in which messages keep what was said."""


def _unwrapped_events(items: list[object]) -> list[object] | None:
    """Return the events of a list that wraps each of them alike (`{"__data__": …}`); None: the list
    is something else."""
    first = items[0] if items else None
    if not isinstance(first, dict):
        return None
    name = next((key for key, item in first.items() if is_event(item)), None)
    if name is None:
        return None
    return [item[name] for item in items if isinstance(item, dict) and name in item]


_OF_ANY_PROGRAM = frozenset(
    {"error", "network_error", "timeout", "time_limit", "abort", "cancelled", "canceled"}
    | {
        "user_cancel",
        "incomplete",
        "complete",
        "completed",
        "continuation",
        "repetition",
        "language",
    }
    | {"sensitive", "safety", "moderation", "guardrail", "guardrails", "blocked", "blocklist"}
    | {"censored", "escalation", "refusal", "policy_violation", "no_image", "compaction"}
)
"""Stops with which jobs, debuggers and forums end as well."""

_OWN_WORDS = SHARED_STOPS.keys() - _OF_ANY_PROGRAM
"""Stops that only models have."""

_OF_MODELS = frozenset(
    {*MODELS, "usage", "tokens", "completion_tokens", "tokens_predicted"}
    | {"output_tokens", "num_tokens", "logprobs", "logprob", "tokenUsage", "token_usage"}
    | {"reasoning", "reasoning_content", "tool_calls", "toolCalls"}
)


_EVIDENCE = _OF_MODELS | {"prompt", "question", "instruction", "query", "input", "inputs"}
"""The same, and what was asked."""


def _is_of_model(stop: str, beside: JsonObject) -> bool:
    """Return whether a stop is one of a model: by its word, or by what stands beside it."""
    return stop.lower() in _OWN_WORDS or not _OF_MODELS.isdisjoint(beside)


def answers_in(value: JsonObject) -> list[Told]:
    """Return the answers of an object that keeps texts beside known stops: several if it has a list
    of each, else the one of `told_in`, or none.

    >>> row = {"completions": ["Yes.", "The moon pu"], "finish_reasons": ["stop", "length"]}
    >>> [(told.text, told.stop) for told in answers_in(row)]
    [('Yes.', 'stop'), ('The moon pu', 'length')]
    """
    told = told_in(value)
    if told is None:
        return []
    stops, texts = value.get(told.stop_at), value.get(_text_member(value))
    if not isinstance(stops, list) or not isinstance(texts, list) or len(stops) != len(texts):
        return [told]
    return [
        replace(
            told, text=text_in([text]), stop=stop, tokens=told.tokens if len(texts) == 1 else None
        )
        for text, stop in zip(texts, stops, strict=True)
    ]


def told_in(value: JsonObject) -> Told | None:
    """Return the answer of an object that keeps a text beside a known stop; None: it is none.

    >>> told_in({"model": "m", "content": "Hi", "finish_reason": "length"}).stop
    'length'
    >>> told_in({"content": "Hi", "finish_reason": "because"}) is None
    True
    """
    stop, stop_at = _known_stop(value)
    key = _text_member(value) if stop_at else ""
    calls = calls_in(value) if stop_at else []
    if not (key or calls) or is_conversation(value):
        return None
    return Told(
        text=text_in(value.get(key)),
        calls=calls or None,
        stop=stop,
        stop_at=stop_at,
        tokens=tokens_in(value),
    )


def _known_stop(value: JsonObject) -> tuple[object, str]:
    """Return a known stop of a model, and where it is; None and "": there is none."""
    for at, place in places_in(value):
        if at and at not in _OF_SERVERS:
            continue
        for name in (*STOPS, *_OF_LLAMA_CPP):
            if name not in place or (name in _LOOSE and _EVIDENCE.isdisjoint(value)):
                continue
            stored = "limit" if name == "stopped_limit" and place[name] is True else place[name]
            stop = read_stop(worst_stop(stored), name)
            if stop is not None and stop.known and _is_of_model(stop.raw, {**value, **place}):
                return worst_stop(stored), f"{at}{name}"
    return None, ""


_OF_SERVERS = ("details.", "meta_info.")
"""Where TGI and SGLang keep the stop:
https://huggingface.github.io/text-generation-inference and
https://docs.sglang.ai/basic_usage/native_api.html (read 2026-11-30)."""

_OF_LLAMA_CPP = ("stop_type", "stopped_limit")
"""https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (read 2026-11-30)."""

_LOOSE = ("completion_reason", "completionReason", *_OF_LLAMA_CPP)
"""Names of a stop that other programs have, too."""


def text_member(value: JsonObject) -> str:
    """Return the member with the text of an answer, if it is a text and not what a provider sent;
    "": it is none.

    >>> text_member({"completion": "Yes.", "text": "Why?"}), text_member({"response": "{}"})
    ('completion', '')
    """
    key = _text_member(value)
    may_be_sent = key in _RAW or key.startswith("raw_") or key.endswith("_raw")
    return key if not may_be_sent and isinstance(value.get(key), str) else ""


_BLANK: tuple[Any, ...] = ("", None, [])


def _text_member(value: JsonObject) -> str:
    """Return the member with the text of an answer; "": there is none. One that only models fill
    counts even if it is empty; of the others, one that is not."""
    own = [key for key in value if key not in _KNOWN_TEXTS and is_own_name(key)]
    names = (*TEXTS, *own)
    found = [key for key in names if text_in(value.get(key)) or value.get(key, 0) in _BLANK]
    told = [key for key in found if value[key] is not None]
    sure = [key for key in told if key in _ANSWERS or key in own]
    filled = [key for key in told if key in _ANY and text_in(value[key])]
    return next(iter([*sure, *filled, *told, *found]), "")
