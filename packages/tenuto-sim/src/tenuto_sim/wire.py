"""What the simulator knows of a wire: one row with its paths and the functions that implement
it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tenuto_sim.asked import Asked
from tenuto_sim.case import Framing, Odd, Step
from tenuto_sim.envelope import Envelope, dump
from tenuto_sim.errors import Failure
from tenuto_sim.framing import Event, frame
from tenuto_sim.reply import Reply, Settings
from tenuto_sim.tables_own import Tables
from tenuto_sim.writing import in_the_middle, marks

Body = Mapping[str, Any]
Headers = Mapping[str, str]
Memory = dict[str, Any]
"""What a provider stores for its clients, by its own ids."""


class Refuses(Protocol):
    """Writes a refusal of the simulator's own in the wire's format."""

    def __call__(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> Failure:
        """Return the failure; `param` and `code` are left out if the wire has no such keys."""
        ...


@dataclass(frozen=True, slots=True)
class Wire:
    """One wire. `name` is its name in recorded data, and `path` a pattern that must match the whole
    path
    of a request."""

    name: str
    path: str
    tables: Tables
    read: Callable[[Body, Settings], Asked]
    impossible: Callable[[Any], Iterator[Failure]]
    """Rules for bodies that could not be answered at all."""
    violations: Callable[[Headers, Body, Settings], Iterator[Failure]]
    """Further rules, which only a strict server applies."""
    refuse: Refuses
    errors: Mapping[str, Failure]
    too_many_tokens: Callable[[str, int, int, str], Failure]
    unknown_key: Callable[[str], Failure]
    core_keys: frozenset[str]
    """Body keys that the case of an unknown key never names."""
    document: Callable[[Reply, Step, Envelope], Any]
    """Returns the content of a whole body that isn't an error."""
    payloads: Callable[[Reply, Step, Envelope], Iterable[Any]]
    """Returns the payloads of a stream's events, including an error, in the wire's own objects."""
    answer_id: Callable[[str], str]
    """Returns the id of an answer, from a key that no other answer has."""
    headers: Callable[[str], Mapping[str, str]]
    """Returns the headers of every response, from the key of its request."""
    stamped: Callable[[Body, str], Body] = lambda document, _: document
    """Adds the key of the request to an error document, on wires that do so."""
    failed: Callable[[Failure, Envelope], Any] = lambda failure, _: dict(failure.document)
    """Returns the content of a body that is an error although its status is a success."""
    event: Callable[[Any, int], Event] = lambda payload, _: ("", dump(payload))
    """Returns the event of a payload, from its number in the stream."""
    oddities: Mapping[Odd, Callable[[list[Any]], list[Any]]] = field(default_factory=dict)
    """Functions that put something out of place in a stream, by name."""
    broken: Event | None = None
    """An event whose data isn't JSON."""
    done: Event | None = None
    """The end mark of a stream."""
    marks: Callable[[Step], int] = marks
    """Returns how many end marks a stream has."""
    last_event: bytes = b""
    """The event after which clients leave; it may precede the end of the transfer."""
    located: Callable[[Body, Mapping[str, str]], Body] = lambda body, _: body
    """Adds to a body what the named groups of `path` and the query say: on some wires the model,
    and
    whether to stream. The rules see the result."""
    headed: Callable[[Body, Headers], Body] = lambda body, _: body
    """Adds to a body what the headers say (their names in lower case)."""
    recalled: Callable[[Body, Memory], Body | Failure] = lambda body, _: body
    """Adds to a body the history that the provider stored, on wires where it does."""
    kept: Callable[[Body, Body, Memory], None] = lambda *_: None
    """Stores a body with its history, and the document that answered it, on those wires."""
    frame: Callable[[list[Event], Framing], list[bytes]] = frame
    """Writes events as bytes."""
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
