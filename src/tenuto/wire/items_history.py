"""Repairs of a history that is one list of items: what OpenAI Responses and Gemini's Interactions
have in common (H1–H5).

The rules of both: every call is answered, once; no result without a call. The repairs depend on the
items alone, so the same history gives the same bytes each time (H5a), and repairing twice is
repairing once. What is kept at the provider is not seen here, so that a result whose call may be
there is left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from tenuto.wire.base import JsonObject
from tenuto.wire.json import decode_object, encode
from tenuto.wire.members import with_members

Item = tuple[bytes, JsonObject]
"""As it came or was put right, and as it was read."""

Changes = dict[str, bytes | None]
"""Members to be replaced, or to be left out."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """How calls and results are told, as data.

    Attributes:
        kind_of: the type of an item.
        answers: calls that can be answered here, and by what.
        id_key: the member of a call that its result names as `call_id`.
        is_the_models: whether an item is the model's: its calls are answered behind those.
        stub: the result of a call that nobody answered.
        stray: how it is told that a result stood where it may not.
        right_behind: whether results must stand right behind the model's items with their calls.
    """

    kind_of: Callable[[object], str]
    answers: Mapping[str, str]
    id_key: str
    is_the_models: Callable[[JsonObject], bool]
    stub: Callable[[JsonObject], JsonObject]
    stray: str
    right_behind: bool = False


def mended(
    rows: Iterable[bytes],
    mend: Callable[[JsonObject, Changes, list[str]], bool],
    done: list[str],
) -> list[Item]:
    """The items, each put right: the same bytes where nothing was wrong. `mend` notes the changes
    of one item and what they are, and says whether anything is left of it."""
    items: list[Item] = []
    for row in rows:
        value = decode_object(row)
        if not isinstance(value, dict):
            items.append((row, {}))
            continue
        changes: Changes = {key: None for key in value if key.startswith("_")}
        if changes:
            done.append("private_keys_removed")
        try:
            if mend(value, changes, done):
                items.append((with_members(row, changes) if changes else row, value))
            else:
                done.append("empty_row_removed")
        except (msgspec.DecodeError, UnicodeDecodeError):
            items.append((row, value))  # the provider will say what it thinks of it
    return items


def paired(items: Sequence[Item], pairing: Pairing, elsewhere: bool, done: list[str]) -> list[Item]:
    """Every call answered once, behind the items of the model's that it stands among, and no result
    without a call. `elsewhere`: there may be calls that are not seen here."""
    kind_of, results = pairing.kind_of, frozenset(pairing.answers.values())
    if pairing.right_behind:
        return _paired_behind(items, pairing, elsewhere, done)
    # An id may be used again, so that results are counted. Within one message of the model's the
    # same id is the same call.
    answered = Counter(text_of(v, "call_id") for _, v in items if kind_of(v) in results)
    calls = set(_calls(items, pairing))
    called = Counter(text_of(items[at][1], pairing.id_key) for at in calls)
    waiting = called.copy()
    strays: set[int] = set()
    for at, (_, value) in enumerate(items):
        if kind_of(value) in results:
            call_id = text_of(value, "call_id")
            if waiting[call_id]:
                waiting[call_id] -= 1
            elif not elsewhere or called[call_id]:
                strays.add(at)
    if strays:  # what stood apart may be one message without them
        done.append(pairing.stray)
        kept = [item for at, item in enumerate(items) if at not in strays]
        return paired(kept, pairing, elsewhere, done)
    out: list[Item] = []
    stubs: list[Item] = []
    for at, (raw, value) in enumerate(items):
        if stubs and not pairing.is_the_models(value):
            out, stubs = out + stubs, []
        out.append((raw, value))
        if at in calls:
            call_id = text_of(value, pairing.id_key)
            if answered[call_id]:
                answered[call_id] -= 1
            else:
                done.append("unanswered_call_answered")
                stubs.append(_item(pairing.stub(value)))
    return out + stubs


def _calls(items: Sequence[Item], pairing: Pairing) -> Iterator[int]:
    """Where the calls stand that are to be answered."""
    within: set[str] = set()
    for at, (_, value) in enumerate(items):
        if not pairing.is_the_models(value):
            within.clear()
        call_id = text_of(value, pairing.id_key)
        if pairing.kind_of(value) in pairing.answers and call_id and call_id not in within:
            within.add(call_id)
            yield at


def _paired_behind(
    items: Sequence[Item], pairing: Pairing, elsewhere: bool, done: list[str]
) -> list[Item]:
    """`paired` where results stand right behind the model's items that their calls stand among."""
    kind_of, kinds = pairing.kind_of, frozenset(pairing.answers.values())

    def call_id_of(value: JsonObject) -> str:
        return text_of(value, pairing.id_key) if kind_of(value) in pairing.answers else ""

    def missing(waiting: Mapping[str, JsonObject]) -> list[Item]:
        """For each call that waits its result from elsewhere, or one that says there is none."""
        if waiting.keys() - strays.keys():
            done.append("unanswered_call_answered")
        found = {name: strays.pop(name, None) for name in waiting}
        return [found[name] or _item(pairing.stub(call)) for name, call in waiting.items()]

    called = {name for _, value in items if (name := call_id_of(value))}
    in_place = _in_place(items, pairing)
    answers = [(at, item) for at, item in enumerate(items) if kind_of(item[1]) in kinds]
    # An id may be used again: a result that stands behind a call is that call's alone.
    strays = {
        text_of(item[1], "call_id"): item for at, item in reversed(answers) if at not in in_place
    }
    out: list[Item] = []
    waiting: dict[str, JsonObject] = {}
    for at, item in enumerate(items):
        value = item[1]
        if kind_of(value) in kinds:
            call_id = text_of(value, "call_id")
            waiting.pop(call_id, None)
            if at not in in_place and (call_id in called or not elsewhere):
                done.append(pairing.stray)
                continue
        elif not pairing.is_the_models(value) or (out and kind_of(out[-1][1]) in kinds):
            out += missing(waiting)
            waiting = {}
        out.append(item)
        if name := call_id_of(value):
            waiting[name] = value
    return out + missing(waiting)


def _in_place(items: Sequence[Item], pairing: Pairing) -> set[int]:
    """Where results stand behind the model's items that their calls stand among."""
    kinds = frozenset(pairing.answers.values())
    found: set[int] = set()
    waiting: set[str] = set()
    answering = False
    for at, (_, value) in enumerate(items):
        kind = pairing.kind_of(value)
        if kind in kinds:
            call_id = text_of(value, "call_id")
            if call_id in waiting:
                waiting.discard(call_id)
                found.add(at)
                answering = True
            continue
        if not pairing.is_the_models(value) or answering:
            waiting, answering = set(), False
        if kind in pairing.answers:
            waiting.add(text_of(value, pairing.id_key))
    return found


def _item(value: JsonObject) -> Item:
    return encode(value), value


def text_of(value: JsonObject, key: str) -> str:
    """A member that is a text, "" for all else."""
    found = value.get(key)
    return found if isinstance(found, str) else ""


def told(
    rows: list[bytes], items: Iterable[Item], done: Sequence[str]
) -> tuple[list[bytes], tuple[str, ...]]:
    """The items as bytes, and what was done, each once; a valid history as it came."""
    return ([raw for raw, _ in items], tuple(dict.fromkeys(done))) if done else (rows, ())
