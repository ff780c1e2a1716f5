"""Values that only the provider can make: ids that tie an item to the reasoning that led to it, and
the encrypted form of that reasoning."""

from __future__ import annotations

from typing import Final

from tenuto_sim.prose import key_of

_KEY_CHARS: Final = 40


def item_id(prefix: str, answer: str, number: int, reasoning: str = "") -> str:
    """Return the id of an item; `reasoning` is the id of the reasoning item that led to it.

    >>> tied_to(item_id("fc", "resp_1", 1, item_id("rs", "resp_1", 0)))[:3]
    'rs_'
    """
    if reasoning:
        return f"{prefix}_{reasoning.removeprefix('rs_')}{number:02d}"
    return f"{prefix}_{key_of(prefix, answer, str(number), length=_KEY_CHARS)}"


def tied_to(id_: str) -> str | None:
    """Return the id of the reasoning without which an item is refused; None: it needs none.

    >>> tied_to("msg_1") is None
    True
    """
    key = id_.partition("_")[2]
    return f"rs_{key[:_KEY_CHARS]}" if len(key) == _KEY_CHARS + 2 else None


def cipher(id_: str) -> str:
    """Return the encrypted reasoning of an item.

    >>> cipher("rs_1").startswith("gAAAAA")
    True
    """
    return "gAAAAA" + key_of("cipher", id_, length=48) + "=="
