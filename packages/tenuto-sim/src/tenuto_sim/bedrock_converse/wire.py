"""The simulator's row for Bedrock Converse."""

from __future__ import annotations

from typing import Final

from tenuto_sim.bedrock_converse import cases, errors, frames, render, request, rules
from tenuto_sim.prose import key_of
from tenuto_sim.wire import Wire

WIRE: Final = Wire(
    name="bedrock-converse",
    tables=cases.TABLES,
    path=r"/model/(?P<model>[^/]+)/(?P<what>converse|converse-stream)",
    read=request.read,
    impossible=rules.impossible,
    violations=rules.violations,
    refuse=errors.failure,
    errors=errors.ERRORS,
    too_many_tokens=errors.too_many_tokens,
    unknown_key=errors.extra,
    core_keys=rules.KEYS - {"performanceConfig"},
    document=render.document,
    payloads=render.payloads,
    event=render.event,
    oddities=render.ODDITIES,
    broken=render.BROKEN,
    answer_id=lambda key: key_of(key, length=32),
    headers=lambda key: {"x-amzn-requestid": key_of(key, length=32)},
    located=request.located,
    frame=frames.frame,
    stream_headers={"content-type": frames.CONTENT_TYPE},
)
