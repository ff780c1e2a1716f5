"""The turns that ended last, for `tenuto.report`.

A turn is found by its own id, or by an id of the provider's that no other turn had. Ids are kept
longer than reports are, so that an id which comes again is not taken for that of one turn.

Most turns need nothing. Of these, only the ids are kept, in a queue, so that noting them takes no
call of a function of ours; they are sorted in when another turn is kept or somebody asks for one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tenuto.core.events.report import Report
from tenuto.wires.answer_id import Ids

_MOST_TURNS = 1_000
_MOST_IDS = 10_000


@dataclass(frozen=True, slots=True)
class RecentTurn:
    """A turn that ended.

    Attributes:
        report: how it ended. None: it needed nothing, so its answer tells everything.
        text: a hash of the text that its caller was shown (`text_hash`).
    """

    report: Report | None = None
    text: int = 0


_PLAIN = RecentTurn()


class RecentTurns:
    """Turns by their ids and those of their answers. Thread-safe.

    Args:
        most: how many reports to keep; the oldest are removed first.
        most_ids: how many ids of answers to keep.

    Attributes:
        add_plain: keeps the ids of a turn that needed nothing.

    >>> turns = RecentTurns()
    >>> turns.add("7f", ["chatcmpl-1"], RecentTurn())
    >>> turns.of_answer("chatcmpl-1") is not None
    True
    >>> turns.add("80", ["chatcmpl-1"])
    >>> turns.of_answer("chatcmpl-1") is None
    True
    """

    def __init__(self, most: int = _MOST_TURNS, most_ids: int = _MOST_IDS) -> None:
        self._most = most
        self._turns: dict[str, RecentTurn] = {}
        self._most_ids = most_ids
        self._ids: dict[str, str | Ids | None] = {}
        self._plain: deque[Ids] = deque(maxlen=most_ids)
        self._lock = threading.Lock()
        self.add_plain: Callable[[Ids], None] = self._plain.append

    def add(self, turn: str, ids: Iterable[str], ended: RecentTurn | None = None) -> None:
        """Keep a turn.

        Args:
            turn: its id.
            ids: those of the answers of its attempts; "" is none.
            ended: how it ended; None if there is nothing to tell of it.
        """
        with self._lock:
            self._sort_in()
            self._note(filter(None, ids), turn)
            if ended is not None:
                self._turns[turn] = ended
                if len(self._turns) > self._most:
                    del self._turns[next(iter(self._turns))]

    def forget(self, plain: Ids) -> None:
        """Forget the ids of a turn that turned out to need something."""
        with self._lock:
            self._sort_in()
            for name in plain.names:
                if self._ids.get(name) is plain:
                    del self._ids[name]

    def of_turn(self, turn: str) -> RecentTurn | None:
        """Return the turn with this id."""
        return self._turns.get(turn)

    def of_answer(self, name: str) -> RecentTurn | None:
        """Return the only turn that got an answer with this id."""
        with self._lock:
            self._sort_in()
            turn = self._ids.get(name)
        if isinstance(turn, str):
            return self._turns.get(turn)
        return None if turn is None else _PLAIN

    def _sort_in(self) -> None:
        while self._plain:
            plain = self._plain.popleft()
            self._note(plain.names, plain)
        while len(self._ids) > self._most_ids:
            del self._ids[next(iter(self._ids))]

    def _note(self, names: Iterable[str], turn: str | Ids) -> None:
        """Note the ids of a turn; None stands for several turns. The newest stay longest."""
        for name in names:
            known = self._ids.pop(name, turn)
            same = known is turn or (isinstance(turn, str) and known == turn)
            self._ids[name] = turn if same else None


recent: RecentTurns = RecentTurns()
"""Those of the process."""


def text_hash(text: str) -> int:
    """Return a hash of a text, white space aside: some SDKs remove it at the ends.

    >>> text_hash("The tide ") == text_hash("The tide"), text_hash("The") == text_hash("tide")
    (True, False)
    """
    return hash("".join(text.split()))
