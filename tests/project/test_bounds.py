"""How long a function and a file may be: what is longer, nobody reads in one go."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from size import size_of

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("packages/*/src/**/*.py", "examples/wires/**/*.py")
FILES = sorted(file for source in SOURCES for file in ROOT.glob(source))

FUNCTION_LINES = 64
"""From `def` to the last line, with the docstring: the length of h11's longest function."""

CODE_LINES = 400
"""Of a file, without blank lines, comments and docstrings."""

WIRE_CODE_LINES = 700
"""Of a wire that is one file: it is read for one provider, from top to bottom."""

LONGER: dict[str, int] = {"judging/kinds.py": 425}
"""Files that may be longer, and how long, until they are split. Only remove entries, or lower
them."""


def functions(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def is_whole_wire(path: str, text: str) -> bool:
    """Return whether a file is all of a wire. A `wire.py` is one of several in its folder."""
    defines = any(line.startswith(("WIRE = ", "WIRE: ")) for line in text.splitlines())
    return defines and not path.endswith("/wire.py")


def too_long(path: str, text: str) -> list[str]:
    found = [f"{path}: {name} has {n} lines" for name, n in functions(text) if n > FUNCTION_LINES]
    code, _ = size_of(text)
    most = WIRE_CODE_LINES if is_whole_wire(path, text) else CODE_LINES
    most = next((n for name, n in LONGER.items() if path.endswith(f"/{name}")), most)
    return [*found, f"{path}: {code} lines of code"] if code > most else found


def test_no_function_and_no_file_is_longer_than_the_bound() -> None:
    assert len(FILES) > 300
    paths = [str(file.relative_to(ROOT)) for file in FILES]
    found = [
        too_long(path, file.read_text("utf-8")) for path, file in zip(paths, FILES, strict=True)
    ]
    assert [line for lines in found for line in lines] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f():\n" + "    x = 1\n" * 64, ["src/a.py: f has 65 lines"]),
        ("def f():\n" + "    x = 1\n" * 63, []),
        ("x = 1\n" * 401, ["src/a.py: 401 lines of code"]),
        ("x = 1\n\n# why\n" * 400, []),
        ("WIRE = 1\n" + "x = 1\n" * 699, []),
        ("WIRE = 1\n" + "x = 1\n" * 700, ["src/a.py: 701 lines of code"]),
    ],
)
def test_the_bound_tells_what_is_too_long(text: str, found: list[str]) -> None:
    assert too_long("src/a.py", text) == found
