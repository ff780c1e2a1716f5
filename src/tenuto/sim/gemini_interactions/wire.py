"""The row of Gemini's Interactions."""

from __future__ import annotations

from typing import Final

from tenuto.sim.gemini_interactions.body import render_body
from tenuto.sim.gemini_interactions.errors import (
    ERRORS,
    failure,
    too_many_tokens,
    unknown_parameter,
)
from tenuto.sim.gemini_interactions.events import render_events
from tenuto.sim.gemini_interactions.request import read
from tenuto.sim.gemini_interactions.rules import impossible, violations
from tenuto.sim.gemini_interactions.stored import kept, recalled
from tenuto.sim.prose import key_of
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="gemini-interactions",
    # The Developer API and Vertex AI.
    path=r"/v1(?:beta|beta1|alpha)?/(?:projects/[^/]+/locations/[^/]+/)?interactions",
    read=read,
    impossible=impossible,
    violations=violations,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_parameter,
    core_keys=frozenset(
        {"model", "input", "stream", "store", "tools", "generation_config", "response_format"}
        | {"previous_interaction_id", "continuation_token", "system_instruction"}
    ),
    render_body=render_body,
    render_events=render_events,
    answer_id=lambda key: "v1_" + key_of(key, length=40),
    headers=lambda key: {
        "server": "scaffolding on HTTPServer2",
        "server-timing": f"gfet4t7;key={key}",
    },
    recalled=recalled,
    kept=kept,
    last_event=b"event: done\ndata: [DONE]\n\n",
)
