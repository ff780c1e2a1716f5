"""Write OpenAI Responses' streams: what the caller sees when Tenuto writes itself.

The events of a stream are numbered, name their item, and repeat each part at its end. The last one
holds the whole response."""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import Kind, Native, Part
from tenuto.wires.answer import Answer
from tenuto.wires.errors import openai_error
from tenuto.wires.json import JsonObject, count, encode_named_event
from tenuto.wires.layout import GroupLayout
from tenuto.wires.members import objects_in
from tenuto.wires.openai_responses.body import (
    bare_response,
    call_item,
    ending_of,
    identity_of,
    paired,
    whole_response,
)
from tenuto.wires.openai_responses.content import goes_on, is_within, message, moved
from tenuto.wires.openai_responses.items import ARGUMENTS, is_client_call, kind_of

_ENDS = {"completed": "response.completed", "failed": "response.failed"}
"""The last event by status. All other responses are incomplete."""

_HOLDS = {"message": Kind.TEXT, "reasoning": Kind.REASONING}
"""Items that hold parts, and the kind of these parts."""


_OF_THE_ID_CHARS = 32
"""How much of the response's id is part of Tenuto's own: OpenAI rejects ids of more than 64
characters."""


class ResponseLayout(GroupLayout):
    """Writes a response as events (`wires.layout.GroupLayout`): items begin, hold parts that grow
    by deltas, and end."""

    error_follows_start = True

    def __init__(self, model: str) -> None:
        self._identity = bare_response(model)
        self._sequence = -1

    def begin(self, value: JsonObject) -> None:
        """Take the identity from the first event, or from a whole body, whose items other than text
        and calls are written first."""
        response = value.get("response", value)
        if isinstance(response, dict) and "id" in response:
            self._identity |= identity_of(response)
            self.ahead: Sequence[Native] = [
                item
                for item in objects_in(response.get("output"))
                if kind_of(item) not in ("message", *ARGUMENTS) and not is_client_call(item)
            ]

    def follow(self, last: JsonObject | None, events: int) -> None:
        """Continue from an event's number; if it has none, from the number of events so far."""
        number = count(last.get("sequence_number")) if last is not None else None
        self._sequence = events - 1 if number is None else number

    def goes_on(self, part: Part) -> bool:
        """Return whether text can continue: not after log probabilities."""
        return goes_on(dict(part.native))

    def native(self, kind: Kind) -> JsonObject:
        """Return an empty part."""
        if kind is Kind.REFUSAL:
            return {"type": "refusal", "refusal": ""}
        return {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}

    def holds(self, native: Native) -> Kind:
        """Return the kind of an item's parts."""
        return _HOLDS.get(kind_of(native), Kind.OTHER)

    def group(self, native: Native | None, taken: Sequence[Native], number: int) -> JsonObject:
        """Return an empty message."""
        begun = {**(native or message("")), "status": "in_progress", "content": []}
        if native is None or any(item.get("id") == begun.get("id") for item in taken):
            # A conversation may hold no id twice.
            begun["id"] = f"msg_tenuto_{number}_{str(self._identity['id'])[-_OF_THE_ID_CHARS:]}"
        return begun

    def unannounced(self, native: Native | None) -> JsonObject:
        """Return an empty message under the id of the announced item."""
        item_id = native.get("id") if native is not None else None
        return self.group(message("", item_id) if isinstance(item_id, str) else None, (), 0)

    def thought(self, text: str) -> JsonObject:
        """Return an item of reasoning. It has no signature, so it can't be sent back to a
        provider."""
        summary = [{"type": "summary_text", "text": text}]
        return {"id": "rs_tenuto", "type": "reasoning", "summary": summary}

    def empty(self, native: Native) -> JsonObject:
        """Return the empty form of a reasoning item."""
        return {**native, "summary": []}

    def start(self) -> bytes:
        """Write the events before all others."""
        response = {**bare_response(""), **self._identity}
        kinds = ("response.created", "response.in_progress")
        return b"".join([self._event(kind, {"response": response}) for kind in kinds])

    def opened(self, part: Part) -> bytes:
        """Begin an item, or a part of one."""
        if part.group is not None:
            return self._event("response.content_part.added", _place(part) | {"part": part.native})
        return self._item("added", part)

    def said(self, part: Part, text: str) -> bytes:
        """Write a delta of text, or of a refusal."""
        if part.kind is Kind.REFUSAL:
            return self._event("response.refusal.delta", _place(part) | {"delta": text})
        members = _place(part) | {"delta": text, "logprobs": []}
        return self._event("response.output_text.delta", members)

    def cited(self, part: Part, said: str, raw: Native, by: int) -> bytes:
        """Write an annotation, unless a seam removed its words."""
        (ours,) = moved([raw["annotation"]], by)
        if not is_within(ours, said):
            return b""
        part.add({"annotations": [ours]})
        number = len(part.whole()["annotations"]) - 1
        place = _place(part) | {"annotation_index": number}
        told = {key: item for key, item in raw.items() if key != "annotation"} | place
        return self._event(str(raw["type"]), told | {"annotation": ours})

    def passed(self, part: Part, raw: Native) -> bytes:
        """Write an event of an item under its number."""
        return self._event(str(raw["type"]), {**raw, "output_index": part.place[0]})

    def closed(self, part: Part, answer: Answer | None = None) -> bytes:
        """End a part, which is repeated in full, or an item."""
        if part.group is None:
            item = _whole(part)
            if kind_of(item) == "message":
                whole = answer is None or ending_of(answer)["status"] == "completed"
                item["status"] = "completed" if whole else "incomplete"
            part.restate(part.kind, item, "")
            return self._item("done", part)
        place, whole_part = _place(part), _whole(part)
        out, kind = b"", whole_part.get("type")
        if kind == "output_text":
            said = place | {"text": part.text, "logprobs": []}
            out = self._event("response.output_text.done", said)
        elif kind == "refusal":
            out = self._event("response.refusal.done", place | {"refusal": part.text})
        return out + self._event("response.content_part.done", place | {"part": whole_part})

    def called(self, call: ToolCall, unled: bool) -> JsonObject:
        """Return a call as an item."""
        return call_item(call, tied=not unled)

    def call(self, part: Part, call: ToolCall) -> bytes:
        """Write an item whose arguments, if they are text, come in one delta."""
        item, done = part.native, self._item
        member = ARGUMENTS.get(kind_of(item))
        if member is None:
            return self._item("added", part) + done("done", part)
        begun = Part(part.place, part.kind, {**item, member: "", "status": "in_progress"})
        name = "function_call_arguments" if member == "arguments" else "custom_tool_call_input"
        place = {"item_id": item.get("id") or call.id, "output_index": part.place[0]}
        return b"".join(
            [
                self._item("added", begun),
                self._event(f"response.{name}.delta", {**place, "delta": call.arguments}),
                self._event(f"response.{name}.done", {**place, member: call.arguments}),
                self._item("done", part),
            ]
        )

    def end(self, answer: Answer, items: Sequence[Part], *, include_usage: bool) -> bytes:
        """Write the last event with the whole response."""
        response = whole_response(self._identity, paired(map(_whole, items)), answer)
        kind = _ENDS.get(str(ending_of(answer)["status"]), "response.incomplete")
        return self._event(kind, {"response": response})

    def error(self, code: str, message: str) -> bytes:
        """Write an event on which the official SDK raises `APIError`; nothing may follow it. The
        wire's own form is flat, and no SDK raises on it, so the event holds both forms."""
        flat = {"code": code, "message": message, "param": None}
        return self._event("error", {**flat, "error": openai_error(code, message)})

    def _item(self, how: str, part: Part) -> bytes:
        members = {"output_index": part.place[0], "item": part.native}
        return self._event(f"response.output_item.{how}", members)

    def _event(self, kind: str, members: Native) -> bytes:
        self._sequence += 1
        told = {k: v for k, v in members.items() if k not in ("type", "sequence_number")}
        return encode_named_event({"type": kind, **told, "sequence_number": self._sequence})


def _place(part: Part) -> JsonObject:
    item_id = part.group.native.get("id") if part.group is not None else None
    index, number = part.place
    return {
        "item_id": item_id or "msg_tenuto",
        "output_index": index,
        "content_index": number,
    }


def _whole(part: Part) -> JsonObject:
    """Return an item with its parts, or a part with its whole text."""
    if part.group is None:
        held = {"content": list(map(_whole, part.parts.values()))} if part.parts else {}
        return {**part.native, **held}
    member = "refusal" if part.native.get("type") == "refusal" else "text"
    return {**part.whole(), member: part.text}
