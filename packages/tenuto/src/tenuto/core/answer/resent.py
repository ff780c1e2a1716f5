"""Read the arguments of a call whose pieces were sent again (T13a).

Theory of operation
-------------------
Gateways send arguments once more as a whole, send everything so far with each piece, send each
piece twice, or send `{}` first. The pieces themselves don't show it: a text may well repeat itself.
So the pieces are first taken as they came. Only if that is no whole JSON text are the other
readings tried, and one of them counts if it is a whole text. Nothing is ever added to what came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from tenuto.core.answer.arguments import ArgumentTracker, Finding, judge

_EMPTY: tuple[Any, ...] = (None, "", {}, [])
"""What stands for arguments that are still to come."""

_LEAST_DOUBLED_CHARS = 2
"""A shorter piece that comes twice may be the model's own mistake, such as one `}` too many."""

_MOST_RESTARTS = 8

_decoder = json.JSONDecoder()
_space = re.compile(r"\s*")
_empties = re.compile(r'(?:\s*(?:null|""|\{\s*\}|\[\s*\]))*\s*')


def as_sent_once(pieces: Sequence[str], finding: Finding) -> str | None:
    """Return arguments whose pieces were sent again; None if no reading is a whole text.

    Args:
        pieces: the pieces as they came.
        finding: the finding about all of them together.

    >>> as_sent_once(['{"a"', ':1}', '{"a":1}'], Finding.MALFORMED)
    '{"a":1}'
    >>> as_sent_once(['{"a"', '{"a":1', '{"a":1}'], Finding.MALFORMED)
    '{"a":1}'
    >>> as_sent_once(["{}", '{"a"', ":1}"], Finding.MALFORMED)
    '{"a":1}'
    >>> as_sent_once(['{"a":1}', '{"a":2}'], Finding.MALFORMED) is None
    True

    If an answer broke off, what has come so far is returned as well:

    >>> as_sent_once(["{}", '{"a"'], Finding.MALFORMED)
    '{"a"'
    """
    begun = None
    for reading in _readings([piece for piece in pieces if piece]):
        found = judge(reading).finding
        if found is Finding.WHOLE:
            return reading
        if found is Finding.TRUNCATED and begun is None:
            begun = reading
    return begun if finding is Finding.MALFORMED else None


def _readings(pieces: list[str]) -> Iterator[str]:
    text = "".join(pieces)
    whole = _the_fullest(*_documents(text))
    if whole is not None:
        yield whole
    empty_chars = _leading_empty_chars(text)
    if empty_chars:
        pieces = _without(pieces, empty_chars)
        yield "".join(pieces)
    yield from _restarted(pieces)
    yield _summed_up(pieces)
    for times in (2, 3):
        if len(pieces) % times == 0 and pieces == [
            p for p in pieces[::times] for _ in range(times)
        ]:
            yield "".join(pieces[::times])
    yield _without_doubled(pieces)


# --- by the text: several JSON texts in a row


def _documents(text: str) -> tuple[list[tuple[Any, str]], str]:
    """Return the JSON texts at the beginning, each with its value, and what follows them."""
    found: list[tuple[Any, str]] = []
    at = 0
    while (begin := _end_of_space(text, at)) < len(text):
        try:
            value, end = _decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            return found, text[begin:]
        found.append((value, text[begin:end]))
        at = end
    return found, ""


def _end_of_space(text: str, at: int) -> int:
    found = _space.match(text, at)
    return found.end() if found is not None else at


def _the_fullest(documents: list[tuple[Any, str]], rest: str) -> str | None:
    """Return the longest of several texts, if it holds all that the others say; else None.
    `rest`: what follows them; it may be the beginning of the same text once more."""
    if not documents:
        return None
    value, text = max(documents, key=lambda found: len(found[1]))
    if not text.strip().startswith(rest) or (rest and value in _EMPTY):
        return None
    return text if all(grows(other, value) for other, _ in documents) else None


def grows(before: Any, after: Any) -> bool:
    """Return whether a value can be an earlier state of another: the same, or the beginning of it.

    >>> grows({"a": "x"}, {"a": "xy", "b": 1}), grows({}, {"a": 1}), grows({"a": 1}, {"a": 2})
    (True, True, False)
    """
    if before in _EMPTY:
        return before is None or before == "" or not isinstance(after, str)
    if type(before) is not type(after):
        return False
    if isinstance(before, dict):
        return all(key in after and grows(value, after[key]) for key, value in before.items())
    if isinstance(before, list):
        # Without `strict`: a list that is not over yet is shorter.
        return len(before) <= len(after) and all(map(grows, before, after))
    return bool(after.startswith(before) if isinstance(before, str) else after == before)


def _leading_empty_chars(text: str) -> int:
    """Return how many characters at the beginning stand for arguments that are still to come; 0 if
    nothing follows them."""
    found = _empties.match(text)
    end = found.end() if found is not None else 0
    return end if end < len(text) else 0


def _without(pieces: list[str], chars: int) -> list[str]:
    """Return pieces without so many characters at their beginning."""
    left: list[str] = []
    for piece in pieces:
        left.append(piece[chars:])
        chars = max(0, chars - len(piece))
    return [piece for piece in left if piece]


# --- by the pieces


def _restarted(pieces: list[str]) -> Iterator[str]:
    """Yield what comes from a piece on that begins the same text anew."""
    text, at, found = "".join(pieces), 0, 0
    for piece in pieces:
        if at and piece[0] == text[0] and text.startswith(text[:at], at):
            yield text[at:]
            found += 1
        if found == _MOST_RESTARTS:
            return
        at += len(piece)


def _summed_up(pieces: list[str]) -> str:
    """Return the text if a piece that begins with all of it so far replaces it."""
    said: list[str] = []
    chars = 0
    for piece in pieces:
        if said and len(piece) >= chars and piece.startswith("".join(said)):
            said, chars = [piece], len(piece)
        else:
            said.append(piece)
            chars += len(piece)
    return "".join(said)


def _without_doubled(pieces: list[str]) -> str:
    """Return the text without pieces that repeat the one before them where no JSON can have
    them."""
    tracker, kept = ArgumentTracker(), list[str]()
    for piece in pieces:
        doubled = len(piece) >= _LEAST_DOUBLED_CHARS and kept[-1:] == [piece]
        before = deepcopy(tracker) if doubled else tracker
        tracker.feed(piece)
        if tracker.finding is not Finding.MALFORMED:
            kept.append(piece)
        elif doubled:
            tracker = before
        else:
            return ""
    return "".join(kept)
