"""The rows of Text Generation Inference: where Hugging Face's client asks, and where others do."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from tenuto.sim.tgi.errors import ERRORS, failure, too_many_tokens, unknown_key
from tenuto.sim.tgi.events import render_body, render_events, render_listed
from tenuto.sim.tgi.request import impossible, located, read, violations
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="tgi",
    path=r"/(?:(?:hf-inference/)?models/(?P<model>.+))?",
    read=read,
    impossible=impossible,
    violations=violations,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_key,
    core_keys=frozenset({"inputs", "parameters", "stream", "model"}),
    render_body=render_listed,
    render_events=render_events,
    answer_id=lambda key: key,  # an answer has none
    headers=lambda key: {"x-request-id": key},
    located=partial(located, full=True, stream=None),
)
"""At `/`, where a body stands in a list, and the prompt comes again unless it is asked not to."""

ELSEWHERE: Final = tuple(
    replace(
        WIRE,
        path=rf"(?:/(?P<model>.+))?/{end}",
        render_body=render_body,
        located=partial(located, full=False, stream=stream),
    )
    for end, stream in (("generate", False), ("generate_stream", True))
)
