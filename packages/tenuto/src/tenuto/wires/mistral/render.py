"""Write Mistral's chat: content in chunks, and errors in its own shape.

A content is a text, or a list of chunks if it has more than text, such as thinking or references
(`mistralai/client/models/contentchunk.py`, mistralai 3.7, 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tenuto.core.answer.parts import AnySignal, Kind, Part, Piece
from tenuto.wires.answer import Answer, AttemptContent
from tenuto.wires.chat_like.chat import CONTENT
from tenuto.wires.chat_like.render import COUNTS, DONE, ChatLayout, completion
from tenuto.wires.errors import openai_error
from tenuto.wires.json import JsonObject, encode, encode_event


class MistralLayout(ChatLayout):
    """Writes a message as chunks."""

    def said(self, kind: Kind, text: str) -> bytes:
        """Write text, or a chunk of the content with thinking."""
        return self.chunk({"content": text if kind is Kind.TEXT else [_thinking(text)]})

    def passed(self, signals: Sequence[AnySignal]) -> bytes:
        """Write what the content carries beside text, and what Chat writes."""
        other = [s.raw for s in signals if isinstance(s, Piece) and s.raw is not None]
        return super().passed(signals) + (self.chunk({"content": other}) if other else b"")

    def stopped(self, answer: Answer, include_usage: bool) -> bytes:
        """Write the stop with the usage, and `[DONE]`. The usage has no chunk of its own, since
        programs expect a choice in every chunk."""
        delta = self._led({"content": ""})
        choice = {"index": 0, "delta": delta, "finish_reason": answer.native_stop}
        last: JsonObject = {**self.shared, "choices": [choice]}
        if answer.usage is not None:
            last["usage"] = COUNTS.merged(answer.raw_usage, answer.usage)
        return encode_event(last) + DONE

    def error(self, code: str, message: str) -> bytes:
        """Write an event that is no chunk, on which the official SDK raises, and the end mark."""
        return encode_event(error_of_ours(code, message)) + DONE


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """Return a whole completion."""
    body = completion(first, last, answer)
    message = body["choices"][0]["message"]
    for key in ("reasoning", "reasoning_content"):
        message.pop(key, None)
    message["content"] = _content(answer)
    return encode(body)


def _content(answer: Answer) -> str | list[JsonObject]:
    """Return only a text, or chunks: the thinking, then the text, with everything else in its
    place."""
    parts = list(_merged(part for one in answer.spoken for part in _kept(one)))
    if "".join(part["text"] for part in parts if "text" in part) != answer.text:
        others = (part for part in parts if "text" not in part)
        parts = [*_texts(answer.text), *others]
    thinking = [_thinking(answer.reasoning)] if answer.reasoning else []
    if not thinking and all("text" in part for part in parts):
        return answer.text
    return [*thinking, *parts]


def _kept(one: AttemptContent) -> Iterable[JsonObject]:
    """Return the kept chunks of one attempt, without its thinking."""
    parts = one.message.parts if one.message is not None else []
    said = [chunk for part in parts if part.place == CONTENT for chunk in _chunks(part)]
    if one.text == one.own:
        return said
    return [*_texts(one.text), *(part for part in said if part.get("type") != "text")]


def _chunks(part: Part) -> list[JsonObject]:
    """Return the chunks of a part."""
    content = part.whole()["content"]
    return _texts(content) if isinstance(content, str) else content


def _merged(parts: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Yield the same chunks, with consecutive texts merged."""
    text = ""
    for part in parts:
        if isinstance(part.get("text"), str):
            text += part["text"]
            continue
        yield from _texts(text)
        yield {key: value for key, value in part.items() if key != "text"}
        text = ""
    yield from _texts(text)


def _texts(text: str) -> list[JsonObject]:
    return [{"type": "text", "text": text}] if text else []


def _thinking(text: str) -> JsonObject:
    return {"type": "thinking", "thinking": _texts(text)}


def error_of_ours(code: str, message: str) -> JsonObject:
    """Return an error in the provider's shape."""
    return {"object": "error", **openai_error(code, message)}
