"""Whether a text ends where a text can end: with a closing mark of its script, or with the end mark
of its own format (S3c).

No row is certain. They are asked only about a text that its provider ended without a mark, where a
wrong yes shows half an answer as complete, so what may be inside a sentence is in no row.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from tenuto.core.answer.arguments import is_document

__all__ = ["ends_closed", "ends_its_format"]

_TAIL_CHARS: Final = 2_000

SENTENCE_ENDS: Final = frozenset(
    # Latin, Greek and Cyrillic; also doubled, inverted, raised, and in one character.
    "!.?\u2026\u203c\u203d\u2047\u2048\u2049\u2024\u2e2e\u2e3c\u2e53\u2e54\u037e"
    # Armenian, Hebrew, Arabic, Urdu, Syriac, N'Ko, Samaritan.
    "\u0589\u055c\u055e\u05c3\u061d\u061e\u061f\u06d4\u0700\u0701\u0702\u07f9"
    "\u0837\u0839\u083d\u083e"
    # The dandas of India's scripts; Thai and Lao, Tibetan, Burmese.
    "\u0964\u0965\u0df4\u0e5a\u0e5b\u0f0d\u0f0e\u0f11\u104a\u104b"
    # Ethiopic, Canadian syllabics, Philippine scripts, Khmer, Mongolian, Limbu, New Tai Lue.
    "\u1362\u1367\u1368\u166e\u1735\u1736\u17d4\u17d5\u17da\u1803\u1809\u1944\u1945"
    # Tai Tham, Balinese, Sundanese, Lepcha, Ol Chiki, Coptic.
    "\u1aa8\u1aa9\u1aaa\u1aab\u1b5a\u1b5b\u1b5e\u1b5f\u1b7d\u1b7e\u1c3b\u1c3c\u1c7e\u1c7f"
    "\u2cf9\u2cfa\u2cfb\u2cfe"
    # Chinese, Japanese and Korean, in all widths.
    "\u3002\ufe12\ufe15\ufe16\ufe52\ufe56\ufe57\uff01\uff0e\uff1f\uff61"
    # Lisu, Vai, Bamum, Phags-pa, Saurashtra, Kayah Li, Javanese, Cham, Meetei Mayek.
    "\ua4ff\ua60e\ua60f\ua6f3\ua6f7\ua876\ua877\ua8ce\ua8cf\ua92f\ua9c8\ua9c9"
    "\uaa5d\uaa5e\uaa5f\uaaf0\uaaf1\uabeb"
)
"""Marks that end a sentence. Unicode's category Po has them, but also the comma, the colon and the
ampersand, so they are listed: those with the property Sentence_Terminal, and a few that end a text
in a script without it."""

CLOSERS: Final = ("Pe", "Pf")
"""Categories of closing brackets and final quotation marks. They end what was quoted or put in
brackets, which most often ends the sentence as well."""

OPENED_BY: Final = {
    # The same character opens and closes: it closes if it occurs there an even number of times.
    '"': '"', "'": "'", "`": "`", "*": "*", "_": "_", "~": "~", "$": "$",
    # German and Danish close with marks that open in English and French.
    "\u201c": "\u201e", "\u2018": "\u201a", "\u00ab": "\u00bb", "\u2039": "\u203a",
    # A tag of HTML or XML; no pair of brackets to Unicode.
    ">": "<",
}  # fmt: skip
"""Marks that close only if their partner came before, in the same paragraph."""

_FENCE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})", re.MULTILINE)
_END_TAG = re.compile(r"</([A-Za-z][\w:.-]*)\s*>\Z")
_LATEX_END = re.compile(r"\\end\{document\}\Z")


def ends_closed(text: str) -> bool:
    """Return whether a text ends with a mark that can end it.

    >>> ends_closed("It is done."), ends_closed("好了。"), ends_closed('He said "yes"')
    (True, True, True)
    >>> ends_closed("The moon pulls the se"), ends_closed("First,"), ends_closed('He said "')
    (False, False, False)
    """
    bare = text.rstrip()
    if not bare:
        return False
    last = bare[-1]
    if last in SENTENCE_ENDS or unicodedata.category(last) in CLOSERS:
        return True
    opener = OPENED_BY.get(last)
    if opener is None:
        return ends_its_format(bare)
    paragraph = bare[-_TAIL_CHARS:].rpartition("\n\n")[2]
    if opener == last:
        return paragraph.count(last) % 2 == 0
    return paragraph.count(opener) >= paragraph.count(last)


def ends_its_format(text: str) -> bool:
    """Return whether a text has an end mark of its own format: it is a JSON object or array, a
    fence that it opened is closed at its end, or so is its first tag or its LaTeX document.

    >>> ends_its_format('{"a": 1}'), ends_its_format("<svg><g/></svg>"), ends_its_format("Done.")
    (True, True, False)
    >>> ends_its_format("```py\\nx = 1\\n```"), ends_its_format("```py\\nx = 1\\n")
    (True, False)
    """
    bare = text.strip()
    if bare[:1] in ("{", "["):
        return is_document(bare)
    if bare.startswith(("```", "~~~")) and bare.endswith(bare[:3]):
        return len(_FENCE.findall(bare)) % 2 == 0
    if (tag := _END_TAG.search(bare)) is not None:
        begun = bare.lower()
        return begun.startswith((f"<{tag[1].lower()}", "<!doctype", "<?xml"))
    return bare.startswith("\\documentclass") and _LATEX_END.search(bare) is not None
