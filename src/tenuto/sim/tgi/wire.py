"""The rows of Text Generation Inference: where Hugging Face's client asks, and where others do."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from tenuto.sim.tgi.cases import TABLES
from tenuto.sim.tgi.errors import ERRORS, failure, too_many_tokens, unknown_key
from tenuto.sim.tgi.render import ODDITIES, document, payloads
from tenuto.sim.tgi.request import impossible, located, read, violation
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="tgi",
    tables=TABLES,
    path=r"/(?:(?:hf-inference/)?models/(?P<model>.+))?",
    read=read,
    impossible=impossible,
    violation=violation,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_key,
    core_keys=frozenset({"inputs", "parameters", "stream", "model"}),
    document=lambda *told: [document(*told)],
    payloads=payloads,
    oddities=ODDITIES,
    answer_id=lambda key: key,  # an answer has none
    headers=lambda key: {"x-request-id": key},
    located=partial(located, full=True, stream=None),
)
"""At `/`, where a body stands in a list, and the prompt comes again unless it is asked not to."""

ELSEWHERE: Final = tuple(
    replace(
        WIRE,
        path=rf"(?:/(?P<model>.+))?/{end}",
        document=document,
        located=partial(located, full=False, stream=stream),
    )
    for end, stream in (("generate", False), ("generate_stream", True))
)
