"""What a wire is to the simulator: one row of paths and the functions that speak it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tenuto.sim.asked import Asked
from tenuto.sim.case import Framing, Odd, Step
from tenuto.sim.envelope import Envelope, dump
from tenuto.sim.errors import Failure
from tenuto.sim.framing import Event, frame
from tenuto.sim.reply import Reply, Settings
from tenuto.sim.tables_own import Tables
from tenuto.sim.writing import in_the_middle, marks

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
    tables: Tables
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
    document: Callable[[Reply, Step, Envelope], Any]
    """What a whole body holds that is no error."""
    payloads: Callable[[Reply, Step, Envelope], Iterable[Any]]
    """What the events of a stream hold, an error among them, in the wire's own objects."""
    answer_id: Callable[[str], str]
    """The id of an answer, from a key that no other answer has."""
    headers: Callable[[str], Mapping[str, str]]
    """Headers of every response, from the key of its request."""
    stamped: Callable[[Body, str], Body] = lambda document, _: document
    """An error document with the key of its request in it, where the wire does that."""
    failed: Callable[[Failure, Envelope], Any] = lambda failure, _: dict(failure.document)
    """What a body holds that is an error although its status is good."""
    event: Callable[[Any, int], Event] = lambda payload, _: ("", dump(payload))
    """The event of a payload, from its number in the stream."""
    oddities: Mapping[Odd, Callable[[list[Any]], list[Any]]] = field(default_factory=dict)
    """What is out of place in a stream, by name: each stands for itself."""
    broken: Event | None = None
    """An event that holds no JSON."""
    done: Event | None = None
    """The end mark of a stream."""
    marks: Callable[[Step], int] = marks
    """How many end marks a stream has."""
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

    def render_body(self, reply: Reply, step: Step, envelope: Envelope) -> Any:
        """Return the document that answers a request for a whole body."""
        if step.error:
            return self.failed(self.errors[step.error], envelope)
        return self.document(reply, step, envelope)

    def render_events(self, reply: Reply, step: Step, envelope: Envelope) -> list[Event]:
        """Return the events of a stream, without their framing."""
        payloads = list(self.payloads(reply, step, envelope))
        if step.odd is not None and step.odd in self.oddities:
            payloads = self.oddities[step.odd](payloads)
        events = [self.event(payload, number) for number, payload in enumerate(payloads)]
        if step.odd is Odd.NOT_JSON and self.broken is not None:
            events = in_the_middle(events, self.broken)
        return events + ([self.done] * self.marks(step) if self.done is not None else [])
