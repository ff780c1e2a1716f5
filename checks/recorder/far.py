"""The far side, without a socket: answers that a simulator gives, or that were written down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from checks.recorder.inside import Ending, Writes, simulated

Headers = Sequence[tuple[str, str]]


class Answer(NamedTuple):
    """One response. `lost`: the connection breaks behind the last piece."""

    status: int
    headers: Headers
    pieces: Sequence[bytes]
    lost: bool = False


class Far(Protocol):
    """Whoever answers requests."""

    def answer(self, url: str, headers: Headers, body: bytes) -> Answer:
        """Return the answer to the next request."""


class Written:
    """Gives these answers one after the other, and the last one for ever."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)

    def answer(self, url: str, headers: Headers, body: bytes) -> Answer:
        """Return the next answer."""
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


class Sim:
    """A simulator. `before`: what its paths have in front of those of the URL. DeepSeek takes a
    prefill in a folder of its own, which the simulator does not know."""

    def __init__(self, before: str = "", **options: Any) -> None:
        self._before = before
        self._sim = simulated(**options)

    def answer(self, url: str, headers: Headers, body: bytes) -> Answer:
        """Return its answer, in the pieces in which its server would write it."""
        parts = urlsplit(url)
        path = (
            self._before
            + parts.path.removeprefix("/beta")
            + (f"?{parts.query}" if parts.query else "")
        )
        known = {name.lower(): value for name, value in headers}
        made = self._sim.answer(path, known, body)
        return _body(made) if made.events is None else _events(made)


_BREAKS = {Ending.EOF, Ending.CUT_OFF, Ending.RESET}


def _body(made: Any) -> Answer:
    """A whole body, as `tenuto_sim.service` sends it."""
    whole = b"" if made.ending is Ending.EMPTY_BODY else made.body
    if made.ending is Ending.CUT_BODY:
        whole = whole[: len(whole) // 2]
    lost = made.ending in _BREAKS | {Ending.DROP}
    sent = whole[: len(whole) // 2] if lost else whole
    headers = [*made.headers.items(), ("content-length", str(len(whole)))]
    return Answer(made.status, headers, [sent] if sent else [], lost)


def _events(made: Any) -> Answer:
    """A stream. One whose end is that of the connection breaks off in order."""
    unframed = made.ending is Ending.EOF
    more = ("connection", "close") if unframed else ("transfer-encoding", "chunked")
    pieces = [piece for event in made.events for piece in _written(event, made.writes)]
    if made.writes is Writes.ONE:
        pieces = [b"".join(pieces)]
    lost = made.ending in _BREAKS and not unframed
    return Answer(made.status, [*made.headers.items(), more], pieces, lost)


def _written(event: bytes, writes: Any) -> Iterator[bytes]:
    if writes is Writes.TINY:
        yield from in_pieces(event, [1])
    elif writes is Writes.SPLIT_CHARACTER:
        at = next((i for i, byte in enumerate(event) if byte & 0xC0 == 0x80), 0)
        yield from (piece for piece in (event[:at], event[at:]) if piece)
    else:
        yield event


def in_pieces(data: bytes, sizes: Iterable[int]) -> list[bytes]:
    """Cut bytes into pieces of these sizes, the last of which counts on."""
    pieces: list[bytes] = []
    at, size, more = 0, 1, iter(sizes)
    while at < len(data):
        size = next(more, size)
        pieces.append(data[at : at + size])
        at += size
    return pieces
