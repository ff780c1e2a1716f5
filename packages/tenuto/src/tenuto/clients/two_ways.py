"""A warning for frameworks whose models take two HTTP clients, if the program made only one.

Such a model creates its own client for the calls that it got no client for. Tenuto doesn't see that
client, so it finishes none of its turns and reports no events. Tenuto doesn't see either what a
framework got, so the warning depends on which clients this process made.
"""

from __future__ import annotations

import atexit
import logging
import sys

log: logging.Logger = logging.getLogger("tenuto")

TAKERS = {
    "langchain_openai": ("http_client", "http_async_client"),
    "langchain_groq": ("http_client", "http_async_client"),
    "llama_index.llms.openai": ("http_client", "async_http_client"),
}
"""Modules whose models take two clients, with the names of the arguments for the sync and the async
client. A module whose models take none, such as langchain_anthropic, has no row."""

_WAYS = ("sync", "async")
_MAKERS = ("http_client", "async_http_client")


class _Process:
    """Which clients this process made, sync and async, of which library, and whether it was
    warned."""

    def __init__(self) -> None:
        self.made = [False, False]
        self.library = ""
        self.warned = False


_process = _Process()


def note_made(library: str, *, is_async: bool) -> None:
    """Note that `http_client()` or `async_http_client()` made a client of a library."""
    if not any(_process.made):
        # If the client never sends a request, this is the only chance to warn.
        atexit.register(warn_of_missing_client)
    _process.made[is_async], _process.library = True, library


def warn_of_missing_client() -> None:
    """Warn, once in a process, if it made only one kind of client and loaded a framework that takes
    both."""
    if _process.warned or sum(_process.made) != 1:
        return
    taker = next((name for name in TAKERS if name in sys.modules), None)
    if taker is None:
        return
    _process.warned = True
    made, missing = _process.made.index(True), _process.made.index(False)
    library = "" if _process.library == "httpx2" else repr(_process.library)
    makers = [f"tenuto.{name}({library})" for name in _MAKERS]
    log.warning(
        "%s takes one HTTP client for sync and one for async calls, and only %s was created. "
        "Tenuto does not see its %s calls; to finish them too, pass its model %s=%s",
        taker,
        makers[made],
        _WAYS[missing],
        TAKERS[taker][missing],
        makers[missing],
    )
