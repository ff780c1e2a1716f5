"""Write Cohere's chat of version 1: what the caller sees when Tenuto writes itself.

Shapes follow `cohere/types` of cohere-python 7.3 and are checked against its types in the tests. A
message keeps the identity of its first attempt. The last event of a stream repeats everything, and
so does `chat_history`, which programs send back with their next request: it holds the caller's rows
and the merged answer, without Tenuto's own rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tenuto.wire_kit import (
    TENUTO_ERROR as OURS,
)
from tenuto.wire_kit import (
    Answer,
    AnySignal,
    JsonObject,
    Kind,
    ToolCall,
    encode,
    encode_named_event,
    joined_annotations,
    object_of,
)
from tenuto.wire_kit import (
    ChatLayout as OpenAIChatLayout,
)
from tenuto_wires.cohere_v1.billed_usage import grown_usage

TOLD = frozenset({"text", "tool_calls", "citations", "meta", "finish_reason", "error", "message"})
"""Members of an answer that are merged over the attempts of a turn."""


_joined_citations = partial(joined_annotations, positions=("start", "end"))
"""Citations move like Chat's annotations."""


def call_of(call: ToolCall) -> JsonObject:
    """Return a call as in a message, without an id."""
    return {**(call.extra or {}), "name": call.name, "parameters": object_of(call)}


class ChatLayout(OpenAIChatLayout):
    """Writes a message as events (`wires.layout.FlatLayout`). As on OpenAI Chat, citations of
    further attempts wait for the end, when the whole text is known.

    Args:
        asked: the rows that the answer follows.
    """

    def __init__(self, model: str, asked: Sequence[JsonObject] = ()) -> None:
        super().__init__(model)
        self._asked = asked

    def begin(self, value: JsonObject) -> None:
        """Take the ids from the first event, or from a whole body."""
        ids = ("generation_id", "response_id")
        self.shared = {key: value[key] for key in ids if key in value}

    def said(self, kind: Kind, text: str) -> bytes:
        """Write text; reasoning has no place here."""
        if kind is not Kind.TEXT:
            return b""
        return self._start() + _event("text-generation", text=text)

    def given(self, signals: Sequence[AnySignal]) -> None:
        """Note an event that was passed on unchanged: the stream has begun."""
        super().given(signals)
        self.begun = True

    def _start(self) -> bytes:
        """Write the event that opens the stream, unless the caller has it."""
        begun, self.begun = self.begun, True
        ids = {key: item for key, item in self.shared.items() if key == "generation_id"}
        return b"" if begun else _event("stream-start", **ids)

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """Write the citations and calls, and the event that repeats everything."""
        first = answer.spoken[0].message if answer.spoken else None
        whole = answered({**(first.said if first else {}), **self.shared}, answer, self._asked)
        out = self._start()
        if cited := _joined_citations(answer.spoken, self.cited):
            out += _event("citation-generation", citations=cited)
        if answer.calls:
            out += _event("tool-calls-generation", text=answer.text, tool_calls=whole["tool_calls"])
        return out + _event("stream-end", response=whole, finish_reason=answer.native_stop)

    def error(self, code: str, message: str) -> bytes:
        """Write the end of a generation that failed, and why. The official SDK raises on no event
        of a stream."""
        return self.failed(code, message, Answer(text=""))

    def failed(self, code: str, message: str, answer: Answer) -> bytes:
        """Write the same with the usage so far. The caller has the text."""
        stop = answer.native_stop or "ERROR"
        whole = {"text": "", **self.shared, "finish_reason": stop}
        if answer.usage is not None:
            whole["meta"] = grown_usage(answer.raw_usage or {}, answer.usage)
        why = f"{OURS}: {code}: {message}"
        return _event("stream-end", response=whole, finish_reason=stop, error=why)


def _event(kind: str, **members: object) -> bytes:
    told = {"is_finished": kind == "stream-end", "event_type": kind, **members}
    return encode_named_event(told, "event_type")


def answered(first: JsonObject, answer: Answer, asked: Sequence[JsonObject]) -> JsonObject:
    """Return a whole answer to these rows: the first attempt's members, the merged content."""
    called = {"tool_calls": [call_of(call) for call in answer.calls]} if answer.calls else {}
    said = {"role": "CHATBOT", "message": answer.text, **called}
    cited = _joined_citations(answer.spoken)
    body = {"text": answer.text} | {k: v for k, v in first.items() if k not in TOLD} | called
    body |= {"citations": cited} if cited else {}
    body |= {"chat_history": [*asked, said], "finish_reason": answer.native_stop}
    if answer.usage is not None:
        body["meta"] = grown_usage(answer.raw_usage or {}, answer.usage)
    return body


def render_body(
    first: JsonObject, last: JsonObject, answer: Answer, asked: Sequence[JsonObject] = ()
) -> bytes:
    """Return the bytes of a whole answer."""
    return encode(answered(first, answer, asked))
