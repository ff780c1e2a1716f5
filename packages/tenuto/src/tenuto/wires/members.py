"""Take apart, change and join objects and arrays of a request as the bytes received.

Everything that no change names keeps its bytes (escapes, 1.0, big integers, 1e400), so that prompt
caches hit and unknown fields survive (C7). All edits of requests use this.
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
    """Return the members of an object. Raises msgspec.DecodeError if the bytes are none.

    >>> members_of(b'{"a": 1e400 , "b":[]}')
    {'a': b'1e400', 'b': b'[]'}
    """
    return {key: bytes(value) for key, value in _members(raw).items()}


def rows_of(raw: bytes) -> list[bytes]:
    """Return the elements of an array. Raises msgspec.DecodeError if the bytes are none.

    >>> rows_of(b'[1.0, {"a" : 1}]')
    [b'1.0', b'{"a" : 1}']
    """
    return [bytes(row) for row in _rows(raw)]


def joined(members: Mapping[str, bytes]) -> bytes:
    """Return an object with these members."""
    return b"{" + b",".join(encode(key) + b":" + raw for key, raw in members.items()) + b"}"


def listed(rows: Iterable[bytes]) -> bytes:
    """Return an array of these elements."""
    return b"[" + b",".join(rows) + b"]"


def with_members(raw: bytes, changes: Mapping[str, bytes | None]) -> bytes:
    """Return an object with some members replaced, or removed (None). Others keep their bytes.

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
    """Return the steps of `input[1].key` or `a.b`.

    >>> path_of("input[1].key")
    ['input', '1', 'key']
    """
    return [step for step in re.split(r"[.\[\]]+", key) if step]


def value_at(value: Any, path: Iterable[str | int]) -> Any:
    """Return the value at the end of a path; None: the path leads nowhere.

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
    """Return the value of a member; None: there is none."""
    return None if raw is None else decode_object(raw)


def word_in(members: Mapping[str, Any], key: str) -> str | None:
    """Return a member that is a non-empty text; None: it is anything else.

    >>> word_in({"id": "a"}, "id"), word_in({"id": ""}, "id"), word_in({"id": 1}, "id")
    ('a', None, None)
    """
    found = members.get(key)
    return found if isinstance(found, str) and found else None


def others_in(members: Mapping[str, Any], keys: Container[str]) -> dict[str, Any] | None:
    """Return the members with other keys; None: there are none. Objects of the SDKs name every
    possible key, so null counts as absent.

    >>> others_in({"id": "a", "x": 1, "y": None}, {"id"}), others_in({"id": "a"}, {"id"})
    ({'x': 1}, None)
    """
    return {k: v for k, v in members.items() if k not in keys and v is not None} or None


def object_in(value: Any) -> dict[str, Any]:
    """Return a value that is an object; {}: it is anything else."""
    return value if isinstance(value, dict) else {}


def list_in(value: Any) -> list[Any]:
    """Return a value that is a list; []: it is anything else."""
    return value if isinstance(value, list) else []


def objects_in(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; []: the value is no list.

    >>> objects_in([{"a": 1}, 5]), objects_in({"a": 1})
    ([{'a': 1}], [])
    """
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
