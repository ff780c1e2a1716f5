"""The white space at a seam: one half was left out, and the continuation may or may not bring the
other."""

from __future__ import annotations

from tenuto.core.seam.restart import common

__all__ = ["merged", "space_behind"]


def space_behind(text: str) -> int:
    """Return the number of characters of white space at the end of a text.

    >>> space_behind("One. "), space_behind("One.")
    (1, 0)
    """
    return len(text) - len(text.rstrip())


def merged(trimmed: str, blank: str, given: str = "") -> str:
    r"""Merge the white space that was `trimmed` with the `blank` that the continuation begins with.
    The client has the `given` start of it already.

    A continuation that begins with a line break of its own says its indentation as well: in code,
    another one would change the meaning.

    >>> merged("\n        ", "\n    "), merged("\n    ", ""), merged("\n\n", "\n")
    ('\n    ', '\n    ', '\n\n')
    """
    breaks = trimmed.rfind("\n") + 1
    begun = blank[blank.rfind("\n") + 1 :]
    if blank.startswith(trimmed):
        whole = blank
    elif _has_own_indentation(trimmed[breaks:], begun, trimmed.count("\n"), blank.count("\n")):
        whole = trimmed[:breaks] + begun
    elif trimmed.startswith(blank) or ("\n" in trimmed and trimmed.endswith(blank)):
        # Second, the model left the line break out and began with the indentation.
        whole = trimmed
    else:
        whole = trimmed + blank[common(trimmed, blank) :]
    return whole if whole.startswith(given) else given + blank


def _has_own_indentation(held: str, begun: str, held_breaks: int, breaks: int) -> bool:
    """Return whether `begun` is the indentation of the line that was cut, and not `held`."""
    if breaks:
        return breaks <= held_breaks and begun != held
    # The cut was in the indentation. The continuation brings all of that, but not the line break.
    return held_breaks > 0 and len(begun) > len(held) and begun.startswith(held)
