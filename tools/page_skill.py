"""The examples of docs/frameworks.md for coding agents, as a file that ships in the wheel."""

import re
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "frameworks.md"
HEAD = """\
# The line for each SDK and framework

Each example is complete, and runs in Tenuto's tests. Where one passes `"httpx"`, keep it.
"""
FOR_ALL = ("Unfinished answers", "httpx and httpx2", "Retries")
"""Sections without an example that explain what all of them have in common."""

SECTION = re.compile(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^```python \S+$", re.MULTILINE)
CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")


def render() -> str:
    """The file."""
    return "\n".join([HEAD, *sections(PAGE.read_text("utf-8"))])


def sections(page: str) -> Iterator[str]:
    """Yield the sections that have an example, or that explain all of them.

    Links become their text, because the wheel has none of the pages that they lead to.
    """
    for title, text in SECTION.findall(page):
        if EXAMPLE.search(text) or title in FOR_ALL:
            parts = CODE.split(text)
            parts = [part if part.startswith("```") else LINK.sub(r"\1", part) for part in parts]
            yield f"## {title}\n{''.join(parts).rstrip()}\n"
