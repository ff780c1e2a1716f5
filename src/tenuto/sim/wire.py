"""What a wire is to the simulator: one row of paths and the functions that speak it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tenuto.sim.asked import Asked
from tenuto.sim.case import Framing, Step
from tenuto.sim.envelope import Envelope
from tenuto.sim.errors import Failure
from tenuto.sim.framing import Event, frame
from tenuto.sim.reply import Reply, Settings

Body = Mapping[str, Any]
Headers = Mapping[str, str]
Memory = dict[str, Any]
"""What a provider keeps for its clients, by its own ids."""


class Refuses(Protocol):
    """Writes a refusal of the simulator's own in the wire's shape."""

    def __call__(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> Failure:
        """Return the failure; `param` and `code` are left out where the wire has no such keys."""
        ...


@dataclass(frozen=True, slots=True)
class Wire:
    """One wire. `name` is that of the recorded data, `path` a pattern of the paths of its requests,
    which must match whole."""

    name: str
    path: str
    read: Callable[[Body, Settings], Asked]
    impossible: Callable[[Any], Iterator[Failure]]
    """What is wrong with a body that could not be answered at all."""
    violations: Callable[[Headers, Body, Settings], Iterator[Failure]]
    """What else is wrong with a request, of which only a strict server is asked."""
    refuse: Refuses
    errors: Mapping[str, Failure]
    too_many_tokens: Callable[[str, int, int, str], Failure]
    unknown_key: Callable[[str], Failure]
    core_keys: frozenset[str]
    """Body keys that the case of an unknown key never names."""
    render_body: Callable[[Reply, Step, Envelope], Any]
    """The document of a whole body."""
    render_events: Callable[[Reply, Step, Envelope], list[Event]]
    answer_id: Callable[[str], str]
    """The id of an answer, from a key that no other answer has."""
    headers: Callable[[str], Mapping[str, str]]
    """Headers of every response, from the key of its request."""
    stamped: Callable[[Body, str], Body] = lambda document, _: document
    """An error document with the key of its request in it, where the wire does that."""
    last_event: bytes = b""
    """The event after which clients leave; it may come before the transfer ends."""
    located: Callable[[Body, Mapping[str, str]], Body] = lambda body, _: body
    """The body with what the path says in it, from the named groups of `path` and the query: the
    model of some wires, and whether a stream is wanted. What decides about a request sees this."""
    headed: Callable[[Body, Headers], Body] = lambda body, _: body
    """The same with what the headers say (their names in small letters)."""
    recalled: Callable[[Body, Memory], Body | Failure] = lambda body, _: body
    """The body with what the provider keeps of the history before it, on wires where it does."""
    kept: Callable[[Body, Body, Memory], None] = lambda *_: None
    """Keeps a recalled body and the whole document that answered it, on those wires."""
    frame: Callable[[list[Event], Framing], list[bytes]] = frame
    """Events as they stand on the wire."""
    stream_headers: Mapping[str, str] = field(
        default_factory=lambda: {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
        }
    )
