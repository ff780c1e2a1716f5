"""The writing side of OpenAI Responses' streams: what the caller sees where Tenuto had to write.

Theory of operation
-------------------
The events of a stream count themselves, name the item that they belong to, and say at each part's
end all that was in it; the last one holds the whole response. So the writer follows every event
that is handed on, text included (`follows_text`), and keeps the items that the caller has been
given."""

from __future__ import annotations

from tenuto.core.calls import ToolCall
from tenuto.wire.base import Answer, JsonObject
from tenuto.wire.json import count, encode
from tenuto.wire.openai_responses_body import (
    bare_response,
    call_item,
    ending_of,
    error_object,
    identity_of,
    paired,
    whole_response,
)
from tenuto.wire.openai_responses_content import goes_on, is_within, message, moved
from tenuto.wire.openai_responses_items import ARGUMENTS, is_client_call, kind_of, parts_of

_TEXT = "response.output_text.delta"
_DONE = {"output_text": ("response.output_text.done", "text")} | {
    "refusal": ("response.refusal.done", "refusal")
}
"""How a part of a message ends, and the member that holds its words."""

_ENDS = {"completed": "response.completed", "failed": "response.failed"}
"""The last event by status; all other responses are incomplete."""

_LIFE = frozenset(
    {"response.created", "response.in_progress", "response.queued", "response.completed"}
    | {"response.incomplete", "response.failed", "response.cancelled", "error"}
)
"""Events of a further attempt that say nothing about the message."""


def render_event(value: JsonObject) -> bytes:
    """One event, named as its object is.

    >>> render_event({"type": "keepalive"})
    b'event: keepalive\\ndata: {"type":"keepalive"}\\n\\n'
    """
    return b"event: %b\ndata: %b\n\n" % (str(value["type"]).encode(), encode(value))


_OF_CALLS = ("response.function_call_arguments.", "response.custom_tool_call_input.")


def _id_of(item: JsonObject) -> JsonObject:
    return {"id": item["id"]} if isinstance(item.get("id"), str) else {}


class ResponseWriter:
    """One response as events (`wire.base.Writer`): items are numbered in one row, whichever attempt
    they come from, and the item and the part that are open are known."""

    follows_text = True

    def __init__(self, model: str) -> None:
        self._identity = bare_response(model)
        self._ahead: list[JsonObject] = []
        self.begun = False
        self._started = False
        self._sequence = -1
        self._items: dict[int, JsonObject] = {}
        self._next = 0
        self._open: int | None = None
        self._part: int | None = None
        self._words: list[str] = []
        # Of the attempt that is passed on:
        self._numbers: dict[int | None, int | None] = {}
        self._messages = 0
        self._coming: JsonObject = message("")
        self._thoughts: list[JsonObject] = []
        self._untied = False
        self._heard: list[str] = []
        self._tied: list[JsonObject] = []

    def begin(self, value: JsonObject) -> None:
        """The identity: from the first event, or from a whole body, whose items that are neither
        text nor calls are said before all else."""
        response = value.get("response", value)
        if isinstance(response, dict) and "id" in response:
            self._identity |= identity_of(response)
            output = response.get("output")
            self._ahead = [
                item
                for item in (output if isinstance(output, list) else ())
                if isinstance(item, dict) and kind_of(item) not in ("message", *ARGUMENTS)
                if not is_client_call(item)
            ]
        self.begun = True

    def given(self, value: JsonObject) -> None:
        """Follow what the caller has been given."""
        number = count(value.get("sequence_number"))
        self._sequence = number if number is not None else self._sequence + 1
        index, item = count(value.get("output_index")), value.get("item")
        kind, words = value.get("type"), value.get("delta")
        if kind == _TEXT and isinstance(words, str):
            if self._part is None:
                self._begin_unannounced(index)
            self._words.append(words)
            return
        match kind:
            case "response.created":
                self._started = True
            case "response.output_item.added" if isinstance(item, dict):
                self._open = index if index is not None else self._next
                self._items[self._open], self._part = dict(item), None
                self._next = max(self._next, self._open) + 1
            case "response.content_part.added" if isinstance(value.get("part"), dict):
                self._begin_part(value["part"], count(value.get("content_index")))
            case "response.refusal.delta" if isinstance(words, str):
                self._words.append(words)
            case "response.output_text.annotation.added":
                self._annotate(value.get("annotation"))
            case "response.content_part.done":
                self._end_part()
            case "response.output_item.done" if isinstance(item, dict):
                self._items[index if index is not None else self._next - 1] = item
                self._open = self._part = None

    def _begin_unannounced(self, index: int | None) -> None:
        """Text came whose item or part was not announced, or not so that it can be read."""
        if self._open is None:
            self._open = index if index is not None else self._next
            self._next = max(self._next, self._open) + 1
        item = self._items.get(self._open, {})
        if kind_of(item) != "message":
            self._items[self._open] = message("") | {"content": []} | _id_of(item)
        self._begin_part(
            {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}, None
        )

    def next_attempt(self, *, apart: bool) -> bytes:
        """Text goes on in the part that is open, unless the attempt stands apart or the part is
        none that can be gone on in."""
        self._numbers, self._messages, self._thoughts = {}, 0, []
        self._untied = False
        part = self._open_part()
        tied = self._say_tied()
        if part is not None and not apart and goes_on(part):
            return tied
        self._messages = 1
        return tied + self._close()

    def text(self, text: str) -> bytes:
        """A delta of text, in a part of text of a message."""
        out = [
            self._to_part({"type": "output_text", "annotations": [], "logprobs": [], "text": ""})
        ]
        self._words.append(text)
        self._untied = self._untied or bool(self._thoughts)
        self._thoughts = []  # they led to a message that is none of its own here
        return b"".join([*out, self._event(_TEXT, **self._place(), delta=text, logprobs=[])])

    def reasoning(self, text: str) -> bytes:
        """An item of reasoning. It cannot be taken back to any provider, for it has no seal; where
        the body that is said had items of its own, they say it."""
        if any(kind_of(item) == "reasoning" for item in self._ahead):
            return b""
        summary = [{"type": "summary_text", "text": text}]
        item = {"id": "rs_tenuto", "type": "reasoning", "summary": summary}
        return self._whole_item({**item, "summary": []}, item)

    def parts(self, value: JsonObject) -> bool:
        """A message, or something that the provider ran, behind the text that is open. Calls wait
        for the end, and reasoning is left out there."""
        if self._part is None:
            return False
        if value.get("type") == "response.content_part.added":
            return bool(count(value.get("content_index")))
        if value.get("type") != "response.output_item.added":
            return False
        kind = kind_of(value.get("item"))
        if kind == "message":
            return self._messages > 0
        return kind != "reasoning" and not is_client_call(value.get("item"))

    # --- what else a further attempt says

    def passed(self, value: JsonObject) -> bytes:
        """Items that are neither text nor calls, under our numbers; reasoning, unless text is open,
        which goes on without it; refusals, annotations."""
        kind = value.get("type")
        if kind == _TEXT and isinstance(value.get("delta"), str):
            self._heard.append(value["delta"])
        if not isinstance(kind, str) or kind in _LIFE or kind == _TEXT:
            return b""
        item = value.get("item")
        match kind:
            case "response.output_item.added" if isinstance(item, dict):
                return self._pass_item(value, item)
            case "response.output_item.done" if isinstance(item, dict):
                return self._pass_item_end(value, item)
            case "response.content_part.added" | "response.refusal.delta":
                return self._pass_part(value)
            case "response.output_text.annotation.added":
                return self._pass_annotation(value)
        number = self._numbers.get(count(value.get("output_index")))
        if number is None or number != self._open or kind_of(self._items[number]) == "message":
            return b""
        if not kind.isascii() or not kind.isprintable():  # it names the event as well
            return b""
        if kind.startswith(_OF_CALLS):
            return b""
        return self._event(kind, **(_told(value) | {"output_index": number}))

    def _pass_item(self, value: JsonObject, item: JsonObject) -> bytes:
        index, kind = count(value.get("output_index")), kind_of(item)
        self._numbers[index] = None
        if is_client_call(item):
            return b""
        if kind == "message":
            self._messages += 1
            if self._messages == 1:
                return b""
            self._coming = item
            return self._close()
        if kind == "reasoning" and self._part is not None:
            return b""
        out = self._close() + self._add(item)
        self._numbers[index] = self._open
        return out

    def _pass_item_end(self, value: JsonObject, item: JsonObject) -> bytes:
        index = count(value.get("output_index"))
        number = self._numbers.get(index)
        if is_client_call(item):  # whatever it was announced as: calls wait for the end
            return b""
        if number is not None and number == self._open:
            self._items[number] = item
            return self._close()
        if kind_of(item) == "reasoning" and index in self._numbers:
            self._thoughts.append(item)
        return b""  # text may go on yet

    def _pass_part(self, value: JsonObject) -> bytes:
        words = value.get("delta")
        if value.get("type") == "response.refusal.delta" and isinstance(words, str):
            out = self._to_part({"type": "refusal", "refusal": ""})
            self._words.append(words)
            return out + self._event("response.refusal.delta", **self._place(), delta=words)
        # A further part of the same message: the next text begins it.
        return self._close_part() if count(value.get("content_index")) else b""

    def _pass_annotation(self, value: JsonObject) -> bytes:
        """An annotation waits for the end of its part: only then is all there that it points at."""
        if isinstance(value.get("annotation"), dict):
            self._tied.append(value)
        return b""

    def _say_tied(self) -> bytes:
        """The annotations of what a further attempt said. They count in its words, of which a seam
        may have taken away the first; the last ones are those of the part that is open."""
        heard, said = "".join(self._heard), "".join(self._words)
        waiting, self._tied, self._heard = self._tied, [], []
        part = self._open_part()
        if part is None:
            return b""
        out: list[bytes] = []
        by = len(said.rstrip()) - len(heard.rstrip())
        for value in waiting:
            (ours,) = moved([value["annotation"]], by)
            if is_within(ours, said):
                self._annotate(ours)
                told = _told(value) | self._place()
                told["annotation_index"] = len(part["annotations"]) - 1
                out.append(self._event(str(value["type"]), **told, annotation=ours))
        return b"".join(out)

    # --- the end

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """What is open, calls, and the last event with the whole response."""
        ending = ending_of(answer)
        whole = ending["status"] == "completed"
        out = [self._close("completed" if whole else "incomplete")]
        if answer.calls:
            thoughts, self._thoughts = self._thoughts, []
            out += [self._whole_item({**t, "summary": []}, t) for t in thoughts]
            out += [self._call(call) for call in answer.calls]
        output = paired(item for _, item in sorted(self._items.items()))
        response = whole_response(self._identity, output, answer)
        kind = _ENDS.get(str(ending["status"]), "response.incomplete")
        return b"".join([*out, self._event(kind, response=response)])

    def _call(self, call: ToolCall) -> bytes:
        item = call_item(call, tied=not self._untied)
        member = ARGUMENTS.get(kind_of(item))
        if member is None:
            return self._whole_item(item, item)
        out = [self._add({**item, member: "", "status": "in_progress"})]
        name = "function_call_arguments" if member == "arguments" else "custom_tool_call_input"
        place = {"item_id": item.get("id") or call.id, "output_index": self._open}
        out.append(self._event(f"response.{name}.delta", **place, delta=call.arguments))
        said = {**place, member: call.arguments}
        out.append(self._event(f"response.{name}.done", **said))
        self._items[self._open or 0] = item
        return b"".join([*out, self._close()])

    def error(self, code: str, message: str) -> bytes:
        """An event on which the official SDK raises `APIError`; nothing may follow it. The wire's
        own is flat, and no SDK raises on that, so it holds both."""
        error = error_object(code, message)
        flat = {"code": code, "message": message, "param": None}
        return self._event("error", **flat, error=error)

    # --- items and parts

    def _whole_item(self, begun: JsonObject, item: JsonObject) -> bytes:
        out = self._close() + self._add(begun)
        self._items[self._next - 1] = item
        return out + self._close()

    def _add(self, item: JsonObject) -> bytes:
        started = self._start()
        self._open, self._next = self._next, self._next + 1
        self._items[self._open], self._part = dict(item), None
        event = self._event("response.output_item.added", output_index=self._open, item=item)
        return started + event

    def _to_part(self, part: JsonObject) -> bytes:
        """Be in an open part of this kind, of a message; else it begins."""
        now = self._open_part()
        if now is not None and now.get("type") == part["type"]:
            return b""
        out = [self._close_part()]
        if self._open is None or kind_of(self._items[self._open]) != "message":
            begun = {**self._coming, "status": "in_progress", "content": []}
            if any(item.get("id") == begun.get("id") for item in self._items.values()):
                begun["id"] = f"msg_tenuto_{self._next}"
            out += [self._close(), self._add(begun)]
        self._begin_part(part, None)
        return b"".join(
            [*out, self._event("response.content_part.added", **self._place(), part=part)]
        )

    def _begin_part(self, part: JsonObject, number: int | None) -> None:
        if self._open is None:
            return
        item = self._items[self._open]
        parts = parts_of(item)
        self._part = len(parts)
        item["content"] = [*parts, dict(part)]
        self._words = []

    def _open_part(self) -> JsonObject | None:
        if self._open is None or self._part is None:
            return None
        return parts_of(self._items[self._open])[self._part]

    def _annotate(self, annotation: object) -> None:
        part = self._open_part()
        if part is not None and isinstance(annotation, dict):
            held = part.get("annotations")
            part["annotations"] = [*(held if isinstance(held, list) else []), annotation]

    def _end_part(self) -> JsonObject:
        """The part that was open, with all that was said in it."""
        part = self._open_part() or {}
        member = _DONE.get(str(part.get("type")), ("", "text"))[1]
        part[member] = "".join(self._words)
        self._words, self._part = [], None
        return part

    def _place(self) -> JsonObject:
        item = self._items.get(self._open if self._open is not None else -1, {})
        return {
            "item_id": item.get("id") or "msg_tenuto",
            "output_index": self._open or 0,
            "content_index": self._part or 0,
        }

    def _close_part(self) -> bytes:
        if self._part is None:
            return b""
        tied, place = self._say_tied(), self._place()
        part = self._end_part()
        kind, member = _DONE.get(str(part.get("type")), ("", ""))
        more: JsonObject = {"logprobs": []} if member == "text" else {}
        said = {member: part.get(member), **more}
        done = self._event(kind, **place, **said) if kind else b""
        return tied + done + self._event("response.content_part.done", **place, part=part)

    def _close(self, status: str = "completed") -> bytes:
        if self._open is None:
            return b""
        out = self._close_part()
        index, self._open = self._open, None
        item = self._items[index]
        if kind_of(item) == "message":
            item["status"] = status
        return out + self._event("response.output_item.done", output_index=index, item=item)

    # --- events

    def _start(self) -> bytes:
        """The events before all others, and the items of a body that is said as events."""
        if self._started:
            return b""
        self._started = True
        response = {**bare_response(""), **self._identity}
        out = [
            self._event("response.created", response=response),
            self._event("response.in_progress", response=response),
        ]
        ahead, self._ahead = self._ahead, []
        out += [self._whole_item(item, item) for item in ahead]
        return b"".join(out)

    def _event(self, kind: str, **members: object) -> bytes:
        started = self._start()
        self._sequence += 1
        return started + render_event({"type": kind, **members, "sequence_number": self._sequence})


def _told(value: JsonObject) -> JsonObject:
    """What an event says beside its kind and its number."""
    return {k: v for k, v in value.items() if k not in ("type", "sequence_number", "annotation")}
