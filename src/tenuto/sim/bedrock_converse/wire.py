"""The row of Bedrock Converse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenuto.sim.bedrock_converse import body_rules, cases, errors, frames, history, render, request
from tenuto.sim.errors import Failure
from tenuto.sim.prose import key_of
from tenuto.sim.reply import Settings
from tenuto.sim.wire import Body, Headers, Wire, first_of


def _rules(headers: Headers, body: Body, settings: Settings) -> Iterator[Failure]:
    yield from body_rules.header_violations(headers)
    yield from history.history_violations(body, settings.prefill)
    yield from body_rules.body_violations(body, settings.max_output_tokens)


WIRE: Final = Wire(
    name="bedrock-converse",
    tables=cases.TABLES,
    path=r"/model/(?P<model>[^/]+)/(?P<what>converse|converse-stream)",
    read=request.read,
    impossible=body_rules.impossible,
    violation=first_of(_rules),
    refuse=errors.failure,
    errors=errors.ERRORS,
    too_many_tokens=errors.too_many_tokens,
    unknown_key=errors.extra,
    core_keys=body_rules.KEYS - {"performanceConfig"},
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
