"""Wires that were part of Tenuto and are in another package now: how to know what is theirs.

Few programs meet these APIs, so their wires are in the package `tenuto-wires` (examples/wires).
Without it, their requests pass unchanged, Tenuto says once what finishes them, and `detect` says of
their answers what reads them. What surely is one of their objects is theirs even if a wire of
Tenuto's has the same shape.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, object_in, value_at

log: logging.Logger = logging.getLogger("tenuto")

PACKAGE = "tenuto-wires"
HOW = f"install the package {PACKAGE}, which has its wire (examples/wires in Tenuto's repository)"
"""What to do about an API whose wire moved."""


class Moved(NamedTuple):
    """A wire that moved.

    Attributes:
        name: its name.
        api: what it speaks, in words.
        path: matches the path of its requests.
        sign: whether an object is surely one of its own, whatever else it looks like.
        shape: whether an object that no wire knows has the shape of its answers.
    """

    name: str
    api: str
    path: re.Pattern[str]
    sign: Callable[[JsonObject], bool]
    shape: Callable[[JsonObject], bool]


# --- Cohere's version 1

_EVENT_TYPES = frozenset(
    {"stream-start", "text-generation", "tool-calls-chunk", "tool-calls-generation", "stream-end"}
    | {"search-queries-generation", "search-results", "citation-generation", "debug"}
)
_UNTYPED = frozenset(
    {"is_finished", "index", "text", "finish_reason", "response", "id", "prompt"}
    | {"amazon-bedrock-invocationMetrics", "likelihood", "token_likelihoods"}
)
_METRICS = "amazon-bedrock-invocationMetrics"
"""A member that Bedrock adds, whose wire reads such events."""


def is_cohere_event(value: JsonObject) -> bool:
    """Return whether an object has the form of an event of Cohere's version 1, in its chat or its
    text generation, which Bedrock serves too.

    >>> is_cohere_event({"event_type": "stream-end"}), is_cohere_event({"is_finished": False})
    (True, True)
    """
    kind = value.get("event_type")
    untyped = isinstance(value.get("is_finished"), bool) and value.keys() <= _UNTYPED
    return untyped or (isinstance(kind, str) and kind in _EVENT_TYPES)


def _signs_cohere(value: JsonObject) -> bool:
    return "event_type" in value and _METRICS not in value and is_cohere_event(value)


def _like_cohere(value: JsonObject) -> bool:
    generated = object_in(value_at(value, ("generations", 0)))
    if "text" in generated:
        return "id" in generated or "finish_reason" in generated
    return isinstance(value.get("text"), str) and "generation_id" in value


# --- DashScope


def _signs_dashscope(value: JsonObject) -> bool:
    return "request_id" in value and "output" in value and _like_dashscope(value)


def _like_dashscope(value: JsonObject) -> bool:
    output = object_in(value.get("output"))
    if isinstance(output.get("choices"), list) or isinstance(output.get("text"), str):
        choice = object_in(next(iter(list_in(output.get("choices"))), None))
        return "request_id" in value or "finish_reason" in {**output, **choice}
    return {"request_id", "code", "message"} <= value.keys()


# --- watsonx.ai


def _signs_watsonx(value: JsonObject) -> bool:
    if result := object_in(value_at(value, ("results", 0))):
        return "generated_text" in result and "stop_reason" in result
    if isinstance(value.get("errors"), list):
        return "trace" in value
    if not isinstance(value.get("model_id"), str):
        return False
    choice = object_in(value_at(value, ("choices", 0)))
    return value.get("choices") == [] or "message" in choice or "delta" in choice


MOVED: tuple[Moved, ...] = (
    Moved(
        "cohere-v1",
        "Cohere's chat version 1",
        re.compile(r"/v1/chat/?\Z"),
        _signs_cohere,
        _like_cohere,
    ),
    Moved(
        "dashscope",
        "DashScope's own API",
        re.compile(r"/services/aigc/(?:text|multimodal)-generation/generation/?\Z"),
        _signs_dashscope,
        _like_dashscope,
    ),
    Moved(
        "watsonx",
        "watsonx.ai's own chat API",
        re.compile(r"/ml/v1/(?:deployments/[^/]+/)?text/chat(?:_stream)?/?\Z"),
        _signs_watsonx,
        _signs_watsonx,
    ),
)

_SIGNS = frozenset({"event_type", "request_id", "model_id", "results", "errors"})
"""What signs an object has one of these members. Every object is asked."""


def sign_of(value: JsonObject) -> str:
    """Return the name of the moved wire whose own an object surely is; "": it is of none."""
    if _SIGNS.isdisjoint(value):
        return ""
    return next((moved.name for moved in MOVED if moved.sign(value)), "")


def shape_of(value: JsonObject) -> str:
    """Return the name of the moved wire whose shape an object has that no wire knows; "": it is of
    none.

    >>> shape_of({"output": {"text": "Hi", "finish_reason": "stop"}}), shape_of({"words": "Hi"})
    ('dashscope', '')
    """
    return next((each.name for each in MOVED if each.shape(value)), "")


def tell_moved(path: str) -> None:
    """Say once for each moved wire that requests to its path pass unchanged."""
    moved = next((moved for moved in MOVED if moved.path.search(path)), None)
    if moved is not None:
        _tell(moved.api)


@lru_cache(maxsize=16)
def _tell(api: str) -> None:
    log.warning("requests of %s pass unchanged and are not finished: %s", api, HOW)
