"""read_file: the lines of a file, plain.

Plain and not numbered, because what is read here is copied into edit_file: a number or a tab in
front of a line would come along. The first line of the result says which lines follow.
"""

from __future__ import annotations

from tenuto_agent.files.problem import FileProblem
from tenuto_agent.files.root import Root, read, shown
from tenuto_agent.files.text import counted, decoded


def read_file(root: Root, path: str, start_line: int = 1, end_line: int | None = None) -> str:
    """The lines from `start_line` to `end_line`, counted from 1, both included."""
    # A JSON Schema takes 1e20 for an integer, and it comes as a float.
    start_line, end_line = int(start_line), None if end_line is None else int(end_line)
    with root.parent(path) as (folder, names):
        found = read(folder, names, root.limit_bytes)
    path = shown(names)
    if found is None:
        raise FileProblem(f"{path} does not exist")
    text = decoded(found[0], path)
    lines = text.lines
    if not lines:
        return f"{path}: empty, 0 lines{text.remarks}"
    if start_line < 1 or (end_line is not None and end_line < start_line):
        raise FileProblem(f"lines {start_line} to {end_line} are no range; lines count from 1")
    if start_line > len(lines):
        raise FileProblem(f"{path} has only {counted(len(lines), 'line')}")
    wanted = lines[start_line - 1 : end_line]
    kept = _that_fit(wanted, root.limit_chars)
    last = start_line - 1 + len(kept)
    head = f"{path}: lines {start_line} to {last} of {len(lines)}{text.remarks}"
    rest = ""
    if len(kept) < len(wanted):
        rest = f"\n[More follows: read on with start_line={last + 1}.]"
    if len(kept[-1]) < len(wanted[len(kept) - 1]):
        missing = len(wanted[len(kept) - 1]) - len(kept[-1])
        rest = f"\n[Line {last} goes on for {counted(missing, 'character')} more.]{rest}"
    return "\n".join([head, *kept]) + rest


def _that_fit(lines: list[str], limit_chars: int) -> list[str]:
    """As many lines as fit, at least one, which is cut where it is too long alone."""
    left = limit_chars
    for number, line in enumerate(lines):
        left -= len(line) + 1
        if left < 0:
            return lines[:number] or [line[:limit_chars]]
    return lines
