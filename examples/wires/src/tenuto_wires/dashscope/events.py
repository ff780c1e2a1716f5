"""DashScope's stream events: extract what is new in each, or restore everything so far.

Without `incremental_output`, each event repeats everything so far: text, reasoning, and the
arguments of calls. Some models send only what is new anyway, so the events themselves decide: one
that repeats begins with what came before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenuto.wire_kit import (
    JsonObject,
    list_in,
    object_in,
    text_in,
)

_TEXTS = ("content", "reasoning_content")

_HALF = "\ufffd"

_Said = dict[str | int, str]
"""Texts by their key, and arguments by the number of their call."""


def first_choice(value: JsonObject) -> JsonObject:
    """Return the choice of an event or a body; if it is only a text, an equivalent choice.

    >>> first_choice({"output": {"text": "Hi", "finish_reason": "stop"}})["message"]
    {'content': 'Hi', 'reasoning_content': None}
    """
    output = object_in(value.get("output"))
    if choices := list_in(output.get("choices")):
        return object_in(choices[0])
    names = {"content": "text", "reasoning_content": "reasoning_content"}
    return output | {"message": {name: output.get(key) for name, key in names.items()}}


def message_of(value: JsonObject) -> JsonObject:
    """Return the message of an event or a body."""
    return object_in(first_choice(value).get("message"))


def stops(value: JsonObject) -> bool:
    """Return whether it says why the answer ends; until then the value is the text "null"."""
    return first_choice(value).get("finish_reason") not in (None, "", "null")


def with_message(value: JsonObject, message: JsonObject) -> JsonObject:
    """Return the same event with another message, in its own form."""
    output = object_in(value.get("output"))
    if choices := list_in(output.get("choices")):
        new: JsonObject = {"choices": [object_in(choices[0]) | {"message": message}, *choices[1:]]}
    else:
        new = {"text": message.get("content") or ""}
        if thought := message.get("reasoning_content"):
            new["reasoning_content"] = thought
    return value | {"output": output | new}


def text_of(content: object) -> str:
    """Return the text of a content, which on the multimodal path is a list of parts."""
    if isinstance(content, list):
        return "".join(text_in(object_in(part).get("text")) for part in content)
    return text_in(content)


def like(content: object, text: str) -> object:
    """Return a content with this text, in the form of another one, whose other parts it keeps."""
    if not isinstance(content, list):
        return text
    others = [part for part in content if "text" not in object_in(part)]
    return [*([{"text": text}] if text else []), *others]


def _calls_of(message: JsonObject) -> dict[int, JsonObject]:
    found: dict[int, JsonObject] = {}
    for number, call in enumerate(list_in(message.get("tool_calls"))):
        if isinstance(call, dict):
            index = call.get("index")
            found[index if isinstance(index, int) else number] = call
    return found


def _arguments(call: JsonObject) -> str:
    return text_in(object_in(call.get("function")).get("arguments"))


def _said_in(message: JsonObject) -> _Said:
    said: _Said = {key: text_of(message.get(key)) for key in _TEXTS}
    calls = {number: _arguments(call) for number, call in _calls_of(message).items()}
    return {key: text for key, text in said.items() if text} | calls


def _named(call: JsonObject) -> tuple[object, object]:
    """Return what identifies a call. Further pieces of a call lack it."""
    return call.get("id") or "", object_in(call.get("function")).get("name") or ""


class Unrepeated:
    """Reduces each event of one stream to what is new, whether it repeats or not.

    Args:
        expected: whether events are expected to repeat; None: not known.

    Attributes:
        repeats: whether they do; None: not known yet.

    >>> new = Unrepeated()
    >>> [new({"output": {"text": text}})["output"]["text"] for text in ("It", "It is", "It is so")]
    ['It', ' is', ' so']
    """

    def __init__(self, expected: bool | None = None) -> None:
        self.repeats: bool | None = None
        self._expected = expected
        self._heard: _Said = {}
        self._names: dict[int, tuple[object, object]] = {}

    def __call__(self, value: JsonObject) -> JsonObject:
        """Return the event with only what is new; the same object if everything is new."""
        if self.repeats is False:
            return value
        message = message_of(value)
        said = _said_in(message)
        if self.repeats is None:
            self._tell(said, _calls_of(message), stops(value))
        elif any(not _goes_on(now, self._heard.get(key, "")) for key, now in said.items()):
            self.repeats = False
            return value
        heard, self._heard = self._heard, self._heard | said
        return with_message(value, _new(message, heard)) if self.repeats and heard else value

    def _tell(self, said: _Said, calls: Mapping[int, JsonObject], stops: bool) -> None:
        """Find out whether an event begins with what came before it."""
        for key, before in self._heard.items():
            if before and (now := said.get(key)):
                more = len(now) > len(before) or stops or bool(self._expected)
                self.repeats = _goes_on(now, before) and more
                return
        for number, call in calls.items():
            name = _named(call)
            if all(name) and self._names.get(number) == name:
                self.repeats = True  # a call is named only once
            self._names[number] = name


def _goes_on(now: str, before: str) -> bool:
    """Return whether a text begins with another one. Half a character at its end is ignored."""
    return now.startswith(before.rstrip(_HALF))


def _rest(now: str, before: str) -> str:
    return now[len(before) if now.startswith(before) else len(before.rstrip(_HALF)) :]


def _new(message: JsonObject, heard: Mapping[str | int, str]) -> JsonObject:
    made = dict(message)
    for key in _TEXTS:
        if text := text_of(message.get(key)):
            made[key] = like(message[key], _rest(text, heard.get(key, "")))
    if calls := _calls_of(message):
        made["tool_calls"] = [
            _piece(call, heard[number]) if number in heard else call
            for number, call in calls.items()
            if _arguments(call) != heard.get(number)
        ]
    return made


def _piece(call: JsonObject, heard: str) -> JsonObject:
    """Return a further piece of a call: its name was sent, and its number identifies it."""
    arguments = _rest(_arguments(call), heard)
    known_by = call if "index" not in call else call | {"id": ""}
    return known_by | {"function": {"arguments": arguments}}


class SoFar:
    """Extends incremental events to repeat everything before them.

    >>> so_far = SoFar()
    >>> [so_far({"output": {"text": text}})["output"]["text"] for text in ("It", " is")]
    ['It', 'It is']
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._calls: dict[object, JsonObject] = {}

    def __call__(self, value: JsonObject) -> JsonObject:
        """Return the event with everything so far."""
        message = message_of(value)
        for key in _TEXTS:
            if text := text_of(message.get(key)):
                self._texts[key] = self._texts.get(key, "") + text
        for number, call in _calls_of(message).items():
            which = number if "index" in call else call.get("id") or number
            self._calls[which] = _joined(self._calls.get(which), call)
        made = dict(message)
        for key, text in self._texts.items():
            made[key] = like(message.get(key), text)
        if self._calls:
            made["tool_calls"] = list(self._calls.values())
        return with_message(value, made)


def _joined(before: JsonObject | None, piece: JsonObject) -> JsonObject:
    if before is None:
        return piece
    function: dict[str, Any] = {**object_in(before.get("function"))}
    function["arguments"] = _arguments(before) + _arguments(piece)
    return before | {"function": function}
