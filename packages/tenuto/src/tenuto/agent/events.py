"""What happens while an agent runs: the names of `tenuto_agent.events`."""

from tenuto.members import why_missing

try:
    from tenuto_agent.events import (
        AgentEvent,
        Called,
        Compacted,
        Declined,
        Recovered,
        Returned,
        Said,
        StepEnded,
        Switched,
        Thought,
        as_dict,
    )
except ModuleNotFoundError as _error:
    raise why_missing("agent", _error) from None

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
