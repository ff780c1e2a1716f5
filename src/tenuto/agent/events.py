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


@record
class Said:
    """A piece of the answer's text, of step `step`."""

    text: str
    step: int


@record
class Thought:
    """A piece of the model's reasoning."""

    text: str
    step: int


@record
class Declined:
    """The model or its provider declined in words that are no answer: a refusal of OpenAI's, the
    explanation beside Anthropic's, what Gemini says beside a filter's stop."""

    text: str
    step: int


@record
class Called:
    """A whole call is about to run. `synthetic`: it is not run, since it was broken: recovery
    answers it, and its result follows (T9)."""

    call: ToolCall
    step: int
    synthetic: bool = False


@record
class Returned:
    """A call has its result; `call` is the very object of its `Called`."""

    call: ToolCall
    result: Result
    step: int
    synthetic: bool = False


@record
class Recovered:
    """Something that happened while a turn was finished, without content (see `tenuto.Event`). A
    step whose first answer is whole has none."""

    event: Event
    step: int


@record
class Switched:
    """Another model is asked from here on (P4): its name, and why. What was said in this step so
    far is no answer, unless the other one says nothing (E12)."""

    model: str
    why: str
    step: int


@record
class Compacted:
    """The conversation was shortened (H7): how many rows went, how many stayed as they are, and
    whether a summary stands for the others."""

    left_out: int
    kept: int
    summarized: bool
    step: int


@record
class StepEnded:
    """A request of the loop was answered. `usage`: its tokens in all, None where not told."""

    step: int
    status: str
    reason: str
    usage: Usage | None


AgentEvent = (
    Said | Thought | Declined | Called | Returned | Recovered | Switched | Compacted | StepEnded
)
"""Whatever an agent tells."""


def as_dict(event: AgentEvent) -> dict[str, Any]:
    """An event as plain values, its kind under "event".

    >>> as_dict(Said("Hi", 1))
    {'event': 'said', 'text': 'Hi', 'step': 1}
    >>> as_dict(Recovered(Event("fault", "t1", "openai", "gpt"), 1))["name"]
    'fault'
    """
    if isinstance(event, Recovered):
        return {"event": "recovered", "step": event.step, **event.event.as_dict()}
    words = [w if w.islower() else f"_{w.lower()}" for w in type(event).__name__]
    return {"event": "".join(words).lstrip("_"), **asdict(event)}
