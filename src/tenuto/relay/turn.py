"""The record of one turn: all that attempts add to, and that its end is made from."""

from __future__ import annotations

import itertools
import random
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from tenuto.core.events import OnEvent
from tenuto.core.fault import Fault, FaultKind
from tenuto.core.policy import Policy
from tenuto.core.response import Builder, Response, ToolCall
from tenuto.core.signals import FaultSeen
from tenuto.core.view import State
from tenuto.providers.learned import Learned
from tenuto.providers.table import Provider
from tenuto.relay import schema
from tenuto.relay.commands import Head, Lost, Request
from tenuto.relay.outlet import Outlet
from tenuto.relay.watch import Watch
from tenuto.wire.base import JsonObject, Wire, WireRequest


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a turn needs from outside: all that is not pure.

    Attributes:
        policy: the limits.
        on_event: who watches, or None.
        learned: what providers taught, shared by all turns of a client.
        now: a steady clock, in seconds.
        jitter: a factor for waits, around 1.
    """

    policy: Policy
    on_event: OnEvent | None
    learned: Learned
    now: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = lambda: random.uniform(0.75, 1.25)


@dataclass(slots=True)
class Attempt:
    """One attempt as it was received.

    Attributes:
        response: what was read of it.
        head, raw, value: head, bytes and JSON value of a body; None and b"" where there were none.
        new_chars: characters that it added to the kept text.
        http_error: whether it is an HTTP error status.
        tail: bytes that came behind a stream's end mark.
        unread: whether it was a body that cannot be read: it was made, and billed, all the same.
        lost: how its connection broke, None where it did not.
    """

    response: Response
    head: Head | None = None
    raw: bytes = b""
    value: JsonObject | None = None
    new_chars: int = 0
    http_error: bool = False
    tail: bytes = b""
    unread: bool = False
    lost: Lost | None = None


_PROCESS = uuid.uuid4().hex
_SALT = int(_PROCESS[:5], 16)
_number = itertools.count(1)


class Turn:
    """One turn.

    Args:
        wire: the format that the request speaks.
        parsed: the request as the wire reads it.
        request: the request as it came.
        provider: who is behind the URL, as far as that tells.
        around: the surroundings.
    """

    def __init__(
        self,
        wire: Wire,
        parsed: WireRequest,
        request: Request,
        provider: Provider,
        around: Surroundings,
    ) -> None:
        self.wire = wire
        self.parsed = parsed
        self.request = request
        self.provider = provider
        self.around = around
        self.policy = around.policy
        self.facts = parsed.facts
        self.base_url = request.url.partition("?")[0]
        ours = {k.lower(): v for k, v in request.headers if k[:8].lower() == "x-tenuto"}
        self.headers_for_us = bool(ours)
        switched_off = ours.get("x-tenuto", "").strip().lower() == "off"
        self.left_alone = "switched_off" if switched_off else self.facts.left_alone
        number = next(_number)
        turn_id = f"{_PROCESS}{number:08x}"
        self.salt = f"{number ^ _SALT:05x}"[-5:]
        self.state = State(started_s=around.now())
        self.said = ""
        self.ceiling_tokens: int | None = None
        self.reasoning: list[str] = []
        self.open = False
        self.first: Attempt | None = None
        self.answered: Attempt | None = None  # the first whose body could be read
        self.outlet = Outlet(wire, self.policy.hold_max_bytes, bool(self.left_alone))
        self.watch = Watch(
            turn=turn_id,
            model=self.facts.model,
            policy=self.policy,
            on_event=around.on_event,
            provider=provider.dialect.name,
        )

    def timeout_s(self) -> float | None:
        """How long the caller waits for a whole body, in seconds; None for streams and for ever."""
        return None if self.facts.stream else self.request.timeout_s

    def runnable(self, response: Response) -> tuple[ToolCall, ...]:
        """The calls of a cut response that may run (T3)."""
        if self.policy.truncated_calls != "execute_complete" or not response.calls:
            return ()
        return schema.runnable(response.calls, self.parsed.tool_parameters())

    def envelope(self) -> JsonObject:
        """What all events of the message share."""
        return self.outlet.envelope or self.wire.bare_envelope(self.facts.model)


def failed(kind: FaultKind, code: str = "") -> Response:
    """A response of which nothing came but a fault."""
    builder = Builder()
    builder.feed(FaultSeen(Fault(kind, code)))
    return builder.build()
