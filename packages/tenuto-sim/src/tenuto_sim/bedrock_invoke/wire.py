"""The simulator's row for Bedrock's InvokeModel."""

from __future__ import annotations

from typing import Final

from tenuto_sim.bedrock_converse.errors import ERRORS, extra, failure, too_many_tokens
from tenuto_sim.bedrock_converse.frames import CONTENT_TYPE, frame
from tenuto_sim.bedrock_invoke import cases, render, request
from tenuto_sim.openai_chat.request import read
from tenuto_sim.openai_chat.wire import WIRE as CHAT
from tenuto_sim.prose import key_of
from tenuto_sim.wire import Wire

WIRE: Final = Wire(
    name="bedrock-invoke",
    tables=cases.TABLES,
    path=r"/model/(?P<model>[^/]+)/(?P<what>invoke|invoke-with-response-stream)",
    read=read,
    impossible=request.impossible,
    violations=request.violations,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=extra,
    core_keys=CHAT.core_keys,
    document=render.document,
    payloads=render.payloads,
    event=render.event,
    broken=render.BROKEN,
    answer_id=CHAT.answer_id,
    headers=lambda key: {"x-amzn-requestid": key_of(key, length=32)},
    located=request.located,
    frame=frame,
    stream_headers={
        "content-type": CONTENT_TYPE,
        "x-amzn-bedrock-content-type": "application/json",
    },
)
