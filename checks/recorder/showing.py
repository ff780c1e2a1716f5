"""What a turn did as text, without what differs from run to run."""

from __future__ import annotations

import base64
import json
import os
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from zlib import crc32

from checks.recorder.far import Answer
from checks.recorder.playing import Played
from checks.recorder.questions import Request

WITHOUT_EVENTS = "RECORDER_WITHOUT_EVENTS"
"""The variable by which `compare --without-events` leaves out what a change of the events changes:
events, the names of rungs, and when bytes were handed on within columns that hold more."""

Shown = dict[str, bytes]
"""By column, what is kept of a case."""

_OF_THE_TRANSPORT = frozenset(
    {"host", "content-length", "user-agent", "connection", "transfer-encoding", "date"}
)
"""Headers that the library writes, or that are true of the bytes that stand there anyway."""

_OWN_ID = re.compile(rb"(?<![0-9A-Za-z])t[0-9a-f]{5}(?=\d{3}(?![0-9A-Za-z]))")
_TURN = re.compile(rb'"turn":"[0-9a-f]{40}",')
"""The turn's id in `x-tenuto-usage`: like the header `x-tenuto-turn` it differs from run to run."""

_SIZES = struct.Struct("!III")


def shown(played: Played, *columns: str) -> Shown:
    """Return these columns of a turn."""
    return {column: COLUMNS[column](played) for column in columns}


def sent(played: Played) -> bytes:
    """The requests that left, and the waits between them."""
    return b"".join(map(_sent, played.sent))


def received(played: Played) -> bytes:
    """The head and the bytes that the caller got, or what was raised."""
    lines = [b""]
    if played.head is not None:
        status, headers = played.head
        lines = [b"%d\n" % status, *_headers(headers), b"\n"]
    raised = f"\n[raised: {played.raised}]".encode() if played.raised else b""
    closed = b"\n[closed by the caller]" if played.closed else b""
    return b"".join([*lines, normal(played.received), raised, closed])


def progress(played: Played) -> bytes:
    """How many bytes the caller had when each next piece was read; a run of the same is counted."""
    made: list[str] = []
    last, times = None, 0
    for count in [*played.progress, None]:
        if count == last:
            times += 1
            continue
        if last is not None:
            made.append(f"{last}" + (f"x{times}" if times > 1 else ""))
        last, times = count, 1
    return " ".join(made).encode()


def reported(played: Played) -> bytes:
    """The events, without the id of the turn and all times, and the report."""
    if os.environ.get(WITHOUT_EVENTS):
        report = _kept(played.report) or {}
        return normal(_plain({k: v for k, v in report.items() if k != "rungs"}).encode())
    lines = [
        f"{event.name} {event.provider} {event.model} {_plain(_timeless(event.data))}"
        for event in played.events
    ]
    lines.append(f"report {_plain(_kept(played.report))}")
    return normal("\n".join(lines).encode())


def _kept(report: Any) -> dict[str, Any] | None:
    """A report without the turn's id, which differs from run to run."""
    if report is None:
        return None
    return {name: value for name, value in _members(report).items() if name != "turn"}


def _timeless(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event without what a clock measured, which differs from run to run."""
    return {name: value for name, value in fields.items() if name not in _MEASURED}


_MEASURED = ("duration_s", "first_byte_s", "first_piece_s", "detection_s")


def provider(played: Played) -> bytes:
    """What the far side said."""
    return b"".join(_answered(answer) for answer in played.said)


def unwatched(played: Played) -> bytes:
    """All of a turn to which nobody listens."""
    columns = [sent, received, progress, reported]
    if os.environ.get(WITHOUT_EVENTS):
        columns.remove(progress)
    return b"\n".join(column(played) for column in columns)


COLUMNS = {
    "sent": sent,
    "received": received,
    "progress": progress,
    "reported": reported,
    "provider": provider,
}


def _sent(one: Request | float) -> bytes:
    if isinstance(one, float | int):
        return f"[waits {one:.3f} s]\n".encode()
    lines = [f"POST {one.url}\n".encode(), *_headers(one.headers)]
    return b"".join([*lines, b"\n", normal(one.body), b"\n\n"])


def _answered(answer: Answer) -> bytes:
    lines = [b"%d\n" % answer.status, *_headers(answer.headers), b"\n"]
    lost = b"\n[the connection breaks]" if answer.lost else b""
    return b"".join([*lines, normal(b"".join(answer.pieces)), lost, b"\n\n"])


def _headers(headers: Iterable[tuple[str, str]]) -> list[bytes]:
    return [
        _TURN.sub(b"", f"{name.lower()}: {value}\n".encode())
        for name, value in headers
        if name.lower() not in _OF_THE_TRANSPORT and name.lower() != "x-tenuto-turn"
    ]


def _plain(value: Any) -> str:
    return json.dumps(value, default=_members, ensure_ascii=False, sort_keys=True)


def _members(value: Any) -> Any:
    names = getattr(value, "__slots__", None) or getattr(value, "__dict__", None)
    if names is None or isinstance(value, type):
        return repr(value)
    return {name: getattr(value, name) for name in names if not name.startswith("_")}


def normal(data: bytes) -> bytes:
    """Return bytes with the ids that Tenuto makes up all alike, and binary messages as text, whose
    checksums would tell those ids apart."""
    shown = _messages(data) if data[:1] == b"\0" else data
    return _OWN_ID.sub(b"t-OWN", _TURN.sub(b"", shown))


def _messages(data: bytes) -> bytes:
    return b"".join(_each_message(data))


def _each_message(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + 16 <= len(data):
        size, headers_size, check = _SIZES.unpack_from(data, at)
        end = at + size
        if size < 16 or end > len(data) or check != crc32(data[at : at + 8]):
            break
        if data[end - 4 : end] != struct.pack("!I", crc32(data[at : end - 4])):
            break
        headers = data[at + 12 : at + 12 + headers_size]
        payload = data[at + 12 + headers_size : end - 4]
        yield b"[message] " + headers + b" " + _inside(payload) + b"\n"
        at = end
    if at < len(data):
        yield b"[no message] " + data[at:]


def _inside(payload: bytes) -> bytes:
    """A payload, with the event of a model that it carries as it is."""
    try:
        carried = json.loads(payload)["bytes"]
        return payload.replace(carried.encode(), base64.b64decode(carried, validate=True))
    except (AttributeError, ValueError, TypeError, LookupError):
        return payload
