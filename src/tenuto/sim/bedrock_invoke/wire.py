"""The row of Bedrock's InvokeModel."""

from __future__ import annotations

from typing import Final

from tenuto.sim.bedrock_converse.errors import ERRORS, extra, failure, too_many_tokens
from tenuto.sim.bedrock_converse.frames import CONTENT_TYPE, frame
from tenuto.sim.bedrock_invoke.render import render_body, render_events
from tenuto.sim.bedrock_invoke.request import impossible, located, violations
from tenuto.sim.openai_chat.request import read
from tenuto.sim.openai_chat.wire import WIRE as CHAT
from tenuto.sim.prose import key_of
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="bedrock-invoke",
    path=r"/model/(?P<model>[^/]+)/(?P<what>invoke|invoke-with-response-stream)",
    read=read,
    impossible=impossible,
    violations=violations,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=extra,
    core_keys=CHAT.core_keys,
    render_body=render_body,
    render_events=render_events,
    answer_id=CHAT.answer_id,
    headers=lambda key: {"x-amzn-requestid": key_of(key, length=32)},
    located=located,
    frame=frame,
    stream_headers={
        "content-type": CONTENT_TYPE,
        "x-amzn-bedrock-content-type": "application/json",
    },
)
