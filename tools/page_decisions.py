"""The list of decisions in docs/decisions/README.md, by day."""

from pathlib import Path

DECISIONS = Path(__file__).resolve().parent.parent / "docs" / "decisions"


def render() -> str:
    pages = sorted(path for path in DECISIONS.glob("*.md") if path.name != "README.md")
    return "".join(f"- {_day(path)}: [{_title(path)}]({path.name})\n" for path in pages)


def _day(path: Path) -> str:
    return path.name[: len("2026-11-21")]


def _title(path: Path) -> str:
    first = path.read_text("utf-8").split("\n", 1)[0]
    return first.removeprefix("# ").removeprefix(f"{_day(path)}: ")
