"""The wire of examples/own_wire, as docs/guide/write-a-wire.md shows it."""

from pathlib import Path

WIRE = Path(__file__).resolve().parent.parent / "examples" / "own_wire" / "brook.py"


def render() -> str:
    """The block."""
    return f"```python\n{WIRE.read_text('utf-8')}```\n"
