"""Writes llms.txt (what pages there are) and llms-full.txt (all of them), for language models."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

NOT_IN_FULL = ("behaviours.md", "decisions/", "changelog.md", "overview.md")
"""Which test proves which promise, and how it came to be: nobody needs it to use the library."""


def write(root: Path, to: Path, texts: Mapping[str, str]) -> None:
    """Write both, and each page as Markdown beside its HTML."""
    project = tomllib.loads((root / "zensical.toml").read_text("utf-8"))["project"]
    (to / "llms.txt").write_text("\n".join(_index(project, texts)) + "\n", "utf-8")
    pages = [place for section in project["nav"] for _, place in _entries(section)]
    full = [place for place in pages if not place.startswith(NOT_IN_FULL)]
    parts = [f"<!-- {place} -->\n\n{texts[place]}" for place in full]
    (to / "llms-full.txt").write_text("\n\n".join(parts), "utf-8")
    for place, text in texts.items():
        (to / place).write_text(text, "utf-8")


def _index(project: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[str]:
    yield f"# {project['site_name']}"
    yield ""
    yield f"> {project['site_description']}"
    yield ""
    yield "All pages in one file: [llms-full.txt](llms-full.txt)"
    for section in project["nav"]:
        (title,) = section
        yield from ("", f"## {title}", "")
        for name, place in _entries(section):
            yield f"- [{name}]({place}): {first_sentence(texts[place])}"


def _entries(section: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, place) for each in next(iter(section.values())) for name, place in each.items()]


def first_sentence(text: str) -> str:
    """The first sentence of the first paragraph, without marks.

    >>> first_sentence("# A\\n\\n**What [it](b.md)\\nis.** More.")
    'What it is.'
    """
    paragraphs = (each.strip() for each in re.split(r"\n\s*\n", text))
    prose = next(each for each in paragraphs if each and not each.startswith(("#", "|", "-", "[")))
    flat = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(prose.split())).replace("**", "")
    sentence = re.match(r".*?\.(?=\s|$)", flat)
    return sentence[0] if sentence else flat
