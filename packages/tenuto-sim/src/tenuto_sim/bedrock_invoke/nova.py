"""The simulator's row for Nova's messages on InvokeModel: Converse's, with each event in a chunk.

https://docs.aws.amazon.com/nova/latest/userguide/complete-request-schema.html (read 2026-11-22).
"""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any, Final

from tenuto_sim.bedrock_converse.errors import failure
from tenuto_sim.bedrock_converse.render import BROKEN, event
from tenuto_sim.bedrock_converse.wire import WIRE as CONVERSE
from tenuto_sim.bedrock_invoke.wire import WIRE
from tenuto_sim.envelope import dump
from tenuto_sim.framing import Event
from tenuto_sim.shapes import Violations

_SCHEMA: Final = "messages-v1"


def impossible(body: Any) -> Violations:
    """Yield the violations of a body that can't be answered at all.

    >>> next(impossible({"messages": []})).document["message"][:55]
    'Malformed input request: #: required key [schemaVersion'
    """
    if isinstance(body, dict) and body.get("schemaVersion", _SCHEMA) != _SCHEMA:
        yield failure(f"Malformed input request: #/schemaVersion: {_SCHEMA} is expected.")
    if isinstance(body, dict) and "schemaVersion" not in body:
        yield failure("Malformed input request: #: required key [schemaVersion] not found.")
    yield from CONVERSE.impossible(body)


def _chunk(name: str, payload: str) -> Event:
    """Return an event in a chunk. An error is not the model's own event."""
    if name.endswith("Exception"):
        return name, payload
    said = f'{{"{name}":{payload}}}'.encode("utf-8", "replace")
    return "chunk", dump({"bytes": base64.b64encode(said).decode()})


NOVA: Final = replace(
    CONVERSE,
    path=r"/model/(?P<model>[^/]*amazon\.nova[^/]*)/(?P<what>invoke|invoke-with-response-stream)",
    impossible=impossible,
    violations=lambda headers, body, settings: CONVERSE.violations(
        headers, {name: said for name, said in body.items() if name != "schemaVersion"}, settings
    ),
    core_keys=CONVERSE.core_keys | {"schemaVersion"},
    event=lambda named, number: _chunk(*event(named, number)),
    broken=_chunk(*BROKEN),
    stream_headers=WIRE.stream_headers,
)
