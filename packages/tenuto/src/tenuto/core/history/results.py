"""Repair the content of a result that a provider refuses: blank texts, or nothing of a failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenuto.core.history.table import is_blank

FILLED, REMOVED_BLANK = "empty_result_filled", "blank_text_removed"


def repaired_result(
    content: Any, filler: Any, blank: Callable[[Any], bool], *, failed: bool
) -> tuple[Any, str] | None:
    """Return the new content of a result and the repair in a word; None: it stays.

    Args:
        content: a text, or a list of parts.
        filler: the part that replaces a content without anything else.
        blank: whether a part is a blank text.
        failed: whether the result says that the call failed; it then must say something.

    >>> repaired_result([{"text": ""}, {"json": 1}], {"text": "-"}, is_blank_text, failed=False)
    ([{'json': 1}], 'blank_text_removed')
    >>> repaired_result("", {"text": "-"}, is_blank_text, failed=True)
    ([{'text': '-'}], 'empty_result_filled')
    >>> repaired_result("", {"text": "-"}, is_blank_text, failed=False) is None
    True
    """
    if isinstance(content, list):
        kept = [part for part in content if not blank(part)]
        if kept:
            return (kept, REMOVED_BLANK) if len(kept) < len(content) else None
        return ([filler], FILLED) if content or failed else None
    return ([filler], FILLED) if failed and is_blank(content) else None


def is_blank_text(part: Any) -> bool:
    """Return whether a part is a text without anything visible.

    >>> is_blank_text({"type": "text", "text": " "}), is_blank_text({"type": "image"})
    (True, False)
    """
    text = part.get("text") if isinstance(part, dict) else None
    return isinstance(text, str) and not text.strip()
