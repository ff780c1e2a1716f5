"""create_file and append_file, and the one way in which any tool here writes.

A file is written beside its place under a name of its own, brought to the disk, and then given its
name in one step: who reads, or is killed, at any moment finds the old file or the new one, whole.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from tenuto_agent.files.folder import Folder
from tenuto_agent.files.problem import FileProblem
from tenuto_agent.files.root import Root, file_status, read, shown
from tenuto_agent.files.text import (
    FileText,
    counted,
    decoded,
    ending_near,
    lf,
    refuse_unless_text,
)

UNFINISHED: Final = ".tenuto-unfinished-"
"""How the name of a file begins while it is written; one is left behind only by a kill."""

_LAST_LINE_CHARS: Final = 200


def create_file(root: Root, path: str, content: str, overwrite: bool = False) -> str:
    """A new file, with the folders on the way to it; `overwrite` allows to replace one."""
    refuse_unless_text(content=content)
    new = content.encode()
    refuse_if_too_large(path, len(new), root.limit_bytes)
    with root.writing, root.parent(path, make=True) as (folder, names):
        old = file_status(folder, names)
        # Running it twice is no fault, so that a session may go on after a kill.
        if old is not None and old.st_size == len(new) and _holds(folder, names, new):
            return f"{shown(names)} exists already with exactly this content; nothing was changed."
        if old is not None and not overwrite:
            raise FileProblem(
                f"{shown(names)} exists already ({old.st_size:,} bytes) and was not changed; "
                "change it with edit_file or append_file, or set overwrite to replace all of it"
            )
        try:
            put(folder, names, new, old)
        except FileExistsError:
            raise FileProblem(f"{shown(names)} was made by someone else meanwhile") from None
    did = "Created" if old is None else "Replaced"
    return f"{did} {shown(names)}: {_size(FileText('', content))}."


def append_file(root: Root, path: str, content: str) -> str:
    """`content` at the very end of a file that is there, in its line endings."""
    refuse_unless_text(content=content)
    if not content:
        raise FileProblem("content is empty, so nothing was appended")

    def appended(body: str, _: str) -> str:
        ending = ending_near(body, len(body)) if body else ""
        return body + (lf(content).replace("\n", ending) if ending else content)

    path, whole = rewrite(root, path, appended, "begin it with create_file")
    last = whole.lines[-1][-_LAST_LINE_CHARS:]
    return (
        f"Appended {counted(len(content), 'character')} to {path}, "
        f"which has now {_size(whole)}. It ends with this line:\n{last}"
    )


def rewrite(
    root: Root, path: str, changed: Callable[[str, str], str], instead: str
) -> tuple[str, FileText]:
    """Change a file that must be there, and return its path as the tools say it, and its new text.

    Args:
        root: the folder of the tools.
        path: the file, as the model named it.
        changed: what makes the new text of the old one, given with the path as the tools say it.
        instead: what to do where there is no such file.
    """
    with root.writing, root.parent(path) as (folder, names):
        found = read(folder, names, root.limit_bytes)
        if found is None:
            raise FileProblem(f"{shown(names)} does not exist; {instead}")
        raw, old = found
        text = decoded(raw, shown(names))
        whole = FileText(text.bom, changed(text.body, shown(names)))
        new = whole.encoded()
        refuse_if_too_large(path, len(new), root.limit_bytes)
        put(folder, names, new, old)
    return shown(names), whole


def refuse_if_too_large(path: str, size_bytes: int, limit_bytes: int) -> None:
    """Nothing is written that could not be read again."""
    if size_bytes > limit_bytes:
        raise FileProblem(
            f"{path} would have {size_bytes:,} bytes; the limit of a file is {limit_bytes:,}"
        )


def put(folder: Folder, names: tuple[str, ...], content: bytes, old: os.stat_result | None) -> None:
    """Put `content` at `names`, whole or not at all.

    Args:
        folder: the folder that it lies in.
        names: the way to it.
        content: all of it.
        old: what is known of the file that is replaced, whose mode stays; None where none is.
    """
    if old is not None:
        _refuse_if_protected(folder, names, old)
    made = UNFINISHED + secrets.token_hex(8)
    descriptor = folder.open(
        made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if old is None else 0o600
    )
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123  # a descriptor has no path
            file.write(content)
            file.flush()
            if old is not None:
                _keep_mode(descriptor, old)
            os.fsync(descriptor)
        if old is not None and not _same(old, file_status(folder, names)):
            raise FileProblem(
                f"{shown(names)} was changed by someone else meanwhile; read it again"
            )
        folder.place(made, names[-1], new=old is None)
    except BaseException:
        with suppress(OSError):
            folder.discard(made)
        raise
    folder.sync()


def _refuse_if_protected(folder: Folder, names: tuple[str, ...], old: os.stat_result) -> None:
    """A file that may not be written may not be replaced either, though the system would."""
    if not old.st_mode & 0o222:
        raise FileProblem(f"{shown(names)} is write-protected")
    os.close(folder.open(names[-1], os.O_WRONLY))


def _keep_mode(descriptor: int, old: os.stat_result) -> None:
    if hasattr(os, "fchown"):
        with suppress(OSError):  # only some may give files away
            os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)  # no set-id: a write drops it


def _same(old: os.stat_result, now: os.stat_result | None) -> bool:
    def marks(status: os.stat_result) -> tuple[int, ...]:
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    return now is not None and marks(old) == marks(now)


def _holds(folder: Folder, names: tuple[str, ...], content: bytes) -> bool:
    found = read(folder, names, len(content))
    return found is not None and found[0] == content


def _size(text: FileText) -> str:
    return (
        f"{counted(len(text.lines), 'line')}, {counted(len(text.encoded()), 'byte')}{text.remarks}"
    )
