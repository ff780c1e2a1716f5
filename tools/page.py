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
    """A value as code."""
    return f"`{value}`"


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


def attributes(docstring: str | None) -> dict[str, str]:
    """What the `Attributes:` of a docstring say, by name; `a, b: …` is said of both.

    >>> attributes('''One.
    ...
    ...     Attributes:
    ...         a, b: what
    ...             goes on.
    ...
    ...     Raises:
    ...         No: never.
    ... ''')
    {'a': 'what goes on.', 'b': 'what goes on.'}
    """
    found: dict[str, str] = {}
    names: list[str] = []
    inside, depth = False, 0
    for line in (docstring or "").splitlines():
        indent = len(line) - len(line.lstrip())
        if line.strip() == "Attributes:":
            inside, depth = True, indent
            continue
        if not inside or not line.strip():
            continue
        if indent <= depth:
            break
        begun = re.match(r"(\w+(?:, \w+)*): (.*)", line.strip()) if indent == depth + 4 else None
        if begun:
            names = begun[1].split(", ")
            found.update(dict.fromkeys(names, begun[2].strip()))
        else:
            for name in names:
                found[name] += " " + line.strip()
    return found
