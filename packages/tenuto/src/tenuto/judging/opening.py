"""Open what a row keeps closed: JSON in a string, a stream in pieces, bytes in base64."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable, Sequence

from tenuto.detection.documents import begins_events
from tenuto.detection.objects import plain
from tenuto.detection.replies import Failure, Reply
from tenuto.wires.json import JsonObject, decode_object

_BYTES = (bytes, bytearray, memoryview)

MOST_BYTES = 16_777_216
"""A string or bytes within a row are not opened beyond this."""


def opened(row: object) -> object:
    """Return a row as plain values: JSON is decoded, an object of an SDK is taken apart, a stream
    stays bytes, and a cassette in YAML stays text. None: there is nothing in it to read.

    >>> opened('{"a": 1}'), opened(b"[1]"), opened("Good morning."), opened(b'data: {"a": 1}')
    ({'a': 1}, [1], None, b'data: {"a": 1}')
    """
    if isinstance(row, str):
        row = row.encode("utf-8", "surrogatepass")
    if isinstance(row, _BYTES):
        return _of_bytes(bytes(row))
    if isinstance(row, tuple):
        row = list(row)
    if isinstance(row, list):
        return [_of_item(item) for item in row]
    value = plain(row)
    if isinstance(value, Reply):
        return _of_bytes(value.content)
    return value if isinstance(value, dict | list | Failure) else None


def _of_item(item: object) -> object:
    if item is None or isinstance(item, dict | list | str | int | float):
        return item
    if isinstance(item, _BYTES):
        return bytes(item).decode("utf-8", "replace")
    value = plain(item)
    return value if isinstance(value, dict | list) else None


def _of_bytes(data: bytes) -> object:
    value = decode_object(data)
    if isinstance(value, str):  # JSON in JSON, as a column of texts may hold it
        return opened_text(value)
    if value is not None:
        return value if isinstance(value, dict | list) else None
    if may_be_stream(data):
        return data
    text = data.decode("utf-8", "replace")
    return text if is_cassette(text) else None


def may_be_stream(data: bytes) -> bool:
    """Return whether bytes may be a stream, its JSON lines, or a body that broke off."""
    head = data[:64].lstrip(b" \t\r\n\xef\xbb\xbf")
    return (
        head.startswith((b"{", b"[{")) or begins_events(data[:4_096]) is not None or _is_aws(head)
    )


def _is_aws(head: bytes) -> bool:
    return head[:1] in (b"\0", b"\1") and len(head) > 12


def is_cassette(text: str) -> bool:
    """Return whether a text is a cassette in YAML.

    >>> is_cassette("interactions:\\n- request:\\n    body: ''\\n"), is_cassette("when: now")
    (True, False)
    """
    head = text[:2_000].lstrip()
    return head.startswith(("interactions:", "when:\n", "version: 1\ninteractions:")) and (
        "body:" in head
    )


OPENINGS = ("{", "[", '"', "data:", "event:", ":", "id:")
"""How a string begins that may hold JSON or a stream."""


def may_open(text: str) -> bool:
    """Return whether a string may hold an object, a list or a stream.

    >>> may_open(' {"a": 1}'), may_open("event: ping"), may_open("Good morning.")
    (True, True, False)
    """
    return text[:64].lstrip().startswith(OPENINGS)


def opened_text(text: str) -> object:
    """Return what a string holds: an object, a list, or the bytes of a stream; None: plain text.

    >>> opened_text(' {"a": 1}'), opened_text("{braces} and text"), opened_text('["stop"]')
    ({'a': 1}, None, ['stop'])
    """
    if not may_open(text) or len(text) > MOST_BYTES:
        return None
    head = text[:64].lstrip()
    if head[:1] in ("{", "[", '"'):
        value = decode_object(text.encode("utf-8", "surrogatepass"))
        if isinstance(value, str):
            value = decode_object(value.encode("utf-8", "surrogatepass"))
        if isinstance(value, dict | list):
            return value
        data = text.encode("utf-8", "surrogatepass")
        return data if b"\n{" in data else None  # JSON lines
    data = text.encode("utf-8", "surrogatepass")
    return data if begins_events(data) is not None else None


def unpacked(text: str) -> bytes | None:
    """Return the bytes that base64 holds, unpacked if they are gzipped; None: it is no base64.

    >>> unpacked("eyJhIjogMX0="), unpacked("no base64!")
    (b'{"a": 1}', None)
    """
    if len(text) > MOST_BYTES:
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    if data[:2] == b"\x1f\x8b":
        try:
            return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(data, MOST_BYTES)
        except zlib.error:
            return None
    return data


# --- streams in pieces


def joined_pieces(items: Sequence[object]) -> bytes | None:
    """Return the bytes of a stream that is stored as a list of its lines or of its pieces, in text
    or in base64; None: the list is something else.

    >>> joined_pieces(["event: ping", 'data: {"type": "ping"}', ""])
    b'event: ping\\ndata: {"type": "ping"}\\n\\n'
    >>> joined_pieces([{"b64": "ZGF0YTogMQo="}, {"b64": "Cg=="}])
    b'data: 1\\n\\n'
    """
    if not items:
        return None
    first = items[0]
    if isinstance(first, str):
        return _joined_lines(items)
    if isinstance(first, dict):
        name = next((n for n in IN_BASE64 if isinstance(first.get(n), str)), None)
        if name is None or len(first) > _MOST_BESIDE:
            return None
        pieces = [unpacked(str(item.get(name, ""))) for item in items if isinstance(item, dict)]
        whole = b"".join(piece or b"" for piece in pieces)
        return whole or None
    return None


IN_BASE64 = ("b64", "base64")
_MOST_BESIDE = 3


def _joined_lines(items: Sequence[object]) -> bytes | None:
    lines = [item for item in items if isinstance(item, str)]
    if len(lines) < len(items) or not lines[0].lstrip().startswith(("data:", "event:", ":")):
        return None
    ends = "" if any(line.endswith("\n") for line in lines[:4]) else "\n"
    if ends and not any(line == "" for line in lines) and not lines[0].startswith("event:"):
        ends = "\n\n"
    return "".join(line + ends for line in lines).encode("utf-8", "surrogatepass")


def in_base64(value: JsonObject) -> bytes | None:
    """Return the bytes of an object that says itself that it holds base64; None: it does not.

    >>> in_base64({"encoding": "base64", "data": "eyJhIjogMX0="})
    b'{"a": 1}'
    """
    for name in IN_BASE64:
        if isinstance(text := value.get(name), str):
            return unpacked(text)
    if value.get("encoding") != "base64":
        return None
    for name in ("data", "text", "content"):
        if isinstance(text := value.get(name), str):
            found = unpacked(text) or _in_list(text)
            if found is not None:
                return found
    return None


def _in_list(text: str) -> bytes | None:
    """Return the bytes of a list of pieces in base64, as Polly.JS writes them into a HAR."""
    pieces = opened_text(text)
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        return None
    try:
        data = b"".join(base64.b64decode(piece) for piece in pieces)
    except (binascii.Error, ValueError):
        return None
    return unpacked(base64.b64encode(data).decode())


Open = Callable[[object], object]
