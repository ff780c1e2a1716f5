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
from types import ModuleType
from typing import Any, NamedTuple, cast

from tenuto.clients.waking import wake_waiting
from tenuto.core.answer.fault import FaultKind
from tenuto.turn.drivers.commands import (
    ConnectionLost,
    Head,
    Headers,
    Request,
    SendRequest,
    decoded,
    encoded,
)
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.pipeline.engine import Engine
from tenuto.wires.json import decode_object, encode

SERVICE = "bedrock-runtime"

_CALL, _OURS = "tenuto_call", "tenuto_headers"
"""The keys in a request's context for what belongs to one call of the client."""

_OUR_STATUS = 424
_MODEL_ERROR = (424, "ModelErrorException")
"""https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, "Errors"."""


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
        events.register_last(f"before-call.{SERVICE}", _note_call)
        events.register_last(f"before-sign.{SERVICE}", _take_ours)
        events.register_last(f"before-parse.{SERVICE}", _add_partial)
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
        made: type = importlib.import_module("tenuto.clients.aiobotocore_client").endpoint(base)
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


# --- what sync and async share ------------------------------------------------------------------


class _Call(NamedTuple):
    """One call of the client, which provides what its requests are made from."""

    request_dict: dict[str, Any]
    operation: Any


def _note_call(model: Any, params: Any, **_: Any) -> None:
    """Store what the requests of a call are made from, for its attempts."""
    params["context"][_CALL] = _Call(params, model)


def _take_ours(request: Any, **_: Any) -> None:
    """Remove the headers that are meant for Tenuto before the request is signed."""
    ours = [name for name in request.headers if name.lower().startswith("x-tenuto")]
    if ours:
        request.context[_OURS] = encoded((name, str(request.headers[name])) for name in ours)
        for name in ours:
            del request.headers[name]


def asked_of(request: Any) -> Request | None:
    """Return a prepared request as the pipe wants it; None if its call is unknown, or if its body
    is not bytes."""
    context, body = request.context or {}, request.body
    body = body.encode() if isinstance(body, str) else body
    if _CALL not in context or not isinstance(body, bytes | bytearray):
        return None
    headers = tuple((name.encode(), _bytes(value)) for name, value in request.headers.items())
    timeout_s = getattr(context.get("client_config"), "read_timeout", None)
    return Request(
        request.method,
        request.url,
        (*headers, *context.get(_OURS, ())),
        bytes(body),
        context.get("read_timeout", timeout_s),
    )


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


class Exchange:
    """One turn of one call: makes the requests of its attempts."""

    def __init__(self, endpoint: Any, request: Any, asked: Request) -> None:
        self.endpoint = endpoint
        self.request = request
        self.asked = asked
        self.call: _Call = request.context[_CALL]
        self.first: Any = None
        self.first_head: Head | None = None
        self.first_body: bytes | None = None
        self.remade: bool = False
        self.exceptions: ModuleType = importlib.import_module("botocore.exceptions")

    def differing(self, command: SendRequest) -> dict[str, Any] | None:
        """Return what the request of an attempt is made from; None for the caller's own request."""
        same = not command.edited and command.timeout_s is None and self.first is None
        if same and not self.remade:
            return None
        self.remade = True
        context = dict(self.call.request_dict["context"])
        if command.timeout_s is not None:
            context["read_timeout"] = command.timeout_s
        return {**self.call.request_dict, "body": command.body, "context": context}

    def made(self, command: SendRequest) -> Any:
        """Return the request of an attempt, signed again unless it is the caller's own."""
        differing = self.differing(command)
        if differing is None:
            return self.request
        return self.endpoint.create_request(differing, self.call.operation)

    @property
    def before_send(self) -> str:
        """Return the event that is emitted before Tenuto's request is sent."""
        return f"before-send.{SERVICE}.{self.call.operation.name}"

    def lost_or_raise(self, error: Exception) -> ConnectionLost:
        """Return a failure to send as a value. Handlers may raise anything: before the first answer
        it is raised, and after that it must not cost the text received so far (C5)."""
        if isinstance(error, self.exceptions.HTTPClientError | OSError):
            return self.lost(error)
        if self.first is None:
            raise error
        return ConnectionLost(FaultKind.CALLER, error)

    def lost(self, error: Exception) -> ConnectionLost:
        """Return a failure of the transport as a value."""
        named = {cls.__name__ for cls in type(error).__mro__}
        slow = not named.isdisjoint(("ReadTimeoutError", "ConnectTimeoutError", "TimeoutError"))
        return ConnectionLost(FaultKind.TIMEOUT if slow else FaultKind.CONNECTION, error)

    def broken(self, message: str) -> Exception:
        """Return the exception for a stream that breaks."""
        return self.exceptions.ResponseStreamingError(error=message)  # type: ignore[no-any-return]

    def wake(self, _: object, thread: int) -> None:
        """Wake the thread that waits for a further attempt, or for more of its response, because
        the time is over (C29a)."""
        wake_waiting(thread)

    def opened(self, response: Any, head: Head, body: bytes | None) -> None:
        """Note that an attempt's response has begun, and keep the first one."""
        if self.first is None:
            self.first, self.first_head, self.first_body = response, head, body

    def is_stream(self, head: Head) -> bool:
        """Return whether botocore reads the response piece by piece; it ignores content types."""
        return head.status < 300 and bool(self.call.operation.has_event_stream_output)

    def untouched(self, head: Head, body: bytes) -> Any:
        """Return the first attempt's response if the caller should get it unchanged; else None."""
        same = head is self.first_head and not self.remade and body == self.first_body
        return self.first if same else None


def head_of(response: Any) -> Head:
    """Return the status and headers of a response of botocore's."""
    pairs = ((str(name), str(value)) for name, value in response.headers.items())
    return Head(response.status_code, encoded(pairs))


def as_botocore(head: Head, body: bytes) -> tuple[Head, bytes]:
    """Return an error of Tenuto's as one that botocore knows; other errors unchanged."""
    if head.status != _OUR_STATUS or head.get(b"x-should-retry") != "false":
        return head, body
    value = decode_object(body)
    value = value if isinstance(value, dict) else {}
    error = inner if isinstance(inner := value.get("error"), dict) else value
    if error.get("source") != "tenuto_incomplete":
        return head, body
    status, kind = _MODEL_ERROR
    made = encode({"message": error.get("message"), "partial": error.get("partial")})
    named: Headers = ((b"x-amzn-errortype", kind.encode()), (b"content-length", b"%d" % len(made)))
    return Head(status, head.without(b"content-length").headers).plus(*named), made


def is_final(response: Any) -> bool:
    """Return whether a response says that sending the request again would not help."""
    http = response[0] if response else None
    return http is not None and http.headers.get("x-should-retry") == "false"


def _add_partial(response_dict: Any, customized_response_dict: Any, **_: Any) -> None:
    """Put what was received of an unfinished answer into the exception's response, so nothing is
    lost."""
    if response_dict["status_code"] < 300:
        return
    value = decode_object(bytes(response_dict["body"]))
    partial = value.get("partial") if isinstance(value, dict) else None
    if isinstance(partial, dict):
        customized_response_dict["partial"] = partial


# --- sync -----------------------------------------------------------------------------------------


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
