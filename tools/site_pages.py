"""Writes the pages of the site from the Markdown of the repository.

The pages are written for GitHub, and stay as they are. What differs on the site is changed on the
way: where a page stands, links, the anchors of headings, the indentation of lists, and the first
line of code blocks. A picture or a chart is put where the reader of the site should see one.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

import site_charts
import site_ladders

MOVED = {
    "README.md": "index.md",
    "docs/README.md": "overview.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
}
"""Pages that stand elsewhere on the site. Others keep their path below docs/."""

FILES = ("docs/monitoring/alerts.yml", "docs/monitoring/dashboard.json")
"""What is no page and can be downloaded from the site."""

Picture = tuple[str, Callable[[Path], str]]
"""The line of a page before which a picture stands, and what draws it from the repository."""

PICTURES: Mapping[str, tuple[Picture, ...]] = {
    "README.md": (("It supports OpenAI Chat", site_charts.frameworks),),
    "docs/frameworks.md": (("<!-- Below: written by", site_charts.frameworks),),
    "docs/performance.md": (("| What | Target", site_charts.performance),),
    "docs/ladders.md": (("```mermaid", site_ladders.render),),
}

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*([\w+-]*)")
_ITEM = re.compile(r"^( *)([-*+]|\d+[.)])( +)(?=\S)")
_HEADING = re.compile(r"^(#+) +(.*?) *#*$")
_LINK = re.compile(r"(?<!\\)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"(``.*?``|`[^`\n]*`)")
_HYPHENED = re.compile(r"`(?=[^`]*-)[\w.-]{2,30}`")
"""A name with a hyphen, in code that fits on the line of a phone."""


def sources(root: Path) -> dict[str, str]:
    """Each page of the repository, and its path on the site."""
    below = (path.relative_to(root).as_posix() for path in sorted((root / "docs").rglob("*.md")))
    own = {path: path.removeprefix("docs/").replace("README.md", "index.md") for path in below}
    return own | MOVED


def write(root: Path, to: Path) -> dict[str, str]:
    """Write all pages below `to`; each page's path on the site, and its text without pictures."""
    places, texts = sources(root), {}
    links = Links(root, places)
    for source, place in places.items():
        text = (root / source).read_text("utf-8")
        texts[place] = plain(text, source, links)
        path = to / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(text, source, links, root), "utf-8")
    for name in FILES:
        (to / name.removeprefix("docs/")).write_bytes((root / name).read_bytes())
    return texts


class Links:
    """Where a link of a page leads on the site.

    Args:
        root: the repository; the pyproject.toml of tenuto may have the address of the source.
        places: each page of the repository, and its path on the site.
    """

    def __init__(self, root: Path, places: Mapping[str, str]) -> None:
        self.places = places
        project = tomllib.loads((root / "packages/tenuto/pyproject.toml").read_text("utf-8"))[
            "project"
        ]
        self.source_url: str = project.get("urls", {}).get("Source", "")

    def target(self, link: str, source: str) -> str | None:
        """The link as it must be on the page of a source; None where it leads to no place."""
        if re.match(r"\w+:|#", link):
            return link
        path, _, anchor = link.partition("#")
        wanted = normpath(str(PurePosixPath(source).parent / path))
        anchor = f"#{anchor}" if anchor else ""
        if wanted not in self.places and f"{wanted}/README.md" in self.places:
            wanted = f"{wanted}/README.md"
        if wanted in self.places:
            here = str(PurePosixPath(self.places[source]).parent)
            return relpath(self.places[wanted], here) + anchor
        if wanted in FILES:
            here = str(PurePosixPath(self.places[source]).parent)
            return relpath(wanted.removeprefix("docs/"), here)
        return f"{self.source_url}/blob/main/{wanted}{anchor}" if self.source_url else None


def page(text: str, source: str, links: Links, root: Path) -> str:
    """A page as the generator of the site takes it."""
    lines: list[str] = []
    pictures = list(PICTURES.get(source, ()))
    for line in text.splitlines():
        found = [each for each in pictures if line.startswith(each[0])]
        for each in found:
            pictures.remove(each)
            lines += ["", *each[1](root).splitlines(), ""]
        lines.append(line)
    if pictures:
        raise ValueError(f"{source} has no line that begins with {pictures[0][0]!r}")
    return "\n".join(_rewritten(without_diagrams(lines), source, links)) + "\n"


def without_diagrams(lines: list[str]) -> Iterator[str]:
    """The lines without Mermaid: it is a script of others, and the site has a picture instead."""
    inside = False
    for line in lines:
        if line.startswith("```mermaid"):
            inside = True
        elif inside:
            inside = line != "```"
        else:
            yield line


def plain(text: str, source: str, links: Links) -> str:
    """A page as Markdown for whoever reads no HTML: only its links are changed."""
    lines = text.splitlines()
    kept = [line for line in lines if not line.startswith("<!--")]
    return "\n".join(_relinked(line, source, links) for line in kept).strip() + "\n"


def _rewritten(lines: Iterator[str], source: str, links: Links) -> Iterator[str]:
    """The lines with anchors as on GitHub, and as Python-Markdown reads lists and code."""
    fence, indent, anchors, lists = "", 0, Anchors(), Lists()
    for line in lines:
        opened = _FENCE.match(line)
        if fence:  # of code, or of a drawing
            yield lists.moved(line, indent)
            if line.strip() == fence:
                fence = ""
        elif opened:
            fence, indent = opened[2], len(opened[1])
            lists.leave(indent)
            yield lists.moved(f"{opened[1]}{fence}{opened[3]}", indent)
        elif heading := _HEADING.match(line):
            lists = Lists()
            name = _relinked(heading[2], source, links)
            yield f"{heading[1]} {name} {{ #{anchors.of(heading[2])} }}"
        elif line.startswith("<figure"):
            fence = "</figure>"
            yield line
        elif not line.startswith("<!--"):
            changed = _table_code(_relinked(_without_tags(line), source, links))
            yield from lists.lines(_whole_code(changed))


class Anchors:
    """The anchors that GitHub gives to the headings of a page.

    >>> anchors = Anchors()
    >>> [anchors.of(each) for each in ("What `decide` is asked", "A", "A")]
    ['what-decide-is-asked', 'a', 'a-1']
    """

    def __init__(self) -> None:
        self._found: dict[str, int] = {}

    def of(self, heading: str) -> str:
        """The anchor of the next heading."""
        heading = _LINK.sub(r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = self._found.get(slug, 0)
        self._found[slug] = count + 1
        return f"{slug}-{count}" if count else slug


class Lists:
    """Lists as Python-Markdown wants them: a blank line before, and four spaces for each depth.

    >>> lists = Lists()
    >>> [each for line in ("Two:", "- a", "  b", "  1. c") for each in lists.lines(line)]
    ['Two:', '', '- a', '    b', '    1. c']
    """

    def __init__(self) -> None:
        self._columns: list[int] = []  # where the text of each open item begins
        self._before = ""

    def lines(self, line: str) -> Iterator[str]:
        """A line of prose as one or two."""
        item = _ITEM.match(line)
        indent = len(line) - len(line.lstrip())
        if line.strip():
            blank = not self._before.strip()
            while self._columns and indent < self._columns[-1] and (item or blank or indent == 0):
                if not item and not blank:  # a lazy line goes on with the item's paragraph
                    break
                self._columns.pop()
        if item:
            if not self._columns and self._before.strip() and not _ITEM.match(self._before):
                yield ""
            yield "    " * len(self._columns) + line[indent:]
            self._columns.append(len(item[0]))
        else:
            yield self.moved(line, self._columns[-1] if self._columns else 0)
        self._before = line if line.strip() else ""

    def leave(self, indent: int) -> None:
        """End the items to which something that begins there does not belong."""
        while self._columns and indent < self._columns[-1]:
            self._columns.pop()

    def moved(self, line: str, indent: int) -> str:
        """A line of something that begins at `indent`, at the depth where the lists are."""
        own = min(len(line) - len(line.lstrip()), indent)
        return "    " * len(self._columns) + line[own:] if line.strip() else line


def _without_tags(line: str) -> str:
    """A line in which what looks like an unknown tag outside of code is text, as GitHub reads it.

    >>> _without_tags("a <tool_call>, <br>, `<b>`, <https://c.d>")
    'a &lt;tool_call>, <br>, `<b>`, <https://c.d>'
    """
    pieces = _CODE.split(line)
    pieces[::2] = [
        re.sub(r"<(?!br>|!--|https?:)(?=[A-Za-z/])", "&lt;", each) for each in pieces[::2]
    ]
    return "".join(pieces)


def _relinked(line: str, source: str, links: Links) -> str:
    """A line with its links as they are on the site; what looks like one in code is none."""
    pieces = _CODE.split(line)
    if len(pieces) == 1:
        return _LINK.sub(lambda match: _link(match, source, links), line)
    # A link's text may hold code, so code is set aside and put back.
    code = pieces[1::2]
    text = "".join(
        piece if number % 2 == 0 else f"\0{number // 2}\0" for number, piece in enumerate(pieces)
    )
    text = _LINK.sub(lambda match: _link(match, source, links), text)
    return re.sub(r"\0(\d+)\0", lambda match: code[int(match[1])], text)


def _link(match: re.Match[str], source: str, links: Links) -> str:
    target = links.target(match[2], source)
    return match[1] if target is None else f"[{match[1]}]({target})"


def _table_code(line: str) -> str:
    """A row of a table, in whose code a bar needs no backslash.

    >>> _table_code("| `a \\\\| b` |")
    '| `a | b` |'
    """
    if not line.lstrip().startswith("|"):
        return line
    return _CODE.sub(lambda match: match[0].replace("\\|", "|"), line)


def _whole_code(line: str) -> str:
    """A line in which the style sheet can keep names with a hyphen on one line.

    >>> _whole_code("`x-tenuto: off` or `x-tenuto-turn`")
    '`x-tenuto: off` or `x-tenuto-turn`{ .whole }'
    """
    return _CODE.sub(
        lambda match: f"{match[0]}{{ .whole }}" if _HYPHENED.fullmatch(match[0]) else match[0], line
    )
