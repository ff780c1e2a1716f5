"""Write Text Generation Inference: what the caller sees when Tenuto writes itself.

Shapes follow `huggingface_hub/inference/_generated/types/text_generation.py` of huggingface_hub
2.4.0. An answer has no identity. Its last event repeats the whole text, so a text of several
attempts must be joined there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from tenuto.core.answer.parts import AnySignal, Kind, Message, Native, Place, Said
from tenuto.core.answer.signals import Usage
from tenuto.wires.answer import Answer
from tenuto.wires.errors import OURS
from tenuto.wires.json import JsonObject, encode, encode_event
from tenuto.wires.layout import FlatLayout
from tenuto.wires.members import object_in

TEXT, DETAILS, TOKEN = "generated_text", "details", "token"

TOKENS: Place = ("tokens",)
"""The key for the tokens of a stream, text or not."""

_OF_NONE: JsonObject = {"id": 0, "text": "", "logprob": 0.0, "special": False}
"""The token of a text without a known token."""


class TokenLayout(FlatLayout):
    """Writes a message as events (`wires.layout.FlatLayout`).

    Args:
        details: whether the last event says why the answer ended.
        echoed: the prompt, if the last event may begin with it.
    """

    def __init__(self, model: str, *, details: bool = True, echoed: str = "") -> None:
        self._details, self._echoed = details, echoed
        self._index, self._before = 0, ""

    def begin(self, value: JsonObject) -> None:
        """Do nothing: there is no identity."""

    def given(self, signals: Sequence[AnySignal]) -> None:
        """Continue counting from an event that was passed on."""
        for signal in signals:
            if isinstance(signal, Said):
                self.follow(dict(signal.members))

    def follow(self, last: JsonObject | None) -> None:
        """Continue counting from the last of them."""
        index = (last or {}).get("index")
        self._index = max(index, self._index) if type(index) is int else self._index

    def next_attempt(self, *, apart: bool) -> bytes:
        """Expect no prompt: further attempts don't begin with it."""
        self._echoed = ""
        return b""

    def said(self, kind: Kind, text: str) -> bytes:
        """Write an event with text; reasoning has no place here."""
        return self._event({**_OF_NONE, "text": text}) if kind is Kind.TEXT else b""

    def passed(self, signals: Sequence[AnySignal]) -> bytes:
        """Write nothing, but note whether the whole text begins with the prompt."""
        for signal in signals:
            if isinstance(signal, Said):
                self._before = self._before or before(signal.members, self._echoed)
        return b""

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """Write the event that repeats the whole text."""
        token = object_in(answer.ending.get(TOKEN))
        special = token.get("special") is True
        told = details_of(object_in(answer.ending.get(DETAILS)), answer) if self._details else None
        whole = self._before + answer.text
        return self._event(token if special else {**token, **_OF_NONE}, whole, told)

    def error(self, code: str, message: str) -> bytes:
        """Write an event on which the official SDK raises `IncompleteGenerationError`."""
        return encode_event(error_of_ours(code, message))

    def _event(
        self, token: JsonObject, whole: str | None = None, details: JsonObject | None = None
    ) -> bytes:
        self._index += 1
        told = {"index": self._index, TOKEN: token, TEXT: whole, DETAILS: details}
        return encode_event(told)


def before(value: Native, echoed: str) -> str:
    """Return the prompt if an answer begins with it, else "".

    >>> before({"generated_text": "The tide turns"}, "The tide")
    'The tide'
    """
    said = value.get(TEXT)
    return echoed if isinstance(said, str) and said.startswith(echoed) else ""


def details_of(given: JsonObject, answer: Answer) -> JsonObject:
    """Return why an answer ended, and the tokens of all attempts (C19)."""
    told = {**given, "finish_reason": answer.native_stop}
    usage = answer.usage or Usage()
    if usage.output_tokens is not None:
        told["generated_tokens"] = usage.output_tokens
    if usage.input_tokens is not None:
        told["input_length"] = usage.input_tokens
    return told


def as_body(message: Message) -> JsonObject:
    """Return the body of a message (`Wire.as_body`).

    >>> message = Message()
    >>> _ = message.take([Said({"generated_text": "Hi", "index": 1})])
    >>> as_body(message)
    {'generated_text': 'Hi'}
    """
    said = message.said
    body: JsonObject = {TEXT: said.get(TEXT, "")}
    if DETAILS in said:
        tokens = [part.whole()["tokens"] for part in message.parts if part.place == TOKENS]
        body[DETAILS] = {**said[DETAILS], "prefill": [], "tokens": [*chain(*tokens)]}
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
    """Return a whole body: the merged text, its tokens, why it ended and its usage."""
    body = {k: v for k, v in first.items() if k not in ("error", "error_type")}
    body[TEXT] = before(first, echoed) + answer.text
    if details:
        given = [object_in(object_in(one.value).get(DETAILS)) for one in answer.spoken]
        tokens = [one["tokens"] for one in given if isinstance(one.get("tokens"), list)]
        told = details_of(object_in(first.get(DETAILS)), answer)
        body[DETAILS] = {"prefill": [], **told, **({"tokens": [*chain(*tokens)]} if tokens else {})}
    return encode([body] if listed else body)


def error_of_ours(code: str, message: str) -> JsonObject:
    """Return an error in the server's shape."""
    said = {"error": message, "error_type": "incomplete_generation"}
    return {**said, "type": OURS, "code": code}
