"""A path as the model gives it, as the names to walk through, one after another.

Nothing is asked of the disk here: what is refused is refused by its letters, and links are the
business of the walk (`folder`), where each name is opened without following it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from tenuto_agent.files.problem import FileProblem

MAX_PATH_CHARS: Final = 4096
"""Longer than any path that is meant: Linux takes no more in one piece."""

MAX_NAMES: Final = 200
"""So many folders deep may a path lead."""

_QUOTED_CHARS: Final = 200
# Line breaks and escapes of terminals; and signs that turn the order of what is shown.
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
# https://learn.microsoft.com/windows/win32/fileio/naming-a-file, read 2026-11-22
_WINDOWS_SIGNS: Final = re.compile(r'[<>:"|?*]')
_WINDOWS_DEVICES: Final = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])", re.IGNORECASE
)


def names_of(
    path: str, roots: Iterable[str] = (), *, windows: bool = os.name == "nt"
) -> tuple[str, ...]:
    """The names that lead from the root to `path`; () is the root itself.

    Args:
        path: relative to the root, with / between names, or absolute within one of `roots`.
        roots: the spellings of the root.
        windows: whether the names that Windows reserves are refused.

    >>> names_of("./src//main.py"), names_of("."), names_of("/srv/a.py", ["/srv"])
    (('src', 'main.py'), (), ('a.py',))
    """
    said = quoted(path)
    if len(path) > MAX_PATH_CHARS:
        raise FileProblem(f"the path {said} is longer than {MAX_PATH_CHARS} characters")
    if not showable(path):
        raise FileProblem(f"the path {said} holds characters that no name may have")
    relative = _below_a_root(path, roots)
    if relative is None:
        raise FileProblem(f"{said} lies outside of the folder; give a path relative to it")
    if "\\" in relative:
        raise FileProblem(f"write the path {said} with / between its names")
    names = tuple(name for name in relative.split("/") if name not in ("", "."))
    if len(names) > MAX_NAMES:
        raise FileProblem(f"the path {said} leads more than {MAX_NAMES} folders deep")
    for name in names:
        if reason := _refusal(name, windows):
            raise FileProblem(f"the path {said} is refused: {reason}")
    return names


def showable(name: str) -> bool:
    """Whether a name can be written into a result and given back: UTF-8 and on one line."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return not _CONTROL.search(name)


def is_git(name: str) -> bool:
    """Whether some file system takes this name for `.git`, whose hooks and settings run programs
    (CVE-2014-9390: case, invisible characters, Windows' trailing dots and short names)."""
    seen = "".join(
        c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf"
    )
    return re.fullmatch(r"(\.git|git~\d+)(:.*)?[. ]*", seen, re.IGNORECASE | re.DOTALL) is not None


def quoted(path: str) -> str:
    """A path for the middle of a sentence, whatever is in it."""
    cut = path if len(path) <= _QUOTED_CHARS else path[:_QUOTED_CHARS] + "…"
    return f"'{cut}'" if showable(cut) else ascii(cut)


def _below_a_root(path: str, roots: Iterable[str]) -> str | None:
    """The path without the root before it, None where it is absolute and leads elsewhere."""
    slashed = path.replace("\\", "/") if os.name == "nt" else path
    for root in roots:
        base = root.replace(os.sep, "/").rstrip("/")
        if slashed == base or slashed.startswith(f"{base}/"):
            return slashed[len(base) :]
    return None if slashed.startswith("/") else path


def _refusal(name: str, windows: bool) -> str:
    if name == "..":
        return "'..' is not followed; give the path from the folder down"
    if is_git(name):
        return "what git keeps for itself is left alone"
    if windows and (
        _WINDOWS_SIGNS.search(name)
        or name[-1] in ". "
        or _WINDOWS_DEVICES.fullmatch(name.split(".", maxsplit=1)[0].rstrip())
    ):
        return f"'{name}' is no name of a file on Windows"
    return ""
