"""What finishing a turn costs, counted by a simulator: every fault that can be mended, as body and
as stream, on both wires, of models that go on with a prefill and of models that take a hint."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import tenuto
from support.asking import anthropic_messages, openai_chat
from support.asking.anthropic_messages import WrappedAnthropic
from support.asking.wrapping import QUICK, Wrapped
from tenuto_sim import TABLES_ON, Case, Shared, Simulator, Spent

SYSTEM = "You are patient, exact and brief. Answer as if it were printed."
_LINES = "Line {n} of the notes: the tide turned at {n} past the hour, and the café wrote it down. "
NOTES = "".join(_LINES.format(n=n) for n in range(24))
"""About 2,000 characters: prompts are longer than what a recovery adds to them."""

_Ask = Callable[[Any, Case, str], Any]


def _openai(asker: Wrapped, case: Case, mode: str) -> Any:
    prompt = f"{NOTES}\n\n{asker.prompt_for(case)}"
    rows = [{"role": "system", "content": SYSTEM}, *asker.history_for(case, prompt)]
    tools = {"tools": openai_chat.TOOLS} if case.wants_tools else {}
    given: dict[str, Any] = {"model": f"sim/{case.name}", **case.request, **tools}
    return asker.ask(rows, mode, **given)


def _anthropic(model: str) -> _Ask:
    def ask(asker: WrappedAnthropic, case: Case, mode: str) -> Any:
        prompt = f"{NOTES}\n\n{asker.prompt_for(case)}"
        tools = {"tools": anthropic_messages.TOOLS} if case.wants_tools else {}
        given = {"system": SYSTEM, "model": f"{model}/sim/{case.name}", **case.request, **tools}
        return asker.ask(asker.history_for(case, prompt), mode, **given)

    return ask


@dataclass(frozen=True, slots=True)
class World:
    """A wire and a kind of model: how it is asked, and whether it goes on with a prefill."""

    wire: str
    model: str
    prefill: bool
    ask: _Ask

    @property
    def cases(self) -> list[Case]:
        """Every fault that Tenuto can mend."""
        tables = TABLES_ON[self.wire]
        cases = [*tables["faults"].values(), *tables["http_faults"].values()]
        # Nothing is billed for what the SDK tries again by itself, waiting in between.
        own = [case for case in cases if not case.name.startswith(("http_429", "http_5"))]
        return [case for case in own if case.recoverable]

    @contextmanager
    def asker(self) -> Iterator[Any]:
        """A wrapped SDK in front of a simulator of its own."""
        # No host of the table speaks Chat Completions on loopback, so that the policy has to say it.
        told = self.prefill and self.wire == "openai-chat"
        policy = tenuto.Policy(prefill="always" if told else "auto", **QUICK)
        kind = Wrapped if self.wire == "openai-chat" else WrappedAnthropic
        with Simulator(prefill="continue" if self.prefill else "restart") as sim:
            made = kind(sim, policy)
            yield made
            made.close()


WORLDS = (
    World("openai-chat", "takes a hint", False, _openai),
    World("openai-chat", "takes a prefill", True, _openai),
    World("anthropic-messages", "takes a hint", False, _anthropic("claude-opus-4-6")),
    World("anthropic-messages", "takes a prefill", True, _anthropic("claude-sonnet-4-5")),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one turn cost.

    Attributes:
        name: the fault, and whether it was a body or a stream.
        ended: how the turn ended, "complete" for all.
        billed_tokens, uncut_tokens: output that was billed, and that of the answer uncut.
        first_input_tokens, further_input_tokens: input of the first request that was answered, and
            of all that followed.
        shared: what each further request has in common with the first.
        prefills: further requests that end in the beginning of the answer.
    """

    name: str
    ended: str
    billed_tokens: int
    uncut_tokens: int
    first_input_tokens: int
    further_input_tokens: int
    shared: tuple[Shared, ...]
    prefills: int

    @property
    def factor(self) -> float:
        """Output tokens billed for each that the uncut answer has."""
        return self.billed_tokens / self.uncut_tokens


def costs(world: World) -> Iterator[Cost]:
    """Yield the cost of every fault that can be mended, as body and as stream."""
    with world.asker() as asker:
        for case in world.cases:
            for mode in sorted(case.modes):
                before = len(asker.sim.requests)
                said = world.ask(asker, case, mode)
                if said.error is not None:
                    raise AssertionError(f"{case.name} as {mode}") from said.error
                spent = Spent(tuple(asker.sim.requests[before:]))
                yield _cost(f"{case.name} ({mode})", asker.ending["status"], spent)


def _cost(name: str, ended: str, spent: Spent) -> Cost:
    answered = [exchange for exchange in spent.exchanges if exchange.uncut_output_tokens]
    first = answered[0].input_tokens
    rows = [exchange.json["messages"] for exchange in spent.exchanges[1:]]
    return Cost(
        name=name,
        ended=ended,
        billed_tokens=spent.output_tokens,
        uncut_tokens=answered[0].uncut_output_tokens,
        first_input_tokens=first,
        further_input_tokens=spent.input_tokens - first,
        shared=tuple(spent.shared(number) for number in range(1, len(spent.exchanges))),
        prefills=sum(1 for messages in rows if messages[-1]["role"] == "assistant"),
    )


@dataclass(frozen=True, slots=True)
class Spread:
    """How costs are spread: median, what 90 of 100 do not pass, and the dearest."""

    turns: int
    median: float
    ninety: float
    most: float
    dearest: str

    def __str__(self) -> str:
        return (
            f"{self.turns} turns: median {self.median:.2f}, 90 of 100 at most {self.ninety:.2f}, "
            f"most {self.most:.2f} ({self.dearest})"
        )


def spread(all_costs: Iterable[Cost]) -> Spread:
    """Return how the factors of these costs are spread."""
    ordered = sorted(all_costs, key=lambda cost: cost.factor)
    factors = [cost.factor for cost in ordered]
    ninety = factors[-(-len(factors) * 9 // 10) - 1]
    return Spread(len(factors), statistics.median(factors), ninety, factors[-1], ordered[-1].name)


def asked_again(all_costs: Iterable[Cost]) -> list[Cost]:
    """Return the costs of turns for which more was billed than one answer."""
    return [cost for cost in all_costs if cost.further_input_tokens]
