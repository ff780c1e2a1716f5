"""JSON at the edge: leniently read, compactly written.

msgspec is strict and fast. What it rejects for a reason that other readers shrug at (NaN, numbers
beyond a double, lone surrogates) is tried once more with the standard library, so that an odd
number in a field that nobody reads does not make a response unreadable.
"""

from __future__ import annotations

import codecs
import json

import msgspec

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def encode(value: object) -> bytes:
    """Compact UTF-8 JSON. What was decoded can be encoded: a lone surrogate leaves as its escape.

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
    """The value of JSON that was kept as bytes."""
    if not isinstance(raw, msgspec.Raw):
        raise TypeError(f"{type(raw).__name__} is no JSON")
    return decode_object(bytes(raw))


_MARK = "\ufffd"
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What typed readings raise for bytes that are not what they read."""


def decode_strictly(data: bytes) -> object:
    """The value of a document that is JSON to the letter, else None. Never raises.

    >>> decode_strictly(b'{"a": 1}'), decode_strictly(b'{"a": NaN}')
    ({'a': 1}, None)
    """
    try:
        return _decode(data)
    except UNREADABLE:
        return None


def decode_object(data: bytes) -> object:
    """The value that bytes of JSON hold, or None where they hold none. Never raises.

    What is no UTF-8 becomes a mark in a text. In a name it makes all of it unreadable: what is kept
    under that name would seem not to be there.

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
    """A document of JSON as UTF-8 without a mark before it: in whichever encoding it came, what
    `json.loads` reads is read. An ordinary one is not copied.

    >>> as_utf8(b'\\xef\\xbb\\xbf{}'), as_utf8('{"a": "é"}'.encode("utf-16"))
    (b'{}', b'{"a": "\\xc3\\xa9"}')
    """
    encoding = json.detect_encoding(body)
    return body if encoding == "utf-8" else body.decode(encoding, "replace").encode()


def readable(body: bytes) -> bytes:
    """A document as it came, where `json.loads` can decode it; else in UTF-8, with a mark in the
    place of what is no character.

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
    """Whether bytes are UTF-8; of a large body no text is made for it.

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
