"""The client of google-genai, which keeps its HTTP clients one level below.

Theory of operation
-------------------
A `genai.Client` is a bundle of resources (`models`, `chats`, `aio`, …) that share one API client.
The API client has a sync and an async client of httpx2 or httpx; if aiohttp is installed, it uses
that for all async calls instead. The copy made here has its own API client with two HTTP clients
that recover. It doesn't use aiohttp: settings for async connections (arguments, headers, proxies,
the environment) are carried over, and what fails is raised as aiohttp raises it.

As in `httpx_client`, the copy keeps the original alive: the original closes the connections when it
is garbage-collected, and the copy closes them only if it is asked to.

So the copy's type is a subclass with the same name. The SDK's `__del__` calls `close()`, and an
instance can't tell garbage collection from a call of `close()`. A dropped copy of the same type
would close the original's connections. `isinstance` works as before, but `type(…) is genai.Client`
is False. The clients of openai and anthropic have no `__del__` of their own, only their HTTP client
has.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

from tenuto.clients import httpx_client
from tenuto.clients.aiohttp_errors import raising_as_aiohttp
from tenuto.clients.libraries import library_of
from tenuto.clients.sdk_client import is_named
from tenuto.turn.pipeline.engine import Engine

_API = "_api_client"
_ASYNC = "_async_httpx_client"
_SYNC = "_httpx_client"


NAMES: tuple[str, ...] = ("google.genai.Client",)


def is_client(client: object) -> bool:
    """Return whether this module wraps the client. Both HTTP clients must exist: with client
    certificates for Vertex AI, the SDK uses other libraries."""
    api = getattr(client, _API, None)
    both = all(library_of(getattr(api, name, None)) is not None for name in (_SYNC, _ASYNC))
    return both and is_named(client, {"google.genai": frozenset({"Client"})})


def engine_of(client: Any) -> Engine | None:
    """Return the engine of a wrapped client, or None."""
    return httpx_client.engine_of(getattr(getattr(client, _API), _SYNC))


def is_wrapped(client: Any) -> bool:
    """Return whether the client is wrapped already."""
    return engine_of(client) is not None


def recovering(client: Any, engine: Engine) -> Any:
    """Return a `genai.Client` like this one that finishes its turns."""
    original = getattr(client, "_tenuto_original", client)
    old = getattr(original, _API)
    api = copy.copy(old)
    api.__class__ = _subclass(_class_of(old), "_use_aiohttp")
    vars(api)[_SYNC] = httpx_client.recovering(getattr(old, _SYNC), engine)
    task = httpx_client.recovering(_async_client(old), engine)
    if old._use_aiohttp():  # noqa: SLF001
        task = raising_as_aiohttp(task, library_of(task))
    vars(api)[_ASYNC] = task
    wrapped = _over(original, old, api)
    wrapped.__class__ = _subclass(_class_of(original))
    # Resources such as `aio` may be all that the caller keeps. They hold the API client.
    for holder in (wrapped, api):
        vars(holder)["_tenuto_original"] = original
    return wrapped


@cache
def _subclass(base: Any, *switched_off: str) -> Any:
    """Return a subclass that garbage collection doesn't close, with the same name for display."""
    members: dict[str, Any] = {name: lambda self: False for name in switched_off}
    # The original closes the shared connections when it is garbage-collected.
    members |= {"__del__": _leave, "__module__": base.__module__}
    return type(base.__name__, (base,), members)


def _class_of(value: object) -> Any:
    return type(value)


def _leave(self: object) -> None:
    """Do nothing: close nothing."""


def _over(owner: Any, old: Any, api: Any) -> Any:
    """Return a copy of an object that holds resources, all over another API client. What the SDK
    creates on first use, it creates anew."""
    made = copy.copy(owner)
    vars(made)[_API] = api
    for name, value in list(vars(made).items()):
        if name != _API and getattr(value, _API, None) is old:
            vars(made)[name] = _over(value, old, api)
        elif type(value).__module__.startswith("google.genai._"):
            vars(made)[name] = api if value is old or value is api else None
    if type(made).__name__ == "AsyncClient":
        made.__class__ = _subclass(_class_of(made))
    return made


def _async_client(api: Any) -> Any:
    """Return the async client to use in place of aiohttp: the one that the SDK made beside it, or
    another one if there are settings to carry over. From the arguments that is the TLS context,
    which has another name there, and from the caller's session its headers, cookies and proxy."""
    made = getattr(api, _ASYNC)
    carried = _carried(api)
    if not carried or not api._use_aiohttp() or not hasattr(made, "_client_kwargs"):  # noqa: SLF001
        return made
    return type(made)(**{**made._client_kwargs, **carried})  # noqa: SLF001


def _carried(api: Any) -> dict[str, Any]:
    """Return the settings for aiohttp alone, as httpx names them."""
    carried: dict[str, Any] = {}
    options = api._http_options  # noqa: SLF001
    if ssl := (options.async_client_args or {}).get("ssl"):
        carried["verify"] = ssl
    if (session := options.aiohttp_client) is not None:
        carried |= {"headers": dict(session.headers), "trust_env": session.trust_env}
        carried["cookies"] = {cookie.key: cookie.value for cookie in session.cookie_jar}
        if proxy := getattr(session, "_default_proxy", None):
            carried["proxy"] = str(proxy)
    return carried
