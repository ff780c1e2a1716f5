"""Decide which requests are turns, and hold what the turns of one client share.

An `Engine` begins turns, and has no state of its own. What one turn learns for the next is in its
`Environment`. `begin_quick` and `read` decide whether a request is a turn; `run` begins the
machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tenuto.core.errors import PolicyError
from tenuto.core.events.event import OnEvent
from tenuto.core.settings.policy import Policy
from tenuto.core.settings.rule import wrong_value
from tenuto.frames.frame import Framing
from tenuto.providers.learned import Learned
from tenuto.providers.registry import check_providers, route
from tenuto.schema import checking
from tenuto.telemetry.capture import Capture
from tenuto.turn.drivers.commands import Commands, Head, Request, Run
from tenuto.turn.drivers.mark import DASH, OURS
from tenuto.turn.pipeline import pipe
from tenuto.turn.pipeline.captured import captured, request_of
from tenuto.turn.pipeline.spared import spared
from tenuto.turn.receiving.rewriting import rewritten
from tenuto.turn.record.turn_record import TurnRecord, TurnRequest
from tenuto.turn.settings import per_request, switch
from tenuto.turn.settings.environment import Environment
from tenuto.turn.settings.refusal import refusal
from tenuto.turn.short_path.body import Short
from tenuto.turn.short_path.stream import ShortStream, allows_stream
from tenuto.turn.stream.framing import in_one_array
from tenuto.wires.moved import tell_moved
from tenuto.wires.registry import shipped
from tenuto.wires.request import WireRequest
from tenuto.wires.short import Asks

enclosing_blocks: Callable[[], object] = per_request.enclosing_blocks.get


class Engine:
    """Begins turns. One engine belongs to one wrapped client. It is thread-safe.

    Args:
        policy: the limits.
        on_event: called with every event, or None.
        learned: what providers taught, if it is shared with others; None for a new one.
        environment: the whole environment, if it is shared with others.

    Attributes:
        environment: what its turns need from outside.
        special: the engines for single providers and models, by both names; None if all turns have
            the same policy.
        speaks: the name of the wire that the client's SDK speaks, if several wires have the same
            paths; "" if it is unknown.

    Raises:
        PolicyError: the policy needs a package that is not installed, or names a provider that no
            URL identifies, or `on_event` cannot be called.
    """

    def __init__(
        self,
        policy: Policy,
        on_event: OnEvent | None = None,
        learned: Learned | None = None,
        environment: Environment | None = None,
    ) -> None:
        if on_event is not None and not callable(on_event):
            raise wrong_value("on_event", on_event, "a callable, or None")
        checking.require_packages(policy)
        if policy.providers or policy.models:
            _check_exceptions(policy)
        self.policy = policy
        self.special: dict[tuple[str, str], Engine] | None = (
            {} if policy.providers or policy.models else None
        )
        self._reads_documents = self.special is not None or _reads_documents(policy)
        self.on_event = on_event
        self.speaks = ""
        self.environment: Environment = environment or Environment(
            policy, on_event, learned or Learned()
        )
        self._capture = Capture(policy.capture, policy) if policy.capture else None

    def serving(self) -> Engine:
        """Return an engine whose turns mark their answers, since they go to other programs. It
        shares what this one has learned."""
        return Engine(
            self.policy, self.on_event, environment=replace(self.environment, serves=True)
        )

    def with_listener(self, on_event: OnEvent) -> Engine:
        """Return an engine whose turns send their events to a listener, and each have a report.
        `ignore_event` is a listener too. Both engines share what was learned."""
        environment = replace(self.environment, on_event=on_event)
        return Engine(self.policy, on_event, environment=environment)

    def of(self, provider: str, model: str) -> Engine:
        """Return the engine for the turns of one provider and model."""
        if self.special is None:
            return self
        engine = self.special.get((provider, model))
        if engine is None:
            policy = self.policy.resolved(provider, model)
            environment = replace(self.environment, policy=policy)
            engine = Engine(policy, self.on_event, environment=environment)
            engine.speaks = self.speaks
            if len(self.special) >= _MOST_SPECIAL:  # requests choose the names of models
                self.special.clear()
            self.special[provider, model] = engine
        return engine

    def is_turn(self, method: str, url: str) -> bool:
        """Return whether a request asks a model for a turn, on a known wire, and Tenuto may finish
        it."""
        if method != "POST" or switch.off:
            return False
        wire, _, path = route(url, self.speaks)
        if wire is None:
            tell_moved(path)
        return wire is not None

    def check(self, request: Request) -> None:
        """Raise the `PolicyError` of a request for a turn with settings that are wrong or not
        allowed."""
        if self.special is not None:  # what the header may change depends on the model
            self.read(request)
        elif self.is_turn(request.method, request.url):
            per_request.of_request(self.policy, per_request.header_in(request.headers))

    def refusal(self, request: Request, error: PolicyError) -> tuple[Head, bytes]:
        """Return the response with such an error for the caller, in the form of its provider."""
        wire, provider, path = route(request.url, self.speaks)
        assert wire is not None  # otherwise the request would not have been read
        least = self.policy.probe_max_tokens
        parsed = wire.asked(request.body, least, path, provider.dialect, request.headers)
        return refusal(getattr(parsed, "wire", wire), error)

    def begin(self, request: Request) -> Commands | None:
        """Begin the turn of a request. Return None if it is no request for a turn, or Tenuto is
        switched off, so that it must pass unchanged."""
        if switch.off:
            return None
        taken = self.begin_quick(request)
        return self.run(taken)[1] if isinstance(taken, TurnRequest) else taken

    def begin_quick(
        self, request: Request, machine: Engine | None = None
    ) -> Short | TurnRequest | None:
        """Return the turn of a request that leaves unchanged and has no listener: it needs no
        machine as long as its answer is healthy. Other requests for a turn are returned as their
        wire reads them, for `run`. None: it is no request for a turn, and must pass unchanged.

        `machine`: the engine that begins the machine if it is needed; None for this one."""
        if self._capture is not None or self.environment.has_listener or switch.off:
            return self.read(request)
        if request.context is not None or request.method != "POST" or enclosing_blocks():
            return self.read(request)
        wire, provider, path = route(request.url, self.speaks)
        if wire is None:
            tell_moved(path)
            return None
        for name, _ in request.headers:
            if len(name) > 7 and name[1] == DASH and name[:8].lower() == OURS:  # as `has_ours`
                return self.read(request)
        short, parsed = wire.short, None
        asks = short.asks(request.body, request.url) if short is not None else None
        if asks is None or provider.overrides or self._reads_documents:
            turn_request = self.read(request)
            if turn_request is None or turn_request.parsed.repairs or provider.overrides:
                return turn_request
            parsed, wire = turn_request.parsed, turn_request.wire
            facts = parsed.facts
            if facts.structured and _reads_documents(turn_request.policy):
                return turn_request
            alone = bool(facts.left_alone)
            asks = Asks(facts.stream, facts.follows, facts.model, facts.max_tokens, alone)
        if asks.follows and asks.follows in self.environment.replaced_ids:
            return self.read(request)
        reports, machine = machine is not None, machine or self
        if machine.special is not None:
            machine = machine.of(provider.dialect.name, asks.model)
        if not asks.stream:
            limit = asks.max_tokens
            return Short(machine, request, wire, provider, parsed, limit, reports=reports)
        least = machine.policy.probe_max_tokens
        if short is None or not allows_stream(request, provider, asks, least):
            return self.read(request, parsed)
        return ShortStream(machine, request, wire, provider, parsed, short, asks, reports=reports)

    def read(self, request: Request, parsed: WireRequest | None = None) -> TurnRequest | None:
        """Read a request as its wire does. Return None if it is no request for a turn, and must
        pass unchanged. `parsed`: what the wire has read of it before.

        Raises:
            PolicyError: the request has settings that are wrong or not allowed (`per_request`,
                `requests_may`)."""
        if request.method != "POST":
            return None
        least, context = self.policy.probe_max_tokens, request.context
        meant = context.provider if context is not None else None
        wire, provider, path = route(request.url, meant.wire if meant else self.speaks)
        if wire is None:
            tell_moved(path)
            return None
        if meant is not None and provider.unknown:
            provider = meant
        is_first = context is None and parsed is None
        if context is not None:
            parsed = context.parsed
        elif parsed is None:
            parsed = wire.asked(request.body, least, path, provider.dialect, request.headers)
        if parsed is None:
            return None
        wire = getattr(parsed, "wire", wire)
        header = per_request.header_in(request.headers)
        own = self.of(provider.dialect.name, parsed.facts.model).policy
        policy, is_off = (own, True) if switch.off else per_request.of_request(own, header)
        if policy.probe_max_tokens != least and is_first:
            least = policy.probe_max_tokens
            again: WireRequest | None = wire.asked(
                request.body, least, path, provider.dialect, request.headers
            )
            parsed = again or parsed
        return TurnRequest(
            request,
            wire,
            provider,
            path,
            parsed,
            self.environment.now(),
            policy,
            header is not None,
            is_off,
        )

    def run(self, turn_request: TurnRequest) -> tuple[TurnRecord, Run]:
        """Begin a turn. Return its record, which has the report at the end, and its commands."""
        environment, record = self.environment, None
        if turn_request.policy is not environment.policy:
            environment = replace(environment, policy=turn_request.policy)
        context = turn_request.request.context
        if context is not None and context.on_event is not None:
            environment = replace(environment, on_event=context.on_event)
        if self._capture is not None:
            record = self._capture.begin(
                turn_request.wire.name,
                request_of(turn_request.request),
                environment.on_event,
                turn_request.policy,
            )
            environment = replace(environment, on_event=record.hear)
        turn = TurnRecord(turn_request, environment)
        run = pipe.run(turn)
        if turn.facts.stream and not turn.left_alone:
            if turn.framing.asked is Framing.ARRAY:
                run = in_one_array(run, turn.framing)
            rewriter = turn.wire.rewriter
            if rewriter is not None and turn.facts.repeats is not False:
                run = rewritten(run, turn, rewriter(turn.facts.repeats))
        if turn_request.wire.name not in shipped():
            run = spared(run, turn_request.request, turn_request.wire.name)
        return turn, run if record is None else captured(run, record)


def _reads_documents(policy: Policy) -> bool:
    """Return whether a JSON document may not be forwarded as it comes."""
    return policy.invalid_documents != "pass" or policy.structured_streams == "hold"


_MOST_SPECIAL = 256


def _check_exceptions(policy: Policy) -> None:
    """Raise a `PolicyError` for exceptions that could never apply or that need a missing
    package."""
    check_providers(policy.providers)
    for changes in (*policy.providers.values(), *policy.models.values()):
        checking.require_packages(policy.changed(changes))
