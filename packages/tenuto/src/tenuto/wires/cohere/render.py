"""Write Cohere's Chat: what the caller sees when Tenuto writes something itself.

Shapes follow `cohere/types` of cohere-python 7.3 and are checked against its types in the tests. A
message keeps the identity of its first attempt: its id.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import (
    AnySignal,
    Kind,
    Message,
    Opened,
    PartClosed,
    Piece,
    Place,
)
from tenuto.core.answer.signals import Began
from tenuto.wires.answer import Answer
from tenuto.wires.billed_usage import merged_usage
from tenuto.wires.citations import is_one
from tenuto.wires.cohere.citations import CITATIONS, joined_citations
from tenuto.wires.errors import OURS
from tenuto.wires.json import JsonObject, encode
from tenuto.wires.layout import FlatLayout
from tenuto.wires.members import object_in

DONE = b"data: [DONE]\n\n"

_TEXT, _THINKING = "text", "thinking"
_MEMBERS = {Kind.TEXT: _TEXT, Kind.REASONING: _THINKING}


def render_event(kind: str, **members: object) -> bytes:
    """Return one event, named by its `type`.

    >>> render_event("content-end", index=0)
    b'event: content-end\\ndata: {"type":"content-end","index":0}\\n\\n'
    """
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), encode({"type": kind, **members}))


def _piece(kind: str, index: int | None, **said: object) -> bytes:
    """Return an event with a piece of the message."""
    place = {} if index is None else {"index": index}
    return render_event(kind, **place, delta={"message": said})


PLAN: Place = ("tool_plan",)
"""A member of a message beside its content."""


class CohereLayout(FlatLayout):
    """Writes a message as events (`wires.layout.FlatLayout`). The parts of its content share one
    numbering over all attempts; calls have their own."""

    def __init__(self, model: str) -> None:
        self._id: object = "tenuto"
        self._started = False
        self._next = 0
        self._open: int | None = None
        self._kind = Kind.OTHER
        self._given: list[JsonObject] = []  # citations that were passed on

    def begin(self, value: JsonObject) -> None:
        """Take the identity from a `message-start`, or from a whole body."""
        self._id = value.get("id", self._id)

    def given(self, signals: Sequence[AnySignal]) -> None:
        """Track what the caller received: the open part, and the number of parts."""
        for signal in signals:
            match signal:
                case Began():
                    self._started = True
                case Opened((index,), kind):
                    self._open = index if isinstance(index, int) else self._next
                    self._next, self._kind = self._open + 1, kind
                case PartClosed():
                    self._open = None
                case Piece(_, _, _, {"citations": [*citations]}):
                    self._given += citations

    def said(self, kind: Kind, text: str) -> bytes:
        """Write a piece of text, or of thinking, in a part of its kind."""
        piece = {_MEMBERS[kind]: text}
        return self._to(kind) + _piece("content-delta", self._open, content=piece)

    def passed(self, signals: Sequence[AnySignal]) -> bytes:
        """Write thinking and plans, unless text is open, which continues without them. Citations
        wait for the end, when the whole text is known."""
        return b"".join(map(self._pass, signals))

    def _pass(self, signal: AnySignal) -> bytes:
        if self._open is not None and self._kind is Kind.TEXT:
            return b""
        match signal:
            case Piece(place, Kind.REASONING, str(plan)) if place == PLAN and plan:
                said = _piece("tool-plan-delta", None, tool_plan=plan)
                return self._close() + self._start() + said
            case Opened(kind=Kind.REASONING, says=text) | Piece(_, Kind.REASONING, str(text)):
                return self.said(Kind.REASONING, text) if text else b""
        return b""

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """Write the end of the open part and its citations, calls, the stop with the usage, and
        `[DONE]`."""
        out = [self._start(), self._citing(answer), self._close()]
        for number, call in enumerate(answer.calls):
            begun = _call(call)
            begun["function"] = {"name": call.name, "arguments": ""}
            piece = {"function": {"arguments": call.arguments}}
            out.append(_piece("tool-call-start", number, tool_calls=begun))
            out.append(_piece("tool-call-delta", number, tool_calls=piece))
            out.append(render_event("tool-call-end", index=number))
        return b"".join(out) + self._end({"finish_reason": answer.native_stop}, answer)

    def error(self, code: str, message: str) -> bytes:
        """Write the end as the provider writes it when a generation fails. The official SDK returns
        every event and raises on none."""
        return self.failed(code, message, Answer(text=""))

    def failed(self, code: str, message: str, answer: Answer) -> bytes:
        """Write the same with the usage so far, which the caller reads from this event alone."""
        out = self._start() + self._close()
        why = f"{OURS}: {code}: {message}"
        return out + self._end(
            {"error": why, "finish_reason": answer.native_stop or "ERROR"}, answer
        )

    # --- parts and events

    def _to(self, kind: Kind) -> bytes:
        """Open a part of this kind, if none is open."""
        if self._open is not None and self._kind is kind:
            return b""
        closed = self._start() + self._close()
        self._open, self._kind = self._next, kind
        self._next += 1
        member = _MEMBERS[kind]
        return closed + _piece("content-start", self._open, content={"type": member, member: ""})

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        index, self._open = self._open, None
        return render_event("content-end", index=index)

    def _start(self) -> bytes:
        if self._started:
            return b""
        self._started = True
        nothing: JsonObject = {"content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        delta = {"message": {"role": "assistant", **nothing}}
        return render_event("message-start", id=self._id, delta=delta)

    def _end(self, delta: JsonObject, answer: Answer) -> bytes:
        if answer.usage is not None:
            delta["usage"] = merged_usage(answer.raw_usage or {}, answer.usage)
        return render_event("message-end", delta=delta) + DONE

    def _citing(self, answer: Answer) -> bytes:
        """Return the citations that were not passed on with the first attempt."""
        out = []
        found = joined_citations(answer.spoken, self._open or 0, given=self._given)
        for number, citation in enumerate(found, len(self._given)):
            out.append(_piece("citation-start", number, citations=citation))
            out.append(render_event("citation-end", index=number))
        return b"".join(out)


def _call(call: ToolCall) -> JsonObject:
    function = {"name": call.name, "arguments": call.arguments}
    return {**(call.extra or {}), "id": call.id, "type": "function", "function": function}


# --- whole bodies


def as_body(told: Message) -> JsonObject:
    """Return the body of a message (`Wire.as_body`): its id, and the members beside the text.

    >>> from tenuto.core.answer.parts import Envelope
    >>> told, cited = Message(), {"citations": [{"start": 0}]}
    >>> said = Piece(CITATIONS, Kind.NOTE, "", cited, holds="")
    >>> _ = told.take([Envelope({"id": "c"}), said])
    >>> as_body(told)
    {'id': 'c', 'message': {'citations': [{'start': 0}]}}
    """
    message: JsonObject = {}
    for part in told.parts:
        if part.place == PLAN:
            message["tool_plan"] = ""  # the place for its thinking
        elif part.place == CITATIONS:
            message |= part.whole()
    return {**told.envelope, **told.said, "message": message}


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """Return a whole answer: the first attempt's identity, the last message, the merged content."""
    message = {"role": "assistant", **object_in(last.get("message") or first.get("message"))}
    whole = is_one(answer.spoken)
    content = _as_it_came(message, answer) if whole else None
    if content is None:
        if "tool_plan" in object_in(first.get("message")) and not _thinks(message):
            message.setdefault("tool_plan", "")
        content = _joined(message, answer)
    if not whole:
        part = max(len(content) - 1, 0)
        message["citations"] = joined_citations(answer.spoken, part, thought=answer.reasoning)
    message["content"], message["tool_calls"] = content, [_call(call) for call in answer.calls]
    for key in ("content", "tool_calls", "tool_plan", "citations"):
        if not message.get(key):
            message.pop(key, None)
    body = {key: item for key, item in first.items() if key != "error"}
    body = {"id": "tenuto", **body, "message": message, "finish_reason": answer.native_stop}
    if answer.usage is not None:
        body["usage"] = merged_usage(answer.raw_usage or {}, answer.usage)
    return encode(body)


def _as_it_came(message: JsonObject, answer: Answer) -> list[JsonObject] | None:
    """Return the content of a message part by part, if it is complete; else None."""
    own, plan = message.get("content"), message.get("tool_plan")
    parts = [object_in(part) for part in own] if isinstance(own, list) else []
    text, thought = ("".join(str(p.get(kind, "")) for p in parts) for kind in (_TEXT, _THINKING))
    said = (text, (plan if isinstance(plan, str) else "") + thought)
    return parts if said == (answer.text, answer.reasoning) else None


def _thinks(message: JsonObject) -> bool:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return any(object_in(part).get("type") == _THINKING for part in parts)


def _joined(message: JsonObject, answer: Answer) -> list[JsonObject]:
    """Return one part of each kind. If the message has a plan, that holds the thinking."""
    said = {_THINKING: answer.reasoning, _TEXT: answer.text}
    if "tool_plan" in message:
        message["tool_plan"] = said.pop(_THINKING)
    return [{"type": kind, kind: told} for kind, told in said.items() if told]
