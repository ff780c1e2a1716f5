"""A warning for frameworks whose models take two HTTP clients, where only one was made.

Such a model makes a client of its own for the calls that it was given none for. Tenuto does not see
that client, so it finishes none of its turns and reports no event. Nor can it see what a framework
was given: the warning goes by the clients that were made in this process.
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
"""Modules whose models take two clients, each with its arguments for the sync and the async one. A
module whose models take none, such as langchain_anthropic, has no row."""

_WAYS = ("sync", "async")
_MAKERS = ("tenuto.http_client()", "tenuto.async_http_client()")


class _Process:
    """What was made in this process: one flag for each way, and one for the warning."""

    def __init__(self) -> None:
        self.made = [False, False]
        self.warned = False


_process = _Process()


def note_made(*, is_async: bool) -> None:
    """Note that `http_client()` or `async_http_client()` made a client."""
    if not any(_process.made):
        # A client that is never asked has no first request to warn at.
        atexit.register(warn_of_missing_client)
    _process.made[is_async] = True


def warn_of_missing_client() -> None:
    """Warn, once in a process, if one client was made and a framework is loaded that takes two."""
    if _process.warned or sum(_process.made) != 1:
        return
    taker = next((name for name in TAKERS if name in sys.modules), None)
    if taker is None:
        return
    _process.warned = True
    made, missing = _process.made.index(True), _process.made.index(False)
    log.warning(
        "%s takes one HTTP client for sync and one for async calls, and only %s was created. "
        "Tenuto does not see its %s calls; to finish them too, pass its model %s=%s",
        taker,
        _MAKERS[made],
        _WAYS[missing],
        TAKERS[taker][missing],
        _MAKERS[missing],
    )
