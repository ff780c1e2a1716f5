"""The server: plain sockets, so that what breaks really breaks there. It imports nothing of tenuto.

It reads each request strictly, lets the model go on from what the request shows, spoils the attempt
as the turn's key and the number of the attempt say, and keeps what it did until it is asked for it.

    python -m checks.soak.server        # prints its port, ends with its standard input
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
import sys
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from types import ModuleType
from typing import Any

from checks.soak import wire_chat, wire_converse, wire_gemini, wire_messages, wire_responses
from checks.soak.asked import KEY, Asked, Refused, compare, need
from checks.soak.flat import sample
from checks.soak.model import (
    CLOSING,
    HARSH_RATE,
    Answer,
    Attempt,
    again_for,
    begin_wrongly,
    breaks_for,
    cut_at,
    cuts_for,
    rest_of,
    styles_for,
    within_limit,
)
from checks.soak.truth import REFUSES, Plan, plan_of

WIRES: dict[str, ModuleType] = {
    path: module
    for module in (wire_chat, wire_messages, wire_responses, wire_gemini, wire_converse)
    for path in module.PATHS
}
"""How the path of each wire ends."""
MAX_TURNS = 5_000
MAX_BODY_BYTES = 4_000_000
STALL_S = 20.0
CONTENT = ("text", "call")
NEVER_WAITS = ("gemini", "converse")
"""Wires whose SDKs try again without a look at Retry-After."""


@dataclass(slots=True)
class Turn:
    """One turn as the server has seen it."""

    plan: Plan
    first: Asked | None = None
    attempts: list[Attempt] = field(default_factory=list)
    reached: int = -1
    paused: bool = False
    not_before: float = 0.0


@dataclass(slots=True)
class Piece:
    """One event of a stream, or a whole body, in bytes."""

    kind: str
    data: bytes


class Server:
    """Answers requests, and tells what it did."""

    def __init__(self) -> None:
        self.turns: OrderedDict[str, Turn] = OrderedDict()
        self.requests = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request by request."""
        ends = (ConnectionError, asyncio.IncompleteReadError, TimeoutError, asyncio.CancelledError)
        with suppress(*ends):
            while await self._one(reader, writer):
                pass
        with suppress(ConnectionError):
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        line, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = line.split(" ", 2)
        headers = {k.lower(): v.strip() for k, _, v in (x.partition(":") for x in lines if x)}
        length = int(headers.get("content-length", "0"))
        raw = await reader.readexactly(min(length, MAX_BODY_BYTES))
        if path == "/soak/records":
            told = [self._record(key, whole) for key, whole in json.loads(raw).items()]
            return await _plain(writer, 200, told)
        if path == "/soak/sample":
            return await _plain(writer, 200, sample() | {"requests": self.requests})
        wire = next((w for end, w in WIRES.items() if path.partition("?")[0].endswith(end)), None)
        if method != "POST" or wire is None:
            return await _plain(writer, 404, {"error": {"message": f"no such path: {path}"}})
        self.requests += 1
        return await self._answer(wire, path, raw, headers, reader, writer)

    def _record(self, key: str, whole: bool) -> dict[str, Any]:
        """What was done in a turn; without its texts where nobody is to read them."""
        turn = self.turns.pop(key, None)
        attempts = turn.attempts if turn else []
        whole = whole or any(attempt.notes for attempt in attempts)
        return {"key": key, "attempts": [asdict(a) if whole else a.counted for a in attempts]}

    async def _answer(
        self,
        wire: ModuleType,
        path: str,
        raw: bytes,
        headers: dict[str, str],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        asked: Asked = wire.read(raw, path.partition("?")[0])
        found = KEY.search(raw.decode())
        if found is None:
            return await _plain(writer, 400, wire.error_body(400))
        key = found.group(1)
        turn = self.turns.get(key)
        if turn is None:
            turn = self.turns[key] = Turn(plan_of(key))
            while len(self.turns) > MAX_TURNS:
                self.turns.popitem(last=False)
        attempt = Attempt(at=time.monotonic(), max_tokens=asked.max_tokens)
        turn.attempts.append(attempt)
        if turn.first is None:
            turn.first = asked
        attempt.notes += compare(turn.first, asked)
        attempt.notes += [
            f"the header {name} was sent" for name in headers if name.startswith("x-tenuto")
        ]
        early = turn.not_before - attempt.at
        if early > 0.002:
            attempt.notes.append(f"asked {early:.3f} s earlier than Retry-After allows")
        turn.not_before = 0.0
        try:
            wire.check(asked, len(turn.first.rows), turn.paused)
        except (Refused, KeyError, TypeError, AttributeError, IndexError) as error:
            attempt.fault = "refused"
            if str(error) != wire_chat.NO_PREFILL or turn.plan.model != REFUSES:
                attempt.notes.append(f"refused: {type(error).__name__} {error}")
            made = wire.error_body(400)
            made.get("error", made)["message"] = str(error)
            return await _plain(writer, 400, made)
        return await self._play(wire, turn, asked, attempt, reader, writer)

    async def _play(
        self,
        wire: ModuleType,
        turn: Turn,
        asked: Asked,
        attempt: Attempt,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        plan = turn.plan
        number = len(turn.attempts)
        rng = random.Random(f"{plan.key} {number}")
        attempt.said, attempt.hint, attempt.prefill = asked.said, asked.hint[:60], asked.prefill
        answer, fault = _drawn(turn, asked, attempt, rng)
        attempt.sent = answer.text
        mark = f"{plan.key.replace('.', '_')}_{number}"
        turn.paused = turn.paused or answer.stop == "pause"
        if fault == "status":
            return await _status(wire, turn, attempt, number, rng, writer)
        pieces = _pieces(wire, answer, asked, mark, rng, fault)
        attempt.whole = (
            answer.stop == "stop" and not fault and not attempt.fault and not attempt.notes
        )
        kind = wire.STREAM_TYPE if asked.stream else "application/json"
        return await _send(pieces, kind, fault, rng, reader, writer)


def _drawn(turn: Turn, asked: Asked, attempt: Attempt, rng: random.Random) -> tuple[Answer, str]:
    """What the model says, and what goes wrong on the way ("" for nothing)."""
    plan = turn.plan
    rest, right = rest_of(plan, asked.said)
    if not right:
        attempt.notes.append("said is not the beginning of the truth")
    thought = "I think about it first." if plan.thinks and not asked.said else ""
    answer = Answer(rest if rest.strip() else "", plan.calls, thought)
    if asked.said and not rest.strip() and not plan.calls:
        attempt.fault = "all_said"
        # Behind a prefill a model is in the middle of its answer, and knows of no message before:
        # what it says there is text (soak/README.md).
        return Answer("" if asked.prefill else rng.choice((*CLOSING, *[""] * 6))), ""
    kinds: list[str] = []
    if rng.random() < plan.rate:
        styles = (
            styles_for(asked.said, rest, asked.prefill, asked.stream) if not asked.paused else []
        )
        ends = [*cuts_for(plan, answer, asked.stream), *breaks_for(asked.stream)]
        kinds = [rng.choice([*styles, *ends])]
        if rng.random() < 0.25:
            kinds.append(rng.choice(ends if kinds[0] in styles else styles or [kinds[0]]))
        if plan.rate >= HARSH_RATE and len(turn.attempts) > 1 and rng.random() < 0.5:
            again = rng.choice(again_for(plan, answer, asked.stream))
            kinds = [*(kind for kind in kinds if kind in styles and kind != "echo"), again]
    lead = len(rest) - len(rest.lstrip())
    exact = asked.prefill or not asked.said
    if not kinds and not exact and turn.reached >= len(asked.said) + lead and rng.random() < 0.3:
        answer = replace(answer, text=answer.text.lstrip())  # the white space had all come before
    start = len(plan.text) - len(answer.text)
    styled = next(
        (k for k in kinds if k in ("overlap", "line", "restart", "preamble", "fence", "echo")), ""
    )
    if styled:
        attempt.style = styled
        attempt.came = plan.text[len(asked.said) : max(0, turn.reached)]
        came = attempt.came if turn.reached >= 0 else None
        text, attempt.repeated, attempt.left_out = begin_wrongly(
            styled, asked.said, rest, came, rng
        )
        answer = Answer(text, answer.calls, "")
    cuts = (*cuts_for(plan, answer, asked.stream), *(["cut_at_once"] if answer.text[1:] else []))
    cut = next((k for k in kinds if k in cuts), "")
    if cut:
        answer = cut_at(cut, answer, plan, rng)
    limited = within_limit(answer, asked.max_tokens)
    attempt.fault = cut or ("own_limit" if limited is not answer and limited != answer else "")
    cut_clean = limited.stop == "length" and limited.text and not styled
    turn.reached = start + len(limited.text.rstrip("\ufffd")) if cut_clean else -1
    breaks = (*breaks_for(asked.stream), "break_in_call")
    fault = next((k for k in kinds if k in breaks), "")
    turn.reached = -1 if fault else turn.reached  # nobody knows how much of it arrived
    attempt.fault = "+".join(filter(None, (attempt.fault, fault)))
    return limited, fault


def _pieces(
    wire: ModuleType, answer: Answer, asked: Asked, mark: str, rng: random.Random, fault: str
) -> list[Piece]:
    """The bytes of an answer, as far as its fault lets them be written."""
    ascii_only = rng.random() < 0.4
    if not asked.stream:
        if fault == "error_event":
            return [Piece("end", json.dumps(wire.error_body(500)).encode())]
        made = wire.body_of(answer, asked, mark, rng)
        return [Piece("text", json.dumps(made, ensure_ascii=ascii_only).encode())]
    encode = _written[ascii_only]
    pieces = [
        Piece(kind, wire.framed(payload, encode))
        for kind, payload in wire.events_of(answer, asked, mark, rng)
    ]
    if fault in ("close_no_stop", "error_event"):
        last = next((n for n, p in enumerate(pieces) if p.kind == "stop"), len(pieces))
        inner = [n for n, p in enumerate(pieces[:last]) if p.kind in CONTENT]
        at = rng.choice(inner) if inner and rng.random() < 0.85 else last
        pieces = pieces[:at]
        if fault == "error_event":
            pieces.append(Piece("end", wire.framed(wire.error_event(), encode)))
    return pieces


_written = {only: json.JSONEncoder(ensure_ascii=only).encode for only in (True, False)}


def _break_at(pieces: list[Piece], fault: str, rng: random.Random) -> int:
    """How many bytes come before a break; most breaks fall among the text and the calls."""
    inside = fault == "half_event"  # it leaves half an event or half a body
    starts, at = [], 0
    for piece in pieces:
        starts.append(at)
        at += len(piece.data)
    among = ("call",) if fault == "break_in_call" else CONTENT
    inner = [n for n, p in enumerate(pieces) if p.kind in among]
    number = rng.choice(inner) if inner and rng.random() < 0.85 else rng.randrange(len(pieces))
    size = len(pieces[number].data)
    return starts[number] + rng.randrange(1 if inside else 0, max(2, size - 2))


async def _send(
    pieces: list[Piece],
    content_type: str,
    fault: str,
    rng: random.Random,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> bool:
    data = b"".join(piece.data for piece in pieces)
    whole = len(data)
    broken = fault in ("reset", "no_last_chunk", "short_body", "stall", "half_event")
    if broken or fault == "break_in_call":
        data = data[: _break_at(pieces, fault, rng)]
    fault = "no_last_chunk" if fault == "break_in_call" else fault
    stream = content_type != "application/json"
    framing = rng.choice(
        ("chunked", "chunked", "chunked", "close") if stream else ("length", "chunked")
    )
    if fault in ("no_last_chunk", "short_body"):
        framing = "chunked" if fault == "no_last_chunk" else "length"
    head = [
        "HTTP/1.1 200 OK",
        f"content-type: {content_type}",
    ]
    head.append(f"x-request-id: req_{rng.getrandbits(40):x}")
    match framing:
        case "chunked":
            head.append("transfer-encoding: chunked")
        case "close":
            head.append("connection: close")
        case _:
            head.append(f"content-length: {len(data) if fault == 'half_event' else whole}")
    writer.write(("\r\n".join(head) + "\r\n\r\n").encode())
    for part in _parts(data, rng):
        writer.write(b"%x\r\n%s\r\n" % (len(part), part) if framing == "chunked" else part)
        await writer.drain()
        if rng.random() < 0.3:
            await asyncio.sleep(0)
    if fault == "reset":
        await asyncio.sleep(0.003)
        sock: socket.socket = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        return False
    if fault == "stall":
        await asyncio.wait_for(reader.read(1), STALL_S)
        return False
    if fault in ("no_last_chunk", "short_body"):
        return False
    if framing == "chunked":
        writer.write(b"0\r\n\r\n")
        await writer.drain()
    return framing != "close"


def _parts(data: bytes, rng: random.Random) -> list[bytes]:
    """Bytes as they are written, one after the other, cut anywhere; some drip."""
    if rng.random() < 0.03:
        dripping = min(len(data), 200)
        return [data[n : n + 1] for n in range(dripping)] + (
            [data[dripping:]] if data[dripping:] else []
        )
    count = rng.choice((0, 1, 2, 5))
    places = sorted({rng.randrange(1, len(data)) for _ in range(count)}) if len(data) > 1 else []
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True) if a < b]


async def _status(
    wire: ModuleType,
    turn: Turn,
    attempt: Attempt,
    number: int,
    rng: random.Random,
    writer: asyncio.StreamWriter,
) -> bool:
    """An error instead of an answer. What the SDK tries again itself is told how long to wait."""
    status = rng.choice((500, 503, 429))
    wait = rng.choice(("retry-after-ms: 15", "retry-after-ms: 5", "retry-after: 0"))
    seconds = {"retry-after-ms: 15": 0.015, "retry-after-ms: 5": 0.005}.get(wait, 0.0)
    if rng.random() < 0.03:
        wait, seconds = "retry-after: 1", 1.0
    elif number > 1 and rng.random() < 0.5:
        wait, seconds = "", 0.0
    if turn.plan.wire in NEVER_WAITS:
        wait, seconds = "", 0.0
    turn.not_before = time.monotonic() + seconds if seconds else 0.0
    attempt.fault = f"status {status}" if attempt.fault == "status" else attempt.fault
    return await _plain(writer, status, wire.error_body(status), wait)


async def _plain(writer: asyncio.StreamWriter, status: int, payload: Any, more: str = "") -> bool:
    data = json.dumps(payload).encode()
    head = f"HTTP/1.1 {status} Word\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n"
    writer.write((head + (f"{more}\r\n" if more else "") + "\r\n").encode() + data)
    await writer.drain()
    return True


async def main() -> None:
    """Serve on loopback until standard input ends."""
    made = Server()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    need(len(sys.argv) == 1, "no arguments are taken")
    asyncio.run(main())
