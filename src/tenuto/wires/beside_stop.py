"""The provider's own words beside a stop: a category, a rating, the stop sequence that was met.

They are for whoever decides about a turn or reads its report. Nothing of Tenuto acts on them. Each
wire names the members that it reads; this keeps what is a short plain text.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace

from tenuto.core.signals import StopSeen
from tenuto.core.stop import printable
from tenuto.wires.members import list_in, object_in, word_in

_MOST_WORDS = 8
"""As many words are kept of one list, such as that of the safety ratings."""

_UNSAFE = frozenset({"medium", "high"})
"""Probabilities of a safety rating that are told; the others are beside nearly every answer."""


def kept_words(words: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Words of the provider by the names of its members; what is no text, and an empty one, is left
    out. A text is cut at 80 characters.

    >>> kept_words({"category": "cyber", "stop_sequence": None})
    (('category', 'cyber'),)
    """
    return tuple(
        (name, printable(word)) for name, word in words.items() if isinstance(word, str) and word
    )


def with_words(stop: StopSeen, **words: object) -> StopSeen:
    """A stop with words of the provider beside it, as `kept_words` keeps them.

    >>> from tenuto.core.stop import StopReason
    >>> seen = StopSeen("refusal", "stop_reason", StopReason.REFUSAL)
    >>> with_words(seen, category="cyber", stop_sequence=None).beside
    (('category', 'cyber'),)
    """
    kept = kept_words(words)
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


def guardrail_findings(*assessments: object) -> str:
    """What a guardrail of Bedrock found in a request or an answer, and what it did about it. The
    text that it found stands beside, and is left out.

    Args:
        assessments: the guardrails by their ids, each with one assessment or a list of them.

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
