"""`wrap()`: one changed line in front of an official SDK."""

from __future__ import annotations

import copy
from typing import Any, TypeVar, cast

from tenuto.clients import botocore_client
from tenuto.clients.httpx_client import engine_of, library_of, recovering
from tenuto.clients.signing import signing
from tenuto.config import load_policy
from tenuto.core.errors import PolicyError, UnsupportedClient
from tenuto.core.events import OnEvent
from tenuto.core.policy import Policy
from tenuto.relay.engine import Engine

Client = TypeVar("Client")

SDKS: tuple[tuple[str, frozenset[str]], ...] = (
    ("openai", frozenset({"OpenAI", "AsyncOpenAI"})),
    ("anthropic", frozenset({"Anthropic", "AsyncAnthropic"})),
    ("anthropic", frozenset({"AnthropicBedrock", "AsyncAnthropicBedrock"})),
    ("anthropic", frozenset({"AnthropicBedrockMantle", "AsyncAnthropicBedrockMantle"})),
    ("anthropic", frozenset({"AnthropicVertex", "AsyncAnthropicVertex"})),
)
"""Package and class names of what can be wrapped; subclasses count, which in the anthropic SDK are
`AnthropicAWS`, `AnthropicFoundry` and `AnthropicGoogleCloud`."""

_RESOURCES = frozenset({"openai._resource", "anthropic._resource"})
"""Where the SDKs say how a resource is made: of a client, and with methods bound to it."""


def wrap(
    client: Client, *, policy: Policy | None = None, on_event: OnEvent | None = None
) -> Client:
    """A client like this one, of the same type, that finishes its turns.

    It is used exactly as before. Its own settings stay in force: timeouts, retries, proxies,
    headers, cookies, hooks, transports, and what a subclass adds. The client that is given stays as
    it is. Wrapping twice is wrapping once; a second policy replaces the first.

    Args:
        client: an `openai.OpenAI`, an `anthropic.Anthropic`, `AnthropicBedrock`, `AnthropicVertex`
            or another of the anthropic SDK's, their async sisters, or an instance of a subclass of
            one of them; or a client of boto3 or aiobotocore for `bedrock-runtime`. Where a client
            signs its requests, every request that differs from what it signed is signed by it anew.
        policy: the limits; None: those of `[tool.tenuto]`, tenuto.toml and `TENUTO_*`, else the
            defaults.
        on_event: called with each `Event` of each turn, from the thread that runs the turn.

    Raises:
        UnsupportedClient: the object is none of these.
        PolicyError: a setting outside the program is not allowed, or needs a package that is not
            installed.

    >>> import openai
    >>> client = wrap(openai.OpenAI(api_key="none"))
    >>> isinstance(client, openai.OpenAI)
    True
    """
    if botocore_client.is_client(client):
        return cast("Client", _wrapped_botocore(client, policy, on_event))
    http = getattr(client, "_client", None)
    if not _is_known(client) or library_of(http) is None:
        names = ", ".join(f"{package}.{name}" for package, known in SDKS for name in sorted(known))
        given = f"{type(client).__module__}.{type(client).__qualname__}"
        names += f", a client of boto3 for {botocore_client.SERVICE}"
        raise UnsupportedClient(f"cannot wrap {given}; what can be wrapped: {names}")
    cls = signing(client)
    if engine_of(http) and cls is type(client) and policy is None and on_event is None:
        return client
    before = engine_of(http)
    if policy is None and before is not None:
        policy = before.policy
    made_by = engine(policy, on_event)
    wrapped = copy.copy(client)
    wrapped.__class__ = cls
    _forget_resources(wrapped, client)
    vars(wrapped)["_client"] = recovering(http, made_by)
    _rebind_middleware(wrapped)
    return wrapped


def _wrapped_botocore(client: Any, policy: Policy | None, on_event: OnEvent | None) -> Any:
    before = botocore_client.engine_of(client)
    if before is not None and policy is None and on_event is None:
        return client
    policy = before.policy if before is not None and policy is None else policy
    return botocore_client.recovering(client, engine(policy, on_event))


def engine(policy: Policy | None, on_event: OnEvent | None) -> Engine:
    """The engine of a client that is given these settings; for a policy of None, those outside the
    program."""
    if policy is not None and not isinstance(policy, Policy):
        raise PolicyError(f"policy is {policy!r}, allowed is a tenuto.Policy, or none")
    if on_event is not None and not callable(on_event):
        raise PolicyError(f"on_event is {on_event!r}, allowed is a callable, or none")
    return Engine(load_policy() if policy is None else policy, on_event)


def _is_known(client: object) -> bool:
    return any(
        cls.__module__.partition(".")[0] == package and cls.__name__ in names
        for cls in type(client).__mro__
        for package, names in SDKS
    )


def _rebind_middleware(wrapped: Any) -> None:
    """Anthropic's SDK makes its chain of middleware once, around the client's own transport."""
    if vars(wrapped).get("_middleware_chain") is not None:
        made = wrapped._build_middleware_chain()  # noqa: SLF001 - there is no public way
        vars(wrapped)["_middleware_chain"] = made


def _forget_resources(wrapped: Any, original: Any) -> None:
    """`client.chat` and its like are made once and point at their client: those of the SDK are
    made anew, where that is so when they are asked for; those that a subclass made are copied."""
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
