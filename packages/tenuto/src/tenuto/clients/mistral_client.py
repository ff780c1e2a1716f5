"""The client of the mistralai SDK, which keeps its HTTP clients, a sync and an async one, in its
configuration.

Theory of operation
-------------------
The parts of a client (`chat`, `fim`, `beta`, …) are created on first use and refer to its
configuration. The copy has its own configuration, whose two HTTP clients recover, and creates its
own parts. The copy keeps the original alive, because the original closes the connections when it is
garbage-collected.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from tenuto.clients import httpx_client
from tenuto.clients.libraries import library_of
from tenuto.clients.sdk_client import is_named
from tenuto.turn.pipeline.engine import Engine

CLASSES: Mapping[str, frozenset[str]] = {
    "mistralai": frozenset({"Mistral", "MistralAzure", "MistralGCP"}),
}
"""Subclasses count."""

NAMES: tuple[str, ...] = tuple(f"mistralai.{name}" for name in sorted(CLASSES["mistralai"]))

_CONFIGURATION = "sdk_configuration"
_HTTP = ("client", "async_client")


def is_client(client: object) -> bool:
    """Return whether this module wraps the client; other HTTP clients in the SDK can't be
    wrapped."""
    if not is_named(client, CLASSES):
        return False
    held = getattr(client, _CONFIGURATION, None)
    return all(library_of(getattr(held, name, None)) is not None for name in _HTTP)


def engine_of(client: Any) -> Engine | None:
    """Return the engine of a wrapped client, or None."""
    return httpx_client.engine_of(getattr(client, _CONFIGURATION).client)


def is_wrapped(client: Any) -> bool:
    """Return whether the client is wrapped already."""
    return engine_of(client) is not None


def recovering(client: Any, engine: Engine) -> Any:
    """Return a copy of the client that finishes its turns."""
    engine.speaks = "mistral"
    old = getattr(client, _CONFIGURATION)
    held = copy.copy(old)
    for name in _HTTP:
        setattr(held, name, httpx_client.recovering(getattr(old, name), engine))
    wrapped = copy.copy(client)
    own = vars(wrapped)
    own.update({_CONFIGURATION: held, "parent_ref": wrapped, "_tenuto_original": client})
    for name, value in vars(client).items():
        if getattr(value, _CONFIGURATION, None) is old:
            del own[name]
            if not hasattr(wrapped, name):  # the SDK has no such part, so it is the caller's own
                own[name] = value
    return wrapped
