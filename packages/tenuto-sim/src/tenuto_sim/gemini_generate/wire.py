"""The simulator's row for Gemini's generateContent."""

from __future__ import annotations

from typing import Final

from tenuto_sim.gemini_generate import cases, errors, render, request, rules
from tenuto_sim.prose import key_of
from tenuto_sim.wire import Wire

WIRE: Final = Wire(
    name="gemini-generate",
    tables=cases.TABLES,
    # The Developer API and Vertex AI, with a project and without.
    path=r"/v1(?:beta|beta1|alpha)?/(?:projects/[^/]+/locations/[^/]+/)?"
    r"(?:publishers/(?P<publisher>[^/]+)/)?models/(?P<model>.+):"
    r"(?P<method>generateContent|streamGenerateContent)",
    read=request.read,
    impossible=rules.impossible,
    violations=rules.violations,
    refuse=errors.failure,
    errors=errors.ERRORS,
    too_many_tokens=errors.too_many_tokens,
    unknown_key=errors.unknown_name,
    core_keys=frozenset(
        {"contents", "model", "stream", "tools", "toolConfig", "generationConfig"}
        | {"systemInstruction", "continuationToken"}
    ),
    document=render.document,
    payloads=render.payloads,
    oddities=render.ODDITIES,
    broken=("", '{"candidates": [{"content": '),
    answer_id=lambda key: key_of(key, length=22),
    headers=lambda key: {
        "server": "scaffolding on HTTPServer2",
        "server-timing": f"gfet4t7;key={key}",
    },
    located=request.located,
)
