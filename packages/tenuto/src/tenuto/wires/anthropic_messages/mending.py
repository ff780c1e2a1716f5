"""Repair streams of Anthropic Messages on which its SDK crashes (`Wire.mender`).

Theory of operation
-------------------
The SDK puts a message together without checking its events (`accumulate_event` in
anthropic/lib/streaming/_messages.py of 2.12 and of 0.40, read 2026-11-28): it appends each block
that begins, looks up the block of a piece by its number in this list, and reads the usage of the
beginning and of the end. Gateways leave numbers out, number all blocks alike, send pieces and ends
of blocks that never began, and omit members. So a mender numbers the blocks as the SDK counts
them, begins those that didn't, and adds what is missing. An event that needs nothing stays as it
came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenuto.wires.anthropic_messages.render import bare_message
from tenuto.wires.json import JsonObject, count
from tenuto.wires.members import list_in, object_in, word_in

_NEEDED: Mapping[str, Mapping[str, Any]] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
    "server_tool_use": {"input": {}},
}
"""Blocks, and the members that the SDK reads of them."""

_PIECES: Mapping[str, tuple[str, str]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
    "citations_delta": ("text", "citation"),
    "input_json_delta": ("tool_use", "partial_json"),
}
"""Pieces, the kind of block that each belongs to, and the member that it holds."""

_ADDED = ("text_delta", "thinking_delta")
"""Pieces whose text the SDK adds to what it has, so it must be text."""

_CONTENT = frozenset(
    {"content_block_start", "content_block_delta", "content_block_stop", "message_delta"}
    | {"message_stop"}
)

_Mended = list[JsonObject] | None


class Mender:
    """Repairs the events of one stream, in order.

    Attributes:
        odd: what was repaired, each word once.
    """

    def __init__(self, model: str) -> None:
        self.odd: list[str] = []
        self._model = model
        self._started = False
        self._kinds: list[str] = []  # of the blocks, in the order in which they began
        self._last: dict[
            int | None, int
        ] = {}  # the newest block under each of the provider's numbers
        self._by_kind: dict[tuple[int | None, str], int] = {}
        self._made: set[int] = set()  # blocks that only their pieces began
        self._early: dict[int | None, list[JsonObject]] = {}  # pieces of calls that didn't begin
        self._stop: JsonObject = {}
        self._output_tokens = 0

    def mend(self, event: JsonObject) -> _Mended:
        """Return what the caller gets in place of an event; None: the event as it came."""
        kind = event.get("type")
        if event.get("error") or not isinstance(kind, str):
            return None
        if kind == "message_start":
            return self._start(event)
        if kind not in _CONTENT:
            return None
        begun: list[JsonObject] = []
        if not self._started:
            self._note("message_start_missing")
            self._started = True
            begun = [{"type": "message_start", "message": bare_message(self._model)}]
        match kind:
            case "content_block_start":
                mended = self._block(event)
            case "content_block_delta":
                mended = self._piece(event)
            case "content_block_stop":
                mended = self._end(event)
            case "message_delta":
                mended = self._message_delta(event)
            case _:
                mended = self._with_early(event)
        if not begun:
            return mended
        return begun + ([event] if mended is None else mended)

    def _note(self, what: str) -> None:
        if what not in self.odd:
            self.odd.append(what)

    def _start(self, event: JsonObject) -> _Mended:
        if self._started:
            return None
        self._started = True
        given = event.get("message")
        message = object_in(given)
        content, usage = message.get("content"), message.get("usage")
        if isinstance(content, str) and content:
            self._begin(0, "text")
        for number, block in enumerate(list_in(content)):
            self._begin(number, word_in(object_in(block), "type") or "")
        self._output_tokens = count(object_in(usage).get("output_tokens")) or 0
        if isinstance(content, list) and _counts(usage):
            return None
        self._note("message_start_incomplete")
        bare = bare_message(self._model)
        held = {key: item for key, item in message.items() if item is not None}
        told = {key: item for key, item in object_in(usage).items() if item is not None}
        counts = {**bare["usage"], **told}
        content = content if isinstance(content, list) else []
        begun = {**event, "message": {**bare, **held, "content": content, "usage": counts}}
        text = word_in(message, "content")  # some write a body's content as a text
        return [begun] if text is None else [begun, *_text_block(text)]

    # --- blocks

    def _begin(self, index: int | None, kind: str) -> int:
        number = len(self._kinds)
        self._kinds.append(kind)
        self._last[index] = self._by_kind[index, kind] = number
        return number

    def _block(self, event: JsonObject) -> _Mended:
        given, index = event.get("content_block"), count(event.get("index"))
        block = _whole(object_in(given))
        kind = str(block["type"])
        number = self._by_kind.get((index, kind))
        if number is not None and number in self._made and not block.get(_text_of(kind)):
            self._made.discard(number)
            return []  # its pieces came before it
        number = self._begin(index, kind)
        early = self._early.pop(index, []) if kind == "tool_use" else []
        if index == number and block is given and not early:
            return None
        if index != number:
            self._note("block_index_wrong")
        if block is not given:
            self._note("block_incomplete")
        begun = {**event, "index": number, "content_block": block}
        return [begun, *({**piece, "index": number} for piece in early)]

    def _piece(self, event: JsonObject) -> _Mended:
        delta, index = event.get("delta"), count(event.get("index"))
        whole = _named(object_in(delta))
        kind, member = _PIECES.get(str(whole.get("type")), ("", ""))
        number = self._number(index, kind)
        if whole is not delta:
            if not whole:  # says nothing, unless it damaged a call
                return None if number is not None and self._is_call(number) else self._none()
            self._note("delta_incomplete")
            event = {**event, "delta": whole}
        if str(whole.get("type")) in _ADDED and not isinstance(whole.get(member), str):
            return self._none()
        if number is not None:
            if index == number and whole is delta:
                return None
            if index != number:
                self._note("block_index_wrong")
            return [{**event, "index": number}]
        self._note("block_start_missing")
        if kind == "tool_use":
            self._early.setdefault(index, []).append(event)
            return []
        if not kind:
            return []
        return self._begun_by(event, index, kind)

    def _begun_by(self, piece: JsonObject, index: int | None, kind: str) -> list[JsonObject]:
        """Begin a block that a piece shows to be there."""
        number = self._begin(index, kind)
        self._made.add(number)
        block = {"type": kind, **_NEEDED[kind]}
        begun = {"type": "content_block_start", "index": number, "content_block": block}
        return [begun, {**piece, "index": number}]

    def _none(self) -> list[JsonObject]:
        self._note("delta_incomplete")
        return []

    def _is_call(self, number: int) -> bool:
        return self._kinds[number] not in ("text", "thinking")

    def _number(self, index: int | None, kind: str) -> int | None:
        """Return the number of the block that a piece of this kind belongs to; None: it never
        began."""
        number = self._by_kind.get((index, kind))
        if number is None:
            number = self._last.get(index)
            if number is not None and kind and self._kinds[number] in ("text", "thinking"):
                number = number if self._kinds[number] == kind else None
            elif number is not None and kind in ("text", "thinking"):
                number = None if self._kinds[number] == "tool_use" else number
        if number is None and index is None and self._kinds:
            last = len(self._kinds) - 1
            fits = (
                not kind
                or self._kinds[last] == kind
                or (kind == "tool_use" and self._is_call(last))
            )
            number = last if fits else None
        return number

    def _end(self, event: JsonObject) -> _Mended:
        index = count(event.get("index"))
        number = self._last.get(index)
        if number is None and index is None and self._kinds:
            number = len(self._kinds) - 1
        if number is None:
            if object_in(event.get("content_block")):  # the block is there, as a whole
                opens = {**event, "type": "content_block_start"}
                begun = self._block(opens)
                begun = [opens] if begun is None else begun
                number = self._last[index]
                return [*begun, {"type": "content_block_stop", "index": number}]
            self._note("block_start_missing")
            return []
        if index == number:
            return None
        self._note("block_index_wrong")
        return [{**event, "index": number}]

    # --- the end

    def _with_early(self, event: JsonObject) -> _Mended:
        """Put pieces of calls that never began before what ends the message: into the last call if
        it has no number of its own, else into a call without a name, which is asked for again."""
        if not self._early:
            return None
        early, self._early = self._early, {}
        out: list[JsonObject] = []
        for index, (first, *more) in early.items():
            begun = self._begun_by(first, index, "tool_use")
            number = begun[0]["index"]
            out += [*begun, *({**piece, "index": number} for piece in more)]
            out.append({"type": "content_block_stop", "index": number})
        return [*out, event]

    def _message_delta(self, event: JsonObject) -> _Mended:
        delta, usage = event.get("delta"), event.get("usage")
        held = object_in(delta)
        mended = event
        if not isinstance(delta, dict) or ("stop_reason" not in held and self._stop):
            mended = {**event, "delta": {"stop_reason": None, **self._stop, **held}}
            self._note("delta_incomplete")
        if held.get("stop_reason") is not None:
            self._stop = {key: held.get(key) for key in ("stop_reason", "stop_sequence")}
        if isinstance(usage, dict):
            told = count(usage.get("output_tokens"))
            if told is None:
                mended = {**mended, "usage": {**usage, "output_tokens": self._output_tokens}}
                self._note("usage_incomplete")
            self._output_tokens = told or self._output_tokens
        out = self._with_early(mended)
        return [mended] if out is None and mended is not event else out


def _text_block(text: str) -> list[JsonObject]:
    """Return the first block of a message as events."""
    return [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
    ]


def _counts(usage: object) -> bool:
    """Return whether a usage has what the SDK's type requires."""
    return isinstance(usage, dict) and usage.get("output_tokens") is not None


def _text_of(kind: str) -> str:
    return kind if kind in ("text", "thinking") else "input"


def _whole(block: JsonObject) -> JsonObject:
    """Return a block with all members that the SDK reads; the same one if it has them."""
    kind = word_in(block, "type")
    if kind is None:
        named = (kind for kind in ("thinking", "text") if kind in block)
        kind = "tool_use" if "input" in block or "name" in block else next(named, "text")
        block = {**block, "type": kind}
    needed = _NEEDED.get(kind, {})
    lacking = {k: item for k, item in needed.items() if not isinstance(block.get(k), type(item))}
    if kind == "thinking" and "thinking" not in lacking:
        lacking.pop("signature", None)  # it comes as a piece
    return {**block, **lacking} if lacking else block


def _named(delta: JsonObject) -> JsonObject:
    """Return a piece with its type; {}: nothing shows it."""
    if word_in(delta, "type") is not None:
        return delta
    found = [name for name, (_, member) in _PIECES.items() if member in delta]
    return {**delta, "type": found[0]} if found else {}
