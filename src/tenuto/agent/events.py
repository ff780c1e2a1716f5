"""What an agent tells those who watch it: each thing as it happens, in order.

Unlike the events of a turn (`tenuto.Event`), which hold no content, these are for whoever runs the
agent: they carry what was said, called and answered.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tenuto.core.calls import ToolCall
from tenuto.core.event import Event
from tenuto.core.record import record
from tenuto.core.signals import Usage
from tenuto.core.transcript import Result

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


@record
class Said:
    """A piece of the answer's text.

    Attributes:
        text: the piece.
        step: the number of the request of the loop that it answers, 1 for the first.
    """

    text: str
    step: int


@record
class Thought:
    """A piece of the model's reasoning.

    Attributes:
        text: the piece.
        step: the number of the request.
    """

    text: str
    step: int


@record
class Declined:
    """The model or its provider declined in words that are no answer: a refusal of OpenAI's, the
    explanation beside Anthropic's, what Gemini says beside a filter's stop.

    Attributes:
        text: the words.
        step: the number of the request.
    """

    text: str
    step: int


@record
class Called:
    """A whole call is about to run.

    Attributes:
        call: the call: its id, name and arguments.
        step: the number of the request.
        synthetic: whether it is not run, since it was broken: recovery answers it, and its result
            follows (T9).
    """

    call: ToolCall
    step: int
    synthetic: bool = False


@record
class Returned:
    """A call has its result.

    Attributes:
        call: the very object of its `Called`.
        result: the result as the model is told it, and whether the call failed.
        step: the number of the request.
        synthetic: whether the call was not run, and recovery answered it.
    """

    call: ToolCall
    result: Result
    step: int
    synthetic: bool = False


@record
class Recovered:
    """Something that happened while a turn was finished, without content. A step whose first answer
    is whole has none.

    Attributes:
        event: an event of the turn (docs/events.md).
        step: the number of the request.
    """

    event: Event
    step: int


@record
class Switched:
    """Another model is asked from here on (P4). What was said in this step so far is no answer,
    unless the other one says nothing (E12).

    Attributes:
        model: the name of the other model.
        why: why it is asked, one word.
        step: the number of the request.
    """

    model: str
    why: str
    step: int


@record
class Compacted:
    """The conversation was shortened (H7).

    Attributes:
        left_out: how many rows went.
        kept: how many stayed as they are.
        summarized: whether a summary stands for the others.
        step: the number of the request.
    """

    left_out: int
    kept: int
    summarized: bool
    step: int


@record
class StepEnded:
    """A request of the loop was answered.

    Attributes:
        step: the number of the request.
        status: how its turn ended: "complete", "partial" or "failed".
        reason: one word why, "completed" for a whole turn.
        usage: its tokens in all, None where they were not told.
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
    """An event as plain values, its kind under "event".

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
