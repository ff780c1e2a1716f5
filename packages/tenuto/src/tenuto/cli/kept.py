"""The files of a report of `tenuto check`: rows.jsonl, report.json and report.html.

Where DuckDB is installed (`pip install 'tenuto[check]'`), also rows.parquet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final

from tenuto.cli.report_page import page
from tenuto.core.deciding.outcome import Outcome
from tenuto.judging.adding import Checked
from tenuto.judging.tally import LABEL_SIZED, Group, SeenTogether, doubt_of
from tenuto.judging.verdict import GRAVITY

MOST_WORST: Final = 20
"""So many rows of each outcome are named in the report."""

_NOT_BAD: Final = frozenset({Outcome.DONE.value, Outcome.OPEN_END.value, LABEL_SIZED})
_IS_DONE: Final = '"outcome": "done"'
_MAY_CHANGE: Final = '"no_stop"'
"""Words of rows.jsonl, in which a quotation mark of a text is never bare."""

_TOLD: Final = ("file", "line", "outcome", "model", "limit", "output_tokens", "chars", "stop", "id")


_WRITTEN_LAST: Final = ("report.html", "report.json", "rows.parquet")


class NotWritten(OSError):
    """A file of the report cannot be written."""


class Kept:
    """The files of a report. The verdicts of the rows are written as they come, so that they
    stay if the run is interrupted.

    Attributes:
        path: the file with the verdicts.
        rows: how many it has.
    """

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self.path: Path = self._folder / "rows.jsonl"
        self.rows: int = 0
        self._file: IO[str] | None = None
        with _writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            probe = self._folder / "rows.part"
            probe.open("w").close()  # so that nothing is read if nothing can be written
            probe.unlink()

    def _begun(self) -> IO[str]:
        """Return the file for the verdicts. Until it is opened, an earlier report stays."""
        if self._file is None:
            for name in _WRITTEN_LAST:  # none of another run may stand beside these rows
                (self._folder / name).unlink(missing_ok=True)
            self._file = self.path.open("w", encoding="utf-8")
        return self._file

    def add(self, found: Checked) -> None:
        """Write the next rows."""
        with _writing(self.path):
            file = self._begun()
            for place in found.places:
                file.write(f"{place}\n")
                self.rows += 1  # one by one: Ctrl-C may come in between
            file.flush()
        found.places = []

    def stop(self) -> None:
        """Leave what is written."""
        with _writing(self.path):
            self._begun().close()

    def close(self, report: Mapping[str, Any], together: SeenTogether) -> dict[str, Any]:
        """Write in each row what only all rows together show, and the report.

        Returns:
            the report, with the places of the worst rows.
        """
        self.stop()
        worst: dict[str, list[dict[str, Any]]] = {}
        part = self.path.with_suffix(".part")
        with _writing(self._folder):
            with self.path.open(encoding="utf-8") as rows, part.open("w", encoding="utf-8") as new:
                for line in rows:
                    if _IS_DONE in line and _MAY_CHANGE not in line:
                        new.write(line)
                        continue
                    row = revised(together, json.loads(line))
                    new.write(json.dumps(row) + "\n")
                    kept = worst.setdefault(row["outcome"], [])
                    if row["outcome"] not in _NOT_BAD and len(kept) < MOST_WORST:
                        kept.append(row)
            part.replace(self.path)
            _write_table(self.path)
            whole = {**report, "worst": _in_order(worst)}
            self._write("report.json", json.dumps(whole, indent=2) + "\n")
            self._write("report.html", page(whole))
        return whole

    def _write(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text, "utf-8", errors="backslashreplace")


_COLUMNS: Final = {
    **dict.fromkeys(("file", "outcome", "stop", "model", "id", "kind", "wire"), "VARCHAR"),
    **dict.fromkeys(("request_at", "day", "end"), "VARCHAR"),
    **dict.fromkeys(("line", "limit", "output_tokens", "chars", "choice", "choices"), "BIGINT"),
    **dict.fromkeys(("certain", "can_be_finished"), "BOOLEAN"),
    "evidence": "VARCHAR[]",
}
"""The columns of rows.parquet. `end` is null without --show-text."""


def _write_table(rows: Path) -> None:
    """Write the rows as Parquet, too, if DuckDB is installed."""
    try:
        duckdb = import_module("duckdb")
    except ModuleNotFoundError:
        return
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in _COLUMNS.items())
    source, table = (str(path).replace("'", "''") for path in (rows, rows.with_suffix(".parquet")))
    read = f"read_json('{source}', format='newline_delimited', columns={{{types}}})"
    try:
        with duckdb.connect(":memory:") as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute(f"COPY (SELECT * FROM {read}) TO '{table}' (FORMAT parquet)")
    except duckdb.Error as error:
        raise OSError(0, str(error).partition("\n")[0]) from None


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotWritten(error.errno, error.strerror or str(error), str(path)) from None


def revised(together: SeenTogether, row: dict[str, Any]) -> dict[str, Any]:
    """Return what is told of a row, with what only all rows together show."""
    doubt = doubt_of(row["outcome"], row["evidence"], row["output_tokens"], row["chars"])
    if doubt is None:
        return row
    word, why = together.revised(Group(row["model"], row["limit"]), doubt)
    if word == row["outcome"]:
        return row
    return {**row, "outcome": word, "evidence": list(dict.fromkeys([*row["evidence"], why]))}


def _in_order(worst: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the rows, the worst first."""
    order: Callable[[str], int] = lambda word: GRAVITY[Outcome(word)]  # noqa: E731
    told = []
    for outcome in sorted((word for word, rows in worst.items() if rows), key=order):
        for row in worst[outcome]:
            end = {"end": row["end"]} if "end" in row else {}
            told.append({name: row[name] for name in _TOLD} | end)
    return told
