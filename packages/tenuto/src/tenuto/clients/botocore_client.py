"""Recovering clients of boto3 for Amazon Bedrock, with the pipe where botocore sends.

Theory of operation
-------------------
`recovering(client)` makes a client that shares everything with the original (sessions, credentials,
config, retries) except two things. Its events begin with the original's handlers, and also note
calls and read errors for us. Its endpoint is of a subclass of the endpoint's own class.

A request to a model reaches `_send` signed, and goes through the pipe there. The endpoint makes
each attempt that differs anew: handlers of `request-created` sign it, those of `before-send` may
answer it, and the endpoint's own session sends it, with its proxies and timeouts. botocore's
retries are around the turn: they see how it ends, and are stopped if they would only repeat what
the turn did.

Errors are botocore's own: an answer that could not be finished is a `ModelErrorException` with
status 424, which nothing retries, and in a stream an `EventStreamError`.
"""

from __future__ import annotations

import copy
import importlib
import io
from collections.abc import Generator, Iterator
from functools import cache
from typing import Any, cast

from tenuto.clients.botocore_exchange import (
    SERVICE,
    Exchange,
    add_partial,
    as_botocore,
    asked_of,
    head_of,
    is_final,
    note_call,
    take_ours,
)
from tenuto.turn.drivers.commands import (
    ConnectionLost,
    Head,
    SendRequest,
    decoded,
)
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.pipeline.engine import Engine

NAMES: tuple[str, ...] = (f"boto3 and aiobotocore (for {SERVICE})",)


def is_client(client: object) -> bool:
    """Return whether an object is a client of boto3 or aiobotocore for Bedrock's runtime.

    >>> is_client(object())
    False
    """
    roots = {cls.__module__.partition(".")[0] for cls in type(client).__mro__}
    service = getattr(getattr(client, "meta", None), "service_model", None)
    return "botocore" in roots and getattr(service, "service_name", "") == SERVICE


def engine_of(client: Any) -> Engine | None:
    """Return the engine of a wrapped client, or None."""
    engine = getattr(vars(client).get("_endpoint"), "_tenuto_engine", None)
    return engine if isinstance(engine, Engine) else None


def is_wrapped(client: Any) -> bool:
    """Return whether the client is wrapped already."""
    return engine_of(client) is not None


def recovering(client: Any, engine: Engine) -> Any:
    """Return a copy of the client that finishes its turns; the original isn't changed."""
    wrapped = object.__new__(type(client))
    vars(wrapped).update(vars(client))
    wrapped.meta = copy.copy(client.meta)
    wrapped.meta.events = events = copy.copy(client.meta.events)
    cls: Any = type(client._endpoint)  # noqa: SLF001 - see private_seams
    endpoint = copy.copy(client._endpoint)  # noqa: SLF001
    signer = copy.copy(client._request_signer)  # noqa: SLF001
    if engine_of(client) is None:
        endpoint.__class__ = _subclass(cls)
        events.register_last(f"before-call.{SERVICE}", note_call)
        events.register_last(f"before-sign.{SERVICE}", take_ours)
        events.register_last(f"before-parse.{SERVICE}", add_partial)
    events.unregister(f"request-created.{SERVICE}", client._request_signer.handler)  # noqa: SLF001
    events.register(f"request-created.{SERVICE}", signer.handler)
    vars(signer)["_event_emitter"] = events
    vars(endpoint).update(_event_emitter=events, _tenuto_engine=engine)
    vars(wrapped).update(_endpoint=endpoint, _request_signer=signer)
    return wrapped


@cache
def _subclass(base: Any) -> type:
    """Return a subclass of an endpoint's class that finishes turns."""
    if any(cls.__name__ == "AioEndpoint" for cls in base.__mro__):
        from tenuto.clients import aiobotocore_client

        made = aiobotocore_client.endpoint(base)
    else:
        made = _endpoint(base)
    made.__name__, made.__qualname__ = base.__name__, base.__qualname__
    return made


def _endpoint(base: Any) -> type:
    class Recovering(base):  # type: ignore[misc]
        """An endpoint that finishes its turns."""

        def _send(self, request: Any) -> Any:
            asked = asked_of(request)
            run = self._tenuto_engine.begin(asked) if asked is not None else None
            if asked is None or run is None:
                return super()._send(request)
            exchange = Exchange(self, request, asked)

            def connect(command: SendRequest) -> _Upstream | ConnectionLost:
                try:
                    made = exchange.made(command)
                    # botocore has already called the handlers for the caller's own request.
                    answer = None if made is request else self._answered(exchange, made)
                    return _Upstream(exchange, made, answer or super(Recovering, self)._send(made))
                except Exception as error:  # noqa: BLE001 - handlers raise what they like
                    return exchange.lost_or_raise(error)

            return _driven(exchange, Drive(run, connect, exchange.broken, exchange.wake))

        def _answered(self, exchange: Exchange, request: Any) -> Any:
            """Return what a handler answers in place of the network, or None if none does."""
            emitted = self._event_emitter.emit(exchange.before_send, request=request)
            return next((answer for _, answer in emitted if answer is not None), None)

        def _needs_retry(
            self, attempts: Any, operation: Any, asked: Any,
            response: Any = None, caught_exception: Any = None,
        ) -> Any:  # fmt: skip
            if is_final(response):
                return False
            return super()._needs_retry(attempts, operation, asked, response, caught_exception)

    return Recovering


def _driven(exchange: Exchange, turn: Drive) -> Any:
    """Return the caller's response; reading it drives the turn."""
    pieces = turn.pieces()
    head = next(pieces)
    assert isinstance(head, Head)
    url = exchange.request.url
    if exchange.is_stream(head):
        response = importlib.import_module("botocore.awsrequest").AWSResponse
        return response(url, head.status, decoded(head.headers), _Turn(turn, pieces))
    body = b"".join(cast("Iterator[bytes]", pieces))
    return exchange.untouched(head, body) or _whole(url, *as_botocore(head, body))


_open: set[Any] = set()
"""The responses that are being read, kept alive. If a turn is abandoned, the garbage collector
would close the connection before the turn does."""


class _Upstream:
    """`turn.drivers.drive.Upstream` over a response."""

    def __init__(self, exchange: Exchange, request: Any, response: Any) -> None:
        self._exchange = exchange
        self._raw = response.raw
        self.head = head_of(response)
        body = None if request.stream_output else response.content
        exchange.opened(response, self.head, body)
        self.pieces: Iterator[bytes] = iter([body]) if body is not None else self._raw.stream()
        _open.add(self._raw)

    def lost(self, error: Exception) -> ConnectionLost | None:
        urllib3 = importlib.import_module("urllib3.exceptions").HTTPError
        known = (urllib3, self._exchange.exceptions.HTTPClientError, OSError)
        return self._exchange.lost(error) if isinstance(error, known) else None

    def close(self) -> None:
        _open.discard(self._raw)
        self._raw.close()


class _Turn:
    """The bytes of a turn, as `botocore.eventstream.EventStream` reads them."""

    def __init__(self, turn: Drive, pieces: Generator[Head | bytes, None, None]) -> None:
        self._turn = turn
        self._pieces = cast("Iterator[bytes]", pieces)

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        """Yield the pieces, each as soon as it arrives."""
        return self._pieces

    def close(self) -> None:
        """End the turn and its upstream at once."""
        self._turn.close()


def _whole(url: str, head: Head, body: bytes) -> Any:
    """Return a whole response, to be read like any other of urllib3's."""
    raw = importlib.import_module("urllib3").HTTPResponse(
        body=io.BytesIO(body),
        headers=decoded(head.headers),
        status=head.status,
        preload_content=False,
        decode_content=False,
    )
    response = importlib.import_module("botocore.awsrequest").AWSResponse
    return response(url, head.status, decoded(head.headers), raw)
