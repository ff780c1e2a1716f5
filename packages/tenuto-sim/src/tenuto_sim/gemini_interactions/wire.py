"""The simulator's row for Gemini's Interactions."""

from __future__ import annotations

from typing import Final

from tenuto_sim.case import Framing
from tenuto_sim.framing import frame, named_by
from tenuto_sim.gemini_interactions import (
    cases,
    errors,
    render,
    request,
    rules,
    stored,
)
from tenuto_sim.prose import key_of
from tenuto_sim.wire import Wire

WIRE: Final = Wire(
    name="gemini-interactions",
    tables=cases.TABLES,
    # The Developer API and Vertex AI.
    path=r"/v1(?:beta|beta1|alpha)?/(?:projects/[^/]+/locations/[^/]+/)?interactions",
    read=request.read,
    impossible=rules.impossible,
    violations=rules.violations,
    refuse=errors.failure,
    errors=errors.ERRORS,
    too_many_tokens=errors.too_many_tokens,
    unknown_key=errors.unknown_parameter,
    core_keys=frozenset(
        {"model", "input", "stream", "store", "tools", "generation_config", "response_format"}
        | {"previous_interaction_id", "continuation_token", "system_instruction"}
    ),
    document=render.document,
    payloads=render.payloads,
    event=named_by("event_type"),
    oddities=render.ODDITIES,
    broken=render.BROKEN,
    done=render.DONE,
    answer_id=lambda key: "v1_" + key_of(key, length=40),
    headers=lambda key: {
        "server": "scaffolding on HTTPServer2",
        "server-timing": f"gfet4t7;key={key}",
    },
    recalled=stored.recalled,
    kept=stored.kept,
    last_event=frame([render.DONE], Framing.PLAIN)[0],
)
