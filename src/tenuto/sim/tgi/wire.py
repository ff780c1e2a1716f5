"""The simulator's rows for Text Generation Inference: at Hugging Face's path, and at others."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from tenuto.sim.tgi import cases, errors, render, request
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="tgi",
    tables=cases.TABLES,
    path=r"/(?:(?:hf-inference/)?models/(?P<model>.+))?",
    read=request.read,
    impossible=request.impossible,
    violations=request.violations,
    refuse=errors.failure,
    errors=errors.ERRORS,
    too_many_tokens=errors.too_many_tokens,
    unknown_key=errors.unknown_key,
    core_keys=frozenset({"inputs", "parameters", "stream", "model"}),
    document=lambda *told: [render.document(*told)],
    payloads=render.payloads,
    oddities=render.ODDITIES,
    answer_id=lambda key: key,  # an answer has none
    headers=lambda key: {"x-request-id": key},
    located=partial(request.located, full=True, stream=None),
)
"""The row at `/`, where a body is in a list and repeats the prompt by default."""

ELSEWHERE: Final = tuple(
    replace(
        WIRE,
        path=rf"(?:/(?P<model>.+))?/{end}",
        document=render.document,
        located=partial(request.located, full=False, stream=stream),
    )
    for end, stream in (("generate", False), ("generate_stream", True))
)
