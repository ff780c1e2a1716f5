"""The clients of SDKs that hold one HTTP client of httpx2 or httpx."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

from tenuto.clients import httpx_client
from tenuto.clients.libraries import library_of
from tenuto.clients.signing import signing
from tenuto.core.errors import UnsupportedClient
from tenuto.turn.pipeline.engine import Engine

CLASSES: Mapping[str, frozenset[str]] = {
    "openai": frozenset({"OpenAI", "AsyncOpenAI"}),
    "anthropic": frozenset(
        {"Anthropic", "AsyncAnthropic", "AnthropicBedrock", "AsyncAnthropicBedrock"}
        | {"AnthropicBedrockMantle", "AsyncAnthropicBedrockMantle"}
        | {"AnthropicVertex", "AsyncAnthropicVertex"}
    ),
    "groq": frozenset({"Groq", "AsyncGroq"}),
    "together": frozenset({"Together", "AsyncTogether"}),
    "cerebras.cloud.sdk": frozenset({"Cerebras", "AsyncCerebras"}),
    "ollama": frozenset({"Client", "AsyncClient"}),
}
"""Names of classes by package. Subclasses count, too: in the anthropic SDK `AnthropicAWS`,
`AnthropicFoundry` and `AnthropicGoogleCloud`."""

NAMES: tuple[str, ...] = tuple(
    f"{package}.{name}" for package, names in CLASSES.items() for name in sorted(names)
)

_RESOURCES = frozenset(f"{package}._resource" for package in CLASSES)
"""The modules of the SDKs' resources. Their constructor takes a client and binds its methods."""


def is_named(client: object, names: Mapping[str, frozenset[str]]) -> bool:
    """Return whether a client's class, or one of its base classes, has one of these names in one of
    these packages."""
    return any(
        f"{cls.__module__}.".startswith(f"{package}.") and cls.__name__ in known
        for cls in type(client).__mro__
        for package, known in names.items()
    )


def is_client(client: object) -> bool:
    """Return whether this module wraps the client."""
    http = getattr(client, "_client", None)
    return is_named(client, CLASSES) and library_of(http) is not None


def engine_of(client: Any) -> Engine | None:
    """Return the engine of a client whose HTTP client recovers, or None."""
    return httpx_client.engine_of(client._client)  # noqa: SLF001 - see private_seams


def is_wrapped(client: Any) -> bool:
    """Return whether the client is wrapped already: its HTTP client recovers, and signatures are
    noted."""
    return engine_of(client) is not None and signing(client) is type(client)


def recovering(client: Any, engine: Engine) -> Any:
    """Return a client like this one that finishes its turns.

    Raises:
        UnsupportedClient: a method was replaced on the client or on one of its resources. The
            replacement may call the original client, whose turns are not finished, and leaving it
            out would change the client. A method that was replaced on the class, as tracing
            libraries do, is not affected."""
    if replaced := next(_replaced(client, client), ""):
        raise UnsupportedClient(
            f"cannot wrap a client whose {replaced} was replaced; "
            "wrap the client first, then replace the method"
        )
    wrapped = copy.copy(client)
    wrapped.__class__ = signing(client)
    _forget_resources(wrapped, client)
    http = client._client  # noqa: SLF001
    vars(wrapped)["_client"] = httpx_client.recovering(http, engine)
    _rebind_middleware(wrapped)
    return _with_copies(wrapped)


_COPIES = ("copy", "with_options")
"""The methods that return another client. Only the second identifies these SDKs: in Ollama's,
`copy` copies a model."""

_MARK = "tenuto_copies"


def _with_copies(client: Any) -> Any:
    """Have the copies of a wrapped client finish their turns, even if the caller gives one another
    HTTP client. The methods are set on the instance, so that its class stays the SDK's own."""
    if hasattr(type(client), "with_options"):
        for name in _COPIES:
            if hasattr(vars(client).get(name), _MARK):  # that of the client it was copied from
                del vars(client)[name]
            vars(client)[name] = _copied(client, getattr(client, name))
    return client


def _copied(client: Any, own: Callable[..., Any]) -> Any:
    @wraps(own)
    def copied(*args: Any, **options: Any) -> Any:
        made = own(*args, **options)
        engine = engine_of(client)
        if engine is None or not isinstance(made, type(client)):
            return made  # the client's `_client` was replaced, or a subclass returns something else
        if engine_of(made) is None:
            return recovering(made, engine)
        made.__class__ = signing(made)  # a copy may be the first to have what signs
        return _with_copies(made)

    setattr(copied, _MARK, True)
    return copied


def _replaced(part: Any, client: Any) -> Iterator[str]:
    """Yield the names of methods that were replaced on the instance or its resources."""
    for name, value in vars(part).items():
        if name.startswith("_") or hasattr(value, _MARK):
            continue
        if callable(getattr(type(part), name, None)):
            yield name
        elif getattr(value, "_client", None) is client:
            yield from (f"{name}.{below}" for below in _replaced(value, client))


def _rebind_middleware(wrapped: Any) -> None:
    """Build the chain of middleware again: Anthropic's SDK builds it once, around the transport."""
    if vars(wrapped).get("_middleware_chain") is not None:
        made = wrapped._build_middleware_chain()  # noqa: SLF001 - see private_seams
        vars(wrapped)["_middleware_chain"] = made


def _forget_resources(wrapped: Any, original: Any) -> None:
    """Replace the resources, such as `client.chat`, which point at the client that made them. The
    SDK makes its own again, on next use or here; a subclass's are copied."""
    for name, value in list(vars(wrapped).items()):
        if getattr(value, "_client", None) is not original:
            continue
        if hasattr(type(wrapped), name):
            del vars(wrapped)[name]
        elif type(value).__init__.__module__ in _RESOURCES:
            setattr(wrapped, name, type(value)(wrapped))
        else:
            own = copy.copy(value)
            vars(own)["_client"] = wrapped
            setattr(wrapped, name, own)
