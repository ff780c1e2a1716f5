"""The text of a turn from its capture, for `tenuto watch`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from tenuto.cli.explained import explain
from tenuto.cli.printing import pieces, read_file
from tenuto.config import load_policy

NEAR_S = 5.0
"""A capture says when its turn began; its events say the same within so many seconds."""

MOST_READ = 200
"""How many captures that began at that time are read."""

_STAMP = re.compile(r"(\d{8}T\d{6}\.\d{6})Z-.*\.json")


def text_of(folder: Path, turn: str, began: float) -> list[str] | None:
    """Return the text that the caller of a turn got, in the pieces that its attempts brought.

    Args:
        folder: the captures.
        turn: the turn's id.
        began: when the turn began, in seconds since the epoch.

    Returns:
        None where no capture of the turn is there, or it cannot be read.
    """
    wanted = f'"turn": "{turn}"'.encode()
    for file in _near(folder, began):
        try:
            content = read_file(str(file))
            if wanted in content:
                told = explain(content, None, load_policy)["content"]
                # A request that brought nothing leaves the seam of the one before.
                return pieces(told["text"], list(dict.fromkeys(told["seams"])))
        except Exception:  # noqa: BLE001 - a file that was removed, or is odd, must not hide others
            continue
    return None


def _near(folder: Path, began: float) -> list[Path]:
    """The captures of turns that began at about this time, the nearest first."""
    found = []
    for file in folder.iterdir():
        if (named := _STAMP.fullmatch(file.name)) is not None:
            at = datetime.strptime(named[1], "%Y%m%dT%H%M%S.%f").replace(tzinfo=UTC).timestamp()
            if abs(at - began) <= NEAR_S:
                found.append((abs(at - began), file))
    return [file for _, file in sorted(found)[:MOST_READ]]
