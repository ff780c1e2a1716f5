"""The errors that the simulator gives on Cohere's chat version 1, with the provider's messages.

https://docs.cohere.com/v1/reference/errors (read 2026-11-24), and messages quoted in public issues.
They are those of version 2, without types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tenuto_sim.cohere import errors as version_2
from tenuto_sim.cohere.errors import failure
from tenuto_sim.errors import Failure

ERRORS: Final[Mapping[str, Failure]] = {
    **version_2.ERRORS,
    "context_length": failure(
        "too many tokens: size limit exceeded by 25836 tokens. Try using shorter or fewer inputs. "
        "The limit for this model is 128000 tokens."
    ),
}


def too_many_tokens(parameter: str, asked: int, ceiling: int, model: str = "") -> Failure:
    """Return the refusal of an output limit above the model's maximum.

    >>> list(too_many_tokens("max_tokens", 9, 8).document)
    ['message']
    """
    return failure(version_2.too_many_tokens(parameter, asked, ceiling).document["message"])


def unknown_field(name: str) -> Failure:
    """Return the refusal of a key.

    >>> unknown_field("strict").document["message"][-41:]
    'https://docs.cohere.com/v1/reference/chat'
    """
    return version_2.unknown_field(name, "v1/reference")
