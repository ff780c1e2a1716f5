"""Tenuto finds out why a language model stopped, and finishes the turn.

client = tenuto.wrap(openai.OpenAI())                        # used exactly as before
llm = ChatOpenAI(http_client=tenuto.http_client())           # or whatever takes an HTTP client
turn = tenuto.Turn("POST", url, headers, body)               # no I/O: for a loop of one's own
stop = tenuto.detect(response)                               # SDK object, dict, or bytes
"""

from tenuto.clients.http_client import async_http_client, http_client
from tenuto.clients.wrap import wrap
from tenuto.config import load_policy
from tenuto.core.errors import (
    PolicyError,
    RegistrationError,
    TenutoError,
    TurnError,
    UnsupportedClient,
)
from tenuto.core.events import Event, Report
from tenuto.core.fault import FaultKind
from tenuto.core.policy import Decision, Policy
from tenuto.core.stop import Confidence, Stop, StopReason
from tenuto.detection import StreamDetector, detect
from tenuto.providers.registry import register
from tenuto.relay.commands import Head, Lost, Open, Read, Reraise, Transmit, Wait, Write
from tenuto.turn import Turn

__version__ = "0.1.0"

__all__ = [
    "Confidence",
    "Decision",
    "Event",
    "FaultKind",
    "Head",
    "Lost",
    "Open",
    "Policy",
    "PolicyError",
    "Read",
    "RegistrationError",
    "Report",
    "Reraise",
    "Stop",
    "StopReason",
    "StreamDetector",
    "TenutoError",
    "Transmit",
    "Turn",
    "TurnError",
    "UnsupportedClient",
    "Wait",
    "Write",
    "__version__",
    "async_http_client",
    "detect",
    "http_client",
    "load_policy",
    "register",
    "wrap",
]
