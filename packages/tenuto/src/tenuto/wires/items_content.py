"""The model's content over all attempts of a turn, item by item. OpenAI Responses and Gemini's
Interactions share this. An item holds parts, some of which are text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tenuto.core.answer.parts import Part
from tenuto.wires.answer import AttemptContent
from tenuto.wires.blocks_content import split_among
from tenuto.wires.json import JsonObject

_WAITING = ("queued", "in_progress")


def parts_in_order(spoken: AttemptContent) -> list[Part]:
    """Return the parts of one attempt by number; those without a number come last. An answer that
    still waits in the background has no parts."""
    waits = spoken.value is not None and spoken.value.get("status") in _WAITING
    if spoken.message is None or waits:
        return []
    return sorted(spoken.message.parts, key=_number)


def _number(part: Part) -> tuple[bool, int]:
    number = part.place[0]
    return (False, number) if isinstance(number, int) else (True, 0)


@dataclass(frozen=True, slots=True)
class Speech:
    """How the items of a wire carry text.

    Attributes:
        kind_of: the type of an item.
        output, thought: the types of items for the model's output and for its reasoning.
        parts_of: the parts of an item.
        text_in: the text of a part; None: it has none.
        is_open: whether text can continue in a part that ends an item.
        longer: a part, continued with another one.
        cut: a part with another text, whose words have moved by a number of characters.
        new: a new item with a text.
    """

    kind_of: Callable[[object], str]
    output: str
    thought: str
    parts_of: Callable[[JsonObject], list[JsonObject]]
    text_in: Callable[[JsonObject], str | None]
    is_open: Callable[[JsonObject], bool]
    longer: Callable[[JsonObject, JsonObject], JsonObject]
    cut: Callable[[JsonObject, str, int], JsonObject]
    new: Callable[[str], JsonObject]

    def merged(
        self,
        spoken: Sequence[AttemptContent],
        items_of: Callable[[AttemptContent], list[JsonObject]],
    ) -> list[JsonObject]:
        """Return the items of all attempts in order, each with its kept text. A continuation's text
        continues in the part that was cut. Its reasoning before that is left out, since it would
        split one sentence into two items. White space alone is no text of a continuation: it stood
        at the cut, and stays there."""
        merged: list[JsonObject] = []
        for one in spoken:
            goes_on = not one.apart and bool(merged) and self.goes_on(merged[-1])
            if goes_on and one.text.isspace():
                merged[-1] = self._longer(merged[-1], self.parts_of(self.new(one.text))[0])
                merged.extend(self.with_text(items_of(one), ""))
                continue
            items = self.with_text(items_of(one), one.text)
            if goes_on:
                items = self._joined(merged, items)
            merged.extend(items)
        return merged

    def goes_on(self, item: JsonObject) -> bool:
        """Return whether an item ends in text that can continue."""
        parts = self._said(item)
        return bool(parts) and self.is_open(parts[-1])

    def _said(self, item: JsonObject) -> list[JsonObject]:
        return self.parts_of(item) if self.kind_of(item) == self.output else []

    def _joined(self, merged: list[JsonObject], items: list[JsonObject]) -> list[JsonObject]:
        """Append the first text of further items to the last part; return the other items."""
        after = [item for item in items if self.kind_of(item) != self.thought]
        if after and self.goes_on(after[0]) and len(self.parts_of(after[0])) == 1:
            number = items.index(after[0])
            merged[-1] = self._longer(merged[-1], self.parts_of(after[0])[0])
            return items[number + 1 :]
        return items

    def _longer(self, item: JsonObject, part: JsonObject) -> JsonObject:
        *parts, last = self.parts_of(item)
        return {**item, "content": [*parts, self.longer(last, part)]}

    def with_text(self, items: Sequence[Mapping[str, Any]], text: str) -> list[JsonObject]:
        """Return the items with `text` split among their text parts, from its end backwards, each
        taking as much as it held. So text that a seam removed is missing at the seam. Empty text
        items are dropped, and excess text becomes an item of its own."""
        texts = [self.text_in(part) for item in items for part in self._said(dict(item))]
        rest, pieces = split_among([held for held in texts if held is not None], text)
        waiting = iter(pieces)
        out: list[JsonObject] = []
        for item in map(dict, items):
            if self.kind_of(item) != self.output:
                out.append(item)
                continue
            parts = [self._split_among(part, waiting) for part in self._said(item)]
            if kept := [part for part in parts if part is not None]:
                out.append({**item, "content": kept})
        return self._with_rest(out, rest) if rest else out

    def _split_among(self, part: JsonObject, pieces: Iterator[str]) -> JsonObject | None:
        """Return a part with the next of these texts, if it is a text part; None: that text is
        empty."""
        held = self.text_in(part)
        if held is None:
            return part
        piece = next(pieces)
        moved = len(piece.rstrip()) - len(held.rstrip())
        return self.cut(part, piece, moved) if piece else None

    def _with_rest(self, items: list[JsonObject], rest: str) -> list[JsonObject]:
        """Return the items with a text put before their own."""
        for number, item in enumerate(items):
            first, *others = self._said(item) or [{}]
            if (held := self.text_in(first)) is not None:
                longer = {**item, "content": [self.cut(first, rest + held, len(rest)), *others]}
                return [*items[:number], longer, *items[number + 1 :]]
        return [*items, self.new(rest)]
