"""The simulator's row for DashScope's own API."""

from __future__ import annotations

from typing import Final

from examples.wires.tests.simulated.dashscope import cases, errors, render, request, rules
from tenuto_sim.wire import Wire

WIRE: Final = Wire(
    name="dashscope",
    tables=cases.TABLES,
    path="/api/v1/services/aigc/(?P<service>text|multimodal)-generation/generation",
    read=request.read,
    impossible=rules.impossible,
    violations=rules.violations,
    refuse=errors.failure,
    errors=errors.ERRORS,
    too_many_tokens=errors.too_many_tokens,
    unknown_key=errors.unknown_parameter,
    core_keys=frozenset({"model", "input", "parameters"}),
    document=render.document,
    payloads=render.payloads,
    failed=render.failed,
    event=render.event,
    broken=("result", '{"output":'),
    answer_id=errors.id_of,
    headers=lambda key: {"x-request-id": errors.id_of(key), "x-dashscope-call-gateway": "true"},
    stamped=errors.stamped,
    located=request.located,
    headed=request.headed,
    frame=render.frame,
    stream_headers={"content-type": "text/event-stream;charset=UTF-8"},
)
