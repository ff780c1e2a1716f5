"""The usage of version 1: the tokens counted, and those billed."""

from __future__ import annotations

from tenuto.wire_kit import JsonObject, Usage, count_of_decimal, object_in

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


def grown_usage(meta: JsonObject, usage: Usage) -> JsonObject:
    """Return a usage object for the whole turn, in whole numbers. Only the output changes; the
    billed tokens grow by the same amount as the counts.

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
