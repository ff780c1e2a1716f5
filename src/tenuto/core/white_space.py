"""The white space at a seam: one half was left out, and the continuation may or may not bring the
other."""

from __future__ import annotations

from tenuto.core.restart import common

__all__ = ["merged", "space_behind"]


def space_behind(text: str) -> int:
    """Return the number of characters of white space at the end of a text.

    >>> space_behind("One. "), space_behind("One.")
    (1, 0)
    """
    return len(text) - len(text.rstrip())


def merged(trimmed: str, blank: str) -> str:
    """Merge the white space that was `trimmed` with the `blank` that the continuation begins
    with."""
    breaks = trimmed.rfind("\n") + 1
    begun = blank[blank.rfind("\n") + 1 :]
    if blank.startswith(trimmed):
        whole = blank
    elif (
        breaks
        and blank.count("\n") < trimmed.count("\n")
        and len(begun) > len(trimmed) - breaks
        and begun.startswith(trimmed[breaks:])
    ):
        # The cut was in the indentation. The continuation brings all of that, but not the line
        # break.
        whole = trimmed[:breaks] + begun
    elif trimmed.startswith(blank) or ("\n" in trimmed and trimmed.endswith(blank)):
        # Second, the model left the line break out and began with the indentation.
        whole = trimmed
    else:
        whole = trimmed + blank[common(trimmed, blank) :]
    return whole
