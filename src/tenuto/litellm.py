"""Tenuto under every path of LiteLLM.

Theory of operation
-------------------
LiteLLM has no one place for an HTTP client. Its settings `client_session` and `aclient_session`
reach the OpenAI SDK only. Anthropic, Gemini and most other providers go through handlers of its
own, which ignore them. `install()` makes every HTTP client that LiteLLM uses for a model a
recovering one, where LiteLLM makes it or takes it up. It keeps LiteLLM's own TLS, proxy and timeout
settings.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from tenuto.clients import httpx_client
from tenuto.clients.libraries import library_of
from tenuto.clients.wrap import engine
from tenuto.core.errors import UnsupportedClient
from tenuto.core.event import OnEvent
from tenuto.core.policy import Policy
from tenuto.turn.engine import Engine

__all__ = ["install"]

_HANDLERS = "litellm.llms.custom_httpx.http_handler"
_OPENAI = "litellm.llms.openai.common_utils"

_SEAMS = (
    (_HANDLERS, "HTTPHandler", "client"),
    (_HANDLERS, "HTTPHandler", "create_client"),
    (_HANDLERS, "AsyncHTTPHandler", "client"),
    (_HANDLERS, "AsyncHTTPHandler", "create_client"),
    (_OPENAI, "BaseOpenAILLM", "_get_sync_http_client"),
    (_OPENAI, "BaseOpenAILLM", "_get_async_http_client"),
    (_OPENAI, "OpenAIHTTPClient", "__init__"),
    (_OPENAI, "OpenAIAsyncHTTPClient", "__init__"),
)
"""Where LiteLLM makes an HTTP client or takes one up. Read in 1.110.2, which documents none."""

_SESSIONS = ("client_session", "aclient_session")


class _Installed:
    """The engine of this process, None before `install()`."""

    engine: Engine | None = None


def install(*, policy: Policy | None = None, on_event: OnEvent | None = None) -> None:
    """Let Tenuto finish all turns that this process sends through LiteLLM.

    Call it once, before the first request, and after you set `litellm.client_session` or
    `aclient_session`, if you do. `completion`, `acompletion`, `Router`, `responses` and everything
    built on them work as before, including streams. A second call replaces the policy.

    It doesn't cover an SDK client that you pass yourself, as in
    `completion(client=openai.OpenAI())`: wrap that client. Requests that LiteLLM signs (Amazon
    Bedrock with AWS keys) pass through untouched, because Tenuto can't sign further ones; with a
    Bedrock API key, it finishes the turn.

    Args:
        policy: the limits; None: as for `tenuto.http_client`.
        on_event: called with each `Event` of each turn, from the thread or task that runs the turn.

    Raises:
        PolicyError: as for `tenuto.http_client`.
        UnsupportedClient: LiteLLM is not installed, or this version creates its HTTP clients
            elsewhere. Nothing is changed.

    ```python
    import tenuto.litellm

    tenuto.litellm.install()
    ```
    """
    made_by = engine(policy, on_event)
    try:
        litellm: Any = importlib.import_module("litellm")
    except ModuleNotFoundError as error:
        if error.name != "litellm":
            raise
        raise UnsupportedClient(
            "LiteLLM is not installed; install it with: pip install litellm"
        ) from error
    found = [_seam(*names) for names in _SEAMS]
    first, _Installed.engine = _Installed.engine is None, made_by
    if first:
        for owner, name in found:
            _SHAPES[name](owner, name)
    for name in _SESSIONS:
        if (session := getattr(litellm, name, None)) is not None:
            setattr(litellm, name, _recovering(session))
    # The SDK's clients that were made before hold the HTTP clients of then.
    litellm.in_memory_llm_clients_cache.flush_cache()


def _seam(module: str, owner: str, name: str) -> tuple[Any, str]:
    """The class that has a seam, and the seam's name.

    Raises:
        UnsupportedClient: this version of LiteLLM does not have it."""
    try:
        cls = getattr(importlib.import_module(module), owner)
    except (ImportError, AttributeError):
        cls = None
    there = vars(cls).get(name) if cls is not None else None
    if there is None or isinstance(there, property) != (name == "client"):
        version = importlib.import_module("importlib.metadata").version("litellm")
        raise UnsupportedClient(
            f"LiteLLM {version} has no {module}.{owner}.{name}, so Tenuto cannot tell which HTTP "
            "clients it makes; pass a recovering client with each call (`client=`) instead"
        )
    return cls, name


def _recovering(client: Any) -> Any:
    """A client like this one that recovers with the engine of now; what is no client stays."""
    made_by = _Installed.engine
    if made_by is None or library_of(client) is None or httpx_client.engine_of(client) is made_by:
        return client
    return httpx_client.recovering(client, made_by)


def _taken_up(owner: Any, name: str) -> None:
    """A property that gives out the client that a handler has."""
    given: property = vars(owner)[name]
    read = given.fget
    assert read is not None

    def client(self: Any) -> Any:
        made = read(self)
        wrapped = _recovering(made)
        if wrapped is not made:
            # Not through the setter: the handler goes on owning what it made, and closes it.
            self._client = wrapped
        return wrapped

    setattr(owner, name, property(client, given.fset, given.fdel, given.__doc__))


def _made(owner: Any, name: str) -> None:
    """A method that makes a client, of an instance or static."""
    given = vars(owner)[name]
    is_static = isinstance(given, staticmethod)
    make: Callable[..., Any] = given.__func__ if is_static else given

    def method(*args: Any, **options: Any) -> Any:
        made = make(*args, **options)
        litellm: Any = importlib.import_module("litellm")
        for session in _SESSIONS:
            # LiteLLM closes what it has given out, unless it is the very session.
            if made is getattr(litellm, session, None):
                setattr(litellm, session, _recovering(made))
                return getattr(litellm, session)
        return _recovering(made)

    setattr(owner, name, staticmethod(method) if is_static else method)


def _built(owner: Any, _: str) -> None:
    """A class of clients, which LiteLLM makes instances of at several places."""
    owner.send = httpx_client.sending_of(owner.__base__)
    setattr(owner, httpx_client.ENGINE, property(lambda self: _Installed.engine))


_SHAPES: dict[str, Callable[[Any, str], None]] = {
    "client": _taken_up,
    "create_client": _made,
    "_get_sync_http_client": _made,
    "_get_async_http_client": _made,
    "__init__": _built,
}
