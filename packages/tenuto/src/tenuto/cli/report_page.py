"""The report of `tenuto check` as one HTML page, made from its JSON.

The page needs no network and runs no script: its policy forbids both. Names of models, paths and
texts come from models and from strangers, so each goes through `escaped`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from tenuto.cli.check_words import ROWS, number_of, of_likely_cut, of_undecided, unread_lines
from tenuto.core.answer.stop import printable
from tenuto.core.deciding.outcome import Outcome
from tenuto.judging.tally import LABEL_SIZED, LABEL_TOKENS
from tenuto.judging.titles import title_of

_CLASSES: Final[tuple[tuple[str, str], ...]] = (
    ("complete", "complete"),
    ("cut by the limit", "cut"),
    ("likely cut", "likely"),
    ("label-sized", "label"),
)
"""Rows of the summary that have a colour of their own; all others share that of `broken`."""

_COLOURS: Final[dict[str, str]] = dict(_CLASSES)
_OF: Final = {name: _COLOURS.get(name, "broken") for name, _ in ROWS}
_ORDER: Final = ("complete", "cut", "likely", "broken", "label")
_NAMES: Final = {
    "complete": "complete",
    "cut": "cut by the limit",
    "likely": "likely cut",
    "broken": "empty, broken or blocked",
    "label": "label-sized",
}
_CLASS_OF_OUTCOME: Final = {
    **{word: _OF[name] for name, words in ROWS for word in words},
    "complete": "complete",  # as the histogram has them
    "cut": "cut",
}

_MOST_SHOWN: Final = 40
_PATH_CHARS: Final = 4_096
_END_CHARS: Final = 1_000


def page(report: Mapping[str, Any]) -> str:
    """Return the page."""
    sections = (
        _summary(report),
        _groups(report),
        _days(report),
        _lengths(report),
        _larger(report),
        _worst(report),
        _unread(report),
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            "<title>Stored answers</title>",
            f"<style>\n{_style()}</style>",
            "</head>",
            "<body>",
            "<main>",
            *filter(None, sections),
            "</main>",
            "</body>",
            "</html>",
            "",
        )
    )


def _style() -> str:
    return Path(__file__).with_name("report.css").read_text("utf-8")


def escaped(text: object, limit_chars: int = 200) -> str:
    """Return a text of a stranger as HTML that only shows it.

    >>> escaped('<b onclick="x">'), escaped("a\\u202eb")
    ('&lt;b onclick=&quot;x&quot;&gt;', 'a\\\\u202eb')
    """
    return escape(printable(str(text), limit_chars))


def _section(title: str, *lines: str, note: str = "") -> str:
    told = f'<p class="note">{note}</p>' if note else ""
    return f"<section>\n<h2>{title}</h2>\n{told}" + "\n".join(lines) + "\n</section>"


def _percent(number: float, of: float) -> str:
    return f"{100 * number / of:.1f} %" if of else "–"


def _classes(outcomes: Mapping[str, int]) -> dict[str, int]:
    """Return the counts by colour."""
    found: dict[str, int] = dict.fromkeys(_ORDER, 0)
    for word, number in outcomes.items():
        found[_CLASS_OF_OUTCOME.get(word, "broken")] += number
    return found


def _bar(outcomes: Mapping[str, int]) -> str:
    """Return a bar whose parts are the shares of each class."""
    counts = _classes(outcomes)
    total = sum(counts.values())
    told = ", ".join(f"{_NAMES[name]} {_percent(n, total)}" for name, n in counts.items() if n)
    parts = "".join(
        f'<i class="{name}" style="width:{100 * number / total:.3f}%"></i>'
        for name, number in counts.items()
        if number
    )
    return f'<div class="bar" role="img" aria-label="{told}" title="{told}">{parts}</div>'


def _key(outcomes: Mapping[str, int]) -> str:
    counts = _classes(outcomes)
    items = (f'<li><i class="{name}"></i>{_NAMES[name]}</li>' for name in _ORDER if counts[name])
    return f'<ul class="key">{"".join(items)}</ul>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose columns but the first are numbers."""
    titles = "".join(f"<th scope=col>{title}</th>" for title in head)
    lines = (
        f"<tr><th scope=row>{row[0]}</th>{''.join(f'<td>{cell}</td>' for cell in row[1:])}</tr>"
        for row in rows
    )
    body = "\n".join(lines)
    return (
        f'<div class="wide" tabindex="0"><table>\n<thead><tr>{titles}</tr></thead>'
        f"\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _more(shown: int, of: int, what: str) -> str:
    return (
        f'<p class="note">{of - shown:,} more {what} are in report.json.</p>' if of > shown else ""
    )


# --- sections


def _summary(report: Mapping[str, Any]) -> str:
    counts, answers = dict(report["outcomes"]), report["answers"]
    counts.pop(Outcome.NO_ANSWER.value, None)
    kinds = ", ".join(escaped(title_of(kind)) for kind in report["kinds"])
    files = f"{report['files']:,} file{'s' * (report['files'] != 1)}"
    rows = [
        f'<li><i class="{_OF[name]}"></i><b>{number:,}</b> <span>{name}</span>'
        f" <em>{_percent(number, answers)}</em></li>"
        for name, words in ROWS
        if (number := number_of(counts, words)) or name in ("complete", "cut by the limit")
    ]
    return "\n".join(
        (
            "<header>",
            f"<h1>{answers:,} stored answers</h1>",
            f"<p>{files}{': ' + kinds if kinds else ''}</p>",
            "</header>",
            "<section>",
            _bar(counts) if answers else "",
            f'<ul class="totals">{"".join(rows)}</ul>',
            *_notes(report),
            "</section>",
        )
    )


def _notes(report: Mapping[str, Any]) -> Iterable[str]:
    counts, answers, rows = report["outcomes"], report["answers"], report["rows"]
    notes = []
    if report["unreadable_lines"]:
        notes.append(f"{report['unreadable_lines']:,} lines or files could not be read.")
    if unknown := rows - answers:
        share = _percent(unknown, rows)
        notes.append(f"{unknown:,} rows ({share}) are no answers of a known kind.")
    if why := of_likely_cut(report):
        notes.append(f"Likely cut: {escape(why)}.")
    if open_ends := counts.get(Outcome.OPEN_END.value, 0):
        told = "of the complete answers have no stop stored and no end mark"
        notes.append(f"{open_ends:,} {told}; this alone is no sign of a cut.")
    if counts.get(LABEL_SIZED):
        told = f"answers that were cut at {LABEL_TOKENS} tokens or fewer"
        notes.append(f"Label-sized: {told}, as a judge that asks for one token means it.")
    if report["muted"]:
        told = ", ".join(escaped(sign) for sign in report["muted"])
        notes.append(f"Not counted, since too many rows show it: {told}.")
    if undecided := of_undecided(report):
        notes.append(f"{escape(undecided)}.")
    asked = report["requests"]
    if asked is not None and asked["answers"] < answers:
        missing = answers - asked["answers"]
        notes.append(f"{missing:,} answers have no request among the {asked['read']:,} given.")
    return [f'<ul class="notes">{"".join(f"<li>{note}</li>" for note in notes)}</ul>'] * bool(notes)


def _groups(report: Mapping[str, Any]) -> str:
    groups = report["groups"]
    if not groups:
        return ""
    items = []
    for group in groups[:_MOST_SHOWN]:
        counts, answers = _classes(group["outcomes"]), group["answers"]
        limit = f"limit {group['limit']:,}" if group["limit"] else "limit not known"
        cut = counts["cut"] + counts["likely"]
        items.append(
            f'<li><div class="name"><b>{escaped(group["model"]) or "no model stored"}</b>'
            f" <span>{limit}</span></div>{_bar(group['outcomes'])}"
            f'<div class="figures"><span>{answers:,} answers</span>'
            f"<span>{_percent(cut, answers)} cut</span>"
            f"<span>{_percent(counts['broken'], answers)} broken</span></div></li>"
        )
    return _section(
        "By model and limit",
        _key(_summed(groups)),
        f'<ul class="groups">{"".join(items)}</ul>',
        _more(_MOST_SHOWN, len(groups), "models and limits"),
        note="Cut: by the limit, or likely.",
    )


def _summed(groups: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for group in groups:
        for word, number in group["outcomes"].items():
            found[word] = found.get(word, 0) + number
    return found


def _columns(
    columns: Sequence[tuple[str, Mapping[str, int]]], marks: Mapping[int, str], *, shares: bool
) -> str:
    """Return columns of stacked parts. `columns`: the title of each, and its counts by class.
    `marks`: what stands below some of them. `shares`: whether all are equally high."""
    highest = max((sum(counts.values()) for _, counts in columns), default=0) or 1
    drawn = []
    for number, (title, counts) in enumerate(columns):
        total = sum(counts.values())
        of = (total or 1) if shares else highest
        parts = "".join(
            f'<i class="{name}" style="height:{100 * counts[name] / of:.3f}%"></i>'
            for name in reversed(_ORDER)
            if counts.get(name)
        )
        mark = f"<small>{marks[number]}</small>" if number in marks else ""
        drawn.append(f'<div title="{title}">{parts}{mark}</div>')
    return f'<div class="columns">{"".join(drawn)}</div>'


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{_NAMES[name]} {n:,}" for name, n in counts.items() if n)


def _days(report: Mapping[str, Any]) -> str:
    days = report["days"]
    if not days:
        return ""
    shown = days[-_MOST_DAYS:]
    columns, rows = [], []
    for day in shown:
        counts, name = _classes(day["outcomes"]), escaped(day["day"]) or "no day stored"
        if day["day"]:
            columns.append((f"{name}: {_told(counts)}", counts))
        cut = counts["cut"] + counts["likely"]
        figures = (_percent(cut, day["answers"]), _percent(counts["broken"], day["answers"]))
        rows.append((name, f"{day['answers']:,}", *figures))
    last = len(columns) - 1
    marks = {place: columns[place][0][5:10] for place in (0, last // 2, last)}
    return _section(
        "By day",
        _columns(columns, marks, shares=True),
        _details("The days as a table", ("Day", "Answers", "Cut or likely cut", "Broken"), rows),
        _more(len(shown), len(days), "days"),
        note="Each column is a day (UTC); its parts are shares of that day.",
    )


_MOST_DAYS: Final = 62


def _details(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return f"<details><summary>{title}</summary>{_table(head, rows)}</details>"


def _lengths(report: Mapping[str, Any]) -> str:
    bins, unit = report["lengths"]["bins"], report["lengths"]["unit"]
    if not bins:
        return ""
    columns, rows = [], []
    for found in bins:
        counts = _classes({k: n for k, n in found.items() if k not in ("from", "to")})
        span = f"{found['from']:,} to {found['to']:,}"
        columns.append((f"{span} {unit}: {_told(counts)}", counts))
        rows.append((span, *(f"{counts[name]:,}" for name in _OF_LENGTHS)))
    marks = _marks([found["from"] for found in bins])
    head = (unit.capitalize(), *(_NAMES[name].capitalize() for name in _OF_LENGTHS))
    piles = [
        f"{pile['answers']:,} answers"
        + (f" of {escaped(pile['model'])}" if pile["model"] else "")
        + f" pile up at {pile['tokens']:,} tokens, without a stop"
        for pile in report["piled"][:_MOST_SHOWN]
    ]
    told = f'<ul class="notes">{"".join(f"<li>{pile}</li>" for pile in piles)}</ul>'
    return _section(
        "Lengths",
        told if piles else "",
        _columns(columns, marks, shares=False),
        _details("The lengths as a table", head, rows),
        note=f"Answers by their number of {unit}. Four columns are a doubling.",
    )


_OF_LENGTHS: Final = ("complete", "cut", "likely", "label")
_MOST_MARKS: Final = 6


def _marks(edges: Sequence[int]) -> dict[int, str]:
    """Return what stands below some columns: the powers of two among the edges of a histogram.

    >>> _marks([0, 16, 20, 23, 27, 32, 39])
    {1: '16', 5: '32'}
    """
    found = [place for place, edge in enumerate(edges) if edge and edge & (edge - 1) == 0]
    step = max(1, -(-len(found) // _MOST_MARKS))
    return {place: f"{edges[place]:,}" for place in found[::step]}


def _larger(report: Mapping[str, Any]) -> str:
    items = []
    for group in report["larger_limits"][:_MOST_SHOWN]:
        held = (
            f"<span>{one['answers']:,} with {one['limit']:,}</span>" for one in group["would_hold"]
        )
        items.append(
            f'<li><div class="name"><b>{escaped(group["model"]) or "no model stored"}</b>'
            f" <span>{group['cut']:,} cut at {group['limit']:,}</span></div>"
            f'<div class="figures">{"".join(held)}</div></li>'
        )
    if not items:
        return ""
    return _section(
        "What a larger limit would win",
        f'<ul class="groups larger">{"".join(items)}</ul>',
        note="How many of the cut answers would be whole with twice, four times and eight times "
        "the limit: an estimate from the lengths of the model's whole answers (log-normal).",
    )


def _worst(report: Mapping[str, Any]) -> str:
    if not report["worst"]:
        return ""
    items = []
    for row in report["worst"]:
        said = [f"<b>{escaped(row['outcome'])}</b>"]
        said += [escaped(row["model"])] * bool(row["model"])
        if row["output_tokens"] is not None:
            of = f" of {row['limit']:,}" if row["limit"] else ""
            said.append(f"{row['output_tokens']:,}{of} tokens")
        else:
            said.append(f"{row['chars']:,} characters")
        said += [f"stop {escaped(row['stop'])}"] * (row["stop"] is not None)
        said += [f"id {escaped(row['id'])}"] * bool(row["id"])
        end = row.get("end", "")
        if end:
            begun = "…" if row["chars"] > len(end) else ""
            end = f"<pre>{begun}{escaped(end, _END_CHARS)}</pre>"
        place = f"{escaped(row['file'], _PATH_CHARS)}:{row['line']}"
        items.append(f"<li><code>{place}</code><p>{' · '.join(said)}</p>{end}</li>")
    return _section(
        "The worst rows",
        f'<ol class="worst">{"".join(items)}</ol>',
        note="The first rows of each outcome. rows.jsonl has all of them.",
    )


def _unread(report: Mapping[str, Any]) -> str:
    """Return the files and the lines that could not be read, and the files without rows."""
    named = [(one["file"], one["why"]) for one in (*report["refused"], *report["empty"])]
    shown = (named + unread_lines(report, _MOST_SHOWN))[:_MOST_SHOWN]
    items = "".join(
        f"<li><code>{escaped(place, _PATH_CHARS)}</code><p>{escaped(why, 400)}</p></li>"
        for place, why in shown
    )
    rest = _more(len(shown), len(named) + len(report["unreadable"]), "lines and files")
    made = _section("What could not be read", f'<ol class="worst">{items}</ol>', rest)
    return made if shown else ""
