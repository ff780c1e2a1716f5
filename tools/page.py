"""Tables in Markdown, for the pages that are made from code."""

import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; cells are escaped where they would break it.

    >>> table(["a", "b"], [["1", "x|y"]])
    ['| a | b |', '| --- | --- |', '| 1 | x\\\\|y |']
    """
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def code(value: object) -> str:
    """A value as code, within more backticks than it has in a row itself.

    >>> code("a"), code("`a` b")
    ('`a`', '`` `a` b ``')
    """
    text = str(value)
    if "`" not in text:
        return f"`{text}`"
    fence = "`" * (1 + max(len(run) for run in re.findall("`+", text)))
    return f"{fence} {text} {fence}"


def codes(values: Iterable[object], joint: str = ", ") -> str:
    """Several of them, "–" for none."""
    return joint.join(code(value) for value in values) or "–"


def yes(flag: bool) -> str:
    """A yes is seen, a no is not."""
    return "yes" if flag else "–"


def sentence(text: str) -> str:
    """A fragment as a sentence of a table: a capital at its beginning, a full stop at its end."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", ":")) else ".") if text else "–"
