"""What is said, in SQL, of plain texts that end without a mark: whether and how they break off.

Theory of operation
-------------------
Each function returns the SQL of what `sentences.py` says of a text, for texts so plain that few of
its rules are left: their end is one line of ASCII letters, digits, spaces, commas, apostrophes and
hyphens between letters, with marks that a space follows, and its last word is of letters. So it is
no list and no code, nothing in it is open, and no paragraph stands before it. All other texts are
judged one by one.
"""

from __future__ import annotations

from typing import Final

from tenuto.judging.sentences import LEADING_WORDS, LEAST_PROSE_CHARS, TAIL_CHARS, End
from tenuto.judging.tables import quoted

EVIDENCE: Final[dict[str, tuple[str, ...]]] = {
    end.value: ("no_stop", "open_end", end.value)
    for end in (End.LEADS_ON, End.MID_SENTENCE, End.IN_PROSE)
}
"""What `judge` says of a text, by what `how_open` does."""

_LINE: Final = "(?:[A-Za-z0-9 ,']|-[A-Za-z]|[.!?] )*"
_LAST_WORD: Final = " ([A-Za-z]{1,30})$"
_LAST_WORD_CHARS: Final = 40
_SENTENCE: Final = "[a-z]{5}[.!?] [A-Z]"
"""The end of a sentence, by any rule: no abbreviation whose full stop ends none is so long."""

_SENTENCE_CHARS: Final = 600


def how_open(text: str) -> str:
    """Return how a text breaks off: a word of `EVIDENCE`, or null, if that has to be judged. Of a
    text that begins and ends with a visible character, shows no fence, no thinking and no JSON, and
    does not run away."""
    word = f"regexp_extract({_end(text, _LAST_WORD_CHARS)}, {quoted(_LAST_WORD)}, 1)"
    leading = ", ".join(quoted(each) for each in sorted(LEADING_WORDS) if each.isascii())
    leads = f"lower({word}) IN ({leading}) AND upper({word}) != {word}"
    ends = f"regexp_matches({_end(text, _SENTENCE_CHARS)}, {quoted(_SENTENCE)})"
    last = _end(text, TAIL_CHARS)
    # Patterns take longest, LIKE hardly any time.
    no_marks = " AND ".join(f"{last} NOT LIKE '%{mark}%'" for mark in ".!?")
    return (
        f"CASE WHEN length({text}) < {LEAST_PROSE_CHARS} OR {word} = '' THEN NULL"
        f" WHEN NOT regexp_full_match({last}, {quoted(_LINE)}) THEN NULL"
        f" WHEN {leads} THEN {quoted(End.LEADS_ON.value)}"
        f" WHEN {no_marks} THEN {quoted(End.IN_PROSE.value)}"
        f" WHEN {ends} THEN {quoted(End.MID_SENTENCE.value)} END"
    )


def _end(text: str, chars: int) -> str:
    return f"substring({text}, -{chars}, {chars})"
