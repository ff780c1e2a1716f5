"""The JSON document that a request asks for, and whether a text is one (C27a).

A text that was put together from several answers may parse and still be wrong, since the later
answers came without the schema. So only the schema that the caller sent can say whether it is the
document. Without one, as in JSON mode, a document is an object, as every provider promises it.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from tenuto.core.answer.response import leading_thought
from tenuto.schema.checking import Checker, Uncheckable

log: logging.Logger = logging.getLogger("tenuto")

MAX_SCHEMA_BYTES: Final = 262_144
"""The largest schema that is read. Reading it takes time before the first text is checked."""

_BEGINS_VALUE: Final = (":", "[", ",")


class Document:
    """The document that a request asks for.

    Args:
        schema: the JSON Schema of the document; {} if any object will do; None if it is not known,
            such as for a grammar.
        begun: the caller's own first words of the answer; "" if there are none.

    >>> wanted = Document({"type": "object", "required": ["a"]})
    >>> wanted.fits('{"a": 1}'), wanted.fits('{"b": 1}'), wanted.fits('{"a": ')
    (True, False, False)
    >>> Document({}).fits("[]"), Document(None).fits("[]"), Document({}, '{"a": ').fits("1}")
    (False, None, True)
    """

    def __init__(self, schema: Mapping[str, Any] | None, begun: str = "") -> None:
        self._schema = schema
        self._begun = begun.lstrip() if begun.lstrip()[:1] in ("{", "[") else ""
        self._last: tuple[str, bool | None] = "", False
        self._gave_up = False

    @property
    def is_checkable(self) -> bool:
        """Whether a text can be checked at all."""
        return self._schema == {} or (self._checker is not None and not self._gave_up)

    def fits(self, text: str) -> bool | None:
        """Return whether a text is the document; None if nothing can check it. Text that does not
        parse never is."""
        if text != self._last[0]:
            self._last = text, self._judged(text)
        return self._last[1]

    def fits_together(self, text: str) -> bool:
        """Return whether a text that was put together is the document. A key that stands twice in
        one object shows that something was said again, whatever the schema allows."""
        if self.fits(text) is not True:
            return False
        return not all(map(_says_a_key_twice, self._wholes(text)))

    def fits_alone(self, text: str, before: str) -> bool:
        """Return whether an answer to a request for the rest of a document is the whole document
        instead. Where a value was due, it may only be that value."""
        head = before.lstrip()[:_HEAD_CHARS]
        may_be_value = before.rstrip().endswith(_BEGINS_VALUE)
        if may_be_value and not (len(head) == _HEAD_CHARS and text.lstrip().startswith(head)):
            return False
        return self.fits(text) is True

    def _judged(self, text: str) -> bool | None:
        found = [self._judged_alone(whole) for whole in self._wholes(text)]
        return True if True in found else None if None in found else False

    def _wholes(self, text: str) -> set[str]:
        """Return what the document may be: the text, or the caller's first words with it."""
        bare = text[leading_thought(text) :]
        return {bare, self._begun + bare}

    def _judged_alone(self, text: str) -> bool | None:
        try:
            value = msgspec.json.decode(text.strip())
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return False
        if self._schema == {}:
            return isinstance(value, dict)
        if self._checker is None or self._gave_up:
            return None
        try:
            return self._checker.fits(value)
        except Uncheckable as error:
            self._gave_up = True  # the next check would take as long
            _note(f"a document can't be checked: {error}")
            return None

    @functools.cached_property
    def _checker(self) -> Checker | None:
        return None if self._schema is None else _checker(msgspec.json.encode(self._schema))


def _says_a_key_twice(text: str) -> bool:
    twice = False

    def note(pairs: list[tuple[str, object]]) -> None:
        nonlocal twice
        twice = twice or len({key for key, _ in pairs}) < len(pairs)

    try:
        json.loads(text, object_pairs_hook=note)
    except (ValueError, RecursionError):
        return True
    return twice


_HEAD_CHARS: Final = 16
"""A text that begins like this many characters of a document begins it anew."""


@functools.lru_cache(64)
def _checker(schema: bytes) -> Checker | None:
    """Return what checks documents against a schema; None if nothing can."""
    if len(schema) > MAX_SCHEMA_BYTES:
        _note(f"a schema of {len(schema):,} bytes is not read; the limit is {MAX_SCHEMA_BYTES:,}")
        return None
    try:
        return Checker(msgspec.json.decode(schema))
    except ImportError:
        _note("cut JSON documents are only put together with pip install 'tenuto[schema]'")
    except Uncheckable as error:
        _note(f"a JSON schema can't be used to check documents: {error}")
    return None


@functools.lru_cache(256)
def _note(message: str) -> None:
    """Log a line once."""
    log.warning("%s", message)
