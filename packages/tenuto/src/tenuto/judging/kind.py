"""A kind of rows: how it is told, and where its answers, its request and its id are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from tenuto.judging import tools
from tenuto.judging.cells import count_in, is_nothing
from tenuto.judging.held import Held
from tenuto.wires.json import JsonObject

_MISSING = object()


class Source(StrEnum):
    """What stands behind a kind."""

    REAL = "real"
    """Rows that the real tool or service wrote."""
    DOCUMENTED = "documented"
    """The shape in its documentation or its source code."""
    TOLD = "told"
    """What the user says of rows of their own."""


@cache
def _steps(path: str) -> tuple[str | int, ...]:
    return tuple(int(step) if step.lstrip("-").isdigit() else step for step in path.split("."))


def at(value: Any, path: str) -> Any:
    """Return the value at a path of names and numbers; None: the path leads nowhere.

    >>> at({"a": [{"b": 1}]}, "a.0.b"), at({}, "a.0.b")
    (1, None)
    """
    found = _at(value, path)
    return None if found is _MISSING else found


def _at(value: Any, path: str) -> Any:
    for step in _steps(path):
        if isinstance(step, int):
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                return _MISSING
            value = value[step]
        elif isinstance(value, dict):
            value = value.get(step, _MISSING)
        else:
            return _MISSING
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of rows.

    Attributes:
        name: its name, for `judge(kind=...)`.
        needs: paths that a row of this kind has, whatever is there.
        only: what else must hold of it.
        source: what stands behind it.
        answers: where its answers are, the first path that leads to one. A list is several answers
            if `each` is set, else one stream.
        request, id, model, limit: where these are; the first path that leads to a value counts.
        failed: where the tool says that there is no answer, and why.
        path: the path of the API's URL, or where the row keeps it (with `path_at`).
        read: reads what paths cannot say, in place of `answers`.
    """

    name: str
    needs: Sequence[str] = ()
    only: Callable[[JsonObject], bool] | None = None
    source: Source
    answers: Sequence[str] = ()
    each: bool = False
    request: Sequence[str] = ()
    id: Sequence[str] = ("id",)
    model: Sequence[str] = ()
    limit: Sequence[str] = ()
    failed: Sequence[str] = ()
    wire: str = ""
    path_at: Sequence[str] = ()
    read: Callable[[JsonObject], Iterable[Held]] | None = None

    def fits(self, row: JsonObject) -> bool:
        """Return whether a row is of this kind."""
        return all(_at(row, path) is not _MISSING for path in self.needs) and (
            self.only is None or self.only(row)
        )

    def held(self, row: JsonObject) -> Iterator[Held]:
        """Return the answers of a row, and what it says beside them."""
        request_at = next((path for path in self.request if at(row, path) is not None), "")
        beside: dict[str, Any] = {
            "request": at(row, request_at) if request_at else None,
            "request_at": request_at,
            "id": _word(row, self.id),
            "model": _word(row, self.model),
            "limit": _number(row, self.limit),
            "wire": self.wire,
            "path": _word(row, self.path_at),
        }
        if self.read is not None:
            for one in self.read(row):
                yield tools.beside(one, beside)
            return
        found = next(
            (item for path in self.answers if not is_nothing(item := at(row, path))),
            None,
        )
        if found is None:
            yield Held(failed=_word(row, self.failed), **beside)
        elif self.each and isinstance(found, list):
            for item in found:
                yield Held(answer=tools.answer_in(item), **beside)
        else:
            yield Held(answer=tools.answer_in(found), **beside)


def _word(row: JsonObject, paths: Sequence[str]) -> str:
    for path in paths:
        found = at(row, path)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
    return ""


def _number(row: JsonObject, paths: Sequence[str]) -> int | None:
    return next((n for path in paths if (n := count_in(at(row, path)))), None)
