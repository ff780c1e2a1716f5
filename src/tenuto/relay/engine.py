"""Which requests are turns, and what turns of one client share."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote, urlsplit

import msgspec

from tenuto.core.events import OnEvent
from tenuto.core.policy import Policy
from tenuto.providers.learned import Learned
from tenuto.providers.registry import route
from tenuto.providers.table import Provider
from tenuto.relay import schema
from tenuto.relay.capture import Capture
from tenuto.relay.commands import Request, Run
from tenuto.relay.data_lines import in_data_lines
from tenuto.relay.json_array import array_framed
from tenuto.relay.pipe import Pipe
from tenuto.relay.reframing import AWS_STREAM_PATH, aws_framed
from tenuto.relay.turn import Surroundings, Turn, switch_of
from tenuto.wire.base import Wire, WireRequest


class Asked(msgspec.Struct, frozen=True):
    """A request for a turn, as its wire reads it; `started_s`: when, by the engine's clock."""

    request: Request
    wire: Wire
    provider: Provider
    path: str
    parsed: WireRequest
    started_s: float


GOOGLE_STREAM_PATH = ":streamGenerateContent"
"""How the path of a request ends whose caller reads an array of JSON or, with `alt=sse`, events."""


class Engine:
    """Begins turns. One engine belongs to one wrapped client; it is safe under threads.

    Args:
        policy: the limits.
        on_event: called with every event, or None.
        learned: what providers taught, where it is shared with others; None: an own one.

    Raises:
        PolicyError: the policy needs a package that is not installed.
    """

    def __init__(
        self, policy: Policy, on_event: OnEvent | None = None, learned: Learned | None = None
    ) -> None:
        schema.require(policy)
        self.policy = policy
        self.on_event = on_event
        self._around = Surroundings(policy, on_event, learned or Learned())
        self._capture = Capture(policy.capture, policy) if policy.capture else None

    def is_turn(self, method: str, url: str) -> bool:
        """Whether a request asks a model for a turn, on a wire that is known."""
        return method == "POST" and route(url)[0] is not None

    def begin(self, request: Request) -> Run | None:
        """The turn of a request, or None where it is none and must pass untouched."""
        asked = self.read(request)
        return self.run(asked)[1] if asked is not None else None

    def read(self, request: Request) -> Asked | None:
        """A request as its wire reads it, or None where it is none and must pass untouched."""
        wire, provider, path = route(request.url)
        if wire is None or request.method != "POST":
            return None
        parsed = wire.request(request.body, self.policy.probe_max_tokens, path, provider.dialect)
        if parsed is None:
            return None
        return Asked(request, wire, provider, path, parsed, self._around.now())

    def needs_turn(self, asked: Asked) -> bool:
        """Whether more than a look at its answer is due: False of a whole body of which nobody
        wants to hear, and whose request leaves as it came. A turn may then begin with the answer,
        and need not where the wire says that it is plain."""
        watched = self._around.watched or self._capture is not None or asked.provider.overrides
        if watched or asked.parsed.facts.stream or asked.parsed.repairs:
            return True
        return switch_of(asked.request.headers) is not None

    def run(self, asked: Asked) -> tuple[Turn, Run]:
        """The turn's record, which holds its report in the end, and its commands."""
        around, record = self._around, None
        if self._capture is not None:
            record = self._capture.begin(asked.wire.name, asked.request, self.on_event)
            around = replace(around, on_event=record.hear)
        turn = Turn(
            asked.wire, asked.parsed, asked.request, asked.provider, around, asked.started_s
        )
        run = Pipe(turn).run()
        left_alone = bool(turn.left_alone)
        run = self._framed(run, asked.request.url, unquote(asked.path), left_alone=left_alone)
        return turn, run if record is None else record.watching(run)

    def _framed(self, run: Run, url: str, path: str, *, left_alone: bool) -> Run:
        """A turn in the framing that its reader knows, which the path tells."""
        if path.endswith(AWS_STREAM_PATH):
            return aws_framed(run, self.policy, left_alone=left_alone)
        if not path.endswith(GOOGLE_STREAM_PATH):
            return run
        if "alt=sse" not in urlsplit(url).query:
            return array_framed(run, self.policy, left_alone=left_alone)
        return run if left_alone else in_data_lines(run)
