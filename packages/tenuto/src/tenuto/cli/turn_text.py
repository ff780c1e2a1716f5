"""The text of a turn from its capture, for `tenuto watch`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from tenuto.cli.explained import explain
from tenuto.command_kit.printing import pieces, read_file
from tenuto.config import load_policy

NEAR_S = 5.0
"""How much the time of a turn in its capture may differ from the one in its events, in seconds."""

MOST_READ = 200
"""How many captures from that time to read at most."""

_STAMP = re.compile(r"(\d{8}T\d{6}\.\d{6})Z-.*\.json")


def text_of(folder: Path, turn: str, began: float) -> list[str] | None:
    """Return the text that a turn's caller got, in one piece for each attempt that added to it.

    Args:
        folder: the captures.
        turn: the turn's id.
        began: when the turn began, in seconds since the epoch.

    Returns:
        The pieces; None if the folder has no capture of the turn, or it can't be read.
    """
    wanted = f'"turn": "{turn}"'.encode()
    for file in _near(folder, began):
        try:
            content = read_file(str(file))
            if wanted in content:
                told = explain(content, None, load_policy)["content"]
                # An attempt without text leaves its seam where the one before was.
                return pieces(told["text"], list(dict.fromkeys(told["seams"])))
        except Exception:  # noqa: BLE001 - a file that is removed or broken must not hide others
            continue
    return None


def _near(folder: Path, began: float) -> list[Path]:
    """Return the captures of turns that began at about this time, nearest first."""
    found = []
    for file in folder.iterdir():
        if (named := _STAMP.fullmatch(file.name)) is not None:
            at = datetime.strptime(named[1], "%Y%m%dT%H%M%S.%f").replace(tzinfo=UTC).timestamp()
            if abs(at - began) <= NEAR_S:
                found.append((abs(at - began), file))
    return [file for _, file in sorted(found)[:MOST_READ]]
