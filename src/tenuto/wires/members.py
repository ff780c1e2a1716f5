"""Objects and arrays of a request as the bytes that came: taken apart, changed in places, joined.

Whatever nobody names keeps its bytes (escapes, 1.0, big integers, 1e400), so that prompt caches hit
and unknown fields survive (C7). Every request's side of a wire stands on this.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from typing import Any

import msgspec

from tenuto.wires.json import decode_object, encode

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_rows = msgspec.json.Decoder(list[msgspec.Raw]).decode


def members_of(raw: bytes) -> dict[str, bytes]:
    """The members of an object; msgspec.DecodeError where the bytes are none.

    >>> members_of(b'{"a": 1e400 , "b":[]}')
    {'a': b'1e400', 'b': b'[]'}
    """
    return {key: bytes(value) for key, value in _members(raw).items()}


def rows_of(raw: bytes) -> list[bytes]:
    """The elements of an array; msgspec.DecodeError where the bytes are none.

    >>> rows_of(b'[1.0, {"a" : 1}]')
    [b'1.0', b'{"a" : 1}']
    """
    return [bytes(row) for row in _rows(raw)]


def joined(members: Mapping[str, bytes]) -> bytes:
    """An object of these members."""
    return b"{" + b",".join(encode(key) + b":" + raw for key, raw in members.items()) + b"}"


def listed(rows: Iterable[bytes]) -> bytes:
    """An array of these elements."""
    return b"[" + b",".join(rows) + b"]"


def with_members(raw: bytes, changes: Mapping[str, bytes | None]) -> bytes:
    """An object with some members replaced or, for None, left out; the others keep their bytes.

    >>> with_members(b'{"a": 1.0, "b": 2}', {"b": None, "c": b"3"})
    b'{"a":1.0,"c":3}'
    """
    members = members_of(raw)
    for key, value in changes.items():
        if value is None:
            members.pop(key, None)
        else:
            members[key] = value
    return joined(members)


def path_of(key: str) -> list[str]:
    """The steps of `input[1].key` or `a.b`.

    >>> path_of("input[1].key")
    ['input', '1', 'key']
    """
    return [step for step in re.split(r"[.\[\]]+", key) if step]


def value_at(value: Any, path: Iterable[str | int]) -> Any:
    """What stands at the end of a path, None where the path leads nowhere.

    >>> value_at({"results": [{"outputText": "Hi"}]}, ("results", 0, "outputText"))
    'Hi'
    """
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def value_of(raw: bytes | None) -> Any:
    """The value of a member, None where there is none."""
    return None if raw is None else decode_object(raw)


def word_in(members: Mapping[str, Any], key: str) -> str | None:
    """A member that is a text and not empty, None for all else.

    >>> word_in({"id": "a"}, "id"), word_in({"id": ""}, "id"), word_in({"id": 1}, "id")
    ('a', None, None)
    """
    found = members.get(key)
    return found if isinstance(found, str) and found else None


def others_in(members: Mapping[str, Any], keys: Container[str]) -> dict[str, Any] | None:
    """The members that have other keys, None where there are none. Objects of the SDKs name every
    key that there may be, so that null says nothing.

    >>> others_in({"id": "a", "x": 1, "y": None}, {"id"}), others_in({"id": "a"}, {"id"})
    ({'x': 1}, None)
    """
    return {k: v for k, v in members.items() if k not in keys and v is not None} or None


def object_in(value: Any) -> dict[str, Any]:
    """A value that is an object, {} for all else."""
    return value if isinstance(value, dict) else {}


def list_in(value: Any) -> list[Any]:
    """A value that is a list, [] for all else."""
    return value if isinstance(value, list) else []


def objects_in(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, [] for all else.

    >>> objects_in([{"a": 1}, 5]), objects_in({"a": 1})
    ([{'a': 1}], [])
    """
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
