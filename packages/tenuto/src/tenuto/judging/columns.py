"""Make a row of the columns of a table, as `judge` reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tenuto.judging.messages import are_messages
from tenuto.judging.opening import may_open, opened_text

_LISTS: Final = frozenset({"messages", "conversations", "conversation", "chosen", "rejected"})
"""Columns that may hold a conversation as JSON in a text, in tables that know no lists."""


def row_of(names: Sequence[str], values: Sequence[object]) -> object:
    """Return a row: an object with the columns as members, or what the only column holds, if that
    is an object, or JSON.

    >>> row_of(["line"], ['{"id": 1}']), row_of(["text"], ["Hi"])
    ('{"id": 1}', {'text': 'Hi'})
    >>> row_of(["id", "messages"], [1, '[{"role": "assistant", "content": "Hi"}]'])
    {'id': 1, 'messages': [{'role': 'assistant', 'content': 'Hi'}]}
    """
    values = [_text_of(value) for value in values]
    if len(names) == 1 and _is_row(values[0]):
        return values[0]
    row = dict(zip(names, values, strict=True))
    for name in _LISTS & row.keys():
        row[name] = _opened_list(row[name])
    return row


def _is_row(value: object) -> bool:
    return may_open(value) if isinstance(value, str) else isinstance(value, dict)


def _text_of(value: object) -> object:
    """Return a value of a binary column as text, also within others, if it is one in UTF-8: some
    tools write texts so.

    >>> _text_of({"a": [b"Hi"]}), _text_of(b"\\xff")
    ({'a': ['Hi']}, b'\\xff')
    """
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if isinstance(value, dict):
        return {name: _text_of(item) for name, item in value.items()}
    return [_text_of(item) for item in value] if isinstance(value, list) else value


def _opened_list(value: object) -> object:
    """Return the conversation that a text holds, or the value as it is."""
    if not isinstance(value, str) or not value.startswith("["):
        return value
    inner = opened_text(value)
    return inner if are_messages(inner) else value
