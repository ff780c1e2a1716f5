"""What a model's name shows: its maker, and whether it accepts a trailing assistant message.

Claude's generations up to 4.5 continue it and later ones refuse it. Nova continues it. Other
makers' models require that the user speaks last.
https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html
"""

from __future__ import annotations

import re
from typing import Final

_CLAUDE: Final = re.compile(
    r"claude-(?:instant|v?[123](?:[.-]\d)?|(?:opus|sonnet|haiku)-4(?:-[0-5])?)"
    r"(?:-(?:opus|sonnet|haiku))?(?:-\d{8})?(?:-v\d+(?::\d+)?)?"
)


def maker(model: str) -> str:
    """Return the maker of a model; "": its name doesn't show it.

    >>> maker("us.anthropic.claude-sonnet-4-5-20250929-v1:0"), maker("sim/length_once")
    ('anthropic', '')
    """
    names = model.partition("/")[0].split(".")
    return names[-2] if len(names) > 1 else ""


def takes_prefill(model: str, setting: str) -> bool:
    """Return whether a model continues a trailing assistant message.

    A model whose name says nothing, such as "sim/length_once", follows the server's setting.

    >>> takes_prefill("eu.anthropic.claude-3-5-haiku-20241022-v1:0", "restart")
    True
    >>> takes_prefill("anthropic.claude-opus-4-6-v1", "continue")
    False
    """
    name = model.partition("/")[0]
    match maker(model):
        case "anthropic":
            return _CLAUDE.fullmatch(name.rpartition("anthropic.")[2]) is not None
        case "amazon":
            return "nova" in name
        case "":
            return setting == "continue"
        case _:
            return False


def speaks_in_blocks_of_one_kind(model: str) -> bool:
    """Return whether results and texts must be in separate messages.

    >>> speaks_in_blocks_of_one_kind("meta.llama3-1-70b-instruct-v1:0")
    True
    """
    return maker(model) in ("meta", "mistral", "ai21", "cohere")
