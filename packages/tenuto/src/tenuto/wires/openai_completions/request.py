"""Requests of OpenAI's Completions: facts and edits. `prompt` edits the prompt itself.

A prompt is continued if it is one text. Several prompts have several answers, and a prompt of
tokens has no characters to continue.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from tenuto.wires.documents import CONSTRAINTS, constrains
from tenuto.wires.json import UNREADABLE
from tenuto.wires.members import object_in
from tenuto.wires.prompt import PromptRequest
from tenuto.wires.request import RequestFacts
from tenuto.wires.request_edits import Paths
from tenuto.wires.request_reading import (
    limit_in,
    reader,
    text_in,
    why_left_alone,
)


class _Asked(msgspec.Struct):
    """The members that Tenuto reads, in one pass over the body."""

    prompt: Any = None
    model: Any = None
    stream: bool | None = None
    stream_options: Any = None
    max_tokens: Any = None
    response_format: Any = None
    guided_json: Any = None
    structured_outputs: Any = None
    json_schema: Any = None
    n: Any = None
    best_of: Any = None
    echo: Any = None
    logprobs: Any = None
    prompt_logprobs: Any = None
    suffix: Any = None


_read = reader(_Asked)


class CompletionRequest(PromptRequest):
    """A request (`wires.request.WireRequest`). It forces no tool, and has no reasoning to lower."""

    paths: ClassVar[Paths] = Paths("prompt", (("max_tokens",),), CONSTRAINTS)


def parse_request(body: bytes, probe_max_tokens: int = 0, *_: object) -> CompletionRequest | None:
    """Return a request, or None if the bytes are none; they then pass unchanged (C7).

    >>> parse_request(b'{"model": "m", "prompt": "The tide"}').facts.model
    'm'
    >>> parse_request(b'{"model": "m"}') is None
    True
    """
    try:
        asked = _read(body)
        if asked.prompt is None:
            return None
        return CompletionRequest(body, _facts(asked, probe_max_tokens))
    except UNREADABLE:
        return None


def _facts(asked: _Asked, probe_max_tokens: int) -> RequestFacts:
    max_tokens = limit_in(asked.max_tokens)
    return RequestFacts(
        model=text_in(asked.model),
        stream=bool(asked.stream),
        max_tokens=max_tokens,
        structured=constrains(asked),
        goes_on=True,
        include_usage=object_in(asked.stream_options).get("include_usage") is True,
        left_alone=_left_alone(asked, max_tokens, probe_max_tokens),
    )


def _left_alone(asked: _Asked, max_tokens: int | None, probe_max_tokens: int) -> str:
    """Return why a request can't be continued (C28); "": it can."""
    prompts = asked.prompt if isinstance(asked.prompt, list) else [asked.prompt]
    reasons = {
        "several_choices": any(type(n) is int and n > 1 for n in (asked.n, asked.best_of)),
        "several_prompts": len(prompts) > 1 and not all(type(item) is int for item in prompts),
        "tokens": not all(isinstance(prompt, str) for prompt in prompts) or not prompts,
        "logprobs": any(
            asked_for is not None and asked_for is not False  # 0 asks for that of each token
            for asked_for in (asked.logprobs, asked.prompt_logprobs)
        ),
        "echo": bool(asked.echo),
        "fill_in": bool(asked.suffix),  # the text goes between two others
    }
    return why_left_alone(reasons, max_tokens, probe_max_tokens)
