"""What is known about models by their names, on any provider: prefill and output limits.

Patterns are searched for in the name, so that a prefix of a cloud or a gateway and a date don't
matter. The first row that matches counts. Numbers are upper bounds, read on a day. They never lower
what a request asks for, and a provider's own number, in an error or in a row, takes precedence.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

CLAUDE_TAKES_PREFILL = re.compile(
    r"claude-(?:instant|v?[123](?:\D|$)"
    r"|(?:opus|sonnet|haiku)-4(?:[-.][015](?:\D|$)|[-@]20|:|$)|4-)"
)
"""Claude up to generation 4.5 continues a trailing assistant message; later models answer 400.
https://platform.claude.com/docs/en/about-claude/models/migration-guide 2026-11-21"""

GEMINI_SIGNS_CALLS = re.compile(r"(?:\A|models/)gemini-(?:[3-9]|\d\d)")
"""Models of Gemini that refuse a call of the current turn without a signature:
https://ai.google.dev/gemini-api/docs/thought-signatures (read 2026-11-28)"""

GEMINI_TAKES_PREFILL = re.compile(r"gemini-(?:2\.|3-|3\.1-|3\.5-flash(?!-lite)|pro-latest)")
"""Gemini up to 3.5 Flash continues its own trailing turn; 3.5 Flash-Lite, 3.6 Flash and all later
ones answer 400. https://ai.google.dev/gemini-api/docs/latest-model 2026-11-21"""

QWEN_MAY_NOT_THINK = re.compile(
    r"(?:qwen-(?:plus|flash|turbo)|qwen3(?:\.\d)?-(?:max|plus|flash|\d))(?!.*(?:thinking|instruct))"
)
"""Qwen models for which the request decides whether they think. Partial mode requires thinking to
be off. https://help.aliyun.com/zh/model-studio/deep-thinking 2026-11-22"""


class Model(NamedTuple):
    """The limits of one family of models.

    Attributes:
        name: a pattern to search for in the model's name, in lower case.
        output_tokens: the largest output limit that it accepts.
        source: where this is documented, and the day it was read.
    """

    name: re.Pattern[str]
    output_tokens: int
    source: str


_REGISTRY = "the registry of litellm 1.106.2, 2026-11-21"


def _model(name: str, output_tokens: int) -> Model:
    return Model(re.compile(name), output_tokens, _REGISTRY)


MODELS: tuple[Model, ...] = (
    _model(r"claude-(?:sonnet-4(?:[-.]5|[-@]20|:|$)|(?:opus|haiku)-4[-.]5)", 64_000),
    _model(r"claude-(?:opus|sonnet)-(?:4[-.][678]|5)|claude-(?:fable|mythos)-", 128_000),
    _model(r"gpt-4o", 16_384),
    _model(r"gpt-4\.1", 32_768),
    _model(r"gpt-5", 128_000),
    _model(r"gpt-oss-120b", 65_536),
    _model(r"gemini-(?:2\.5-pro|3)", 65_536),
    _model(r"deepseek-v4-pro", 393_216),
    _model(r"nova-pro", 10_000),
)
"""Families of models, the most specific first."""


@lru_cache(maxsize=256)
def output_tokens(model: str) -> int | None:
    """Return the largest output limit that a model accepts; None: not known.

    >>> output_tokens("openai/gpt-4o-2024-08-06"), output_tokens("llama")
    (16384, None)
    """
    name = model.lower()
    return next((row.output_tokens for row in MODELS if row.name.search(name)), None)
