"""Tasks that processes share: each result comes as it is made, and a process that ends loses only
its own task."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

import pytest
from support.stored import DONE, chat

from tenuto.judging import files
from tenuto.judging.adding import Adding, Checked
from tenuto.judging.asked_rows import Requests
from tenuto.judging.checking import Options, _Work
from tenuto.judging.files import ranges_of
from tenuto.judging.sharing import Lost, shared


def _numbers_below(task: int) -> Iterator[int]:
    if task == 13:
        os.kill(os.getpid(), signal.SIGTERM)
    if task == 14:
        raise ValueError("14 is no number")
    yield from range(task)


def _shared(tasks: list[int]) -> list[tuple[int, object]]:
    return list(shared(tasks, 2, _numbers_below, __name__))


def test_each_task_is_done_once_and_its_results_stay_in_order() -> None:
    found = _shared([3, 0, 5, 2, 1])
    for number, task in enumerate([3, 0, 5, 2, 1]):
        assert [result for n, result in found if n == number] == [*range(task), None]


def test_a_process_that_ends_loses_its_own_task_alone() -> None:
    found = _shared([13, 2, 13, 1])
    assert [one for one in found if one[0] in (0, 2)].count((0, Lost())) == 1
    assert [result for n, result in found if n == 1] == [0, 1, None]
    assert [result for n, result in found if n == 3] == [0, None]
    assert [result for n, result in found if n == 2] == [Lost(), None]


def test_an_error_is_raised_where_the_results_are_read() -> None:
    with pytest.raises(ValueError, match="14 is no number"):
        _shared([1, 14, 2])


def test_ranges_may_come_in_any_order_and_lines_keep_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    row = json.dumps(chat(DONE, "stop"))
    lines = [row, "", row, "{broken", "", row, "", "", row, row]
    path.write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(files, "RANGE_BYTES", 600)
    ranges = ranges_of(str(path))
    assert len(ranges) == 3
    begins = [sum(len(line) + 1 for line in lines[:n]) for n in range(len(lines))]

    def lines_of(numbers: Sequence[int], text: str) -> list[int]:
        """The lines that begin in some ranges and hold a text."""
        parts = [ranges[number] for number in sorted(numbers)]
        return [
            n
            for part in parts
            for n, begin in enumerate(begins, 1)
            if part.begin <= begin < (part.end or 0) and lines[n - 1] == text
        ]

    work = _Work(Options(places=True), Requests())
    for order in permutations(range(3)):
        for finished in range(1, 4):
            kept: list[str] = []
            adding = Adding(
                Checked(), ranges, lambda found, *_, kept=kept: kept.extend(found.places)
            )
            for number in order[:finished]:
                for found in work(ranges[number]):
                    adding.take(number, found)
                adding.take(number, None)
            adding.take_finished()
            done = order[:finished]
            assert [json.loads(place)["line"] for place in kept] == lines_of(done, row)
            unread = [line for _, line, _ in adding.whole.unread]
            assert unread == lines_of(done, "{broken")
