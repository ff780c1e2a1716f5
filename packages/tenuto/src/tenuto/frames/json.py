"""Read JSON leniently, and write it compactly.

msgspec is strict and fast. If it rejects something that other readers accept (NaN, numbers beyond a
double, lone surrogates), the standard library tries once more, so that an odd number in a field
that nobody reads does not make a response unreadable.
"""

from __future__ import annotations

import codecs
import json

import msgspec

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def encode(value: object) -> bytes:
    """Return compact UTF-8 JSON. Any decoded value can be encoded: a lone surrogate becomes its
    escape.

    >>> encode({"a": "é"}), encode("\\ud800")
    (b'{"a":"\\xc3\\xa9"}', b'"\\\\ud800"')
    >>> encode(["\\ud800", msgspec.Raw(b'{"a": 1}')])
    b'["\\\\ud800",{"a":1}]'
    """
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), default=_unwrapped).encode()


def _unwrapped(raw: object) -> object:
    """Return the value of JSON that was kept as bytes."""
    if not isinstance(raw, msgspec.Raw):
        raise TypeError(f"{type(raw).__name__} is no JSON")
    return decode_object(bytes(raw))


_MARK = "\ufffd"
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The exceptions of typed readings for bytes that they can't read."""


def decode_strictly(data: bytes) -> object:
    """Return the value of strictly valid JSON, else None. Never raises.

    >>> decode_strictly(b'{"a": 1}'), decode_strictly(b'{"a": NaN}')
    ({'a': 1}, None)
    """
    try:
        return _decode(data)
    except UNREADABLE:
        return None


def decode_object(data: bytes) -> object:
    """Return the value of JSON bytes; None: they hold none. Never raises.

    In a text, bytes that aren't UTF-8 become replacement characters. In a name they make the whole
    document unreadable, since the member would seem to be missing.

    >>> decode_object(b'{"a": 1e999}'), decode_object(b'{"a": ')
    ({'a': inf}, None)
    >>> decode_object(b'{"a": "\\xff"}'), decode_object(b'{"\\xff": "a"}')
    ({'a': '\ufffd'}, None)
    """
    try:
        return _decode(data)
    except UNREADABLE:
        pass
    try:
        hook = None if is_utf8(data) else _with_whole_names
        value: object = json.loads(data.decode("utf-8", "replace"), object_pairs_hook=hook)
    except (ValueError, RecursionError):
        return None
    return value


def _with_whole_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if any(_MARK in name for name, _ in pairs):
        raise ValueError("a name holds what is no character")
    return dict(pairs)


def as_utf8(body: bytes) -> bytes:
    """Return a JSON document as UTF-8 without a byte order mark, from any encoding that
    `json.loads` reads. An ordinary one is not copied.

    >>> as_utf8(b'\\xef\\xbb\\xbf{}'), as_utf8('{"a": "é"}'.encode("utf-16"))
    (b'{}', b'{"a": "\\xc3\\xa9"}')
    """
    encoding = json.detect_encoding(body)
    return body if encoding == "utf-8" else body.decode(encoding, "replace").encode()


def readable(body: bytes) -> bytes:
    """Return a document as received if `json.loads` can decode it; else in UTF-8, with replacement
    characters for what can't be decoded.

    >>> readable(b'"\\xff"').decode()
    '"\ufffd"'
    """
    encoding = json.detect_encoding(body)
    if encoding == "utf-8" and is_utf8(body):
        return body
    try:
        body.decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        return body.decode(encoding, "replace").encode()
    return body


_SLICE_BYTES = 65_536


def is_utf8(data: bytes) -> bool:
    """Return whether bytes are UTF-8, without decoding a large body.

    >>> is_utf8("é".encode()), is_utf8(b"\\xff")
    (True, False)
    """
    if data.isascii():
        return True
    if len(data) <= _SLICE_BYTES:
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), _SLICE_BYTES):
            decoder.decode(data[at : at + _SLICE_BYTES])
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        return False
    return True
