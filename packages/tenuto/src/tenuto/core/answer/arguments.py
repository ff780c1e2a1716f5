"""Judge whether a JSON text is complete: an incremental recognizer for tool-call arguments.

Theory of operation
-------------------
A truncated call often *parses*: partial parsers and official SDKs return a cut call as a
valid-looking dict.  So this module judges the raw text, never a repaired value, by the strict
grammar of RFC 8259 (https://www.rfc-editor.org/rfc/rfc8259).  Every text is one of these:

* ``EMPTY``      nothing but white space,
* ``WHOLE``      a JSON text, with optional white space around it,
* ``TRUNCATED``  a proper prefix of some JSON text: more characters could complete it,
* ``MALFORMED``  no further characters can complete it.

:class:`ArgumentTracker` is a pushdown automaton: a state, and one byte per open bracket.  It reads
each character a bounded number of times, however the text is cut into deltas, so all deltas
together cost O(n).  For speed in plain Python, regular expressions match whole runs (a string's
characters, several complete members).  One loop takes the rest of a delta, one token at a time.
That loop stays in one piece: with a separate method for the beginning of a value, deltas of 4 to
400 characters took 3 to 8 % longer.  Nothing recurses, so nesting costs memory only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, cast

__all__ = [
    "ArgumentTracker",
    "Finding",
    "Judgement",
    "is_document",
    "judge",
    "without_cut_number",
]


class Finding(StrEnum):
    """The finding about a text as JSON.

    >>> Finding.TRUNCATED == "truncated"
    True
    """

    WHOLE = "whole"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"


# Only single-character repeats are possessive: CPython before 3.11.5 mismatches possessive
# repeats of groups (https://github.com/python/cpython/issues/106052).  The grammar is
# deterministic, so giving characters back after a failure is linear as well.
_SPACE = r"[ \t\n\r]*+"
_REST_OF_STRING = r'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*'
_WHOLE_STRING = f'"{_REST_OF_STRING}"'
# The look-ahead skips a number that may continue in the next delta.
_WHOLE_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?=[ \t\n\r,\]}])"


def _container_of(value: str) -> str:
    """Return the pattern of an object or array, in one piece, whose values match `value`."""
    member = f"{_WHOLE_STRING}{_SPACE}:{_SPACE}(?:{value})"
    return (
        rf"\{{{_SPACE}(?:{member}{_SPACE}(?:,{_SPACE}{member}{_SPACE})*)?\}}"
        rf"|\[{_SPACE}(?:(?:{value}){_SPACE}(?:,{_SPACE}(?:{value}){_SPACE})*)?\]"
    )


_SCALAR = f"{_WHOLE_STRING}|{_WHOLE_NUMBER}|true|false|null"
_FLAT = f"{_SCALAR}|{_container_of(_SCALAR)}"


def _always(pattern: str) -> Callable[[str, int], re.Match[str]]:
    """Return the `match` of a pattern that matches everywhere, if only the empty text."""
    return cast("Callable[[str, int], re.Match[str]]", re.compile(pattern).match)


_space: Final = _always(_SPACE)
_string_run: Final = _always(_REST_OF_STRING)
"""Whole characters and escapes of an open string."""
_digits: Final = _always("[0-9]*+")
_items: Final = _always(f"(?:{_SPACE},{_SPACE}(?:{_FLAT}))*{_SPACE}")
"""Further flat values of an array, and white space."""
_members: Final = _always(
    f"(?:{_SPACE},{_SPACE}{_WHOLE_STRING}{_SPACE}:{_SPACE}(?:{_FLAT}))*{_SPACE}"
)
"""Further members of an object that have flat values, and white space."""
_whole_number: Final = re.compile(_WHOLE_NUMBER).match
_flat_value: Final = re.compile(_FLAT).match
"""A whole value: a scalar, or an object or array of scalars."""

_HEX_DIGITS: Final = frozenset("0123456789abcdefABCDEF")
_ESCAPED: Final = frozenset('"\\/bfnrt')
_LITERALS: Final = {"t": "true", "f": "false", "n": "null"}

# The states of a number, named for its last character.
_MINUS, _ZERO, _INTEGER, _POINT, _FRACTION, _E, _E_SIGN, _EXPONENT = range(8)
_NUMBER_ENDS: Final = frozenset({_ZERO, _INTEGER, _FRACTION, _EXPONENT})
"""The states in which a number may end."""
_NUMBER_RUNS: Final = frozenset({_INTEGER, _FRACTION, _EXPONENT})
"""The states that further digits don't change."""


def _digits_to(state: int) -> dict[str, int]:
    return dict.fromkeys("0123456789", state)


_NUMBER_START: Final = _digits_to(_INTEGER) | {"-": _MINUS, "0": _ZERO}
"""The state after a number's first character."""
_NUMBER_NEXT: Final[tuple[dict[str, int], ...]] = (
    _digits_to(_INTEGER) | {"0": _ZERO},
    {".": _POINT, "e": _E, "E": _E},
    _digits_to(_INTEGER) | {".": _POINT, "e": _E, "E": _E},
    _digits_to(_FRACTION),
    _digits_to(_FRACTION) | {"e": _E, "E": _E},
    _digits_to(_EXPONENT) | {"+": _E_SIGN, "-": _E_SIGN},
    _digits_to(_EXPONENT),
    _digits_to(_EXPONENT),
)
"""For each state, the state after each character that may come next."""

# States between tokens, named for what may come next.
_VALUE: Final = 0
_VALUE_OR_CLOSE: Final = 1  # just after "["
_KEY_OR_CLOSE: Final = 2  # just after "{"
_KEY: Final = 3  # after "," in an object
_COLON: Final = 4
_AFTER_MEMBER: Final = 5  # a member's value is complete
_AFTER_ITEM: Final = 6  # an array's value is complete
_DONE: Final = 7  # the top-level value is complete
# States inside a token.
_STRING: Final = 8
_ESCAPE: Final = 9
_HEX: Final = 10
_LITERAL: Final = 11
_NUMBER: Final = 12

_VALUE_NEXT: Final = {
    '"': _STRING,
    "{": _KEY_OR_CLOSE,
    "[": _VALUE_OR_CLOSE,
    **dict.fromkeys(_LITERALS, _LITERAL),
    **dict.fromkeys(_NUMBER_START, _NUMBER),
}
_CLOSE: Final = -1  # back to what comes after the bracket

_NEXT: Final[tuple[dict[str, int], ...]] = (
    _VALUE_NEXT,
    _VALUE_NEXT | {"]": _CLOSE},
    {'"': _STRING, "}": _CLOSE},
    {'"': _STRING},
    {":": _VALUE},
    {",": _KEY, "}": _CLOSE},
    {",": _VALUE, "]": _CLOSE},
    {},
)
"""For each state between tokens, the state after each character that may come next."""

_RUNS: Final = (*(_space,) * 5, _members, _items, _space)
"""For each state between tokens, the function that matches a run."""
_RUN_START: Final = frozenset(" \t\n\r,")

_OPENED: Final = {"{": _AFTER_MEMBER, "[": _AFTER_ITEM}
"""For each opening bracket, the state after a value in it."""

# A delta of a few tokens rarely holds a whole container, so looking for one is not worth it.
_SMALL_DELTA_CHARS: Final = 48
# From this length on, a text in one piece goes to the parser in C first, which is ten times as
# fast.
_ONE_PIECE_CHARS: Final = 500


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


# Numbers are only counted: converting a long one takes quadratic time, and Python refuses more than
# 4,300 digits.
_decoder: Final = json.JSONDecoder(parse_constant=_refuse, parse_int=len, parse_float=len)


def _is_whole(text: str) -> bool:
    try:
        _decoder.decode(text)
    except (ValueError, RecursionError):
        return False  # or too deep to say
    return True


class ArgumentTracker:
    """Report at any moment of a stream whether the JSON text fed so far is complete.

    >>> tracker = ArgumentTracker()
    >>> tracker.feed('{"path": "a.t')
    >>> tracker.finding, tracker.depth
    (<Finding.TRUNCATED: 'truncated'>, 1)
    >>> tracker.feed('xt"}')
    >>> tracker.finding, tracker.fed_chars
    (<Finding.WHOLE: 'whole'>, 17)
    """

    __slots__ = ("_behind", "_error_at", "_fed", "_literal", "_need", "_number", "_open", "_state")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything that was fed."""
        self._state = _VALUE
        # The state after the value that is open or expected, and one more for each open bracket.
        self._open = bytearray((_DONE,))
        self._behind = _DONE  # the state after the open string
        self._need = 0  # hexadecimal digits that an open \u still needs
        self._literal = ""  # what is still to come of an open literal
        self._number = _MINUS
        self._fed = 0
        self._error_at: int | None = None

    @property
    def fed_chars(self) -> int:
        """The number of characters fed, including those after an error."""
        return self._fed

    @property
    def depth(self) -> int:
        """The number of open brackets (at the error, if there is one)."""
        return len(self._open) - 1

    @property
    def error_at(self) -> int | None:
        """The index of the first wrong character, counted over all deltas; None if there is
        none."""
        return self._error_at

    @property
    def done(self) -> bool:
        """Whether the top-level value is closed, so that only white space may follow.

        >>> tracker = ArgumentTracker()
        >>> tracker.feed("{} x")
        >>> tracker.done, tracker.finding
        (True, <Finding.MALFORMED: 'malformed'>)
        """
        return self._state == _DONE

    @property
    def finding(self) -> Finding:
        """The finding about the text fed so far."""
        if self._error_at is not None:
            return Finding.MALFORMED
        if self._state == _DONE:
            return Finding.WHOLE
        if self._state == _VALUE and not self.depth:
            return Finding.EMPTY
        if self._state == _NUMBER and not self.depth and self._number in _NUMBER_ENDS:
            return Finding.WHOLE
        return Finding.TRUNCATED

    def feed(self, text: str) -> None:
        """Take the next delta, of any size."""
        start, end = self._fed, len(text)
        self._fed = start + end
        if self._error_at is not None:
            return
        if not start and end > _ONE_PIECE_CHARS and _is_whole(text):
            self._state = _DONE
            return
        state = self._state
        opened = self._open
        pos = 0
        while pos < end:
            if state == _STRING:
                pos = _string_run(text, pos).end()
                if pos == end:
                    break
                if text[pos] == '"':
                    pos += 1
                    state = self._behind
                    continue
            if state >= _STRING:
                pos, state = self._inside_token(text, pos, state)
                if state < 0:
                    self._error_at = start + pos
                    state = -state - 1
                    break
                continue
            char = text[pos]
            if char in _RUN_START:
                pos = _RUNS[state](text, pos).end()
                if pos == end:
                    break
                char = text[pos]
            if state <= _VALUE_OR_CLOSE and char != '"':
                small = char in _NUMBER_START or end - pos <= _SMALL_DELTA_CHARS
                if whole := (_whole_number if small else _flat_value)(text, pos):
                    pos = whole.end()
                    state = opened[-1]
                    continue
            after = _NEXT[state].get(char)
            if after is None:
                self._error_at = start + pos
                break
            if after == _STRING:
                self._behind = opened[-1] if state <= _VALUE_OR_CLOSE else _COLON
            elif after == _CLOSE:
                opened.pop()
                after = opened[-1]
            elif after == _NUMBER:
                self._number = _NUMBER_START[char]
            elif after == _LITERAL:
                self._literal = _LITERALS[char][1:]
            elif char in _OPENED:
                opened.append(_OPENED[char])
            state = after
            pos += 1
        self._state = state

    def _inside_token(self, text: str, pos: int, state: int) -> tuple[int, int]:
        """Continue inside a number, a literal, a string or an escape; return the new position and
        state.

        A wrong character returns its position and ``-state - 1``.
        """
        char = text[pos]
        if state == _NUMBER:
            number = self._number
            after = _NUMBER_NEXT[number].get(char)
            if after is not None:
                pos += 1
                if after in _NUMBER_RUNS:
                    pos = _digits(text, pos).end()
                self._number = after
                return pos, _NUMBER
            if number in _NUMBER_ENDS:
                return pos, self._open[-1]
        elif state == _LITERAL:
            if char == self._literal[0]:
                self._literal = self._literal[1:]
                return pos + 1, _LITERAL if self._literal else self._open[-1]
        elif state == _STRING:
            if char == "\\":
                return pos + 1, _ESCAPE
        elif state == _ESCAPE:
            if char in _ESCAPED:
                return pos + 1, _STRING
            if char == "u":
                self._need = 4
                return pos + 1, _HEX
        elif char in _HEX_DIGITS:
            self._need -= 1
            return pos + 1, _HEX if self._need else _STRING
        return pos, -state - 1


@dataclass(frozen=True, slots=True)
class Judgement:
    """A finding about one call's argument text, and the text to pass on.

    `text` is the raw text, byte for byte, unless it was doubly encoded; it is then the inner text.
    `detail` is "" or one of "null", "doubly_encoded", "not_an_object", "syntax", "trailing".
    `error_at` is the index of the first wrong character in `text`; None if there is none.
    """

    finding: Finding
    text: str
    detail: str = ""
    error_at: int | None = None


_MOST_DECODINGS: Final = 2
_lone_surrogate = re.compile("[\ud800-\udfff]")


def is_document(text: str) -> bool:
    """Return whether a text is one JSON document, of any type.

    >>> is_document('[{"a": 1}]'), is_document('"yes"'), is_document('[{"a": 1'), is_document("")
    (True, True, False, False)
    """
    tracker = ArgumentTracker()
    tracker.feed(text)
    return tracker.finding is Finding.WHOLE


_escaped = re.compile(r"\\.", re.DOTALL)
_cut_number = re.compile(r"(?<=[:,\[\s])-?\d[\d.eE+-]*\Z")


def without_cut_number(text: str) -> str:
    """Return the beginning of a document without a number at its end. More digits may follow it, or
    the same ones again, and both parse: only a number that is written anew is certain.

    >>> without_cut_number('{"a": 12'), without_cut_number('{"a": "b, 2'), without_cut_number("12")
    ('{"a": ', '{"a": "b, 2', '12')
    """
    found = _cut_number.search(text)
    before = text[: found.start()] if found else ""
    begins = before.rstrip().endswith((":", ",", "[")) and not ends_in_string(before)
    return before if begins else text


def ends_in_string(text: str) -> bool:
    """Return whether the beginning of a document ends within a string.

    >>> ends_in_string('{"a": "b'), ends_in_string('{"a": "b"')
    (True, False)
    """
    return _escaped.sub("", text).count('"') % 2 == 1


def judge(text: str | None) -> Judgement:
    r"""Judge the whole argument text of a call.

    Arguments must be an object.  "", white space, None and "null" are ``EMPTY``.  A JSON string is
    taken as doubly encoded arguments, and decoded at most twice.  Other JSON is ``MALFORMED``.

    >>> judge('{"a": 1}').finding, judge('{"a": ').finding, judge("[1]").detail
    (<Finding.WHOLE: 'whole'>, <Finding.TRUNCATED: 'truncated'>, 'not_an_object')
    >>> judged = judge('"{\\"a\\": 1}"')
    >>> judged.finding, judged.text, judged.detail
    (<Finding.WHOLE: 'whole'>, '{"a": 1}', 'doubly_encoded')
    """
    text = text or ""
    detail = ""
    tracker = ArgumentTracker()
    for decodings in range(_MOST_DECODINGS + 1):
        bare = text.strip()
        if not bare:
            return Judgement(Finding.EMPTY, text, detail)
        if bare == "null":
            return Judgement(Finding.EMPTY, text, "null")
        tracker.reset()
        tracker.feed(text)
        match tracker.finding:
            case Finding.MALFORMED:
                why = "trailing" if tracker.done else "syntax"
                return Judgement(Finding.MALFORMED, text, why, tracker.error_at)
            case Finding.TRUNCATED:
                return Judgement(Finding.TRUNCATED, text, detail)
        if bare[0] == "{":
            return Judgement(Finding.WHOLE, text, detail)
        if bare[0] != '"' or decodings == _MOST_DECODINGS:
            break
        # UTF-8 cannot encode a lone surrogate; its escape inside a string means the same.
        text = _lone_surrogate.sub(lambda found: f"\\u{ord(found[0]):04x}", json.loads(bare))
        detail = "doubly_encoded"
    return Judgement(Finding.MALFORMED, text, "not_an_object")
