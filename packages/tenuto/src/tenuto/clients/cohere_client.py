"""The clients of the cohere SDK, whose HTTP client of httpx is two levels below.

Theory of operation
-------------------
A client consists of several parts: a wrapper that makes headers, a client of the SDK's own over one
of httpx, a raw client for each version, and sub-clients that are created on first use. Its `chat`
methods are set on the instance and refer to the client that they were made for. So the copy copies
every part that leads to the HTTP client, and replaces the HTTP client.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import FunctionType, MethodType
from typing import Any

from tenuto.clients import httpx_client
from tenuto.clients.libraries import library_of
from tenuto.clients.sdk_client import is_named
from tenuto.core.errors import UnsupportedClient
from tenuto.turn.pipeline.engine import Engine
from tenuto.wires.moved import HOW
from tenuto.wires.registry import WIRES

CLASSES: Mapping[str, frozenset[str]] = {
    "cohere": frozenset({"Client", "AsyncClient", "ClientV2", "AsyncClientV2"}),
}
"""Subclasses count, except those of the SDK that translate to another service (`_ELSEWHERE`)."""

_VERSION_2 = {"cohere": frozenset({"ClientV2", "AsyncClientV2"})}

NAMES: tuple[str, ...] = tuple(f"cohere.{name}" for name in sorted(CLASSES["cohere"]))

_ELSEWHERE = ("cohere.aws_client", "cohere.oci_client")
"""Their hooks turn each request into one of another service, and its answers back."""

_TURNS = frozenset({"chat", "chat_stream"})
"""The methods whose answers Tenuto finishes."""

_EXPERIMENTAL = "response_format.schema"
"""The argument that the SDK warns about."""


def is_client(client: object) -> bool:
    """Return whether this module wraps the client."""
    if not is_named(client, CLASSES) or library_of(_http_of(client)) is None:
        return False
    return not any(cls.__module__.startswith(_ELSEWHERE) for cls in type(client).__mro__)


def _http_of(client: object) -> Any:
    """Return the client of httpx, or None if there is none."""
    own = getattr(getattr(client, "_client_wrapper", None), "httpx_client", None)
    return getattr(own, "httpx_client", None)


def engine_of(client: Any) -> Engine | None:
    """Return the engine of a wrapped client, or None."""
    return httpx_client.engine_of(_http_of(client))


def is_wrapped(client: Any) -> bool:
    """Return whether the client is wrapped already."""
    return engine_of(client) is not None


def recovering(client: Any, engine: Engine) -> Any:
    """Return a copy of the client that finishes its turns.

    Raises:
        UnsupportedClient: it speaks version 1 of the API, whose wire isn't installed, or one of its
            methods was replaced."""
    if not is_named(client, _VERSION_2) and WIRES.find("cohere-v1") is None:
        raise UnsupportedClient(
            f"cannot wrap a cohere.{type(client).__name__}, whose chat is version 1 of the API: "
            f"use cohere.ClientV2, or {HOW}"
        )
    http = _http_of(client)
    made: dict[int, Any] = {id(http): httpx_client.recovering(http, engine)}
    wrapped = _copied(client, made)
    for part in made.values():
        _refuse_replaced(part)
    _bind_checks(wrapped)
    return wrapped


def _refuse_replaced(part: Any) -> None:
    """Reject a replaced `chat` or `chat_stream` of the client or of one of its parts.

    Raises:
        UnsupportedClient: the replacement may call the original client, whose turns aren't
            finished, and leaving it out would ignore what the caller wants."""
    for name in _TURNS & vars(part).keys():
        if not _is_the_sdks(vars(part)[name]):
            raise UnsupportedClient(
                f"cannot wrap a client of cohere whose {name} was replaced; "
                "wrap the client first, then replace the method"
            )


def _is_the_sdks(value: object) -> bool:
    """Return whether the SDK wrote a function. Its globals show that; its module name doesn't,
    since `functools.wraps` may copy that from another function."""
    if not isinstance(value, FunctionType):
        return False
    return str(value.__globals__.get("__name__")).partition(".")[0] == "cohere"


def _bind_checks(wrapped: Any) -> None:
    """Make `chat` and `chat_stream` of an instance anew: they check their arguments and call the
    client that they were made for."""
    sdk = importlib.import_module("cohere.client")
    methods = _TURNS & vars(wrapped).keys()
    for name in methods:
        delattr(wrapped, name)
    if "chat" in methods:
        sdk.validate_args(wrapped, "chat", sdk.throw_if_stream_is_true)
    if "chat_stream" in methods:  # then both warn of what is experimental
        for name in sorted(methods):
            warning = sdk.experimental_kwarg_decorator(getattr(wrapped, name), _EXPERIMENTAL)
            setattr(wrapped, name, warning)


def _copied(part: Any, made: dict[int, Any]) -> Any:
    """Return a copy of an SDK object and of all that it holds; `made` collects the copies."""
    copy = object.__new__(type(part))  # its own copy methods may use its parts
    made[id(part)] = copy
    vars(copy).update({name: _over(value, made) for name, value in vars(part).items()})
    return copy


def _over(value: Any, made: dict[int, Any]) -> Any:
    """Return the value for the copy: another one if it leads to the HTTP client."""
    if id(value) in made:
        return made[id(value)]
    if isinstance(value, MethodType):
        return MethodType(value.__func__, _over(value.__self__, made))
    if type(value).__module__.startswith("cohere.") and hasattr(value, "__dict__"):
        return _copied(value, made)
    return value
