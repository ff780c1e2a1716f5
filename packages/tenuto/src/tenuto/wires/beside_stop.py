"""Details that a provider gives beside a stop: a category, a rating, the matched stop sequence.

They are for observers and readers of a report; Tenuto does not act on them. Each wire names the
members that it reads, and this module keeps short plain texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace

from tenuto.core.answer.signals import StopSeen
from tenuto.core.answer.stop import printable
from tenuto.wires.members import list_in, object_in, word_in

_MOST_WORDS = 8
"""The largest number of words kept of one list, such as the safety ratings."""

_UNSAFE = frozenset({"medium", "high"})
"""Probabilities of a safety rating that are reported. Nearly every answer has the others."""


def kept_words(words: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return the provider's words by member name. Leaves out empty ones and values that aren't
    text, and cuts a text at 80 characters.

    >>> kept_words({"category": "cyber", "stop_sequence": None})
    (('category', 'cyber'),)
    """
    return tuple(
        (name, printable(word)) for name, word in words.items() if isinstance(word, str) and word
    )


def with_words(stop: StopSeen, **words: object) -> StopSeen:
    """Return a stop with the provider's words beside it, as `kept_words` keeps them.

    >>> from tenuto.core.answer.stop import StopReason
    >>> seen = StopSeen("refusal", "stop_reason", StopReason.REFUSAL)
    >>> with_words(seen, category="cyber", stop_sequence=None).beside
    (('category', 'cyber'),)
    """
    kept = kept_words(words)
    return replace(stop, beside=(*stop.beside, *kept)) if kept else stop


def unsafe_ratings(ratings: object) -> str:
    """Return the categories of Google's safety ratings that blocked an answer, or were likely.

    >>> unsafe_ratings([{"category": "HARM_CATEGORY_HARASSMENT", "probability": "HIGH"}])
    'HARM_CATEGORY_HARASSMENT=HIGH'
    """
    if not isinstance(ratings, list) or not ratings:
        return ""
    return _listed(
        f"{rating.get('category')}={rating.get('probability', 'blocked')}"
        for rating in ratings
        if isinstance(rating, dict)
        and (rating.get("blocked") is True or str(rating.get("probability", "")).lower() in _UNSAFE)
    )


def filtered_categories(results: object) -> str:
    """Return the categories by which Azure's content filter cut an answer.

    >>> filtered_categories({"hate": {"filtered": True}, "violence": {"filtered": False}})
    'hate'
    """
    named = results.items() if isinstance(results, dict) else ()
    return _listed(
        str(name)
        for name, result in named
        if isinstance(result, dict) and result.get("filtered") is True
    )


def guardrail_findings(*assessments: object) -> str:
    """Return what a guardrail of Bedrock found in a request or an answer, and what it did about it.
    Leaves out the text that it found.

    Args:
        assessments: the guardrails by id, each with one assessment or a list of them.

    >>> topics = [{"name": "finance", "type": "DENY", "action": "BLOCKED"}]
    >>> guardrail_findings({"gr-1": {"topicPolicy": {"topics": topics}}})
    'finance=BLOCKED'
    """
    found = (
        f"{word_in(one, 'name') or word_in(one, 'type') or kind}={action}"
        for guardrails in assessments
        for guardrail in object_in(guardrails).values()
        for assessment in (guardrail if isinstance(guardrail, list) else [guardrail])
        for policy in object_in(assessment).values()
        for kind, ones in object_in(policy).items()
        for one in map(object_in, list_in(ones))
        if (action := word_in(one, "action")) and action != "NONE"
    )
    return _listed(dict.fromkeys(found))


def _listed(words: Iterable[str]) -> str:
    return ", ".join(printable(word, 60) for word in itertools.islice(words, _MOST_WORDS))
