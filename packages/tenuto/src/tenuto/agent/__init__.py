"""An agent of Tenuto's own: a loop on top of the pipe that finishes turns."""

from tenuto.agent.agent import Agent
from tenuto.agent.conversation import Conversation
from tenuto.agent.events import AgentEvent
from tenuto.agent.function_tool import Failure, Tool, tool
from tenuto.agent.limits import Limits
from tenuto.agent.mcp import McpServer, McpTools
from tenuto.agent.model import Model
from tenuto.agent.result import RunResult
from tenuto.agent.session import Session
from tenuto.core.errors import AgentError, ToolError

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
