"""What others write otherwise than OpenAI on Chat Completions, one row each.

groq 1.7.0, together 3.1.1 and cerebras_cloud_sdk 1.91.0, types/chat/ (read 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tenuto.sim.errors import Failure
from tenuto.sim.openai_chat.errors import ERRORS

Members = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one provider writes otherwise.

    Attributes:
        path: a pattern of the paths of its requests, which must match whole.
        reasoning_key: where a message has its thoughts.
        stops: its own words for stops.
        breaks_off: what comes in the middle of a stream that fails.
        in_body, in_piece: what bodies, and further pieces of calls, have besides.
        in_last_chunk: what that has besides, made of the usage.
    """

    path: str = "/v1/chat/completions"
    reasoning_key: str = "reasoning"
    stops: Mapping[str | None, str] = field(default_factory=dict)
    breaks_off: Failure = ERRORS["mid_stream"]
    in_body: Members = field(default_factory=dict)
    in_piece: Members = field(default_factory=dict)
    in_last_chunk: Callable[[Members], Members] = lambda usage: {"usage": usage}


OPENAI: Final = Dialect(reasoning_key="reasoning_content", in_last_chunk=lambda _: {})

_TIMES: Final = {"time_info": {"queue_time": 0.001, "prompt_time": 0.002, "total_time": 0.1}}

DIALECTS: Final[Mapping[str, Dialect]] = {
    "groq": Dialect(
        path="/openai/v1/chat/completions",
        breaks_off=ERRORS["mid_groq"],
        in_body={"x_groq": {"id": "req_01sim"}, "service_tier": "on_demand"},
        in_last_chunk=lambda usage: {"x_groq": {"id": "req_01sim", "usage": usage}},
    ),
    # A `stop` is a stop string of the request: a natural end is called eos.
    "together": Dialect(stops={"stop": "eos"}, in_body={"prompt": []}),
    "cerebras": Dialect(
        breaks_off=ERRORS["mid_cerebras"],
        in_body=_TIMES,
        in_piece={"type": "function"},
        in_last_chunk=lambda usage: {"usage": usage, **_TIMES},
    ),
}
