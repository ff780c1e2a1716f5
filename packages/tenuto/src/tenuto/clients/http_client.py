"""`http_client()` and `async_http_client()`: the pipe for programs that accept an HTTP client.

Theory of operation
-------------------
These functions create a client of the library, and return its recovering copy, as `wrap()` would
make it. So there is one implementation, and wrapping the copy again has no further effect. Only the
copy holds the library's client, and it shares its transports, so closing the copy closes
everything.
"""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, overload

from tenuto.clients.httpx_client import recovering
from tenuto.clients.libraries import LIBRARIES
from tenuto.clients.redirects import staying_with_its_host
from tenuto.clients.two_ways import note_made
from tenuto.clients.wrap import engine
from tenuto.core.errors import PolicyError, UnsupportedClient
from tenuto.core.events.event import OnEvent
from tenuto.core.settings.names import check_arguments
from tenuto.core.settings.policy import RULES, Policy
from tenuto.turn.pipeline.engine import Engine

if TYPE_CHECKING:
    import httpx
    import httpx2

READ_TIMEOUT_S = 600.0
CONNECT_TIMEOUT_S = 5.0
MAX_CONNECTIONS = 1000
MAX_KEEPALIVE_CONNECTIONS = 100
"""The timeouts and limits of the clients that the SDKs create. Without them, a client of either
library waits only 5 s for a model, which may think for minutes, and follows no redirect:
https://github.com/openai/openai-python#configuring-the-http-client (read 2026-11-22)."""


@overload
def http_client(
    library: Literal["httpx2"] = "httpx2",
    *,
    policy: Policy | None = None,
    on_event: OnEvent | None = None,
    **options: Any,
) -> httpx2.Client: ...
@overload
def http_client(
    library: Literal["httpx"],
    *,
    policy: Policy | None = None,
    on_event: OnEvent | None = None,
    **options: Any,
) -> httpx.Client: ...
def http_client(
    library: str = "httpx2",
    *,
    policy: Policy | None = None,
    on_event: OnEvent | None = None,
    **options: Any,
) -> Any:
    """Return a client of httpx2 or httpx that finishes the turns sent through it.

    Pass it to frameworks and SDKs that accept an HTTP client. It is an instance of the library's
    `Client`, and you use and close it like any other. Requests that aren't turns of a model pass
    through untouched.

    Args:
        library: "httpx2" or "httpx", whichever the framework or SDK is built on. The openai SDK
            accepts both, Cohere's only "httpx". With the wrong one, the first request raises
            `UnsupportedClient`.
        policy: the limits; None: those of `[tool.tenuto]`, tenuto.toml and `TENUTO_*`, or else the
            defaults.
        on_event: called with each `Event` of each turn, from the thread that runs the turn.
        options: passed to the library's own constructor. By default, `timeout` is 600 s with 5 s to
            connect, `limits` are 1,000 connections with 100 kept alive, and `follow_redirects` is
            True, as in the clients of the
            [SDKs](https://github.com/openai/openai-python#configuring-the-http-client). A redirect
            to another host is never followed but returned, because the library would send keys such
            as `api-key` along.

    Raises:
        UnsupportedClient: the library is neither of the two, or is not installed.
        PolicyError: an option is unknown, `policy` or `on_event` has the wrong type, or a setting
            in a file or variable is not allowed or needs a package that is not installed.

    >>> import httpx
    >>> with http_client("httpx", headers={"x-team": "tides"}) as client:
    ...     isinstance(client, httpx.Client), client.timeout.read
    (True, 600.0)
    """
    return _made("Client", library, policy, on_event, options)


@overload
def async_http_client(
    library: Literal["httpx2"] = "httpx2",
    *,
    policy: Policy | None = None,
    on_event: OnEvent | None = None,
    **options: Any,
) -> httpx2.AsyncClient: ...
@overload
def async_http_client(
    library: Literal["httpx"],
    *,
    policy: Policy | None = None,
    on_event: OnEvent | None = None,
    **options: Any,
) -> httpx.AsyncClient: ...
def async_http_client(
    library: str = "httpx2",
    *,
    policy: Policy | None = None,
    on_event: OnEvent | None = None,
    **options: Any,
) -> Any:
    """Return an async client of httpx2 or httpx that finishes the turns sent through it.

    Args:
        library: "httpx2" or "httpx", whichever the framework or SDK is built on.
        policy: the limits; None: as for `http_client`.
        on_event: called with each `Event` of each turn, from the task that runs the turn.
        options: passed to the library's own constructor; defaults as for `http_client` (timeouts in
            seconds).

    Raises:
        UnsupportedClient: the library is neither of the two, or is not installed.
        PolicyError: as for `http_client`.

    >>> import httpx
    >>> isinstance(async_http_client("httpx"), httpx.AsyncClient)
    True
    """
    return _made("AsyncClient", library, policy, on_event, options)


def _made(
    name: str,
    library: str,
    policy: Policy | None,
    on_event: OnEvent | None,
    options: dict[str, Any],
) -> Any:
    return client_of(engine(policy, on_event), name, library, options)


def client_of(made_by: Engine, name: str, library: str, options: dict[str, Any]) -> Any:
    """Return a client of a library whose turns an engine finishes. Clients of one engine share
    what their turns learn.

    Args:
        made_by: the engine.
        name: the class in the library, "Client" or "AsyncClient".
        library: "httpx2" or "httpx".
        options: for the library's own constructor; those that are missing are as for `http_client`.

    Raises:
        UnsupportedClient, PolicyError: as for `http_client`.
    """
    module = imported(library)
    defaults = {
        "timeout": module.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
        "limits": module.Limits(
            max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_KEEPALIVE_CONNECTIONS
        ),
        "follow_redirects": True,
    }
    base: Any = getattr(module, name)
    taken = inspect.signature(base).parameters.values()
    if not any(each.kind is each.VAR_KEYWORD for each in taken):  # as where a tracer replaced it
        known = [*(each.name for each in taken), "library", "policy", "on_event"]
        check_arguments(options, known, f"an argument of a {library}.{name}", PolicyError, RULES)
    cls = staying_with_its_host(_of_its_library(base, library))
    client = recovering(cls(**(defaults | options)), made_by)
    note_made(library, is_async=name == "AsyncClient")
    return client


@cache
def _of_its_library(base: Any, library: str) -> Any:
    """Return a subclass of a library's client that raises a clear error if an SDK built on the
    other library uses it. Without it, the SDK would pass a default timeout of a foreign type, and
    get errors that it doesn't know.
    """

    def build_request(self: Any, *args: Any, **options: Any) -> Any:
        kind = type(options.get("timeout"))
        taker = kind.__module__.partition(".")[0]
        if kind.__name__ == "UseClientDefault" and taker != library:
            maker = "async_http_client" if base.__name__ == "AsyncClient" else "http_client"
            raise UnsupportedClient(
                f"this SDK is built on {taker} and cannot use a client of {library}; "
                f"pass it tenuto.{maker}({taker!r})"
            )
        return base.build_request(self, *args, **options)

    members = {"build_request": build_request, "__module__": base.__module__}
    return type(base.__name__, (base,), members)


def imported(library: str, install: str = "") -> Any:
    """Import a library to make clients of.

    Args:
        library: its name.
        install: the command that installs it for the caller's purpose; "": the library alone.

    Raises:
        UnsupportedClient: the library is neither of the two, or is not installed.
    """
    if library not in LIBRARIES:
        allowed = " or ".join(repr(name) for name in LIBRARIES)
        raise UnsupportedClient(f"library is {library!r}, but it must be {allowed}")
    try:
        return importlib.import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        (other,) = set(LIBRARIES) - {library}
        advice = install or f"pip install {library}; or pass {other!r} for a client of {other}"
        raise UnsupportedClient(f"{library} is not installed; install it with: {advice}") from error
