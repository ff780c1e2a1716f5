"""A conversation in a file, which can continue after a crash.

Theory of operation
-------------------
The file is JSON Lines and is only appended to: each row is written as soon as it is added. Further
lines say which call is about to run, and which result it had while other calls were still running,
so that after a kill it is known which calls may have run. If the conversation is shortened, another
line has the rows that replace the earlier ones.

The rows that `Transcript.close` adds are never written (H6). They follow from the lines of the
file, so they are the same whenever it is read (H5a), and the provider receives the same history as
before.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.stop import printable
from tenuto.core.errors import AgentError
from tenuto.wires.json import decode_object
from tenuto_agent.model import check_type
from tenuto_agent.session_file import SessionFile
from tenuto_agent.transcript import Assistant, Result, Results, Row, Transcript, User


class Began(msgspec.Struct, frozen=True):
    """A call is about to run. `idempotent`: it is safe to run it again."""

    id: str
    name: str
    idempotent: bool = False


class Shortened(msgspec.Struct, frozen=True):
    """The conversation now consists of these rows, followed by its last `kept` earlier rows."""

    rows: tuple[Line, ...]
    kept: int


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the file, with one member, which says what the line is. Members that begin with "_"
    are ignored (H1)."""

    user: User | None = None
    assistant: Assistant | None = None
    results: Results | None = None
    began: Began | None = None
    ended: Result | None = None
    shortened: Shortened | None = None

    def member(self, allowed: Sequence[str]) -> Any:
        """Return the value of the line's one member.

        Raises:
            ValueError: the line doesn't have exactly one of the allowed members.
        """
        held = [name for name in self.__struct_fields__ if getattr(self, name) is not None]
        if len(held) == 1 and held[0] in allowed:
            return getattr(self, held[0])
        found = " and ".join(held) or "none"
        raise ValueError(f"it holds {found} of these, but it must hold one: {', '.join(allowed)}")


_MEMBERS: Final = {User: "user", Assistant: "assistant", Results: "results"}
_NONE_NEW: Final = "a conversation is shortened to no new row, but it must be one or more"
_ROWS: Final = tuple(_MEMBERS.values())


def _line(row: Row) -> Line:
    member: dict[str, Any] = {_MEMBERS[type(row)]: row}
    return Line(**member)


class Kept(Transcript):
    """A transcript that writes each row to the file as it is added."""

    def __init__(self, file: SessionFile) -> None:
        super().__init__()
        self._file = file
        for number, data in file.lines:
            try:
                value = decode_object(data)
                if not isinstance(value, dict):
                    raise ValueError("it is not a JSON object")
                self._read(msgspec.convert(value, Line, strict=True))
            except ValueError as error:
                where = f"{file.path}, line {number}"
                raise AgentError(f"{where}: {error}; the file was not changed") from None

    def add(self, row: Row) -> None:
        self._check(row)
        self._write(_line(row), lasting=isinstance(row, Results))
        super().add(row)

    def began(self, call: ToolCall, idempotent: bool = False) -> None:
        self._write(Line(began=Began(call.id, call.name, idempotent)), lasting=not idempotent)
        super().began(call, idempotent)

    def ended(self, call: ToolCall, result: Result) -> None:
        super().ended(call, result)
        if len(self._ended) < len(self.pending):  # after the last one, the row follows at once
            self._write(Line(ended=result), lasting=True)

    def close(self) -> list[Row]:
        if self.pending and len(self._ended) == len(self.pending):  # cut off before their row
            self.add(Results(tuple(self._ended[call.id] for call in self.pending)))
        return super().close()

    def replace(self, rows: Sequence[Row]) -> None:
        """Replace all rows.

        Raises:
            ValueError: the rows are not a valid conversation, or none of them is new.
        """
        shorter = Transcript(rows)
        kept = 0
        while kept < min(len(rows), len(self)) and rows[-1 - kept] is self._rows[-1 - kept]:
            kept += 1
        new = tuple(_line(row) for row in rows[: len(rows) - kept])
        if not new:
            raise ValueError(_NONE_NEW)
        self._write(Line(shortened=Shortened(new, kept)), lasting=True)
        super().replace(list(shorter))

    def fates(self) -> list[tuple[ToolCall, str]]:
        """Return each call without a result, and what became of it."""
        return [(call, self._fate(call.id)) for call in self.pending if call.id not in self._ended]

    def _fate(self, call_id: str) -> str:
        if call_id not in self._began:
            return "was not run"
        again = "; running it again does no harm" if self._began[call_id] else ""
        return f"was interrupted and may or may not have run{again}"

    def _write(self, line: Line, lasting: bool) -> None:
        self._file.append(msgspec.to_builtins(line), lasting=lasting)

    def _read(self, line: Line) -> None:
        match line.member(Line.__struct_fields__):
            case Began(call_id, _, idempotent):
                self._began[call_id] = idempotent
            case Result() as result:
                self._ended[result.call_id] = result
            case Shortened(new, kept):
                rows = [each.member(_ROWS) for each in new]
                if not rows:
                    raise ValueError(_NONE_NEW)
                if not 0 <= kept <= len(self):
                    raise ValueError(f"{kept} rows are kept of {len(self)}")
                super().replace(rows + self._rows[len(self) - kept :])
            case row:
                if isinstance(row, User):
                    super().close()  # as the loop did before the user's row
                super().add(row)


class Session:
    """A conversation that is stored in a JSON Lines file, so that it survives a crash.

    Opening the file repairs what a crash left behind: calls without results get results that say
    whether the call may have run, and a half-written line is moved aside. Only one process can use
    a session at a time.

    Args:
        path: the file, which is created if it doesn't exist. Only its owner can read it.

    Attributes:
        path: the file.
        transcript: the conversation.
        notes: sentences for a person about how the session ended before.

    Raises:
        AgentError: `path` is not a path, or the file can't be opened, is in use, or is not a
            session. It is not changed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Session(f"{folder}/tides.jsonl") as session:
    ...         session.transcript.add(User("How are tides made?"))
    ...     with Session(f"{folder}/tides.jsonl") as session:
    ...         print(session.rows[0], session.notes)
    User(text='How are tides made?') ('The last turn ended before it was answered.',)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        check_type("path", path, str | os.PathLike, "a path, as a str or a pathlib.Path")
        self.path: Path = Path(path)
        self._file = SessionFile(self.path)
        try:
            self.transcript: Kept = Kept(self._file)
            notes = _notes(self.transcript)
            if aside := self._file.mend():
                notes.append(
                    f"The last line was torn in writing; what is left of it is in {aside}."
                )
        except BaseException:
            self.close()
            raise
        self.notes: tuple[str, ...] = tuple(notes)
        self.transcript.close()

    @property
    def rows(self) -> tuple[Row, ...]:
        """The conversation so far, including what replaces what a crash cut off."""
        return tuple(self.transcript)

    def close(self) -> None:
        """Close the file, so that another process can continue the session."""
        self._file.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_ARGUMENTS_CHARS: Final = 200


def _notes(transcript: Kept) -> list[str]:
    """Return sentences on how the last turn was cut off."""
    if transcript.pending:
        return [f"{_named(call)} {fate}." for call, fate in transcript.fates()]
    last = transcript[len(transcript) - 1] if len(transcript) else None
    if isinstance(last, User | Results):
        return ["The last turn ended before it was answered."]
    return []


def _named(call: ToolCall) -> str:
    arguments = printable(call.arguments, _ARGUMENTS_CHARS)
    return f"The call of {printable(call.name)} with {arguments}"
