"""The writing side of Text Generation Inference: what the caller sees where Tenuto had to write.

Shapes follow `huggingface_hub/inference/_generated/types/text_generation.py` of huggingface_hub
2.4.0. An answer has no identity; its last event says all of its text once more, so that a text of
several attempts must be said there as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from tenuto.core.calls import ToolCall
from tenuto.core.signals import Usage
from tenuto.wires.base import Answer, JsonObject, kept_of
from tenuto.wires.errors import OURS
from tenuto.wires.json import encode, encode_event
from tenuto.wires.members import object_in

TEXT, DETAILS, TOKEN = "generated_text", "details", "token"

_OF_NONE: JsonObject = {"id": 0, "text": "", "logprob": 0.0, "special": False}
"""The token of a text that no token is known for."""


def clean_stop(calls: Sequence[ToolCall]) -> str:
    """The value of a clean end; of calls nobody knows."""
    return "eos_token"


class TokenWriter:
    """One message as events (`wires.base.Writer`).

    Args:
        details: whether the last event says why it is the last.
        echoed: the prompt, where that event may begin with it.
    """

    follows_text = True

    def __init__(self, model: str, *, details: bool = True, echoed: str = "") -> None:
        self._details, self._echoed = details, echoed
        self._index, self._before = 0, ""
        self.begun = False

    def begin(self, value: JsonObject) -> None:
        """There is no identity to take."""
        self.begun = True

    def given(self, value: JsonObject) -> None:
        """Further events count on from those that were given."""
        index = value.get("index")
        self._index = index if type(index) is int else self._index

    def next_attempt(self, *, apart: bool) -> bytes:
        """Nothing is said between attempts. Those that follow do not begin with the prompt."""
        self._echoed = ""
        return b""

    def text(self, text: str) -> bytes:
        """An event that carries text."""
        return self._event({**_OF_NONE, "text": text})

    def reasoning(self, text: str) -> bytes:
        """Nothing: reasoning has no place here."""
        return b""

    def parts(self, value: JsonObject) -> bool:
        """Never: all text is in one part."""
        return False

    def passed(self, value: JsonObject) -> bytes:
        """Nothing is handed on; whether the whole text begins with the prompt is noted."""
        self._before = self._before or before(value, self._echoed)
        return b""

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """The event that says all of it once more."""
        token = object_in(answer.ending.get(TOKEN))
        special = token.get("special") is True
        told = details_of(object_in(answer.ending.get(DETAILS)), answer) if self._details else None
        whole = self._before + answer.text
        return self._event(token if special else {**token, **_OF_NONE}, whole, told)

    def error(self, code: str, message: str) -> bytes:
        """An event on which the official SDK raises `IncompleteGenerationError`."""
        return encode_event(_error(code, message))

    def _event(
        self, token: JsonObject, whole: str | None = None, details: JsonObject | None = None
    ) -> bytes:
        self._index += 1
        told = {"index": self._index, TOKEN: token, TEXT: whole, DETAILS: details}
        return encode_event(told)


def before(value: JsonObject, echoed: str) -> str:
    """The prompt where an answer begins with it, else nothing.

    >>> before({"generated_text": "The tide turns"}, "The tide")
    'The tide'
    """
    said = value.get(TEXT)
    return echoed if isinstance(said, str) and said.startswith(echoed) else ""


def details_of(given: JsonObject, answer: Answer) -> JsonObject:
    """Why an answer ended, and what all attempts cost (C19)."""
    told = {**given, "finish_reason": answer.native_stop}
    usage = answer.usage or Usage()
    if usage.output_tokens is not None:
        told["generated_tokens"] = usage.output_tokens
    if usage.input_tokens is not None:
        told["input_length"] = usage.input_tokens
    return told


def body_of(events: Iterable[JsonObject]) -> JsonObject:
    """The body that events tell (`wires.base.Wire`).

    >>> body_of([{"token": {"text": "Hi"}, "generated_text": "Hi", "details": None}])
    {'generated_text': 'Hi'}
    """
    body: JsonObject = {TEXT: ""}
    tokens: list[Any] = []
    for event in events:
        tokens.append(event.get(TOKEN))
        body |= {TEXT: event[TEXT]} if isinstance(event.get(TEXT), str) else {}
        if details := object_in(event.get(DETAILS)):
            body[DETAILS] = {**details, "prefill": [], "tokens": tokens}
    return body


def render_body(
    first: JsonObject,
    last: JsonObject,
    answer: Answer,
    *,
    listed: bool = False,
    details: bool = True,
    echoed: str = "",
) -> bytes:
    """A whole body: the merged text, its tokens, why it ended and what it cost."""
    body = {k: v for k, v in first.items() if k not in ("error", "error_type")}
    body[TEXT] = before(first, echoed) + answer.text
    if details:
        given = [object_in(object_in(one.value).get(DETAILS)) for one in answer.spoken]
        tokens = [one["tokens"] for one in given if isinstance(one.get("tokens"), list)]
        told = details_of(object_in(first.get(DETAILS)), answer)
        body[DETAILS] = {"prefill": [], **told, **({"tokens": [*chain(*tokens)]} if tokens else {})}
    return encode([body] if listed else body)


def _error(code: str, message: str) -> JsonObject:
    said = {"error": message, "error_type": "incomplete_generation"}
    return {**said, "type": OURS, "code": code}


def render_error(code: str, message: str, partial: Answer | None) -> bytes:
    """The body of an error. What was received stands in `partial`: nothing is lost."""
    return encode(_error(code, message) | kept_of(partial))
