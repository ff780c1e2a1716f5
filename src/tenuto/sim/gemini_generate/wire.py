"""The row of Gemini's generateContent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenuto.sim.errors import Failure
from tenuto.sim.gemini_generate.body_rules import (
    body_violations,
    header_violations,
    impossible,
)
from tenuto.sim.gemini_generate.cases import TABLES
from tenuto.sim.gemini_generate.errors import (
    ERRORS,
    failure,
    too_many_tokens,
    unknown_name,
)
from tenuto.sim.gemini_generate.history import history_violations
from tenuto.sim.gemini_generate.render import ODDITIES, document, payloads
from tenuto.sim.gemini_generate.request import located, read
from tenuto.sim.prose import key_of
from tenuto.sim.reply import Settings
from tenuto.sim.wire import Body, Headers, Wire, first_of


def _rules(headers: Headers, body: Body, settings: Settings) -> Iterator[Failure]:
    yield from header_violations(headers)
    yield from body_violations(body, settings.max_output_tokens)
    yield from history_violations(body, settings.prefill)


WIRE: Final = Wire(
    name="gemini-generate",
    tables=TABLES,
    # The Developer API and Vertex AI, with a project and without.
    path=r"/v1(?:beta|beta1|alpha)?/(?:projects/[^/]+/locations/[^/]+/)?"
    r"(?:publishers/(?P<publisher>[^/]+)/)?models/(?P<model>.+):"
    r"(?P<method>generateContent|streamGenerateContent)",
    read=read,
    impossible=impossible,
    violation=first_of(_rules),
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_name,
    core_keys=frozenset(
        {"contents", "model", "stream", "tools", "toolConfig", "generationConfig"}
        | {"systemInstruction", "continuationToken"}
    ),
    document=document,
    payloads=payloads,
    oddities=ODDITIES,
    broken=("", '{"candidates": [{"content": '),
    answer_id=lambda key: key_of(key, length=22),
    headers=lambda key: {
        "server": "scaffolding on HTTPServer2",
        "server-timing": f"gfet4t7;key={key}",
    },
    located=located,
)
