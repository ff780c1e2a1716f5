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
from typing import Any, ClassVar
from weakref import WeakSet

from tenuto.clients import httpx_client
from tenuto.clients.libraries import library_of
from tenuto.clients.wrap import engine
from tenuto.core.errors import PolicyError, UnsupportedClient
from tenuto.core.events.event import OnEvent
from tenuto.core.settings.names import refuses_unknown
from tenuto.core.settings.policy import RULES, Policy
from tenuto.turn.pipeline.engine import Engine

__all__ = ["install", "uninstall"]

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
    """What `install()` did to this process.

    Attributes:
        engine: what finishes turns, None while nothing is installed.
        members: those that LiteLLM's classes had of their own, None where they had none.
        sessions: its settings of clients as its user set them.
        clients: the recovering clients that LiteLLM was given.
    """

    engine: Engine | None = None
    members: ClassVar[dict[tuple[Any, str], Any]] = {}
    sessions: ClassVar[dict[str, Any]] = {}
    clients: ClassVar[WeakSet[Any]] = WeakSet()


@refuses_unknown(PolicyError, settings=RULES)
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
        if getattr(litellm, name, None) is not None:
            _take_session(litellm, name)
    # The SDK's clients that were made before hold the HTTP clients of then.
    litellm.in_memory_llm_clients_cache.flush_cache()


def uninstall() -> None:
    """Undo `install()`: LiteLLM's functions, settings and HTTP clients are its own again.

    Turns that are running end as they began. Does nothing if nothing is installed.

    ```python
    import tenuto.litellm

    tenuto.litellm.install()
    tenuto.litellm.uninstall()
    ```
    """
    if _Installed.engine is None:
        return
    _Installed.engine = None
    for (owner, name), member in _Installed.members.items():
        if member is None:
            delattr(owner, name)
        else:
            setattr(owner, name, member)
    _Installed.members.clear()
    litellm: Any = importlib.import_module("litellm")
    for name, session in _Installed.sessions.items():
        if getattr(litellm, name, None) in _Installed.clients:
            setattr(litellm, name, session)
    _Installed.sessions.clear()
    # LiteLLM's handlers go on using these.
    for client in list(_Installed.clients):
        httpx_client.stop_recovering(client)
    _Installed.clients.clear()
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
    made = httpx_client.recovering(client, made_by)
    _Installed.clients.add(made)
    return made


def _take_session(litellm: Any, name: str) -> Any:
    """Make a client that LiteLLM's user set a recovering one, and keep what was set."""
    session = getattr(litellm, name)
    if session not in _Installed.clients:
        _Installed.sessions[name] = session
    setattr(litellm, name, _recovering(session))
    return getattr(litellm, name)


def _replace(owner: Any, name: str, member: Any) -> None:
    """Give a class of LiteLLM a member of ours, and keep its own."""
    _Installed.members[owner, name] = vars(owner).get(name)
    setattr(owner, name, member)


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

    _replace(owner, name, property(client, given.fset, given.fdel, given.__doc__))


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
                return _take_session(litellm, session)
        return _recovering(made)

    _replace(owner, name, staticmethod(method) if is_static else method)


def _built(owner: Any, _: str) -> None:
    """A class of clients, which LiteLLM makes instances of at several places."""
    _replace(owner, "send", httpx_client.sending_of(owner.__base__))
    _replace(owner, httpx_client.ENGINE, property(lambda self: _Installed.engine))


_SHAPES: dict[str, Callable[[Any, str], None]] = {
    "client": _taken_up,
    "create_client": _made,
    "_get_sync_http_client": _made,
    "_get_async_http_client": _made,
    "__init__": _built,
}
