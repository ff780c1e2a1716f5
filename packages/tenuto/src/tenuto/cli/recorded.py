"""What `tenuto detect` and `tenuto explain` read: captures, and bodies or streams as received."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field
from typing import Any

from tenuto.command_kit.command_error import CommandError
from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.response import Response
from tenuto.core.errors import PolicyError
from tenuto.core.settings.policy import Policy
from tenuto.detection import readings
from tenuto.detection.encodings import unpacked
from tenuto.telemetry.capture import FORMAT
from tenuto.turn.drivers.commands import ConnectionLost, Head, Headers, Request, encoded
from tenuto.wires.base import Wire
from tenuto.wires.json import decode_object

_SPACE_AND_BOM = b" \t\r\n\xef\xbb\xbf"

UNPACKED_MAX_BYTES = 268_435_456
"""The largest file that is read, after unpacking."""


class NotRecorded(CommandError):
    """A file has nothing that can be read; the message says why, for a person."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One attempt, as a capture records it.

    Attributes:
        head: the response's head; None: there was no response.
        body: the response's bytes, decoded; None if the file doesn't have all of them.
        lost: how the connection broke; None if it didn't.
        report: what was decided; {} if nothing was.
    """

    head: Head | None
    body: bytes | None
    lost: ConnectionLost | None
    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Capture:
    """A capture file. `request`: the first one sent; None if the file doesn't have its whole
    body."""

    wire: str
    provider: str
    model: str
    policy: Policy
    request: Request | None
    exchanges: tuple[Exchange, ...]
    report: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer without its request.

    Attributes:
        response: the parsed answer.
        wire: the wire that knows its format; None: no wire does, or several share this error's
            format.
        streamed: whether it is a stream; otherwise it is a body.
        known: whether it is an answer, or nothing speaks against it.
        counted: whether it has shown that it is an answer, or the beginning of one.
    """

    response: Response
    wire: Wire | None
    streamed: bool
    known: bool
    counted: bool


def read_recording(content: bytes, wire: str | None = None) -> Capture | list[Answer]:
    """Read the bytes of a file, gzipped or not: a capture, or the answers that it holds.

    Args:
        content: the bytes of the file.
        wire: the name of an answer's wire, or of its provider; None: found from its format.

    Raises:
        NotRecorded: the file is empty, can't be unpacked, or is a capture that can't be read.

    >>> half, prose = read_recording(b'{"choices": [{"mess'), read_recording(b"Good morning.")
    >>> half[0].known, prose[0].known
    (True, False)
    """
    content = _unpacked(content)
    if not content.strip(_SPACE_AND_BOM):
        raise NotRecorded("it is empty")
    capture = _read_capture(content)
    return capture if capture is not None else read_answers(content, wire)


def read_answers(content: bytes, wire: str | None = None) -> list[Answer]:
    """Read the answers as they were received, at least one."""
    return [
        Answer(one.response, one.wire, _is_stream(content, one.wire), one.is_known, one.is_counted)
        for one in readings(content, wire=wire)
    ]


def _is_stream(content: bytes, wire: Wire | None) -> bool:
    """Return whether it is framed as a stream, or is one event of a stream of lines."""
    document = content.lstrip(_SPACE_AND_BOM)
    if document[:1] not in (b"{", b"["):
        return True
    line, _, rest = document.partition(b"\n")
    first = decode_object(line)
    if not isinstance(first, dict):
        return False
    return bool(rest.strip()) or (wire is not None and wire.is_event(first))


def _unpacked(content: bytes) -> bytes:
    """Return the bytes of a file, unpacked if they are gzipped. Those that broke off before any of
    what they hold are returned as they are.

    Raises:
        NotRecorded: they can't be unpacked."""
    if content[:2] != b"\x1f\x8b":
        return content
    try:
        plain = unpacked(content, UNPACKED_MAX_BYTES)
    except EOFError:
        return content
    except zlib.error as error:
        raise NotRecorded(f"it cannot be unpacked: {error}") from None
    if len(plain) > UNPACKED_MAX_BYTES:
        raise NotRecorded(f"it unpacks to more than {UNPACKED_MAX_BYTES} bytes")
    return plain


def _read_capture(content: bytes) -> Capture | None:
    """Read a capture; None if the bytes are something else.

    Raises:
        NotRecorded: it is a capture, but not one that this version can read."""
    if b'"tenuto_capture"' not in content:
        return None
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise NotRecorded("it is a part of a capture, not a whole one") from None
    if not isinstance(value, dict) or "tenuto_capture" not in value:
        return None
    if value["tenuto_capture"] != FORMAT:
        raise NotRecorded(f"it is a capture of format {value['tenuto_capture']}, not {FORMAT}")
    try:
        return _capture(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        told = f": {error}" if isinstance(error, PolicyError) else ""
        raise NotRecorded(f"it is a capture with a part that cannot be read{told}") from None


def _capture(value: dict[str, Any]) -> Capture:
    exchanges = tuple(_exchange(attempt) for attempt in value["attempts"])
    if not exchanges:
        raise NotRecorded("it is a capture without attempts")
    policy = Policy().changed(value.get("policy") or {})
    return Capture(
        wire=str(value["wire"]),
        provider=str(value.get("provider") or "unknown"),
        model=str(value.get("model") or ""),
        policy=policy,
        request=_request([attempt["request"] for attempt in value["attempts"]]),
        exchanges=exchanges,
        report=dict(value.get("report") or {}),
    )


def _request(sent: list[dict[str, Any]]) -> Request | None:
    value = sent[0]
    body = _body(value["body"])
    if not body:
        return None
    fetches = any(str(each["method"]) == "GET" for each in sent)
    headers = _headers(value["headers"])
    return Request(str(value["method"]), str(value["url"]), headers, body, fetches=fetches)


def _exchange(value: dict[str, Any]) -> Exchange:
    response, lost = value.get("response"), value.get("lost")
    # Bodies are kept decoded.
    head = response and Head(int(response["status"]), _headers(response["headers"])).without(
        b"content-encoding", b"content-length"
    )
    return Exchange(
        head or None,
        _body(response["body"]) if response else b"",
        lost and ConnectionLost(FaultKind(lost["kind"]), ConnectionError(str(lost["error"]))),
        dict(value.get("report") or {}),
    )


def _headers(value: list[list[str]]) -> Headers:
    return encoded((str(name), str(text)) for name, text in value)


def _body(value: dict[str, Any]) -> bytes | None:
    if value.get("cut_bytes") or value.get("decoded_bytes_cut") or "omitted" in value:
        return None
    if "base64" in value:
        return base64.b64decode(value["base64"])
    return str(value["text"]).encode("utf-8", "surrogatepass")
