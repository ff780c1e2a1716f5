"""Each provider's names for what it tells of a quota."""

from __future__ import annotations

import pytest

from tenuto.turn.pipeline.quota import BEGINNINGS, quota_of

NAMES = {
    "openai": "x-ratelimit-remaining-tokens",
    "mistral": "x-ratelimit-limit-req-minute",
    "mistral's month": "x-ratelimitbysize-remaining-month",
    "mistral's size": "ratelimitbysize-remaining",
    "anthropic": "anthropic-ratelimit-input-tokens-remaining",
    "anthropic's priority tier": "anthropic-priority-output-tokens-remaining",
    "together's tokens": "x-tokenlimit-remaining",
    "watsonx": "x-requests-limit-remaining",
    "cohere's trial": "x-trial-endpoint-call-remaining",
    "cohere's month": "x-endpoint-monthly-call-limit",
    "a draft": "ratelimit-remaining",
    "the standard": "ratelimit",
}
"""A header of each, as recorded answers and SDKs spell it."""


@pytest.mark.behaviour("P1")
@pytest.mark.parametrize("who", NAMES)
def test_the_quota_has_the_headers_of(who: str) -> None:
    name = NAMES[who]
    others = [(b"x-request-id", b"1"), (b"retry-after", b"2"), (b"authorization", b"Bearer k")]
    assert quota_of([(name.title().encode(), b"19"), *others]) == {name: "19"}


def test_each_beginning_has_a_name_here() -> None:
    assert [one for one in BEGINNINGS if not any(n.startswith(one) for n in NAMES.values())] == []
