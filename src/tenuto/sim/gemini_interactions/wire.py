"""The row of Gemini's Interactions."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, Final

from tenuto.sim.case import Framing
from tenuto.sim.errors import Failure
from tenuto.sim.framing import frame
from tenuto.sim.gemini_interactions.body_rules import body_violations, impossible
from tenuto.sim.gemini_interactions.cases import TABLES
from tenuto.sim.gemini_interactions.errors import (
    ERRORS,
    failure,
    too_many_tokens,
    unknown_parameter,
)
from tenuto.sim.gemini_interactions.history import history_violations
from tenuto.sim.gemini_interactions.render import BROKEN, DONE, ODDITIES, document, event, payloads
from tenuto.sim.gemini_interactions.request import read, steps_of
from tenuto.sim.gemini_interactions.stored import kept, recalled
from tenuto.sim.prose import key_of
from tenuto.sim.reply import Settings
from tenuto.sim.wire import Wire


def _violation(
    headers: Mapping[str, str], body: Mapping[str, Any], settings: Settings
) -> Failure | None:
    ours = [failure(f"Unknown header: {name}") for name in headers if name.startswith("x-tenuto-")]
    rules = (body_violations(body, settings.max_output_tokens), history_violations(steps_of(body)))
    return next(chain(ours, *rules), None)


WIRE: Final = Wire(
    name="gemini-interactions",
    tables=TABLES,
    # The Developer API and Vertex AI.
    path=r"/v1(?:beta|beta1|alpha)?/(?:projects/[^/]+/locations/[^/]+/)?interactions",
    read=read,
    impossible=impossible,
    violation=_violation,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_parameter,
    core_keys=frozenset(
        {"model", "input", "stream", "store", "tools", "generation_config", "response_format"}
        | {"previous_interaction_id", "continuation_token", "system_instruction"}
    ),
    document=document,
    payloads=payloads,
    event=event,
    oddities=ODDITIES,
    broken=BROKEN,
    done=DONE,
    answer_id=lambda key: "v1_" + key_of(key, length=40),
    headers=lambda key: {
        "server": "scaffolding on HTTPServer2",
        "server-timing": f"gfet4t7;key={key}",
    },
    recalled=recalled,
    kept=kept,
    last_event=frame([DONE], Framing.PLAIN)[0],
)
