"""Read Completions requests, and refuse invalid ones with the provider's error messages.

A prompt here is one line with the question, followed by the text so far, which a model continues by
itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.asked import Asked, prompted, tokens_of
from tenuto_sim.openai_chat.errors import above, failure, missing, mistyped, unknown_argument
from tenuto_sim.openai_chat.history import (
    NOT_JSON,
    header_violations,
    model_rules,
    number_rules,
    stream_options_rules,
    types_rules,
)
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Violations, others

_KEYS: Final = frozenset(
    {"model", "prompt", "best_of", "echo", "frequency_penalty", "logit_bias", "logprobs"}
    | {"max_tokens", "n", "presence_penalty", "seed", "stop", "stream", "stream_options"}
    | {"suffix", "temperature", "top_p", "user"}
    | {"response_format"}  # of servers for open models
)
_MOST_CHOICES: Final = 128
"""For each prompt: https://platform.openai.com/docs/api-reference/completions/create"""


def read(body: Mapping[str, Any], _: Settings) -> Asked:
    """Return what a body asks for. `impossible` has checked it.

    >>> read({"model": "sim", "prompt": "Tell me.\\nThe tide"}, Settings()).rows[1].text
    'The tide'
    """
    prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
    prompt = prompts[0] if isinstance(prompts[0], str) else str(prompts[0])
    several = len(prompts) if isinstance(prompts[0], str | list) else 1
    form = body.get("response_format")
    return Asked(
        model=body["model"],
        rows=prompted(prompt),
        counted=prompt,
        budget_tokens=tokens_of(body.get("max_tokens")),
        stream=bool(body.get("stream")),
        choices=several * (body.get("n") or 1),
        include_usage=bool((body.get("stream_options") or {}).get("include_usage")),
        response_format=form if isinstance(form, dict) else None,
        prefill="continue",
    )


def impossible(body: Any) -> Violations:
    """Yield the violations of a body that can't be answered at all.

    >>> next(impossible({"model": "sim"})).document["error"]["param"]
    'prompt'
    """
    if not isinstance(body, dict):
        yield failure(NOT_JSON)
    yield from model_rules(body)
    prompt = body.get("prompt")
    if prompt is None:
        yield missing("prompt")
    if not isinstance(prompt, str | list) or not prompt:
        yield mistyped("prompt", "a string or an array", prompt)
    yield from types_rules(body)
    yield from number_rules("n", body.get("n"), _MOST_CHOICES, too_many=above)


def violations(
    headers: Mapping[str, str], body: Mapping[str, Any], settings: Settings
) -> Violations:
    """Yield the other violations of a request.

    >>> made = next(violations({}, {"model": "sim", "prompt": "x", "_y": 1}, Settings()))
    >>> made.document["error"]["message"]
    'Unrecognized request argument supplied: _y'
    """
    yield from header_violations(headers)
    yield from others(body, _KEYS, unknown_argument)
    yield from number_rules("max_tokens", body.get("max_tokens"), settings.max_output_tokens)
    yield from stream_options_rules(body)
