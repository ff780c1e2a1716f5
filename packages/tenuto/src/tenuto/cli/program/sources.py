"""Finds the Python files of a program and parses them. Nothing of the program is run."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tenuto.command_kit.printing import read_file, why_unread

_NOT_OF_THE_PROGRAM = frozenset({"__pycache__", "node_modules", "site-packages"})
"""Folders that are left out, beside hidden ones and virtual environments."""


@dataclass(frozen=True, eq=False, slots=True)
class Module:
    """One file of the program.

    Attributes:
        file: its path, as the user would name it.
        name: its dotted name below the folder that was named.
        text: its source.
        tree: the parsed source.
        is_package: whether it is an `__init__.py`.
    """

    file: str
    name: str
    text: str
    tree: ast.Module
    is_package: bool


@dataclass(slots=True)
class Sources:
    """All files of a program.

    Attributes:
        modules: those that were parsed.
        unread: why a file could not be read or parsed, by file.
        notebooks: notebooks, which are not read.
    """

    modules: list[Module] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    notebooks: list[str] = field(default_factory=list)


def read_sources(paths: Sequence[str]) -> Sources:
    """Read every Python file at or below the paths.

    Raises:
        OSError: a path does not exist."""
    found = Sources()
    seen: set[Path] = set()
    for given in paths:
        path = Path(given)
        path.stat()
        root = path if path.is_dir() else path.parent
        for file in sorted(_files(path)) if path.is_dir() else [path]:
            if file.resolve() in seen:
                continue
            seen.add(file.resolve())
            if file.suffix == ".ipynb":
                found.notebooks.append(str(file))
            else:
                _read(file, root, found)
    return found


def _files(folder: Path) -> Iterator[Path]:
    for at, folders, files in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and name not in _NOT_OF_THE_PROGRAM
            and not Path(at, name, "pyvenv.cfg").exists()
        ]
        for name in files:
            if name.endswith((".py", ".ipynb")):
                yield Path(at, name)


def _read(file: Path, root: Path, found: Sources) -> None:
    try:
        content = read_file(str(file))
        with warnings.catch_warnings():  # such as an invalid escape, which is the program's affair
            warnings.simplefilter("ignore")
            tree = ast.parse(content, str(file))
    except OSError as error:
        found.unread[str(file)] = why_unread(str(file), error)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        found.unread[str(file)] = f"{where}{error.msg}"
    except (ValueError, RecursionError, MemoryError):  # a null byte, or too deeply nested
        found.unread[str(file)] = "Python cannot parse it"
    else:
        parts = list(file.relative_to(root).with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        if is_package:
            parts.pop()
        text = content.decode("utf-8", "replace")
        found.modules.append(Module(str(file), ".".join(parts), text, tree, is_package))
