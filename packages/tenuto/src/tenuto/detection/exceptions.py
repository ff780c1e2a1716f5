"""Exceptions of SDKs and HTTP clients as what they tell of an answer. Nothing here imports one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.signals import FaultSeen
from tenuto.core.answer.stop import Confidence
from tenuto.detection.hosts import is_of_api
from tenuto.detection.replies import (
    BODIES,
    Failure,
    Reply,
    failure_of,
    headers_of,
    reply_of,
)
from tenuto.wires.json import encode
from tenuto.wires.members import object_in
from tenuto.wires.registry import wires

_SDKS: dict[str, str] = {
    "openai": "openai-chat",
    "groq": "openai-chat",
    "together": "openai-chat",
    "cerebras": "openai-chat",
    "anthropic": "anthropic-messages",
    "google.genai": "gemini-generate",
    "google.api_core": "gemini-generate",  # of google-generativeai, and of Google's other clients
    "mistralai": "mistral",
    "cohere": "cohere",
    "ollama": "ollama",
    "botocore": "bedrock-converse",
    "huggingface_hub": "openai-chat",
    "pydantic_ai": "openai-chat",  # whose errors hold the body of any API
}
"""The wires whose error tables read the exceptions of a package."""

_OF_BEDROCK = re.compile(r"(?:Converse|InvokeModel|RetrieveAndGenerate)").match
"""Matches the operations of botocore in which a model answers."""


def _sure_of_aws(error: BaseException) -> Confidence | None:
    operation = getattr(error, "operation_name", None)
    if isinstance(operation, str):
        return Confidence.HIGH if _OF_BEDROCK(operation) else None
    endpoint = object_in(getattr(error, "kwargs", None)).get("endpoint_url")
    return _sure_at(endpoint if isinstance(endpoint, str) else "", _OF_AWS)


def _sure_of_hub(error: BaseException) -> Confidence | None:
    if any(map(_OF_INFERENCE, (kind.__name__ for kind in type(error).__mro__))):
        return Confidence.HIGH
    reply = reply_of(getattr(error, "response", None))
    url = reply.url if isinstance(reply, Reply) else _url_of_request(error)
    return _sure_at(url, _OF_HUB) if url else None


def _sure_at(url: str, others: Callable[[str], object]) -> Confidence | None:
    """Return how surely a URL is of an API of models; None: it is of other services of that
    company, whose hosts `others` matches. A host of one's own may be in front of any."""
    if is_of_api(url):
        return Confidence.HIGH
    return None if others(urlsplit(url).hostname or "") else Confidence.LOW


_OF_AWS = re.compile(r"(?:^|\.)(?:amazonaws\.com(?:\.cn)?|api\.aws)\Z").search
_OF_HUB = re.compile(r"(?:^|\.)(?:huggingface\.co|hf\.co)\Z").search
_OF_INFERENCE = re.compile("InferenceTimeout|TextGeneration").match
"""Matches exceptions of huggingface_hub in which a model was asked, by name."""

_SURE: dict[str, Callable[[BaseException], Confidence | None]] = {
    "botocore": _sure_of_aws,
    "huggingface_hub": _sure_of_hub,
    # Clients of other services raise its exceptions too, without a word of which it was.
    "google.api_core": lambda _: Confidence.LOW,
}
"""How surely an exception is of models, for packages that serve more. None: it is not."""

_CLIENTS = frozenset({*BODIES, "httpcore", "httpcore2"})
"""Packages whose exceptions may tell of a connection. Those that Python has itself come from any
connection."""

_NEVER_ASKED = frozenset(
    {"PoolTimeout", "EmptyPoolError", "LocalProtocolError", "UnsupportedProtocol", "InvalidURL"}
    | {"UnsupportedParamsError", "JSONSchemaValidationError"}
)
"""Exceptions of HTTP clients by which nothing was sent: the caller's own pool was full, or the
request was none. SDKs raise theirs from them. The last two are LiteLLM's own objections, to a
request and to an answer."""

_never_sent = re.compile(
    r"LLM Provider NOT provided|Missing credentials|api_key client option must be set"
).search
"""Matches what LiteLLM's exceptions say where it sent nothing. It gives each a status of its own,
as if a provider had answered."""

_connection_failed = re.compile(r"Connection (?:error|refused|reset)|Cannot connect").search
"""Matches what they say where no provider answered."""

_KINDS: tuple[tuple[str, FaultKind], ...] = (
    ("ContentFilter", FaultKind.CONTENT_BLOCKED),
    ("OutputTokenLimit", FaultKind.OUTPUT_LIMIT),
    ("RateLimit", FaultKind.RATE_LIMITED),
    ("QuotaExceeded", FaultKind.PAYMENT),
    ("ContextWindow", FaultKind.CONTEXT_OVERFLOW),
    ("Authentication", FaultKind.AUTHENTICATION),
    ("Overloaded", FaultKind.OVERLOADED),
    ("ModelUnavailable", FaultKind.OVERLOADED),
    ("ModelServer", FaultKind.SERVER),
    ("RequestRejected", FaultKind.INVALID_REQUEST),
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
    SDK, or a `Failure`; None if it tells nothing of an answer. One of another program tells what
    the only one does that it was raised from, or that it groups."""
    for _ in range(_MOST_INNER):
        if (told := _of_one(error)) is not None:
            return told
        grouped = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
        inner = grouped[0] if len(grouped) == 1 else error.__cause__
        if inner is None:
            return None
        error = inner
    return None


_MOST_INNER = 8


def _of_one(error: BaseException) -> object:
    if any(type(one).__name__ in _NEVER_ASKED for one in (error, error.__cause__)):
        return None
    for name in ("completion", "last_completion"):  # openai's, instructor's
        if (held := getattr(error, name, None)) is not None:
            return held
    packages = {kind: _package_of(kind) for kind in type(error).__mro__}
    if "litellm" in packages.values():
        said = str(error)[:_SEARCHED_CHARS]
        if _never_sent(said):
            return None
        if _connection_failed(said):
            return Failure(Fault(FaultKind.CONNECTION), None, Confidence.HIGH)
        if type(error).__name__ == "APIConnectionError":  # its word for any error it doesn't know
            return None
    package = next((name for name in packages.values() if name in _SDKS), None)
    sure = _sure_of(error, package)
    if sure is None:
        return None
    wire = wires()[_SDKS[package]] if package is not None else None
    reply = _reply_in(error, told=wire is not None)
    if reply is not None:
        if not reply.is_error:
            return reply
        failure = failure_of(reply, wire)
        certain = wire is None or failure.sure is Confidence.HIGH
        return failure if certain else failure._replace(sure=sure)
    if wire is not None:
        told = object_in(getattr(error, "body", None))  # an error in a stream
        seen = wire.parse_object({"error": told}, event=True) if told else ()
        fault = next((one.fault for one in seen if isinstance(one, FaultSeen)), None)
        if fault is not None:
            return Failure(fault, wire, sure)
    named = [
        c.__name__ for c, package in packages.items() if package in _SDKS or package in _CLIENTS
    ]
    kind = _kind_in(named)
    if kind is None:
        return None
    return Failure(Fault(kind), wire, sure)


def _sure_of(error: BaseException, package: str | None) -> Confidence | None:
    """Return how surely an exception is of a known API: that of its SDK, or by its URL; None: it is
    of another one."""
    if package is None:
        return Confidence.HIGH if is_of_api(_url_of_request(error)) else Confidence.LOW
    sure = _SURE.get(package)
    return Confidence.HIGH if sure is None else sure(error)


def _package_of(kind: type) -> str:
    """Return the package of a class, with the second name if several packages share the first."""
    first, _, rest = kind.__module__.partition(".")
    return f"{first}.{rest.partition('.')[0]}" if first == "google" else first


def _url_of_request(error: BaseException) -> str:
    # httpx raises a RuntimeError where no request is known.
    request = getattr(error, "request", None) if getattr(error, "_request", error) else None
    return str(getattr(request, "url", None) or "")


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
_SEARCHED_CHARS = 2_000


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
