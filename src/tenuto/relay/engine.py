"""Which requests are turns, and what turns of one client share."""

from __future__ import annotations

from dataclasses import replace

from tenuto.core.event import OnEvent
from tenuto.core.policy import Policy
from tenuto.providers.learned import Learned
from tenuto.providers.registry import route
from tenuto.relay import schema
from tenuto.relay.capture import Capture
from tenuto.relay.commands import Request, Run
from tenuto.relay.pipe import Pipe
from tenuto.relay.readers import framed
from tenuto.relay.strangers import may_be_strange, unless_strange
from tenuto.relay.turn import Asked, Surroundings, Turn, switch_of


class Engine:
    """Begins turns. One engine belongs to one wrapped client; it is safe under threads.

    Args:
        policy: the limits.
        on_event: called with every event, or None.
        learned: what providers taught, where it is shared with others; None: an own one.

    Attributes:
        speaks: the name of the wire that the client's SDK speaks where several have the same
            paths; "" where it says nothing of it.

    Raises:
        PolicyError: the policy needs a package that is not installed.
    """

    def __init__(
        self, policy: Policy, on_event: OnEvent | None = None, learned: Learned | None = None
    ) -> None:
        schema.require(policy)
        self.policy = policy
        self.on_event = on_event
        self.speaks = ""
        self._around = Surroundings(policy, on_event, learned or Learned())
        self._capture = Capture(policy.capture, policy) if policy.capture else None

    def is_turn(self, method: str, url: str) -> bool:
        """Whether a request asks a model for a turn, on a wire that is known."""
        return method == "POST" and route(url, self.speaks)[0] is not None

    def begin(self, request: Request) -> Run | None:
        """The turn of a request, or None where it is none and must pass untouched."""
        asked = self.read(request)
        return self.run(asked)[1] if asked is not None else None

    def read(self, request: Request) -> Asked | None:
        """A request as its wire reads it, or None where it is none and must pass untouched."""
        least, carried = self.policy.probe_max_tokens, request.carried
        meant = carried.provider if carried is not None else None
        wire, provider, path = route(request.url, meant.wire if meant else self.speaks)
        if wire is None or request.method != "POST":
            return None
        if meant is not None and provider.unknown:
            provider = meant
        parsed = (
            wire.asked(request.body, least, path, provider.dialect, request.headers)
            if carried is None
            else carried.parsed
        )
        if parsed is None:
            return None
        wire = getattr(parsed, "wire", wire)
        switch = switch_of(request.headers)
        return Asked(request, wire, provider, path, parsed, switch, self._around.now())

    def needs_turn(self, asked: Asked) -> bool:
        """Whether a turn must begin before its request leaves: False where the request leaves as
        it came and nobody wants to hear of it. The turn may then begin with the answer, while the
        model thinks, and need not at all where that is whole and the wire says that it is plain."""
        successors = self._around.successors
        return bool(
            self._around.watched
            or asked.request.carried is not None
            or self._capture is not None
            or asked.provider.overrides
            or asked.parsed.repairs
            or asked.switch is not None
            or (successors and successors.knows(asked.parsed.facts.follows))
        )

    def run(self, asked: Asked) -> tuple[Turn, Run]:
        """The turn's record, which holds its report in the end, and its commands."""
        around, record = self._around, None
        carried = asked.request.carried
        if carried is not None and carried.on_event is not None:
            around = replace(around, on_event=carried.on_event)
        if self._capture is not None:
            record = self._capture.begin(asked.wire.name, asked.request, around.on_event)
            around = replace(around, on_event=record.hear)
        turn = Turn(asked, around)
        run = Pipe(turn).run()
        alone = bool(turn.left_alone)
        run = framed(run, asked, self.policy, left_alone=alone)
        if not alone and may_be_strange(asked, self.policy):
            run = unless_strange(run, turn)
        return turn, run if record is None else record.watching(run)
