"""An agent of Tenuto's own: a loop on top of the pipe that finishes turns.

These are the names of `tenuto_agent`, which the extra `agent` installs.
"""

from tenuto.members import why_missing

try:
    from tenuto_agent import (
        Agent,
        AgentError,
        AgentEvent,
        Conversation,
        Failure,
        Limits,
        McpServer,
        McpTools,
        Model,
        RunResult,
        Session,
        Tool,
        ToolError,
        tool,
    )
except ModuleNotFoundError as _error:
    raise why_missing("agent", _error) from None

__all__ = [
    "Agent",
    "AgentError",
    "AgentEvent",
    "Conversation",
    "Failure",
    "Limits",
    "McpServer",
    "McpTools",
    "Model",
    "RunResult",
    "Session",
    "Tool",
    "ToolError",
    "tool",
]
