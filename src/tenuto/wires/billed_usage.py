"""The usage of both of Cohere's APIs: what was counted, and what is billed of it."""

from __future__ import annotations

from tenuto.core.signals import Usage
from tenuto.wires.json import JsonObject, count_of_decimal
from tenuto.wires.members import object_in

COUNTED = ("tokens", "billed_units")
"""The members that count tokens; what is billed may be less than what is counted."""


def read_usage(usage: JsonObject) -> Usage:
    """What was counted; where that is not told, what was billed. The tokens of the prompt that came
    out of a cache stand beside both.

    >>> read_usage({"tokens": {"input_tokens": 5, "output_tokens": 3}, "cached_tokens": 4.0})
    Usage(input_tokens=5, output_tokens=3, reasoning_tokens=None, cached_tokens=4)
    """
    counted = next((told for key in COUNTED if (told := object_in(usage.get(key)))), {})
    return Usage(
        input_tokens=count_of_decimal(counted.get("input_tokens")),
        output_tokens=count_of_decimal(counted.get("output_tokens")),
        reasoning_tokens=count_of_decimal(counted.get("reasoning_tokens")),
        cached_tokens=count_of_decimal(usage.get("cached_tokens")),
    )


def merged_usage(raw: JsonObject, usage: Usage) -> JsonObject:
    """A usage object of the whole turn: the first one's other fields, these counts (C19). What is
    billed grows by as much as what is counted.

    >>> merged_usage({"tokens": {"input_tokens": 5, "output_tokens": 3}}, Usage(5, 9))
    {'tokens': {'input_tokens': 5, 'output_tokens': 9}}
    """
    tokens, billed = (dict(object_in(raw.get(name))) for name in COUNTED)
    before = [place.get("output_tokens") for place in (tokens, billed)]
    told = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }
    counted = tokens if tokens or not billed else billed
    counted.update({key: number for key, number in told.items() if number is not None})
    counts = [*before, usage.output_tokens]
    if counted is tokens and all(isinstance(number, int | float) for number in counts):
        billed["output_tokens"] = before[1] + usage.output_tokens - before[0]  # type: ignore[operator]
    merged = {**raw, "tokens": tokens, "billed_units": billed}
    return {key: value for key, value in merged.items() if value or key in raw}


def grown_usage(meta: JsonObject, usage: Usage) -> JsonObject:
    """The same on version 1, where whole numbers are written, and nothing but the output anew.

    >>> meta = {"billed_units": {"output_tokens": 2.0}, "tokens": {"output_tokens": 3}}
    >>> grown_usage(meta, Usage(5, 9))
    {'billed_units': {'output_tokens': 8}, 'tokens': {'output_tokens': 9}}
    """
    if usage.output_tokens is None:
        return meta
    more = usage.output_tokens - (read_usage(meta).output_tokens or 0)
    grown = dict(meta)
    for name in COUNTED:
        told = object_in(meta.get(name))
        before = count_of_decimal(told.get("output_tokens"))
        if before is not None:
            grown[name] = told | {"output_tokens": before + more}
    return grown
