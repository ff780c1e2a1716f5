"""Whether a bracket, a comment or a text of several lines is open at the end of a text.

No language is known here. Strings and comments are skipped in the notations that most languages
share, and a bracket may be closed by one of another sort, as in [0, 1). So a text of an unusual
notation may look open. Only `check` makes something of it, where few whole texts of a file do.
"""

from __future__ import annotations

import re
from typing import Final

_PAIRS: Final = (("(", ")"), ("[", "]"), ("{", "}"), ("/*", "*/"))
_QUOTES: Final = ('"""', "'''")
_without_strings = re.compile(
    r"""'{3}(?!').*?'{3}|"{3}(?!").*?"{3}|(?<![\w/*.])/\*.*?\*/"""
    r"""|('{3}|"{3}|(?<![\w/*.])/\*).*\Z"""
    r"""|"(?:[^"\\\n]|\\.){0,500}"|'(?:[^'\\\n]|\\.){0,500}'|`[^`\n]{0,500}`"""
    r"""|(?<!:)//[^\n]*|^[ \t]*\#[^\n]*|\s\#[^\n]*""",
    re.MULTILINE | re.DOTALL,
).sub
_ends_in_mark = re.compile(r"""(?:'{3}|"{3}|(?<![\w/*.])/\*)\Z""").search
_brackets = re.compile(r"[()\[\]{}]").findall
_ends_block = re.compile(r"(?:[)\]}]+[;,)]*|\*/|end\w*|fi|done|esac)", re.IGNORECASE).fullmatch
_MOST_CHARS: Final = 20_000


def is_open(text: str) -> bool:
    """Return whether something is open at the end of a text. Of a long one, nothing is said, and a
    last line that only closes a block, at the margin, ends a text.

    >>> is_open("total = add(1, tides["), is_open("total = add(1, 2)"), is_open('say("(")')
    (True, False, False)
    >>> is_open("/* Tides come in"), is_open("if (a {\\n  b();\\n}")
    (True, False)
    """
    if not _may_be_open(text) or len(text) > _MOST_CHARS:
        return False
    if _ends_block(text[text.rfind("\n") + 1 :]):
        return False
    bare = _without_strings(r"\1", text)  # of what has no end, only its mark is left
    if _ends_in_mark(bare):
        return True
    depth = 0
    for bracket in _brackets(bare):
        depth = depth + 1 if bracket in "([{" else max(depth - 1, 0)
    return depth > 0


def _may_be_open(text: str) -> bool:
    """Return whether the search is worth its time. To count characters takes a hundredth of it."""
    return any(text.count(opening) > text.count(closing) for opening, closing in _PAIRS) or any(
        text.count(mark) % 2 for mark in _QUOTES
    )
