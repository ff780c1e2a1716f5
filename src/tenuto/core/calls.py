"""The tool calls of one attempt, sorted out of the pieces that they come in.

They keep their raw argument text. Whether it is whole is judged here, strictly, and never from a
parsed object: parsers of the official SDKs make a cut call look whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tenuto.core.arguments import Finding, judge
from tenuto.core.signals import CallDelta


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call of the model.

    Attributes:
        id: the provider's id, or one of ours where it gave none or gave one twice.
        name: the tool's name, "" where the model gave none.
        arguments: the text to hand on: the raw text where it is a whole JSON object, the inner text
            where it was encoded twice, otherwise the raw text as far as it came.
        finding: whether that text is whole, empty, truncated or malformed.
        detail: a finer word for the finding, often "".
        free: True where the tool takes text of any form; `arguments` is then that text.
        extra: further keys of the call as the provider gave them, None where there were none.
    """

    id: str
    name: str
    arguments: str
    finding: Finding
    detail: str = ""
    free: bool = False
    extra: Mapping[str, object] | None = None


Parameters = Callable[[], Mapping[str, Mapping[str, Any]]]
"""Gives the JSON Schema of each tool's parameters, by the tool's name."""


@dataclass(slots=True)
class _Slot:
    """A tool call while it is being collected."""

    index: int | None
    id: str
    name: str
    parts: list[str] = field(default_factory=list)
    free: bool = False
    may_be_empty: bool = False
    may_lack_id: bool = False
    decoded: bool = False
    unreadable: bool = False
    extra: dict[str, object] = field(default_factory=dict)


class Calls:
    """Sorts call deltas into calls (T13, quirks Q5–Q9): by index, else by id, else a new id or name
    begins a new call. Providers leave out the index, repeat it, send "" for the id, or give two
    calls one id."""

    def __init__(self, salt: str, parameters: Parameters | None) -> None:
        self._salt = salt
        self._parameters = parameters
        self.slots: list[_Slot] = []
        self.odd: list[str] = []

    def feed(self, delta: CallDelta) -> None:
        slot = self._find(delta)
        if slot is None and delta.unreadable and not (delta.id or delta.name):
            return  # it belongs to something that is no call
        self.odd.extend(delta.odd)
        if slot is None:
            if delta.index is not None and any(s.index == delta.index for s in self.slots):
                self.odd.append("call_index_repeated")  # readers by index would take them for one
            slot = _Slot(delta.index, delta.id or "", delta.name or "")
            self.slots.append(slot)
        else:
            slot.id = slot.id or delta.id or ""
            slot.name = slot.name or delta.name or ""
        if delta.whole and delta.arguments is not None:
            # It may only add to what was said before: what contradicts it is judged as it came.
            if delta.arguments.startswith("".join(slot.parts)):
                slot.parts = [delta.arguments]
                slot.unreadable = slot.unreadable and not delta.arguments
            else:
                self.odd.append("call_arguments_differ")
        elif delta.arguments:
            slot.parts.append(delta.arguments)
        if delta.unreadable:
            slot.unreadable = True
            self.odd.append("arguments_unreadable")
        slot.free = slot.free or delta.free
        slot.may_be_empty = slot.may_be_empty or delta.may_be_empty
        slot.may_lack_id = slot.may_lack_id or delta.may_lack_id
        slot.decoded = slot.decoded or delta.decoded
        if delta.extra:
            slot.extra.update(delta.extra)

    def _find(self, delta: CallDelta) -> _Slot | None:
        if delta.whole and delta.id:
            named = [slot for slot in self.slots if slot.id == delta.id]
            if named:
                return next((s for s in named if s.index == delta.index), named[0])
        if delta.index is not None:
            # Backwards: where one index serves several calls, the newest one is meant.
            for slot in reversed(self.slots):
                if slot.index == delta.index:
                    another = _differ(delta.id, slot.id) or _differ(delta.name, slot.name)
                    return None if another else slot
            return None
        if delta.id:
            return next(
                (s for s in reversed(self.slots) if s.id == delta.id and not delta.name), None
            )
        if delta.name:
            return None
        return self.slots[-1] if self.slots else None

    def build(self, clean: bool) -> tuple[tuple[ToolCall, ...], tuple[str, ...]]:
        """The calls as they stand, and what had to be put right in them. `clean` says that the stop
        allows empty arguments to mean {} (T12)."""
        calls: list[ToolCall] = []
        odd = list(self.odd)
        taken: set[str] = set()
        for number, slot in enumerate(self.slots):
            raw = "".join(slot.parts)
            found = judge(raw)
            finding, text, detail = found.finding, found.text, found.detail
            if slot.unreadable:
                finding, text, detail = Finding.MALFORMED, raw, "unreadable"
            elif slot.free:
                finding, text, detail = Finding.WHOLE, raw, "free"
            elif finding is Finding.EMPTY:
                # Some providers call a tool without parameters with "" or null.
                finding, text = (Finding.WHOLE, "{}") if clean else (Finding.TRUNCATED, raw)
                if not slot.may_be_empty:
                    odd.append("arguments_empty")
            elif finding is Finding.WHOLE and text != raw:
                odd.append("arguments_encoded_twice")
            if slot.decoded and finding is Finding.WHOLE and self._lacks(slot.name, text):
                finding, detail = Finding.TRUNCATED, "lacks_required"
            if not slot.name and finding is Finding.WHOLE:
                finding, detail = Finding.MALFORMED, "no_name"
            call_id = slot.id
            if not call_id or call_id in taken:
                if call_id or not slot.may_lack_id:
                    odd.append("call_id_duplicate" if call_id else "call_id_missing")
                call_id = _fresh_id(self._salt, number, taken)
            taken.add(call_id)
            extra = slot.extra or None
            calls.append(ToolCall(call_id, slot.name, text, finding, detail, slot.free, extra))
        return tuple(calls), tuple(dict.fromkeys(odd))

    def _lacks(self, name: str, arguments: str) -> bool:
        """Whether arguments lack a member that their tool requires: of a call that was decoded
        before it came, nothing else tells that it was cut (Q4, Q43 of the wires' quirks)."""
        if self._parameters is None:
            return False
        required = self._parameters().get(name, {}).get("required")
        given = json.loads(arguments)
        return isinstance(required, list) and any(
            isinstance(key, str) and key not in given for key in required
        )


def _differ(one: str | None, other: str) -> bool:
    return bool(one and other) and one != other


def _fresh_id(salt: str, number: int, taken: Iterable[str]) -> str:
    """An id of nine letters and digits, which the strictest provider (Mistral) accepts."""
    prefix = f"t{salt:0<5.5}" if salt else "tenuto"
    while (made := f"{prefix}{number:03d}") in set(taken):
        number += 1
    return made


def worst_of(calls: Iterable[ToolCall]) -> Finding:
    """The worst finding: one broken call breaks the batch (T4), and a malformed one cannot be made
    whole. Arguments that never came were cut."""
    findings = {call.finding for call in calls}
    if Finding.MALFORMED in findings:
        return Finding.MALFORMED
    return Finding.TRUNCATED if findings - {Finding.WHOLE} else Finding.WHOLE
