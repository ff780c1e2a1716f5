"""What the text of an answer shows of its end.

Structure shows a cut: an open fence, an open block of thinking, JSON that breaks off. The end of
prose does not: titles, labels and commit subjects all end like a sentence that was cut. So it is
told as a fact (`open_end`), and only somebody who sees the whole file can judge it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import msgspec

from tenuto.core.closing import ends_closed
from tenuto.core.response import leading_thought
from tenuto.core.runaway import is_runaway

_decode = msgspec.json.Decoder().decode
_fence_lines = re.compile(r"^[ \t]*(?:[-*+] |\d+[.)] |> ?)?[ \t]*(```+|~~~+)([^\n]*)", re.MULTILINE)

LEAST_PROSE_CHARS: Final = 60
"""Shorter answers are often titles and labels, which end without a mark."""


def cut_structure(text: str) -> str:
    """Return what is open at the end of a text: "fence_open", "json_cut" or "think_open"; "": no
    structure shows a cut.

    >>> cut_structure("Here:\\n```python\\nprint("), cut_structure('{"a": [1, 2')
    ('fence_open', 'json_cut')
    >>> cut_structure('[1] is a reference'), cut_structure("```\\nx\\n```")
    ('', '')
    """
    if is_json_cut(text):
        return "json_cut"
    if ("```" in text or "~~~" in text) and _fence_is_open(text):
        return "fence_open"
    if "<think" in text and _think_is_open(text):
        return "think_open"
    return ""


def is_json_cut(text: str) -> bool:
    """Return whether a text is the beginning of a JSON object or array that breaks off.

    >>> is_json_cut('{"a": "b'), is_json_cut('{"a": 1}'), is_json_cut("{braces}"), is_json_cut("[")
    (True, False, False, False)
    """
    bare = text[leading_thought(text) :].strip()
    if bare[:1] not in ("{", "[") or len(bare) < _LEAST_JSON_CHARS or bare[1:2] not in _INNER:
        return False
    try:
        _decode(bare)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        return "truncated" in str(error)
    return False


_LEAST_JSON_CHARS: Final = 4
_INNER: Final = tuple('"{[ \n\r\t-0123456789tfn')
"""What may follow the first bracket of a document."""


def _fence_is_open(text: str) -> bool:
    """Return whether the last fence of a text has no end. Fences within fences are common, and
    each has two lines, so the lines are counted."""
    lines = [
        found for found in _fence_lines.finditer(text) if found[1][0] * 3 not in found[2]
    ]  # not `code` that begins and ends on one line
    if len(lines) % 2 == 0:
        return False
    last = lines[-1]
    behind = text[last.end() :]
    if last[2].strip() and not behind.strip():
        return True
    if not behind.strip():
        # A fence line without a language is the last thing: more likely an end than a beginning.
        return False
    # The end of a fence may stand behind the last line of the code.
    return last[1] not in behind


def _think_is_open(text: str) -> bool:
    for tag in ("think", "thinking"):
        begin = text.rfind(f"<{tag}>")
        if begin >= 0 and f"</{tag}>" not in text[begin:]:
            before = text[:begin].rstrip(" \t")
            return not before or before.endswith("\n")
    return False


def is_open_end(text: str) -> bool:
    """Return whether a text does not end like a finished one. Of a short one, nothing is said.

    >>> is_open_end("The moon pulls the sea towards itself, and the water on the far side of the")
    True
    >>> is_open_end("The moon pulls the sea towards itself, and so does the sun, but less so. 😊")
    False
    """
    bare = text[leading_thought(text) :].rstrip()
    if len(bare) < LEAST_PROSE_CHARS:
        return False
    if ends_closed(bare):
        return False
    while bare and unicodedata.category(bare[-1]) in _SYMBOLS:
        bare = bare[:-1].rstrip()
    return not (ends_closed(bare) or bare.endswith((":", ";", "}", "|", "---", ">")))


_SYMBOLS: Final = frozenset({"So", "Sk", "Mn", "Cf", "Me"})
"""Categories of emoji and of what is joined to them."""

_RUNAWAY_CHARS: Final = 400


def runs_away(text: str) -> bool:
    """Return whether a text has become one passage, repeated many times.

    >>> runs_away("I will now fix that bug, too. " * 20), runs_away("Let me see.")
    (True, False)
    """
    # A text that repeats its last words at least four times has them four times at its end, so this
    # look spares nearly all texts the whole one.
    if len(text) < _RUNAWAY_CHARS:
        return False
    last = text.rstrip()[-_LAST_CHARS:]
    tail = text[-_TAIL_CHARS:]
    return tail.count(last) >= _LEAST_TIMES and is_runaway(text)


_LAST_CHARS: Final = 12
_TAIL_CHARS: Final = 8_000
_LEAST_TIMES: Final = 3
"""Four whole periods hold the last words at least three times apart from a cut one."""
