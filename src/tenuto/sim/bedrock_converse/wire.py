"""The row of Bedrock Converse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenuto.sim.bedrock_converse.body_rules import (
    KEYS,
    body_violations,
    header_violations,
    impossible,
)
from tenuto.sim.bedrock_converse.cases import TABLES
from tenuto.sim.bedrock_converse.errors import ERRORS, extra, failure, too_many_tokens
from tenuto.sim.bedrock_converse.frames import CONTENT_TYPE, frame
from tenuto.sim.bedrock_converse.history import history_violations
from tenuto.sim.bedrock_converse.render import BROKEN, ODDITIES, document, event, payloads
from tenuto.sim.bedrock_converse.request import located, read
from tenuto.sim.errors import Failure
from tenuto.sim.prose import key_of
from tenuto.sim.reply import Settings
from tenuto.sim.wire import Body, Headers, Wire, first_of


def _rules(headers: Headers, body: Body, settings: Settings) -> Iterator[Failure]:
    yield from header_violations(headers)
    yield from history_violations(body, settings.prefill)
    yield from body_violations(body, settings.max_output_tokens)


WIRE: Final = Wire(
    name="bedrock-converse",
    tables=TABLES,
    path=r"/model/(?P<model>[^/]+)/(?P<what>converse|converse-stream)",
    read=read,
    impossible=impossible,
    violation=first_of(_rules),
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=extra,
    core_keys=KEYS - {"performanceConfig"},
    document=document,
    payloads=payloads,
    event=event,
    oddities=ODDITIES,
    broken=BROKEN,
    answer_id=lambda key: key_of(key, length=32),
    headers=lambda key: {"x-amzn-requestid": key_of(key, length=32)},
    located=located,
    frame=frame,
    stream_headers={"content-type": CONTENT_TYPE},
)
