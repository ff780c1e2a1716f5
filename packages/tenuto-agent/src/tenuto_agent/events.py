"""The events of an agent, in the order in which they happen.

Unlike the events of a turn (`tenuto.Event`), which hold no content, these are for the program that
runs the agent. They hold text, calls and results.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.fast_dataclass import fast_dataclass
from tenuto.core.answer.signals import Usage
from tenuto.core.events.event import Event
from tenuto_agent.transcript import Result

__all__ = [
    "AgentEvent",
    "Called",
    "Compacted",
    "Declined",
    "Recovered",
    "Returned",
    "Said",
    "StepEnded",
    "Switched",
    "Thought",
    "as_dict",
]


@fast_dataclass
class Said:
    """A piece of the answer's text.

    Attributes:
        text: the piece.
        step: the number of the loop's request, 1 for the first.
    """

    text: str
    step: int


@fast_dataclass
class Thought:
    """A piece of the model's reasoning.

    Attributes:
        text: the piece.
        step: the number of the request.
    """

    text: str
    step: int


@fast_dataclass
class Declined:
    """The model or its provider declined, in words that are not part of the answer: OpenAI's
    refusal, Anthropic's explanation, Gemini's message with a filter's stop.

    Attributes:
        text: the words.
        step: the number of the request.
    """

    text: str
    step: int


@fast_dataclass
class Called:
    """A complete call is about to run.

    Attributes:
        call: the call: its id, name and arguments.
        step: the number of the request.
        synthetic: True if the call is broken and doesn't run: recovery answers it, and its result
            follows (T9).
    """

    call: ToolCall
    step: int
    synthetic: bool = False


@fast_dataclass
class Returned:
    """A call has its result.

    Attributes:
        call: the same object as in its `Called`.
        result: the result that the model sees, and whether the call failed.
        step: the number of the request.
        synthetic: True if the call did not run and recovery answered it.
    """

    call: ToolCall
    result: Result
    step: int
    synthetic: bool = False


@fast_dataclass
class Recovered:
    """Something that Tenuto did to finish an answer, without content. A step whose first answer is
    complete has none.

    Attributes:
        event: an event of the turn (docs/events.md).
        step: the number of the request.
    """

    event: Event
    step: int


@fast_dataclass
class Switched:
    """The agent falls back to another model (P4). Text of this step so far is not part of the
    answer, unless the other model returns nothing (E12).

    Attributes:
        model: the name of the other model.
        why: the reason, in one word.
        step: the number of the request.
    """

    model: str
    why: str
    step: int


@fast_dataclass
class Compacted:
    """The conversation was shortened (H7).

    Attributes:
        left_out: how many rows were left out.
        kept: how many rows were kept as they are.
        summarized: whether a summary replaces the others.
        step: the number of the request.
    """

    left_out: int
    kept: int
    summarized: bool
    step: int


@fast_dataclass
class StepEnded:
    """A request of the loop was answered.

    Attributes:
        step: the number of the request.
        status: how its turn ended: "complete", "partial" or "failed".
        reason: why the turn ended, in one word; "completed" for a complete turn.
        usage: its tokens in total; None if the provider did not report them.
    """

    step: int
    status: str
    reason: str
    usage: Usage | None


AgentEvent = (
    Said | Thought | Declined | Called | Returned | Recovered | Switched | Compacted | StepEnded
)
"""An event of an agent: one of the classes in this module."""


def as_dict(event: AgentEvent) -> dict[str, Any]:
    """Return an event as plain values, with its kind under "event".

    >>> as_dict(Said("Hi", 1))
    {'event': 'said', 'text': 'Hi', 'step': 1}
    >>> from tenuto.events import Stalled
    >>> told = {"time": 0.0, "turn": "t1", "provider": "openai", "model": "gpt", "attempt": 1}
    >>> as_dict(Recovered(Stalled(**told, answered=True, output_chars=0), 1))["name"]
    'stalled'
    """
    if isinstance(event, Recovered):
        return {"event": "recovered", "step": event.step, **event.event.as_dict()}
    words = [w if w.islower() else f"_{w.lower()}" for w in type(event).__name__]
    return {"event": "".join(words).lstrip("_"), **asdict(event)}
