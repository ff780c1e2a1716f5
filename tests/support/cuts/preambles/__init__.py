"""What models say before they go on. Many wordings and shapes, since none of them may matter.

Every file here is one batch. A line is a preamble as it stands, or in JSON: a string, or an object
with the text under "text" or "preamble" (other members are of no matter), so that it can have line
breaks. Empty lines, and lines that begin with "# ", are none.
"""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["PREAMBLES", "read"]


def read(path: Path) -> list[str]:
    """The preambles in a file."""
    lines = path.read_text("utf-8").splitlines()
    return [_preamble(line) for line in lines if line.strip() and not line.startswith("# ")]


def _preamble(line: str) -> str:
    if line[0] not in '{"':
        return line.strip()
    try:
        value = json.loads(line)
    except ValueError:
        return line.strip()
    if isinstance(value, dict):
        value = value.get("text") or value.get("preamble")
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"a preamble is text, or an object with 'text', not {line!r}")
    return value.strip()


PREAMBLES = [
    preamble for path in sorted(Path(__file__).parent.glob("*.txt")) for preamble in read(path)
]
