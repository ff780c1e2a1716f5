"""Responses of HTTP clients, and the exceptions of SDKs, as what they tell of an answer.

Nothing here imports a client or an SDK, or reads from a connection, which is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.signals import FaultSeen
from tenuto.wires.base import Wire
from tenuto.wires.json import encode
from tenuto.wires.members import object_in
from tenuto.wires.registry import wires


class Reply(NamedTuple):
    """An HTTP response. `headers` have names in lower case; `path` is that of its request, or
    ""."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    path: str = ""


class Failure(NamedTuple):
    """What an exception of an SDK tells. `wire`: that of the SDK; None if it is not known."""

    fault: Fault
    wire: Wire | None


class Unread:
    """What would have to be read first: a stream, a file, a response without its body."""


_BODIES: dict[str, str] = {
    "httpx": "_content",
    "httpx2": "_content",
    "requests": "_content",
    "aiohttp": "_body",
    "urllib3": "_body",
}
"""Where each client keeps a response's body once it was read. Its public name would read it."""


def reply_of(item: object) -> Reply | Unread | None:
    """Return an HTTP client's response; None if the object is none."""
    kept = _BODIES.get(type(item).__module__.partition(".")[0])
    status = getattr(item, "status_code", None) or getattr(item, "status", None)
    if kept is None or not isinstance(status, int):
        return None
    content = getattr(item, kept, None)
    if not isinstance(content, bytes):
        if status < _ERRORS_FROM:
            return Unread()
        content = b""
    return Reply(status, headers_of(item), content, _path_of(item))


def headers_of(item: object) -> dict[str, str]:
    headers = getattr(item, "headers", None) or {}
    return {str(name).lower(): str(value) for name, value in headers.items()}


def _path_of(item: object) -> str:
    # httpx raises a RuntimeError where no request is known.
    url = getattr(item, "url", None) if getattr(item, "_request", item) is not None else None
    return urlsplit(str(url)).path if url is not None else ""


_ERRORS_FROM = 300
"""HTTP statuses from this on bring no answer."""

_REDIRECTS = range(300, 400)


def fault_of(reply: Reply, wire: Wire) -> Fault:
    """Return the fault of an HTTP response that is no answer."""
    if reply.status in _REDIRECTS:
        return Fault(FaultKind.REDIRECTED, status=reply.status)
    return wire.parse_fault(reply.status, reply.headers, reply.content)


# --- exceptions

_SDKS: dict[str, str] = {
    "openai": "openai-chat",
    "groq": "openai-chat",
    "together": "openai-chat",
    "cerebras": "openai-chat",
    "anthropic": "anthropic-messages",
    "google": "gemini-generate",
    "mistralai": "mistral",
    "cohere": "cohere",
    "ollama": "ollama",
    "botocore": "bedrock-converse",
    "huggingface_hub": "tgi",
    "pydantic_ai": "openai-chat",  # whose errors hold the body of any API
}
"""The wires whose error tables read the exceptions of a package."""

_CLIENTS = frozenset({*_BODIES, "httpcore", "httpcore2", "builtins"})
"""Packages whose exceptions may tell of a connection."""

_KINDS: tuple[tuple[str, FaultKind], ...] = (
    ("ContentFilterFinishReason", FaultKind.CONTENT_BLOCKED),
    ("Timeout", FaultKind.TIMEOUT),
    ("Connect", FaultKind.CONNECTION),
    ("Network", FaultKind.CONNECTION),
    ("RemoteProtocol", FaultKind.CONNECTION),
    ("IncompleteRead", FaultKind.CONNECTION),
    ("ClientPayload", FaultKind.CONNECTION),
    ("NoResponse", FaultKind.CONNECTION),
)
"""What words in the names of exceptions say, if they hold no response."""


def of_exception(error: BaseException) -> object:
    """Return what an exception tells: the answer that it holds, as a `Reply` or an object of the
    SDK, or a `Failure`; None if it tells nothing of an answer."""
    for name in ("completion", "last_completion"):  # openai's, instructor's
        if (held := getattr(error, name, None)) is not None:
            return held
    packages = {kind: kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    spoken = next((_SDKS[name] for name in packages.values() if name in _SDKS), None)
    wire = wires()[spoken] if spoken is not None else None
    reply = _reply_in(error, told=wire is not None)
    if reply is not None:
        if reply.status < _ERRORS_FROM:
            return reply
        return Failure(fault_of(reply, wire or wires()["openai-chat"]), wire)
    if wire is not None:
        told = object_in(getattr(error, "body", None))  # an error in a stream
        seen = wire.parse_object({"error": told}, event=True) if told else ()
        fault = next((one.fault for one in seen if isinstance(one, FaultSeen)), None)
        if fault is not None:
            return Failure(fault, wire)
    named = [
        c.__name__ for c, package in packages.items() if package in _SDKS or package in _CLIENTS
    ]
    kind = _kind_in(named)
    return Failure(Fault(kind), wire) if kind is not None else None


def _kind_in(names: Iterable[str]) -> FaultKind | None:
    spelled = " ".join(names)
    return next((kind for word, kind in _KINDS if word in spelled), None)


def _reply_in(error: BaseException, *, told: bool) -> Reply | None:
    """Return the HTTP response that an exception holds; None if it holds none. `told`: whether its
    own attributes may tell of one."""
    held = getattr(error, "response", None)
    if held is None:
        held = getattr(error, "raw_response", None)
    if isinstance(held, dict):
        return _reply_of_botocore(held)
    reply = reply_of(held) if held is not None else None
    if isinstance(reply, Reply) and reply.content:
        return reply
    if not told:
        return reply if isinstance(reply, Reply) else None
    statuses = (getattr(error, name, None) for name in ("status_code", "code"))
    status = next((one for one in statuses if isinstance(one, int) and one in _STATUSES), None)
    if status is None:
        return None
    bodies = (getattr(error, name, None) for name in ("body", "details", "error"))
    return Reply(status, headers_of(error), _bytes_of(next(filter(None, bodies), str(error))))


_STATUSES = range(200, 600)


def _bytes_of(body: object) -> bytes:
    if isinstance(body, bytes):
        return body
    if isinstance(body, dict):
        return encode(body)
    text = str(body)
    return text.encode() if text.lstrip().startswith("{") else encode({"error": text})


def _reply_of_botocore(held: dict[str, Any]) -> Reply | None:
    error, about = object_in(held.get("Error")), object_in(held.get("ResponseMetadata"))
    if not error:
        return None
    headers = {str(k).lower(): str(v) for k, v in object_in(about.get("HTTPHeaders")).items()}
    headers["x-amzn-errortype"] = str(error.get("Code") or "")
    status = about.get("HTTPStatusCode")
    body = encode({"message": str(error.get("Message") or "")})
    return Reply(status if isinstance(status, int) else 400, headers, body)
