"""The usage of a whole turn, in a wire's own members (C19)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tenuto.core.answer.signals import Usage
from tenuto.wires.json import JsonObject, count
from tenuto.wires.members import object_in, value_at


@dataclass(frozen=True, slots=True)
class Counts:
    """The members of a usage object.

    Attributes:
        input, output: the tokens of the prompt, and of the answer.
        total: those of both; "": the API does not report it.
        reasoning: the tokens of reasoning; "": the API does not report them. Without `details` they
            are not counted in `output`.
        details: the member of the object that holds `reasoning`; "": it stands beside the others.
        cached: places that may count cached prompt tokens; the first one with a number counts.
    """

    input: str
    output: str
    total: str
    reasoning: str
    details: str = ""
    cached: tuple[str, ...] = ()

    def read(self, get: Callable[[str], Any]) -> Usage:
        """Return the usage that a usage object reports, through its `get`.

        >>> chat = Counts("in", "out", "both", "reasoning", "details", ("given.cached", "cached"))
        >>> chat.read({"in": 5, "out": 3, "details": {"reasoning": 2}, "cached": 4}.get)
        Usage(input_tokens=5, output_tokens=3, reasoning_tokens=2, cached_tokens=4)
        >>> Counts("in", "out", "both", "thought").read({"in": 5, "out": 3, "thought": 2}.get)
        Usage(input_tokens=5, output_tokens=5, reasoning_tokens=2, cached_tokens=None)
        """
        made = object_in(get(self.details)).get if self.details else get
        said, thought = count(get(self.output)), count(made(self.reasoning))
        if not self.details and thought is not None:
            said = (said or 0) + thought
        cached = None
        for place in self.cached:
            name, _, within = place.partition(".")
            cached = count(object_in(get(name)).get(within) if within else get(name))
            if cached is not None:
                break
        return Usage(count(get(self.input)), said, thought, cached)

    def merged(self, raw: JsonObject | None, usage: Usage | None) -> JsonObject:
        """Return a usage object for the whole turn: these counts, and the first one's other
        members.

        >>> chat = Counts("in", "out", "both", "reasoning", "details")
        >>> chat.merged({"in": 5, "out": 3, "both": 8}, Usage(5, 9))
        {'in': 5, 'out': 9, 'both': 14}
        >>> Counts("in", "out", "both", "thought").merged({"in": 5}, Usage(5, 9, 2))
        {'in': 5, 'out': 7, 'both': 14, 'thought': 2}
        >>> Counts("in", "out", "", "").merged({"in": 5}, Usage(5, 9, 2))
        {'in': 5, 'out': 9}
        """
        merged = dict(raw or {})
        if usage is None or (usage.output_tokens is None and not self.details):
            return merged
        thought, apart = usage.reasoning_tokens, bool(self.reasoning) and not self.details
        if usage.input_tokens is not None or apart:
            merged[self.input] = usage.input_tokens or 0
        if usage.output_tokens is not None:
            beside = _beside(raw or {}, self)
            merged[self.output] = usage.output_tokens - ((apart and thought) or 0)
            if self.total:
                merged[self.total] = (usage.input_tokens or 0) + usage.output_tokens + beside
        if thought is not None and apart:
            merged[self.reasoning] = thought
        elif thought is not None and self.reasoning:
            details = object_in(merged.get(self.details))
            merged[self.details] = {**details, self.reasoning: thought}
        return merged


def _beside(raw: JsonObject, counts: Counts) -> int:
    """Return the tokens that an attempt's total has beside those of its prompt and its answer, such
    as those of the results of tools that Gemini runs."""
    used, total = counts.read(raw.get), count(raw.get(counts.total))
    if total is None or used.input_tokens is None or used.output_tokens is None:
        return 0
    return max(total - used.input_tokens - used.output_tokens, 0)


def revised(before: JsonObject | None, later: JsonObject) -> JsonObject:
    """Return what an attempt said of its usage so far, as it says it later. Counts only grow within
    an attempt: a null or a smaller number revises nothing.

    >>> revised({"input": 0, "output": 1, "cached": 4}, {"input": 25, "output": 9, "cached": None})
    {'input': 25, 'output': 9, 'cached': 4}
    """
    merged = dict(before or {})
    for name, item in later.items():
        held = merged.get(name)
        if isinstance(held, dict) and isinstance(item, dict):
            merged[name] = revised(held, item)
        elif _is_number(held) and _is_number(item):
            merged[name] = max(held, item)
        elif item is not None or name not in merged:
            merged[name] = item
    return merged


def of_turn(usages: Iterable[JsonObject | None], summed: Sequence[str]) -> JsonObject | None:
    """Return the usage object of the first attempt that reported any, with the sum over all
    attempts in these members; None: none did.

    >>> of_turn([None, {"in": 5, "ran": {"web": 2}}, {"in": 7, "ran": {"web": 1}}], ("ran",))
    {'in': 5, 'ran': {'web': 3}}
    """
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    sums = {name: _sum([u[name] for u in known if u.get(name) is not None]) for name in summed}
    return known[0] | {name: item for name, item in sums.items() if item is not None}


def _sum(items: Sequence[Any]) -> Any:
    """Return the sum of numbers, or of objects of numbers; else the first."""
    if items and all(map(_is_number, items)):
        return sum(items)
    if items and all(isinstance(item, dict) for item in items):
        names = dict.fromkeys(name for item in items for name in item)
        return {n: _sum([i[n] for i in items if i.get(n) is not None]) for n in names}
    return items[0] if items else None


def _is_number(item: object) -> bool:
    return isinstance(item, int | float) and not isinstance(item, bool)


FindUsage = Callable[[JsonObject], JsonObject | None]
"""Finds the native usage object of a body or an event; None: there is none."""


def usage_at(*places: str) -> FindUsage:
    """Return a function that finds the native usage object of a body or an event: the first object
    at one of these places, each `a` or `a.b`, that counts something.

    >>> usage_at("usage", "response.usage")({"response": {"usage": {"tokens": 5}}})
    {'tokens': 5}
    >>> usage_at("response.usage", "usage")({"response": {"usage": {}}, "usage": {"tokens": 5}})
    {'tokens': 5}
    """
    paths = [place.split(".") for place in places]

    def usage_object(value: JsonObject) -> JsonObject | None:
        empty: JsonObject | None = None
        for path in paths:
            found = value_at(value, path)
            if isinstance(found, dict):
                if found:
                    return found
                empty = found if empty is None else empty
        return empty

    return usage_object
