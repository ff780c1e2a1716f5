"""Usage of Cohere's API: the tokens counted, and those billed."""

from __future__ import annotations

from tenuto.core.answer.signals import Usage
from tenuto.wires.json import JsonObject, count_of_decimal
from tenuto.wires.members import object_in

COUNTED = ("tokens", "billed_units")
"""The members that count tokens. Cohere may bill fewer than it counts."""


def read_usage(usage: JsonObject) -> Usage:
    """Return the tokens counted, or those billed if the counts are missing. Cached prompt tokens
    are given beside both.

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
    """Return a usage object for the whole turn: these counts, and the other fields of the first one
    (C19). The billed tokens grow by the same amount as the counts.

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
