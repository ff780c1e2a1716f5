"""search: lines of files, bounded in time, in files and in what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Final

from tenuto_agent.files.finding import Find, OutOfTime, finding
from tenuto_agent.files.glob import Glob
from tenuto_agent.files.listing import Entry, EntryKind, Walk
from tenuto_agent.files.paths import quoted
from tenuto_agent.files.problem import FileProblem
from tenuto_agent.files.root import Root, file_status, read, shown
from tenuto_agent.files.text import counted, decoded

MAX_MATCHES: Final = 200
"""So many lines stand in one result."""

_BEFORE_CHARS: Final = 100
_SHOWN_CHARS: Final = 300


@dataclass(slots=True)
class _Result:
    """What was found so far."""

    left_chars: int
    lines: list[str] = field(default_factory=list)
    searched: int = 0
    not_text: int = 0

    def take(self, path: str, text: str, found: list[tuple[int, int]]) -> bool:
        """Whether there is room for more."""
        lines = text.split("\n") if found else []
        for number, at in found:
            shown_line = f"{path}:{number + 1}: {_around(lines[number], at)}"
            self.left_chars -= len(shown_line) + 1
            if len(self.lines) == MAX_MATCHES or (self.lines and self.left_chars < 0):
                return False
            self.lines.append(shown_line)
        return True


def search(
    root: Root,
    pattern: str,
    path: str = ".",
    glob: str = "**",
    regex: bool = False,
    ignore_case: bool = False,
) -> str:
    """The lines below `path` that hold the pattern, as path:line: text."""
    walk = Walk(Glob(glob), root.walk_s)
    result = _Result(root.limit_chars)
    with (
        _entries(root, path, walk) as entries,
        finding(pattern, regex, ignore_case, MAX_MATCHES + 1, walk.deadline_s) as find,
    ):
        for entry in entries:
            try:
                if not _search_one(entry, find, result, root.limit_bytes):
                    walk.stopped = f"only the first {counted(len(result.lines), 'line')} shown"
                    break
            except OutOfTime:
                walk.stopped = (
                    f"the search ran out of its {walk.within_s:g} s in {shown(entry.names)}; a "
                    "simpler expression, without repeats within repeats, is faster"
                )
                if not result.lines:
                    raise FileProblem(walk.stopped) from None
                break
    remarks = walk.remarks()
    if result.not_text:
        remarks.append(f"[Left out, as too large or no text: {counted(result.not_text, 'file')}.]")
    if not result.lines:
        searched = counted(result.searched, "file")
        result.lines.append(f"{quoted(pattern)} was not found in {searched}.")
    return "\n".join(result.lines + remarks)


@contextmanager
def _entries(root: Root, path: str, walk: Walk) -> Iterator[Iterator[Entry]]:
    """The files to search: that one, or those below that folder."""
    way = root.names_of(path)
    if way:
        with root.folder(way[:-1]) as folder:
            try:
                one = file_status(folder, way)
            except FileProblem:
                one = None  # a folder, or the walk says what is wrong with it
            if one is not None:
                yield iter([Entry(folder, way, EntryKind.FILE)])
                return
    with root.folder(way) as folder, closing(walk.entries(folder, way)) as entries:
        yield entries


def _search_one(entry: Entry, find: Find, result: _Result, limit_bytes: int) -> bool:
    """Whether there is room for more."""
    if entry.kind is not EntryKind.FILE:
        return True
    path = shown(entry.names)
    try:
        found = read(entry.folder, entry.names, limit_bytes)
        text = decoded(found[0], path).body if found is not None else ""
    except (OSError, FileProblem):
        result.not_text += 1
        return True
    result.searched += 1
    text = text.replace("\r\n", "\n")
    return result.take(path, text, find(text))


def _around(line: str, at: int) -> str:
    start = max(0, at - _BEFORE_CHARS) if len(line) > _SHOWN_CHARS else 0
    end = start + _SHOWN_CHARS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
