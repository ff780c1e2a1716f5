"""The simulator's HTTP/1.1 server: sockets, pace, compression, and broken endings.

h11 frames everything that follows the protocol. Broken endings (a transfer without a length, one
that stops in the middle, a reset) bypass it on the same connection, which then ends.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
import zlib
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import h11

from tenuto_sim.case import CUT_SHORT, Ending, Writes
from tenuto_sim.exchange import Answer, Exchange

log: logging.Logger = logging.getLogger("tenuto_sim")

_READ_BYTES: Final = 65536
MOST_BODY_BYTES: Final = 33_554_432
"""Larger requests are rejected, as by providers, and the excess isn't stored."""
_PROTOCOL_BREAKS: Final = CUT_SHORT - {Ending.DROP}
_RESET_DELAY_S: Final = 0.02


class GoneError(Exception):
    """The client closed the connection before its answer ended."""


class StalledError(Exception):
    """No acknowledgement arrived in time."""


@dataclass(slots=True)
class Pace:
    """When the next event may be sent: after a delay, and in lockstep after an acknowledgement."""

    lockstep: bool = False
    lockstep_timeout_s: float = 5.0
    delay_s: float = 0.0
    acknowledged: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))


@dataclass(slots=True)
class Service:
    """A running server; everything except the counters belongs to its event loop."""

    exchange: Exchange
    pace: Pace
    gzip: bool = False
    open_streams: int = 0
    disconnects: int = 0
    stalled: bool = False
    failure: BaseException | None = None
    """The first error in the server itself, or in a function that it was passed; never a simulated
    fault."""
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def start(self, host: str, port: int) -> int:
        """Listen, and return the port; raises OSError if it is taken."""
        self._server = await asyncio.start_server(self._accept, host, port)
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def stop(self) -> None:
        """Close the server and every connection at once."""
        if self._server is not None:
            self._server.close()
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        connection = Connection(self, reader, writer)
        try:
            await connection.run()
        except (ConnectionError, h11.RemoteProtocolError):
            pass  # a client that misbehaves or leaves ends only its own connection
        except asyncio.CancelledError:
            pass  # stop() is waiting; asyncio.streams would log the cancellation as an error
        finally:
            self._tasks.discard(task)
            connection.close()


class Connection:
    """One connection: requests one after another, until either side ends it."""

    def __init__(
        self, service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._service = service
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER)
        self._incoming: asyncio.Task[bytes] | None = None
        self._sending = False

    async def run(self) -> None:
        """Answer requests until the connection ends."""
        while (request := await self._receive()) is not None:
            head, body = request
            headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
            exchange = self._service.exchange
            try:
                answer = (
                    exchange.answer(head.method.decode(), head.target.decode(), headers, body)
                    if len(body) <= MOST_BODY_BYTES
                    else exchange.too_large(MOST_BODY_BYTES)
                )
            except (
                BaseException
            ) as error:  # includes pytest's outcomes, from a function it was passed
                log.exception("the simulator failed to answer a request")
                self._service.failure = self._service.failure or error
                return
            zipped = self._service.gzip and "gzip" in headers.get("accept-encoding", "")
            if not await self._counted(answer, zipped) or self._http.our_state is not h11.DONE:
                return
            self._http.start_next_cycle()

    def close(self) -> None:
        """End the connection; bytes already written are still sent, unless the service ends."""
        if self._incoming is not None:
            self._incoming.cancel()
        self._writer.close()

    async def _receive(self) -> tuple[h11.Request, bytes] | None:
        head: h11.Request | None = None
        body = bytearray()
        while True:
            match event := self._http.next_event():
                case h11.NEED_DATA:
                    if self._http.they_are_waiting_for_100_continue:
                        go_on = h11.InformationalResponse(status_code=100, headers=[])
                        self._writer.write(self._http.send(go_on) or b"")
                    self._http.receive_data(await self._read())
                case h11.Request():
                    head = event
                case h11.Data():
                    if len(body) <= MOST_BODY_BYTES:  # one more byte shows that it is too large
                        body += event.data[: MOST_BODY_BYTES + 1 - len(body)]
                case h11.EndOfMessage() if head is not None:
                    return head, bytes(body)
                case _:
                    return None

    async def _read(self) -> bytes:
        """Return the next bytes, first those that arrived while an answer was being sent."""
        task, self._incoming = self._incoming, None
        return await (task or self._reader.read(_READ_BYTES))

    async def _counted(self, answer: Answer, zipped: bool) -> bool:
        """Send an answer and count it; return whether the connection can continue."""
        service = self._service
        service.open_streams += 1
        self._sending = True
        # A pending read shows at once when the client leaves.
        if self._incoming is None:
            self._incoming = asyncio.create_task(self._reader.read(_READ_BYTES))
        try:
            if answer.events is None:
                return await self._send_body(answer, zipped)
            return await self._send_events(answer, zipped)
        except (GoneError, ConnectionError):
            service.disconnects += self._sending
            return False
        except StalledError:
            service.stalled = True
            self._abort()
            return False
        finally:
            self._over()

    def _over(self) -> None:
        """Count the answer as sent, just before the bytes that complete it for the client.

        After these bytes, the client may leave and read the counters before this side runs again.
        """
        if self._sending:
            self._sending = False
            self._service.open_streams -= 1

    async def _send_body(self, answer: Answer, zipped: bool) -> bool:
        body = answer.body
        if answer.ending is Ending.CUT_BODY:
            body = body[: len(body) // 2]
        if answer.ending is Ending.EMPTY_BODY:
            body = b""
        headers = dict(answer.headers)
        if zipped and body:
            body = zlib.compress(body, wbits=31)
            headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(body))
        if self._service.pace.delay_s:
            await self._or_gone(asyncio.sleep(self._service.pace.delay_s))
        head = self._http.send(_response(answer.status, headers)) or b""
        self._over()
        if answer.ending in CUT_SHORT:
            await self._write(head + body[: len(body) // 2])
            await self._break(answer.ending)
            return False
        data = self._http.send(h11.Data(data=body)) or b"" if body else b""
        await self._write(head + data + (self._http.send(h11.EndOfMessage()) or b""))
        return True

    async def _send_events(self, answer: Answer, zipped: bool) -> bool:
        headers = dict(answer.headers)
        if zipped:
            headers["content-encoding"] = "gzip"
        unframed = answer.ending is Ending.EOF
        head = self._head(answer.status, headers, unframed)
        squeeze = zlib.compressobj(wbits=31) if zipped else None
        pace = self._service.pace
        pace.acknowledged = asyncio.Semaphore(0)
        assert answer.events is not None
        waiting = head
        for number, event in enumerate(answer.events):
            if number and pace.delay_s:
                await self._or_gone(asyncio.sleep(pace.delay_s))
            if number and pace.lockstep:
                await self._or_gone(pace.acknowledged.acquire(), pace.lockstep_timeout_s)
            last = number == len(answer.events) - 1
            if last or event == answer.last_event:
                self._over()
            pieces = list(_pieces(event, answer.writes))
            for number_of_piece, piece in enumerate(pieces, start=1):
                data = piece
                if squeeze is not None:
                    data = squeeze.compress(piece) + squeeze.flush(zlib.Z_SYNC_FLUSH)
                waiting += data if unframed else self._http.send(h11.Data(data=data)) or b""
                # The last piece is sent together with the end of the transfer, because clients
                # leave after it.
                if answer.writes is not Writes.ONE and not (
                    last and number_of_piece == len(pieces)
                ):
                    await self._write(waiting)
                    waiting = b""
        if answer.ending in _PROTOCOL_BREAKS:
            await self._write(waiting)
            await self._break(answer.ending)
            return False
        if squeeze is not None:
            waiting += self._http.send(h11.Data(data=squeeze.flush())) or b""
        await self._write(waiting + (self._http.send(h11.EndOfMessage()) or b""))
        return True

    def _head(self, status: int, headers: dict[str, str], unframed: bool) -> bytes:
        if not unframed:
            return self._http.send(_response(status, headers)) or b""
        lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
        return f"HTTP/1.1 {status} OK\r\n{''.join(lines)}connection: close\r\n\r\n".encode()

    async def _write(self, data: bytes) -> None:
        if self._incoming is not None and self._incoming.done() and not self._incoming.result():
            raise GoneError
        self._writer.write(data)
        await self._writer.drain()
        # Yield to the event loop once, to notice between two events that a client has left.
        await asyncio.sleep(0)

    async def _or_gone(
        self, waited: Coroutine[Any, Any, Any], timeout_s: float | None = None
    ) -> None:
        """Wait for something, and stop waiting when the client leaves."""
        task = asyncio.ensure_future(waited)
        left = self._incoming
        try:
            # Bytes of a further request show that the client is still connected.
            here = left is None or (left.done() and left.result())
            watched = {task} if here or left is None else {task, left}
            done, _ = await asyncio.wait(
                watched, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
            )
            if task in done:
                return
            raise GoneError if done else StalledError
        finally:
            task.cancel()

    async def _break(self, ending: Ending) -> None:
        if ending is Ending.RESET:
            await asyncio.sleep(
                _RESET_DELAY_S
            )  # a reset may overtake bytes that the client hasn't read
            self._abort()
        else:
            self._writer.close()

    def _abort(self) -> None:
        """End the connection with a TCP reset."""
        raw: socket.socket | None = self._writer.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


def _response(status: int, headers: dict[str, str]) -> h11.Response:
    return h11.Response(status_code=status, headers=list(headers.items()))


def _pieces(event: bytes, writes: Writes) -> Iterator[bytes]:
    match writes:
        case Writes.EVENT | Writes.ONE:
            yield event
        case Writes.TINY:
            yield from (event[i : i + 1] for i in range(len(event)))
        case Writes.SPLIT_CHARACTER:
            # A continuation byte begins with the bits 10, so cut before the first one.
            at = next((i for i, byte in enumerate(event) if byte & 0xC0 == 0x80), 0)
            yield from (piece for piece in (event[:at], event[at:]) if piece)
