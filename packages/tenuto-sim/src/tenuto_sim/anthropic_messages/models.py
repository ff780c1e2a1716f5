"""Which models accept a trailing assistant message, by their name.

Generations up to 4.5 continue it. Generation 4.6, later ones and unknown names refuse it:
https://docs.claude.com/en/docs/build-with-claude/prefill-claudes-response (read 2026-11-21).
"""

from __future__ import annotations

import re
from typing import Final

_TAKES_PREFILL: Final = re.compile(
    r"claude-(?:instant|[23](?:[.-]\d)?|(?:opus|sonnet|haiku)-4(?:-[0-5])?)"
    r"(?:-(?:opus|sonnet|haiku))?(?:-\d{8}|-latest|@\d{8})?"
)


def takes_prefill(model: str, setting: str) -> bool:
    """Return whether a model continues a trailing assistant message.

    A model whose name says nothing, such as "sim/length_once", follows the server's setting.

    >>> takes_prefill("claude-sonnet-4-5-20250929", ""), takes_prefill("claude-opus-4-6", "")
    (True, False)
    >>> takes_prefill("sim/length_once", "continue"), takes_prefill("sim", "restart")
    (True, False)
    """
    name = model.partition("/")[0]
    if name.startswith("claude-"):
        return _TAKES_PREFILL.fullmatch(name) is not None
    return setting == "continue"
