"""An agent of Tenuto's own: a loop on top of the pipe that finishes turns."""

from tenuto.core.errors import AgentError, ToolError
from tenuto_agent.agent import Agent
from tenuto_agent.conversation import Conversation
from tenuto_agent.events import AgentEvent
from tenuto_agent.function_tool import Failure, Tool, tool
from tenuto_agent.limits import Limits
from tenuto_agent.mcp import McpServer, McpTools
from tenuto_agent.model import Model
from tenuto_agent.result import RunResult
from tenuto_agent.session import Session

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
