"""The list of decisions in docs/decisions/README.md, by day."""

from pathlib import Path

DECISIONS = Path(__file__).resolve().parent.parent / "docs" / "decisions"


def render() -> str:
    pages = sorted(path for path in DECISIONS.glob("*.md") if path.name != "README.md")
    titles = (path.read_text("utf-8").split("\n", 1)[0].removeprefix("# ") for path in pages)
    return "".join(f"- [{title}]({path.name})\n" for title, path in zip(titles, pages, strict=True))
