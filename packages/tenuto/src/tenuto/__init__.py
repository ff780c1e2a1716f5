"""Tenuto finds out why a language model stopped, and finishes the turn.

client = tenuto.wrap(openai.OpenAI())                        # use it exactly as before
llm = ChatOpenAI(http_client=tenuto.http_client())           # frameworks that take an HTTP client
http = httpx.Client(transport=tenuto.HTTPTransport())        # frameworks that build their own
agent = tenuto.agent.Agent("anthropic:claude-…", tools=[…])  # a ready-made agent loop
turn = tenuto.sansio.Turn("POST", url, headers, body)        # no I/O, for your own loop
stop = tenuto.detect(response)                               # an SDK's object, a dict, or bytes
verdict = tenuto.judge(row)                                  # an answer that was stored
"""

import typing as _typing

from tenuto.clients.http_client import async_http_client, http_client
from tenuto.clients.transport import AsyncHTTPTransport, HTTPTransport
from tenuto.clients.wrap import wrap
from tenuto.config import load_policy
from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.signals import Usage
from tenuto.core.answer.stop import Confidence, Stop, StopReason
from tenuto.core.deciding.actions import Status
from tenuto.core.deciding.decide import Context, decide
from tenuto.core.deciding.outcome import Outcome
from tenuto.core.errors import (
    PolicyError,
    RegistrationError,
    TenutoError,
    TurnError,
    UnsupportedClient,
)
from tenuto.core.events.event import Event
from tenuto.core.events.report import Report
from tenuto.core.settings.policy import Decision, Policy
from tenuto.detection import (
    AssistantTurn,
    DetectedConversation,
    StreamDetector,
    WaitingCall,
    detect,
    detect_conversation,
    detect_each,
)
from tenuto.judging import Verdict, judge, judge_batch
from tenuto.providers.capabilities import Capabilities, capabilities
from tenuto.providers.registration import Provider, register_provider, register_wire
from tenuto.reporting import report
from tenuto.turn.settings.per_request import policy
from tenuto.turn.settings.switch import disable

if _typing.TYPE_CHECKING:
    from tenuto import agent as agent
    from tenuto import sansio

    __version__: str

__all__ = [
    "AssistantTurn",
    "AsyncHTTPTransport",
    "Capabilities",
    "Confidence",
    "Context",
    "Decision",
    "DetectedConversation",
    "Event",
    "FaultKind",
    "HTTPTransport",
    "Outcome",
    "Policy",
    "PolicyError",
    "Provider",
    "RegistrationError",
    "Report",
    "Status",
    "Stop",
    "StopReason",
    "StreamDetector",
    "TenutoError",
    "TurnError",
    "UnsupportedClient",
    "Usage",
    "Verdict",
    "WaitingCall",
    "__version__",
    "async_http_client",
    "capabilities",
    "decide",
    "detect",
    "detect_conversation",
    "detect_each",
    "disable",
    "http_client",
    "judge",
    "judge_batch",
    "load_policy",
    "policy",
    "register_provider",
    "register_wire",
    "report",
    "sansio",
    "wrap",
]


def __dir__() -> list[str]:
    from importlib.util import find_spec

    # Without its package, `tenuto.agent` raises an error that says what to install. So it is not in
    # `__all__`, and is listed only where it can be had.
    agents = ("agent",) if find_spec("tenuto_agent") else ()
    return sorted({*globals(), *__all__, *agents})


def __getattr__(name: str) -> _typing.Any:
    """Import the agent and the turn without I/O, and read the version, on first use: most programs
    need none of them."""
    if name == "__version__":
        return _version()
    if name in ("agent", "sansio"):
        from importlib import import_module

        return import_module(f"tenuto.{name}")
    raise AttributeError(f"module 'tenuto' has no attribute {name!r}")


def _version() -> str:
    """Return the version of the installed distribution; "0+unknown" if there is none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tenuto")
    except PackageNotFoundError:
        return "0+unknown"
