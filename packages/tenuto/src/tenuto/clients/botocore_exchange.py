"""One call of a client of boto3 or aiobotocore: its requests, and what its answers mean.

`botocore_client` and `aiobotocore_client` drive the turn of such a call, and share everything here.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, NamedTuple

from tenuto.clients.waking import wake_waiting
from tenuto.core.answer.fault import FaultKind
from tenuto.turn.drivers.commands import (
    ConnectionLost,
    Head,
    Headers,
    Request,
    SendRequest,
    encoded,
)
from tenuto.wires.json import decode_object, encode

SERVICE = "bedrock-runtime"

_CALL, _OURS = "tenuto_call", "tenuto_headers"
"""The keys in a request's context for what belongs to one call of the client."""

_OUR_STATUS = 424
_MODEL_ERROR = (424, "ModelErrorException")
"""https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, "Errors"."""


class _Call(NamedTuple):
    """One call of the client, which provides what its requests are made from."""

    request_dict: dict[str, Any]
    operation: Any


def note_call(model: Any, params: Any, **_: Any) -> None:
    """Store what the requests of a call are made from, for its attempts."""
    params["context"][_CALL] = _Call(params, model)


def take_ours(request: Any, **_: Any) -> None:
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


def add_partial(response_dict: Any, customized_response_dict: Any, **_: Any) -> None:
    """Put what was received of an unfinished answer into the exception's response, so nothing is
    lost."""
    if response_dict["status_code"] < 300:
        return
    value = decode_object(bytes(response_dict["body"]))
    partial = value.get("partial") if isinstance(value, dict) else None
    if isinstance(partial, dict):
        customized_response_dict["partial"] = partial
