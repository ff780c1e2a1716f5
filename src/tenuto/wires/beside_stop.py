"""The provider's own words beside a stop: a category, a rating, the stop sequence that was met.

They are for whoever decides about a turn or reads its report. Nothing of Tenuto acts on them. Each
wire names the members that it reads; this keeps what is a short plain text.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

from tenuto.core.signals import StopSeen
from tenuto.core.stop import printable

_MOST_WORDS = 8
"""As many words are kept of one list, such as that of the safety ratings."""

_UNSAFE = frozenset({"medium", "high"})
"""Probabilities of a safety rating that are told; the others are beside nearly every answer."""


def with_words(stop: StopSeen, **words: object) -> StopSeen:
    """A stop with words of the provider beside it, by the names of its members; what is no text,
    and an empty one, is left out. A text is cut at 80 characters.

    >>> from tenuto.core.stop import StopReason
    >>> seen = StopSeen("refusal", "stop_reason", StopReason.REFUSAL)
    >>> with_words(seen, category="cyber", stop_sequence=None).beside
    (('category', 'cyber'),)
    """
    kept = tuple(
        (name, printable(word)) for name, word in words.items() if isinstance(word, str) and word
    )
    return replace(stop, beside=(*stop.beside, *kept)) if kept else stop


def unsafe_ratings(ratings: object) -> str:
    """The categories of Google's safety ratings that blocked an answer, or were likely.

    >>> unsafe_ratings([{"category": "HARM_CATEGORY_HARASSMENT", "probability": "HIGH"}])
    'HARM_CATEGORY_HARASSMENT=HIGH'
    """
    rated = ratings if isinstance(ratings, list) else []
    return _listed(
        f"{rating.get('category')}={rating.get('probability', 'blocked')}"
        for rating in rated
        if isinstance(rating, dict)
        and (rating.get("blocked") is True or str(rating.get("probability", "")).lower() in _UNSAFE)
    )


def filtered_categories(results: object) -> str:
    """The categories by which Azure's content filter cut an answer.

    >>> filtered_categories({"hate": {"filtered": True}, "violence": {"filtered": False}})
    'hate'
    """
    named = results.items() if isinstance(results, dict) else ()
    return _listed(
        str(name)
        for name, result in named
        if isinstance(result, dict) and result.get("filtered") is True
    )


def _listed(words: Iterable[str]) -> str:
    return ", ".join(printable(word, 60) for word in itertools.islice(words, _MOST_WORDS))
