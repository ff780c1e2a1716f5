"""The row of DashScope's own API."""

from __future__ import annotations

from typing import Final

from tenuto.sim.dashscope.errors import (
    ERRORS,
    failure,
    id_of,
    stamped,
    too_many_tokens,
    unknown_parameter,
)
from tenuto.sim.dashscope.render import frame, render_body, render_events
from tenuto.sim.dashscope.request import headed, located, read
from tenuto.sim.dashscope.rules import impossible, violations
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="dashscope",
    path="/api/v1/services/aigc/(?P<service>text|multimodal)-generation/generation",
    read=read,
    impossible=impossible,
    violations=violations,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_parameter,
    core_keys=frozenset({"model", "input", "parameters"}),
    render_body=render_body,
    render_events=render_events,
    answer_id=id_of,
    headers=lambda key: {"x-request-id": id_of(key), "x-dashscope-call-gateway": "true"},
    stamped=stamped,
    located=located,
    headed=headed,
    frame=frame,
    stream_headers={"content-type": "text/event-stream;charset=UTF-8"},
)
