"""Responses of HTTP clients as what they tell of an answer.

Nothing here imports a client, or reads from a connection, which is the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlsplit

from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.stop import Confidence
from tenuto.detection.errors import error_shown, phrase_status, told_kind
from tenuto.detection.hosts import is_of_api
from tenuto.wires.base import Wire
from tenuto.wires.json import JsonObject, decode_object, encode
from tenuto.wires.registry import wires, wires_for_path


class Reply(NamedTuple):
    """An HTTP response. `headers` have names in lower case; `url` is that of its request, or ""."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    url: str = ""

    @property
    def path(self) -> str:
        """The path of its request, or ""."""
        return urlsplit(self.url).path

    @property
    def is_error(self) -> bool:
        """Whether it brings no answer. One that is not modified brings nothing at all."""
        return self.status >= _ERRORS_FROM and self.status != HTTPStatus.NOT_MODIFIED


class Failure(NamedTuple):
    """What an exception or an HTTP response tells.

    `wire`: that of the SDK; None if it is not known. `sure`: how surely it is of a known API: any
    program may use an HTTP client."""

    fault: Fault
    wire: Wire | None
    sure: Confidence = Confidence.HIGH


class Unread:
    """What would have to be read first: a stream, a file, a response without its body."""


class BrokeOff:
    """Packed bytes that broke off before any of what they hold."""


BODIES: dict[str, str] = {
    "httpx": "_content",
    "httpx2": "_content",
    "requests": "_content",
    "aiohttp": "_body",
    "urllib3": "_body",
}
"""Where each client keeps a response's body once it was read. Its public name would read it."""


def reply_of(item: object) -> Reply | Unread | None:
    """Return an HTTP client's response; None if the object is none."""
    kept = BODIES.get(type(item).__module__.partition(".")[0])
    status = getattr(item, "status_code", None) or getattr(item, "status", None)
    if kept is None or not isinstance(status, int):
        return None
    content = getattr(item, kept, None)
    if not isinstance(content, bytes):
        if status < _ERRORS_FROM:
            return Unread()
        content = b""
    return Reply(status, headers_of(item), content, _url_of(item))


def headers_of(item: object) -> dict[str, str]:
    headers = getattr(item, "headers", None) or {}
    return {str(name).lower(): str(value) for name, value in headers.items()}


def _url_of(item: object) -> str:
    # httpx raises a RuntimeError where no request is known.
    url = getattr(item, "url", None) if getattr(item, "_request", item) is not None else None
    return str(url) if url is not None else ""


_ERRORS_FROM = 300
"""HTTP statuses from this on bring no answer."""

_REDIRECTS = range(300, 400)
_ERRORS = range(400, 600)


def fault_of(reply: Reply, wire: Wire) -> Fault:
    """Return the fault of an HTTP response that is no answer."""
    if reply.status in _REDIRECTS:
        return Fault(FaultKind.REDIRECTED, status=reply.status)
    return wire.parse_fault(reply.status, reply.headers, reply.content)


def failure_of(reply: Reply, wire: Wire | None, *, named: bool = False) -> Failure:
    """Return what an error of an HTTP client tells. Any website answers with an error, so it is
    certain only by the URL of a known API, or by what the body says. `wire`: that of the SDK, or
    one that the caller `named`; None: the path of the URL tells, if anything does."""
    wire = wire or next(iter(wires_for_path(reply.path)), None)
    value = decode_object(reply.content)
    said = error_shown(value) if isinstance(value, dict) else None
    if named or said is Confidence.HIGH or is_of_api(reply.url):
        sure = Confidence.HIGH
    else:
        sure = Confidence.LOW if reply.url else Confidence.MEDIUM
    fault = fault_of(reply, wire or wires()["openai-chat"])
    if sure is not Confidence.HIGH and wire is None and isinstance(value, dict):
        # Another program's number means something else than the same one of a provider's.
        kind = told_kind(value, fault.kind, reply.status) if reply.status in _ERRORS else None
        fault = replace(fault, kind=kind or fault.kind)
    return Failure(fault, wire, sure)


def failure_in_phrase(value: JsonObject, sure: Confidence) -> Failure | None:
    """Return what an object tells that says no more than the phrase of an HTTP status; None: it
    says something else."""
    status = phrase_status(value)
    if status is None:
        return None
    return Failure(fault_of(Reply(status, {}, encode(value)), wires()["openai-chat"]), None, sure)
