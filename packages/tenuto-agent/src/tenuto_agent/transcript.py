"""The conversation of an agent's loop, independent of any wire. A wire can write it as a whole
request.

A transcript holds what was said and done, but nothing that a recovery added (H6). It can be written
for any wire at any time, so a conversation may move from one to another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tenuto.core import hints
from tenuto.core.answer.calls import ToolCall
from tenuto.core.deciding.actions import Content
from tenuto_agent import loop_hints


@dataclass(frozen=True, slots=True)
class User:
    """What the person said."""

    text: str


@dataclass(frozen=True, slots=True)
class Assistant:
    """What the model said: its text, its whole calls, and the reasoning before them.

    Attributes:
        content: the same in the form of `wire`, part by part, without the calls; () if that wire
            keeps none. Only that wire reads it.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    content: Content = ()
    wire: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call.

    Attributes:
        call_id, name: those of the call.
        text: what the model receives.
        failed: whether the tool failed, or never ran.
    """

    call_id: str
    name: str
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Results:
    """The results of all calls of the row before, in the order of the calls."""

    results: tuple[Result, ...]


Row = User | Assistant | Results


class Transcript:
    """The rows of a conversation, in order. Only rows that may come next can be added (H2, H3).

    A user's row comes first, an assistant's row answers it, and results follow calls at once and
    cover all of them. A row that would make the history invalid for a provider can't be added.

    >>> transcript = Transcript()
    >>> transcript.add(User("How deep is it?"))
    >>> transcript.add(Assistant("Four metres."))
    >>> [type(row).__name__ for row in transcript]
    ['User', 'Assistant']
    """

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self._rows: list[Row] = []
        self._began: dict[str, bool] = {}  # whether the call may run again, by its id
        self._ended: dict[str, Result] = {}
        self.in_turn = False
        for row in rows:
            self.add(row)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> Row:
        return self._rows[number]

    @property
    def pending(self) -> tuple[ToolCall, ...]:
        """The calls that have no results yet."""
        last = self._rows[-1] if self._rows else None
        return last.calls if isinstance(last, Assistant) else ()

    def began(self, call: ToolCall, idempotent: bool = False) -> None:
        """Note that a pending call is about to run, and whether running it again does no harm."""
        self._began[call.id] = idempotent

    def ended(self, call: ToolCall, result: Result) -> None:
        """Note the result of a pending call, while others have none yet."""
        self._ended[call.id] = result

    def replace(self, rows: Sequence[Row]) -> None:
        """Replace all rows."""
        self._rows = list(Transcript(rows))

    def add(self, row: Row) -> None:
        """Append a row.

        Raises:
            ValueError: the row cannot follow the last one; the message says what can.
        """
        self._check(row)
        self._append(row)

    def _append(self, row: Row) -> None:
        self._rows.append(row)
        self._began, self._ended = {}, {}

    def _check(self, row: Row) -> None:
        allowed = self._allowed()
        if not isinstance(row, allowed):
            words = " or ".join(kind.__name__ for kind in allowed)
            raise ValueError(f"a row {type(row).__name__} cannot stand here, only {words}")
        if isinstance(row, Results):
            given = [result.call_id for result in row.results]
            if given != [call.id for call in self.pending]:
                raise ValueError(f"results of {given} do not answer the calls before, in order")
        elif isinstance(row, User) and not row.text.strip():
            raise ValueError("a user's row without text is refused by every provider")
        elif isinstance(row, Assistant) and not (row.text.strip() or row.calls or row.content):
            raise ValueError("an assistant's row that holds nothing is refused by every provider")

    def _allowed(self) -> tuple[type[Row], ...]:
        if not self._rows:
            return (User,)
        match self._rows[-1]:
            case Assistant(calls=calls):
                return (Results,) if calls else (User,)
            case _:
                return (Assistant,)

    def close(self) -> list[Row]:
        """End the transcript so that a user's row may come next (T8), and return the rows that were
        added: results for calls that have none, which say whether the call may have run, and an
        assistant's row if none follows. They are not part of the conversation. Leave them out when
        you save a transcript to a file (H6); the saved notes about the calls produce the same rows
        again (H5a).

        >>> transcript = Transcript([User("Go.")])
        >>> transcript.close()[0].text
        '(No answer was written.)'
        """
        added: list[Row] = []
        if self.pending:
            added.append(Results(tuple(map(self._outcome, self.pending))))
            self._append(added[-1])
        if self._rows and self._allowed() == (Assistant,):
            added.append(Assistant(hints.EMPTY_WITH_TOOLS_NOTE))
            self._append(added[-1])
        return added

    def _outcome(self, call: ToolCall) -> Result:
        """Return the result of a call whose turn was interrupted."""
        if call.id in self._ended:
            return self._ended[call.id]
        text = loop_hints.CALL_NOT_RUN
        if call.id in self._began:
            text = loop_hints.CALL_AGAIN if self._began[call.id] else loop_hints.CALL_UNSURE
        return Result(call.id, call.name, text, failed=True)
