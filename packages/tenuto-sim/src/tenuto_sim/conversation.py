"""Which step a request gets, and what the simulator remembers of a conversation.

The header `x-sim-conversation` identifies a conversation. Without it, the model, the fault and the
text of the first user message do, because a client that continues a cut answer keeps all three. The
k-th request of a conversation gets step k of its plan.

A server that serves several programs one after the other restarts a finished conversation when its
first request arrives again. A conversation is finished if its answer was whole, or was text that
was
cut, because no client repeats the same request to continue a text. Requests with the same messages
count as the same, so a program may change other settings, such as streaming. After any other fault,
the same request is a retry, unless a long time has passed.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tenuto_sim.asked import Asked, Row, answers_result, first_prompt, results_in
from tenuto_sim.case import CUT_SHORT, Arguments, Case, Ending, Kind, Say, Step
from tenuto_sim.cases import CASES_ON, STEPS
from tenuto_sim.errors import Failure
from tenuto_sim.plan import Plan, says_unfit
from tenuto_sim.reply import Wanted
from tenuto_sim.wire import Wire

_CHOOSING: Final = re.compile(r"(?:.*/)?sim(?:-model)?[/:](?P<case>.*)", re.DOTALL)
"""A model name that selects a case. A prefix may name a real model, which the server then imitates.
Any other name with a colon or a slash is only the name of a model."""

_WHOLE_BODIES: Final = {*Ending} - CUT_SHORT - {Ending.CUT_BODY, Ending.EMPTY_BODY}
_WHOLE: Final = {
    True: {*Ending} - CUT_SHORT,
    False: _WHOLE_BODIES,
}
"""Endings that leave an answer whole, for streams and for bodies."""


@dataclass(slots=True)
class Conversation:
    """What the simulator remembers between the requests of one conversation."""

    key: tuple[str, ...] = ()
    steps_taken: int = 0
    answers: int = 0
    kind: Kind | None = None
    broken_call: bool = False
    """Whether the last answered call was broken, or never arrived."""
    response_format: Mapping[str, Any] | None = None
    place: int = 0
    """How many answers of the plan were sent, if there is a plan."""
    given: dict[int, int] = field(default_factory=dict)
    """How many calls each sent answer of the plan contained, by its index."""
    results_before: tuple[Row, ...] | None = None
    """The results in the last request, if the stream of its answer broke off after whole calls.
    A later request with the same results shows that the client didn't run these calls."""
    ran: frozenset[int] = frozenset()
    """The indexes of the calls of the next answer that a client ran, if it ran some of them."""
    results_then: int = 0
    """How many results of tools were in the last request."""
    planned: Wanted | None = None
    """The next answer of the plan."""
    planned_for: str | None = None
    """The messages of the request that this answer was for, as the wire wrote them (`counted`)."""
    first: tuple[Row, ...] = ()
    """The messages of the first request. Other settings may change between two runs of a
    program."""
    over: bool = False
    """Whether the last answer gives a client no reason to repeat the request."""
    asked_s: float = 0.0
    """When the last request arrived, by a monotonic clock, in seconds."""

    @property
    def answer_key(self) -> str:
        """A key that no other answer of any conversation has."""
        return "/".join([*self.key, str(self.answers)])


@dataclass(slots=True)
class Conversations:
    """The memory of a server: conversations by key, and the script that takes precedence."""

    known: dict[tuple[str, ...], Conversation] = field(default_factory=dict)
    script: deque[Step] = field(default_factory=deque)
    plan: Plan | None = None
    begins_anew: bool = False
    idle_s: float = 30.0
    """After this time, the same request is not a retry."""

    def forget(self) -> None:
        """Forget every conversation, the script and the plan."""
        self.known.clear()
        self.script.clear()
        self.plan = None

    def _conversation(self, key: tuple[str, ...], asked: Asked) -> Conversation:
        now_s = time.monotonic()
        state = self.known.get(key)
        if state is not None and self.begins_anew and state.first == asked.rows:
            late = now_s - state.asked_s >= self.idle_s
            state = None if state.over or late else state
        if state is None:
            state = self.known[key] = Conversation(key, first=asked.rows)
        state.over, state.asked_s = False, now_s
        return state

    def choose(
        self, wire: Wire, headers: Mapping[str, str], asked: Asked
    ) -> tuple[Conversation, Step] | Failure:
        """Return the conversation and the step of a request, or a refusal."""
        case = chosen_case(wire, asked.model, headers)
        if isinstance(case, Failure):
            return case
        given = headers.get("x-sim-conversation")
        prompt = first_prompt(asked.rows)
        key = (wire.name, *(("header", given) if given else (asked.model, case.name, prompt)))
        state = self._conversation(key, asked)
        if self.plan is not None:
            # A client that could not use the answer repeats its request, perhaps with another
            # output limit, and gets the same answer.
            again = asked.counted == state.planned_for
            not_run = state.broken_call or state.results_before == results_in(asked.rows)
            if not (again or not_run):
                state.place, state.ran = self.plan.place(asked.rows, state.given), frozenset()
            elif state.planned is not None:
                state.ran |= _ran(state, results_in(asked.rows))
            state.planned_for = asked.counted
            state.results_then = len(results_in(asked.rows))
            state.planned = self.plan.due(
                state.place, state.answer_key, tools=bool(asked.tools), ran=state.ran
            )
        taken, scripted = state.steps_taken, bool(self.script)
        step = self._step(state, case, after_result=answers_result(asked.rows))
        if (refused := _lacks_tools(wire, step, asked)) is not None:
            state.steps_taken = taken  # the next request gets the step
            if scripted:
                self.script.appendleft(step)
            return refused
        if step.kind is not None:
            state.kind = step.kind
        elif state.kind is None:
            state.kind = _kind_of(case, asked)
        if asked.response_format is not None:
            state.response_format = asked.response_format
        state.answers += 1
        return state, step

    def _step(self, state: Conversation, case: Case, *, after_result: bool) -> Step:
        if self.script:
            return self.script.popleft()
        if self.plan is not None and state.planned is not None:
            return self.plan.step(state.planned)
        if case.after_tool_result and not after_result:
            return Step()
        step = case.step(state.steps_taken)
        state.steps_taken += 1
        return step


def _ran(state: Conversation, results: tuple[Row, ...]) -> frozenset[int]:
    """Return the indexes of the calls of the last planned answer that the client ran, if it says of
    the others that it did not.

    This happens where a call came whole and only lacks something, which a client may find out."""
    new = results[state.results_then :]
    sent = state.given.get(state.place, 0) - len(state.ran)
    unfit = [says_unfit(row) for row in new]
    if sent <= 0 or len(new) != sent or not any(unfit):
        return frozenset()
    left = [index for index in range(sent + len(state.ran)) if index not in state.ran]
    return frozenset(index for index, lacks in zip(left, unfit, strict=True) if not lacks)


def _kind_of(case: Case, asked: Asked) -> Kind:
    if case.wants_tools:
        return case.kind if case.kind is not Kind.TEXT else Kind.CALL
    called = asked.forced and asked.tools and not asked.answers_by_call
    return Kind.CALL if called else Kind.TEXT


_STOPS_WITHOUT_CALLS: Final = frozenset({"length", "UNEXPECTED_TOOL_CALL"})
"""Stops that mean that the calls beside them don't count."""


def is_broken(step: Step) -> bool:
    """Return whether a client must not run the calls of this step.

    >>> is_broken(Step()), is_broken(Step(arguments=Arguments.CUT))
    (False, True)
    """
    runnable = {Arguments.WHOLE, Arguments.OBJECT, Arguments.DOUBLE, Arguments.NULL}
    return (
        step.arguments not in runnable
        or step.finish in _STOPS_WITHOUT_CALLS
        or step.say is not Say.ANSWER
    )


def arrives(step: Step, finish: str | None, *, stream: bool) -> bool:
    """Return whether a client may treat an answer with this step as whole.

    >>> arrives(Step(), "stop", stream=True)
    True
    >>> arrives(Step(ending=Ending.DROP), None, stream=True)
    False
    """
    cut = finish == "length" or step.keep < 1 or step.ending not in _WHOLE[stream]
    return not (is_broken(step) or cut or step.error)


def breaks_off(step: Step, *, stream: bool) -> bool:
    """Return whether a stream with this step breaks off after its whole content.

    >>> breaks_off(Step(ending=Ending.DROP), stream=True)
    True
    >>> breaks_off(Step(keep=0.5, ending=Ending.DROP), stream=True), breaks_off(Step(), stream=True)
    (False, False)
    """
    ended = replace(step, ending=Ending.WHOLE, finish=None)
    return stream and step.ending in CUT_SHORT and arrives(ended, None, stream=True)


def chosen_case(wire: Wire, model: str, headers: Mapping[str, str]) -> Case | Failure:
    """Return the case that the headers or the model name select."""
    cases = CASES_ON[wire.name]
    if script := headers.get("x-sim-script"):
        names = [name.strip() for name in script.split(",")]
        unknown = [name for name in names if name not in STEPS]
        if unknown:
            return _unknown(wire, "step", unknown[0])
        plan = tuple(STEPS[name] for name in names)
        return Case(f"script:{script}", plan, "A plan from a header.")
    if name := headers.get("x-sim-fault"):
        return cases.get(name) or _unknown(wire, "fault", name)
    if chosen := _CHOOSING.fullmatch(model):
        return cases.get(chosen["case"]) or _unknown(wire, "model", chosen["case"])
    return cases["normal"]


_UNKNOWN: Final[Mapping[str, tuple[str, dict[str, Any]]]] = {
    "step": ("step", {"status": 400, "code": "sim_unknown_step"}),
    "fault": ("case", {"status": 400, "code": "sim_unknown_fault"}),
    "model": ("case", {"status": 404, "code": "model_not_found", "param": "model"}),
}
"""What an unknown name would have named, and the refusal, by where the name is."""


def _unknown(wire: Wire, where: str, name: str) -> Failure:
    what, known = _UNKNOWN[where]
    return wire.refuse(
        f"The {what} '{name}' does not exist here. `tenuto faults --wire {wire.name}` lists what "
        f"does (steps with --json), and so does GET /sim/faults?wire={wire.name}.",
        **known,
    )


def _lacks_tools(wire: Wire, step: Step, asked: Asked) -> Failure | None:
    """Return the refusal of a request without tools for a step that needs them."""
    if step.kind not in (None, Kind.TEXT, Kind.CJK) and not asked.tools:
        return wire.refuse(
            "This case needs a tool: attach one.", code="sim_needs_tools", param="tools"
        )
    return None
