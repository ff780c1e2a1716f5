"""Capture: the requests and responses of a turn as one file, for `tenuto explain` (P8b). Off unless
the policy names a folder.

Theory of operation
-------------------
A turn is a generator of commands, so everything that goes out, comes in, or goes to the caller
passes one place, where `turn.pipeline.captured` notes it in a `CapturedTurn`. That writes the file
when the turn is over, however it ends. Nothing else in the turn knows about it.

Secrets are removed before anything is written (`redaction`). A body whose coding cannot be read
could hide some, so it is left out. The file appears completely or not at all, for its owner only. A
failure is logged once, and the turn continues as if nothing were captured.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import itertools
import json
import logging
import os
import re
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tenuto.core.answer.stop import printable
from tenuto.core.events.event import Event, OnEvent
from tenuto.core.settings.policy import RULES, Policy, plain
from tenuto.frames.compression import UndecodableBytes, decoder_for
from tenuto.frames.pieces import Pieces
from tenuto.telemetry.redaction import Redactor

log: logging.Logger = logging.getLogger("tenuto")

FORMAT = 1
"""The format version of a capture file. A reader accepts the versions that it knows."""

_STEP_BYTES = 65_536
_OWN_NAME = re.compile(r"\d{8}T\d{6}\.\d{6}Z-\d+-\d{6,}\.json")
"""The pattern of the names of files written here; no other file in the folder is ever removed."""
_number = itertools.count(1)


TextHeaders = Sequence[tuple[str, str]]
"""Names and values of headers as text."""


class CapturedRequest(NamedTuple):
    """The caller's request, as far as a file names it beside the attempts."""

    method: str
    url: str
    headers: TextHeaders


class CapturedHead(NamedTuple):
    """The head of a response. `coding`: the content coding of its body; "": none."""

    status: int
    headers: TextHeaders
    coding: str


class Capture:
    """Writes capture files.

    Args:
        folder: the folder for the files; created for its owner only, if it is missing.
        policy: the client's policy; its `capture_…` settings limit the size of a file, the number
            of files, and the share of healthy turns.
    """

    def __init__(self, folder: str, policy: Policy) -> None:
        self.folder: Path = Path(folder).expanduser().absolute()
        self.policy = policy
        self._lock = threading.Lock()
        self._failed = False
        self._room: int | None = None  # files that may be added before the folder is listed again

    def begin(
        self, wire: str, request: CapturedRequest, on_event: OnEvent | None, policy: Policy
    ) -> CapturedTurn:
        """Return what takes down a turn that begins, with the turn's own policy."""
        return CapturedTurn(self, wire, request, on_event, policy)

    def write(self, name: str, value: dict[str, Any]) -> None:
        """Write one file completely or not at all."""
        # A character that UTF-8 cannot encode (half a surrogate pair) is a valid escape in JSON.
        text = json.dumps(value, ensure_ascii=False, indent=1)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        made, target = self.folder / f".{name}.part", self.folder / name
        try:
            with os.fdopen(
                os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
            ) as file:
                file.write(text.encode("utf-8", "backslashreplace"))
            made.replace(target)
        except BaseException:
            made.unlink(missing_ok=True)
            raise
        if most := self.policy.capture_max_files:
            with self._lock:
                self._keep(most)

    def _keep(self, most: int) -> None:
        """Remove the oldest files, so that no more than `most` are left. It removes a tenth of them
        at once, so that the folder need not be listed for every turn. Files that other processes
        write are noticed as often as that."""
        self._room = None if self._room is None else self._room - 1
        if self._room is not None and self._room >= 0:
            return
        found = []
        for file in os.scandir(self.folder):
            with contextlib.suppress(
                FileNotFoundError
            ):  # another process may have removed it first
                if _OWN_NAME.fullmatch(file.name) and file.is_file(follow_symlinks=False):
                    found.append((file.stat().st_mtime_ns, file.name))
        found.sort()
        tenth = most // 10
        left = most - tenth if len(found) > most else len(found)
        for _, name in found[: len(found) - left]:
            with contextlib.suppress(OSError):  # another process may have removed it first
                (self.folder / name).unlink()
        self._room = min(most - left, tenth)

    def samples(self, turn: str) -> bool:
        """Return whether to write a healthy turn with this id."""
        drawn = hashlib.blake2b(turn.encode(), digest_size=4).digest()
        return int.from_bytes(drawn) / 2**32 < self.policy.capture_share

    def failed(self, error: Exception) -> None:
        """Log that capturing fails; only once, since it will fail the same way in each turn."""
        with self._lock:
            first, self._failed = not self._failed, True
        if first:
            where = printable(str(self.folder), 200)
            log.warning("cannot capture to %s: %s", where, printable(str(error), 200))


class _Kept:
    """The bytes of one body, as far as there is room for them."""

    def __init__(self, room: list[float]) -> None:
        self._room = room
        self._pieces = Pieces()
        self._digest = hashlib.blake2b()
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        self._digest.update(data)
        data = data if len(data) <= self._room[0] else data[: int(self._room[0])]
        self._room[0] -= len(data)
        self._pieces.add(data)

    def is_same(self, other: _Kept) -> bool:
        """Return whether both received the same bytes, even if not all were kept."""
        return self.size == other.size and self._digest.digest() == other._digest.digest()

    def value(self, redactor: Redactor, coding: str, most: float) -> dict[str, Any]:
        """Return the body as plain values: `text`, or `base64` if it is not text; the number of
        `bytes` received, and of `cut_bytes` that were not kept."""
        told: dict[str, Any] = {"bytes": self.size}
        if cut := self.size - self._pieces.size:
            told["cut_bytes"] = cut
        raw, whole = _decoded(self._pieces.whole, coding, most)
        if raw is None:
            return told | {"omitted": f"content-encoding {printable(coding)!r} cannot be read"}
        if not whole and not cut:
            told["decoded_bytes_cut"] = True
        try:
            return told | {"text": redactor.text(raw.decode())}
        except UnicodeDecodeError:
            if cut or not whole:  # the cut may have split a character
                text = raw.decode("utf-8", "ignore")
                if len(raw) - len(text.encode()) <= 3:
                    return told | {"text": redactor.text(text)}
            clean = redactor.text(raw.decode("latin-1")).encode("latin-1")
            return told | {"base64": base64.b64encode(clean).decode()}


def _decoded(raw: bytes, coding: str, most: float) -> tuple[bytes | None, bool]:
    """Return the decoded bytes, and whether they are all; None if the coding cannot be read. It
    decodes in steps, since a small body may expand to a thousand times its size."""
    decoder = decoder_for(coding)
    if decoder is None:
        return None, False
    out: list[bytes] = []
    size = 0
    try:
        for at in range(0, len(raw), _STEP_BYTES):
            out.append(decoder.feed(raw[at : at + _STEP_BYTES]))
            size += len(out[-1])
            if size > most:
                return b"".join(out)[: int(most)], False
    except UndecodableBytes:
        return (b"".join(out), False) if size else (None, False)
    return b"".join(out), True


class _Attempt:
    """One request and its response.

    Args:
        url: of a request that fetches; None: the caller's own.
        edited: whether the body differs from the caller's own.
    """

    def __init__(
        self, headers: TextHeaders, url: str | None, edited: bool, room: list[float]
    ) -> None:
        self.headers = headers
        self.url = url
        self.edited = edited
        self.sent = _Kept(room)
        self.came = _Kept(room)
        self.head: CapturedHead | None = None
        self.lost: dict[str, str] | None = None


class CapturedTurn:
    """One turn while it is captured."""

    def __init__(
        self,
        capture: Capture,
        wire: str,
        request: CapturedRequest,
        on_event: OnEvent | None,
        policy: Policy,
    ) -> None:
        self._capture = capture
        self._wire = wire
        self._request = request
        self._on_event = on_event
        self._policy = policy
        self._started = datetime.now(UTC)
        limit = float(capture.policy.capture_max_bytes or "inf")
        self._most = limit
        self._room = [limit]
        self._attempts: list[_Attempt] = []
        self._events: list[Event] = []
        self._shown = _Kept([limit])
        self._head: CapturedHead | None = None
        self._raised: Exception | None = None

    def hear(self, event: Event) -> None:
        """Store an event, and pass it on to the turn's listener."""
        self._events.append(event)
        if self._on_event is not None:
            self._on_event(event)

    def failed(self, error: Exception) -> None:
        """Log that something about this turn can't be taken down."""
        self._capture.failed(error)

    def sent(self, headers: TextHeaders, body: bytes, *, url: str | None, edited: bool) -> None:
        """Note a request that goes out. `url`: None for the caller's own."""
        self._attempts.append(_Attempt(headers, url, edited, self._room))
        self._attempts[-1].sent.add(body)

    def began(self, head: CapturedHead) -> None:
        """Note the head of a response."""
        self._attempts[-1].head = head

    def came(self, data: bytes) -> None:
        """Note what was read of a response."""
        self._attempts[-1].came.add(data)

    def lost(self, kind: str, error: Exception) -> None:
        """Note that the connection failed."""
        self._attempts[-1].lost = {"kind": kind, "error": type(error).__name__}

    def opened(self, head: CapturedHead) -> None:
        """Note the head that the caller gets."""
        self._head = head

    def gave(self, data: bytes) -> None:
        """Note what the caller gets."""
        self._shown.add(data)

    def raised(self, error: Exception) -> None:
        """Note the exception that the caller gets."""
        self._raised = error

    # --- the file -------------------------------------------------------------------------------

    def write(self) -> None:
        """Write the file of a turn that is over, if it is wanted."""
        events = self._events
        ended = next((e.data for e in reversed(events) if e.name == "turn_ended"), None)
        if ended is not None and ended["status"] is None:
            ended = None  # Tenuto passed the answer on unread
        healthy = len(self._attempts) == 1 and self._raised is None
        healthy = healthy and (ended is None or ended["status"] == "complete")
        if healthy and not self._capture.samples(events[0].turn if events else ""):
            return
        if self._attempts:
            stamp = self._started.strftime("%Y%m%dT%H%M%S.%fZ")
            name = f"{stamp}-{os.getpid()}-{next(_number):06d}.json"
            self._capture.write(name, self._value(ended))

    def _value(self, ended: dict[str, Any] | None) -> dict[str, Any]:
        redactor = Redactor(self._request.url, self._request.headers)
        events = self._events
        default, policy = Policy(), self._policy
        changed = {
            key: plain(v) for key in RULES if (v := getattr(policy, key)) != getattr(default, key)
        }
        for folder in ("capture", "events"):  # this process's folders are no property of the turn
            changed.pop(folder, None)
        first = events[0] if events else None
        return {
            "tenuto_capture": FORMAT,
            "started": self._started.isoformat(),
            "wire": self._wire,
            "provider": events[-1].provider if events else None,
            "model": first.model if first else None,
            "policy": changed,
            "events": _plain(self._told(0)),
            "attempts": [self._attempt(a, redactor, ended) for a in self._attempts],
            "shown": self._seen_by_caller(redactor),
            "report": ended,
        }

    def _attempt(
        self, attempt: _Attempt, redactor: Redactor, ended: dict[str, Any] | None
    ) -> dict[str, Any]:
        number = self._attempts.index(attempt)
        events = self._told(number + 1)
        observed = next((e.data for e in events if e.name == "stop_reason_observed"), None)
        usage = (ended or {}).get("usage") or []
        head = attempt.head
        coding = head.coding if head else ""
        return {
            "request": {
                "method": "GET" if attempt.url else self._request.method,
                "url": redactor.url(attempt.url or self._request.url),
                "headers": redactor.headers(attempt.headers),
                "edited": attempt.edited,
                "body": attempt.sent.value(redactor, "", self._most),
            },
            "response": head
            and {
                "status": head.status,
                "headers": redactor.headers(head.headers),
                "body": attempt.came.value(redactor, coding, self._most),
            },
            "lost": attempt.lost,
            "report": observed
            and {**observed, "usage": usage[number] if number < len(usage) else None},
            "events": _plain(events),
        }

    def _told(self, attempt: int) -> list[Event]:
        """Return the events from the start of an attempt until the next one; for 0, those before
        the first."""
        return [e for e in self._events if e.attempt == attempt]

    def _seen_by_caller(self, redactor: Redactor) -> dict[str, Any]:
        """Return what the caller received; `attempt` is the number of the attempt whose bytes it
        got unchanged."""
        same = (n for n, a in enumerate(self._attempts, 1) if a.came.is_same(self._shown))
        number = next(same, None) if self._head is not None else None
        coding = self._head.coding if self._head else ""
        body = self._shown.value(redactor, coding, self._most) if number is None else None
        return {
            "attempt": number,
            "status": self._head.status if self._head else None,
            "headers": redactor.headers(self._head.headers) if self._head else [],
            "body": body if self._head else None,
            "raised": type(self._raised).__name__ if self._raised else None,
        }


def _plain(events: list[Event]) -> list[dict[str, Any]]:
    """Return the events that have no other place in the file."""
    placed = ("stop_reason_observed", "turn_ended")
    return [e.as_dict() for e in events if e.name not in placed]
