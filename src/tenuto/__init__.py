"""Tenuto finds out why a language model stopped, and finishes the turn.

client = tenuto.wrap(openai.OpenAI())                        # used exactly as before
llm = ChatOpenAI(http_client=tenuto.http_client())           # or whatever takes an HTTP client
http = httpx.Client(transport=tenuto.HTTPTransport())        # or whatever builds its own
agent = tenuto.Agent("anthropic:claude-…", tools=[…])        # who has no loop yet
turn = tenuto.Turn("POST", url, headers, body)               # no I/O: for a loop of one's own
stop = tenuto.detect(response)                               # SDK object, dict, or bytes
"""

import typing as _typing

from tenuto.clients.http_client import async_http_client, http_client
from tenuto.clients.transport import AsyncHTTPTransport, HTTPTransport
from tenuto.clients.wrap import wrap
from tenuto.config import load_policy
from tenuto.core.errors import (
    AgentError,
    PolicyError,
    RegistrationError,
    TenutoError,
    ToolError,
    TurnError,
    UnsupportedClient,
)
from tenuto.core.event import Event
from tenuto.core.fault import FaultKind
from tenuto.core.policy import Decision, Policy
from tenuto.core.report import Report
from tenuto.core.stop import Confidence, Stop, StopReason
from tenuto.detection import StreamDetector, detect
from tenuto.providers.capabilities import Capabilities, capabilities
from tenuto.providers.registration import Provider, register_provider, register_wire
from tenuto.sansio import Turn
from tenuto.turn.commands import Head, Lost, Open, Read, Reraise, Transmit, Wait, Write
from tenuto.turn.per_request import policy

if _typing.TYPE_CHECKING:
    from tenuto.agent import Agent, Limits, McpServer, McpTools, Model, RunResult, Session
    from tenuto.agent.function_tool import Tool, tool

    __version__: str

__all__ = [
    "Agent",
    "AgentError",
    "AsyncHTTPTransport",
    "Capabilities",
    "Confidence",
    "Decision",
    "Event",
    "FaultKind",
    "HTTPTransport",
    "Head",
    "Limits",
    "Lost",
    "McpServer",
    "McpTools",
    "Model",
    "Open",
    "Policy",
    "PolicyError",
    "Provider",
    "Read",
    "RegistrationError",
    "Report",
    "Reraise",
    "RunResult",
    "Session",
    "Stop",
    "StopReason",
    "StreamDetector",
    "TenutoError",
    "Tool",
    "ToolError",
    "Transmit",
    "Turn",
    "TurnError",
    "UnsupportedClient",
    "Wait",
    "Write",
    "__version__",
    "async_http_client",
    "capabilities",
    "detect",
    "http_client",
    "load_policy",
    "policy",
    "register_provider",
    "register_wire",
    "tool",
    "wrap",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> _typing.Any:
    """Load the agent, and read the version, on first use: most programs need neither."""
    if name == "__version__":
        return _version()
    if name in __all__:  # all others are here, and are not asked for in this way
        import tenuto.agent as room

        return getattr(room, name)
    raise AttributeError(f"module 'tenuto' has no attribute {name!r}")


def _version() -> str:
    """Return the version of the installed distribution; "0+unknown" if there is none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tenuto")
    except PackageNotFoundError:
        return "0+unknown"
