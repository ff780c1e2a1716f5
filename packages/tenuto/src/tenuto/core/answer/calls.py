"""Sort the pieces of an attempt into tool calls.

Calls keep their raw argument text. It is judged here, strictly, and never from a parsed object: the
parsers of official SDKs make a cut call look complete.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tenuto.core.answer.arguments import ArgumentTracker, Finding, Judgement, judge
from tenuto.core.answer.required import lacks_required
from tenuto.core.answer.resent import as_sent_once, grows
from tenuto.core.answer.signals import CallDelta


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call of the model.

    Attributes:
        id: the provider's id, or a generated one if there was none or an earlier call had it.
        name: the tool's name; "" if the model gave none.
        arguments: the text to pass on: the inner text if the arguments were encoded twice, "{}" if
            they may be empty, otherwise the raw text as far as it came.
        finding: whether that text is whole, empty, truncated or malformed.
        detail: a more specific word for the finding, often "".
        free: whether the tool takes text of any form; `arguments` is then that text.
        extra: further keys of the call as the provider sent them; None if there were none.
        decoded: whether the arguments came decoded, so that their text cannot show a cut.
        unseen: whether the arguments were not read, only whether they are complete.
        shared_id: the provider's id, if an earlier call had it, so that `id` is another; else "".
    """

    id: str
    name: str
    arguments: str
    finding: Finding
    detail: str = ""
    free: bool = False
    extra: Mapping[str, object] | None = None
    decoded: bool = False
    unseen: bool = False
    shared_id: str = ""


NEVER_CAME = "never_came"
"""The detail of a call without arguments before a clean stop, if its tool requires some."""

LACKS_REQUIRED = "lacks_required"
"""The detail of a call whose arguments lack a member that its tool requires, in an answer that was
cut (T12b)."""

Parameters = Callable[[], Mapping[str, Mapping[str, Any]]]
"""Returns the JSON Schema of each tool's parameters, by the tool's name."""


@dataclass(slots=True)
class _Slot:
    """A tool call while its pieces arrive."""

    index: int | None
    id: str
    name: str
    parts: list[str] = field(default_factory=list)
    free: bool = False
    may_be_empty: bool = False
    may_lack_id: bool = False
    decoded: bool = False
    unreadable: bool = False
    unseen: bool = False
    extra: dict[str, object] = field(default_factory=dict)
    said_whole: str = ""
    tracker: ArgumentTracker = field(default_factory=ArgumentTracker)
    tracked: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether its arguments are complete so far. Each character is read only once, unless the
        pieces may have been sent again."""
        for part in self.parts[self.tracked :]:
            self.tracker.feed(part)
        self.tracked = len(self.parts)
        finding = self.tracker.finding
        if finding is Finding.MALFORMED and not self.free:
            return judge(self.sent_once(finding)).finding is Finding.WHOLE
        return finding is Finding.WHOLE

    def sent_once(self, finding: Finding) -> str | None:
        """Return its arguments if pieces of them were sent again (T13a), or if what was sent once
        more as a whole puts them right; else None."""
        found = as_sent_once(self.parts, finding)
        if self.said_whole and (found is None or judge(found).finding is not Finding.WHOLE):
            whole = judge(self.said_whole).finding is Finding.WHOLE
            return self.said_whole if whole and finding is Finding.MALFORMED else found
        return found

    def judged(self, clean: bool) -> tuple[Judgement, bool]:
        """Return the finding about its arguments, and whether pieces of them were sent again.
        `clean`: whether the answer ended cleanly. What the end of an answer cut off stays cut."""
        raw = "".join(self.parts)
        found = judge(raw)
        again: str | None = None
        if found.finding is Finding.MALFORMED or (found.finding is Finding.TRUNCATED and clean):
            again = self.sent_once(found.finding)
        elif found.finding is Finding.WHOLE and self.said_whole:
            again = self.said_whole if _is_more(found.text, self.said_whole) else None
        return (found, False) if again is None else (judge(again), True)


class Calls:
    """Sort call deltas into calls (T13, quirks Q5–Q9). The index decides, otherwise the id; without
    either, a new name begins a new call. Providers leave out the index, repeat it, send "" for the
    id, use one id for two calls, send the name in every piece, or send it in pieces (T12a).

    Attributes:
        slots: the calls so far, in the order in which they began.
        odd: the anomalies that were corrected.
        alternate: whether an earlier call continued after a later one had begun.
    """

    def __init__(self, salt: str, parameters: Parameters | None) -> None:
        self._salt = salt
        self._parameters = parameters
        self.slots: list[_Slot] = []
        self.odd: list[str] = []
        self.alternate: bool = False

    @property
    def tools(self) -> Collection[str]:
        """The names of the tools."""
        return self._parameters() if self._parameters else ()

    def feed(self, delta: CallDelta) -> None:
        slot = self._find(delta)
        if slot is None and self._is_said_again(delta):
            self.odd.append("call_repeated")
            return
        if slot is None and delta.unreadable and not (delta.id or delta.name):
            return  # it belongs to something else than a call
        if slot is not None and _is_foreign(delta, slot):
            self.odd.append("arguments_unreadable")
            return
        self.odd.extend(delta.odd)
        if slot is None:
            if delta.index is not None and any(s.index == delta.index for s in self.slots):
                self.odd.append("call_index_repeated")  # readers by index would merge the two
            slot = _Slot(delta.index, delta.id or "", delta.name or "")
            self.slots.append(slot)
        else:
            if delta.name and slot.name and not delta.whole:
                self.odd.append("call_name_repeated")  # readers that join pieces would double it
            slot.id = slot.id or delta.id or ""
            slot.name = slot.name or delta.name or ""
            if delta.whole and delta.name and delta.name.startswith(slot.name):
                slot.name = delta.name
        if delta.whole and delta.arguments is not None:
            # It may only extend what came before. If it contradicts that, the earlier text is
            # judged, unless that is no whole text.
            come = "".join(slot.parts)
            if delta.arguments.startswith(come):
                # If it adds nothing, the pieces are kept, since they show what was sent again.
                if delta.arguments != come:  # else the pieces show what was sent again
                    slot.parts, slot.tracked = [delta.arguments], 0
                    slot.tracker.reset()
                slot.unreadable = slot.unreadable and not delta.arguments
            else:
                slot.said_whole = delta.arguments
                self.odd.append("call_arguments_differ")
        elif delta.arguments:
            slot.parts.append(delta.arguments)
            self.alternate = self.alternate or slot is not self.slots[-1]
        if delta.unreadable:
            slot.unreadable = True
            self.odd.append("arguments_unreadable")
        slot.free = slot.free or delta.free
        slot.may_be_empty = slot.may_be_empty or delta.may_be_empty
        slot.may_lack_id = slot.may_lack_id or delta.may_lack_id
        slot.decoded = slot.decoded or delta.decoded
        slot.unseen = slot.unseen or delta.unseen
        if delta.extra:
            slot.extra.update(delta.extra)

    def _is_said_again(self, delta: CallDelta) -> bool:
        """Return whether a delta repeats a complete call: index, id, name and arguments are the
        same. Running both would do twice what the model wanted once."""
        return bool(delta.id and delta.name and delta.arguments) and any(
            (slot.index, slot.id, slot.name) == (delta.index, delta.id, delta.name)
            and slot.is_whole
            and delta.arguments in ("".join(slot.parts), slot.judged(clean=True)[0].text)
            for slot in self.slots
        )

    def _find(self, delta: CallDelta) -> _Slot | None:
        if delta.whole and delta.id:
            named = [slot for slot in self.slots if slot.id == delta.id]
            if named:
                return next((s for s in named if s.index == delta.index), named[0])
        if delta.index is not None:
            # Backwards: if several calls share an index, the newest one is meant.
            for slot in reversed(self.slots):
                if slot.index == delta.index:
                    return None if _begins_another(delta, slot) else slot
            return None
        # On wires where every delta is a whole call, the same call may come twice.
        if delta.name and delta.may_lack_id:
            return None
        last = next((s for s in reversed(self.slots) if not delta.id or s.id == delta.id), None)
        if last is None or _begins_another(delta, last):
            return None
        # Without an index, only the name tells a new call from one that is over already.
        return None if delta.name and last.is_whole and not delta.whole else last

    def build(self, clean: bool) -> tuple[tuple[ToolCall, ...], tuple[str, ...]]:
        """Return the calls so far, and the anomalies that were corrected. `clean`: the stop allows
        empty arguments to mean {} (T12)."""
        calls: list[ToolCall] = []
        odd = list(self.odd)
        taken: set[str] = set()
        named = self._with_names_joined()
        if len(named) < len(self.slots):
            odd.append("call_name_in_pieces")
        slots = self._with_those_sent_again(named)
        if len(slots) < len(named):
            odd.append("call_sent_again")
        for number, slot in enumerate(slots):
            raw = "".join(slot.parts)
            found, again = slot.judged(clean)
            finding, text, detail = found.finding, found.text, found.detail
            if again and not (slot.unreadable or slot.free):
                odd.append("arguments_sent_again")
            if slot.unreadable:
                finding, text, detail = Finding.MALFORMED, raw, "unreadable"
            elif slot.free:
                finding, text, detail = Finding.WHOLE, raw, "free"
            elif finding is Finding.EMPTY:
                # Some providers call a tool without parameters with "" or null.
                if clean and not self._requires(slot.name):
                    finding, text = Finding.WHOLE, "{}"
                else:
                    finding, detail = Finding.TRUNCATED, NEVER_CAME if clean else detail
                if not slot.may_be_empty:
                    odd.append("arguments_empty")
            elif found.detail == "doubly_encoded":
                odd.append("arguments_encoded_twice")
            if not slot.name and finding is Finding.WHOLE:
                finding, detail = Finding.MALFORMED, "no_name"
            call_id, shared_id = slot.id, ""
            if not call_id or call_id in taken:
                if call_id or not slot.may_lack_id:
                    odd.append("call_id_duplicate" if call_id else "call_id_missing")
                call_id, shared_id = fresh_id(self._salt, number, taken), call_id
            taken.add(call_id)
            extra = slot.extra or None
            made = ToolCall(
                call_id,
                slot.name,
                text,
                finding,
                detail,
                slot.free,
                extra,
                slot.decoded,
                slot.unseen,
                shared_id,
            )
            calls.append(made)
        return tuple(calls), tuple(dict.fromkeys(odd))

    def _with_names_joined(self) -> list[_Slot]:
        """Return the calls, with those joined whose names are pieces of one name. Such pieces
        follow each other without arguments between them, and their names together are a declared
        tool, while none alone is."""
        names = self._parameters() if self._parameters and len(self.slots) > 1 else {}
        left = list(self.slots)
        joined: list[_Slot] = []
        while left:
            slot = left.pop(0)
            run = _pieces_of_a_name(slot, left, names) if names else [slot]
            for piece in run[1:]:
                left.remove(piece)
            name = "".join(piece.name for piece in run)
            joined.append(_as_one(run, name) if len(run) > 1 else slot)
        return joined

    def _with_those_sent_again(self, slots: list[_Slot]) -> list[_Slot]:
        """Return the calls without those that another one repeats with more arguments (T13a)."""
        if len(slots) < 2:
            return slots
        kept: list[_Slot] = []
        places: dict[str, int] = {}
        for slot in slots:
            place = places.get(slot.id, len(kept) - 1) if slot.id else len(kept) - 1
            if kept and self._is_sent_again(kept[place], slot):
                kept[place] = _as_one([kept[place], slot], slot.name)
            else:
                kept.append(slot)
                place = len(kept) - 1
            places[kept[place].id] = place
        return kept

    def _is_sent_again(self, before: _Slot, slot: _Slot) -> bool:
        """Return whether a call is an earlier one once more, with more arguments. The id shows it.
        Where there is none, the later call must repeat each argument, and the earlier one must lack
        something that its tool requires: a model may well call a tool twice, the second time with
        more."""
        if before.name != slot.name or not before.name or before.free or slot.free:
            return False
        if before.id and slot.id and before.id != slot.id:
            return False
        if None not in (before.index, slot.index) and before.index != slot.index:
            return False
        less, more = (one.judged(clean=True)[0] for one in (before, slot))
        given = "{}" if less.finding is Finding.EMPTY else less.text
        if before.id and not slot.id and given == more.text:
            return True  # another call would have an id as well
        if not _is_more(given, more.text):
            return False
        if before.id:
            return True
        said, then = json.loads(given), json.loads(more.text)
        same = all(then[name] == value for name, value in said.items())
        return same and self._requires(slot.name, said)

    def _requires(self, name: str, given: object = None) -> bool:
        """Return whether the tool's schema requires more than is given; False if no schema is
        known."""
        schema = self._parameters().get(name) if self._parameters else None
        return schema is not None and lacks_required(schema, given or {})

    def lacking(self, calls: Iterable[ToolCall]) -> frozenset[str]:
        """Return the ids of complete calls whose arguments lack a member that their tool requires.
        Whether such a call was cut, or is the model's own mistake, depends on the rest of the
        answer (T12b)."""
        schemas = self._parameters() if self._parameters else {}
        return frozenset(
            call.id
            for call in calls
            if call.finding is Finding.WHOLE
            and not (call.free or call.unseen)
            and (schema := schemas.get(call.name))
            and lacks_required(schema, parsed(call.arguments))
        )


def parsed(arguments: str) -> object:
    """Return arguments as a value; None if they can't be parsed."""
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):  # numbers of more than 4,300 digits, or too deep
        return None


def _is_more(less: str, more: str) -> bool:
    """Return whether both are arguments, and the second say what the first say, and more.

    >>> _is_more("{}", '{"a": 1}'), _is_more('{"a": 1}', '{"a":1}'), _is_more('{"a"', '{"a":1}')
    (True, False, False)
    """
    before, after = parsed(less), parsed(more)
    return (
        isinstance(before, dict)
        and isinstance(after, dict)
        and before != after
        and grows(before, after)
    )


def _is_foreign(delta: CallDelta, slot: _Slot) -> bool:
    """Return whether a piece without a number, an id or a name belongs to no call: those of the
    call before it are whole, and it could only break them."""
    if delta.index is not None or delta.id or delta.name:
        return False
    return (delta.unreadable or delta.arguments == "}") and slot.is_whole


def _begins_another(delta: CallDelta, slot: _Slot) -> bool:
    """Return whether a delta in the place of a call begins another one: it has a different id or
    name, or it repeats the name with whole arguments although those of the call are whole
    already."""
    if _differ(delta.id, slot.id) or _differ(delta.name, slot.name):
        return True
    if not delta.name or not delta.arguments or delta.whole:
        return False
    return slot.is_whole and judge(delta.arguments).finding is Finding.WHOLE


def _differ(one: str | None, other: str) -> bool:
    return bool(one and other) and one != other


def _pieces_of_a_name(first: _Slot, after: Iterable[_Slot], names: Iterable[str]) -> list[_Slot]:
    """Return the longest run of calls, from the first one on, whose names are pieces of one."""
    longest = run = [first]
    for slot in _same_place(first, after):
        if any(run[-1].parts) or {run[-1].name, slot.name} & set(names):
            break
        run = [*run, slot]
        longest = run if "".join(piece.name for piece in run) in names else longest
    return longest


def _same_place(first: _Slot, after: Iterable[_Slot]) -> Iterator[_Slot]:
    """Yield the calls under the same index, until one has an id of its own or no name."""
    for slot in after:
        if slot.index == first.index:
            if not slot.name or _differ(slot.id, first.id):
                return
            yield slot
        elif first.index is None:
            return


def _as_one(run: list[_Slot], name: str) -> _Slot:
    extra = {key: value for piece in run for key, value in piece.extra.items()}
    ids = [piece.id for piece in run if piece.id]
    return replace(run[-1], index=run[0].index, id=(ids or [""])[0], name=name, extra=extra)


def fresh_id(salt: str, number: int, taken: Iterable[str]) -> str:
    """Return an id of nine letters and digits, which even the strictest provider (Mistral)
    accepts.

    Args:
        salt: distinguishes it from ids of other turns; "" for none.
        number: the call's number among the others.
        taken: ids that it must not be.
    """
    prefix = f"t{salt:0<5.5}" if salt else "tenuto"
    while (made := f"{prefix}{number:03d}") in set(taken):
        number += 1
    return made


def worst_of(calls: Iterable[ToolCall]) -> Finding:
    """Return the worst finding. One broken call breaks the batch (T4), and a malformed one is worse
    than a truncated one, since nothing completes it. Arguments that never came count as
    truncated."""
    findings = {call.finding for call in calls}
    if Finding.MALFORMED in findings:
        return Finding.MALFORMED
    return Finding.TRUNCATED if findings - {Finding.WHOLE} else Finding.WHOLE
