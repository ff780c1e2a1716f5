"""The row of DashScope's own API."""

from __future__ import annotations

from typing import Final

from tenuto.sim.dashscope.cases import TABLES
from tenuto.sim.dashscope.errors import (
    ERRORS,
    failure,
    id_of,
    stamped,
    too_many_tokens,
    unknown_parameter,
)
from tenuto.sim.dashscope.render import document, event, failed, frame, payloads
from tenuto.sim.dashscope.request import headed, located, read
from tenuto.sim.dashscope.rules import impossible, violation
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="dashscope",
    tables=TABLES,
    path="/api/v1/services/aigc/(?P<service>text|multimodal)-generation/generation",
    read=read,
    impossible=impossible,
    violation=violation,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_parameter,
    core_keys=frozenset({"model", "input", "parameters"}),
    document=document,
    payloads=payloads,
    failed=failed,
    event=event,
    broken=("result", '{"output":'),
    answer_id=id_of,
    headers=lambda key: {"x-request-id": id_of(key), "x-dashscope-call-gateway": "true"},
    stamped=stamped,
    located=located,
    headed=headed,
    frame=frame,
    stream_headers={"content-type": "text/event-stream;charset=UTF-8"},
)
