"""The row of Bedrock Converse."""

from __future__ import annotations

from typing import Final

from tenuto.sim.bedrock_converse.body import render_body
from tenuto.sim.bedrock_converse.errors import ERRORS, extra, failure, too_many_tokens
from tenuto.sim.bedrock_converse.events import render_events
from tenuto.sim.bedrock_converse.frames import CONTENT_TYPE, frame
from tenuto.sim.bedrock_converse.request import located, read
from tenuto.sim.bedrock_converse.rules import KEYS, impossible, violations
from tenuto.sim.prose import key_of
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="bedrock-converse",
    path=r"/model/(?P<model>[^/]+)/(?P<what>converse|converse-stream)",
    read=read,
    impossible=impossible,
    violations=violations,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=extra,
    core_keys=KEYS - {"performanceConfig"},
    render_body=render_body,
    render_events=render_events,
    answer_id=lambda key: key_of(key, length=32),
    headers=lambda key: {"x-amzn-requestid": key_of(key, length=32)},
    located=located,
    frame=frame,
    stream_headers={"content-type": CONTENT_TYPE},
)
