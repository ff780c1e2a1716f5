"""The row of Gemini's generateContent."""

from __future__ import annotations

from typing import Final

from tenuto.sim.gemini_generate.body import render_body
from tenuto.sim.gemini_generate.errors import (
    ERRORS,
    failure,
    too_many_tokens,
    unknown_name,
)
from tenuto.sim.gemini_generate.events import render_events
from tenuto.sim.gemini_generate.request import located, read
from tenuto.sim.gemini_generate.rules import impossible, violations
from tenuto.sim.prose import key_of
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="gemini-generate",
    # The Developer API and Vertex AI, with a project and without.
    path=r"/v1(?:beta|beta1|alpha)?/(?:projects/[^/]+/locations/[^/]+/)?"
    r"(?:publishers/(?P<publisher>[^/]+)/)?models/(?P<model>.+):"
    r"(?P<method>generateContent|streamGenerateContent)",
    read=read,
    impossible=impossible,
    violations=violations,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_name,
    core_keys=frozenset(
        {"contents", "model", "stream", "tools", "toolConfig", "generationConfig"}
        | {"systemInstruction", "continuationToken"}
    ),
    render_body=render_body,
    render_events=render_events,
    answer_id=lambda key: key_of(key, length=22),
    headers=lambda key: {
        "server": "scaffolding on HTTPServer2",
        "server-timing": f"gfet4t7;key={key}",
    },
    located=located,
)
