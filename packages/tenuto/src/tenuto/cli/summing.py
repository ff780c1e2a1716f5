"""The summary of a folder of captures: how its turns ended, and what their recoveries cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tenuto.cli.explained import Plain, sentence_of
from tenuto.command_kit.printing import print_table, print_told
from tenuto.core.answer.stop import printable

_SHOWN_ROWS = 20
"""How many rows a table on a terminal has; the JSON form has all of them."""

TABLES = (
    ("ended", "how the turns ended"),
    ("stops", "why attempts ended"),
    ("outcomes", "what their answers meant"),
    ("rungs", "what Tenuto did next"),
)
"""The counts of a summary with their titles, in order."""


def captures_in(folder: str) -> list[str]:
    """Return the JSON files of a folder, gzipped or not, by name, and so by time.

    >>> captures_in(str(Path(__file__).parent))
    []
    """
    found = (file for file in Path(folder).iterdir() if file.name.endswith((".json", ".json.gz")))
    return sorted(str(file) for file in found if file.is_file() and not file.name.startswith("."))


def summary(folder: str, told: Iterable[Plain]) -> Plain:
    """Return the counts of a folder as plain values.

    `output_tokens` and `recovery_output_tokens` are those that the provider counted: None if there
    were attempts, and it counted none of them.

    Args:
        folder: its name.
        told: the explanation of each of its files, from `explain`.

    >>> summary("turns", [{"file": "a", "error": "it is empty"}])["unread"]
    [{'file': 'a', 'error': 'it is empty'}]
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name, _ in TABLES}
    unread, turns, recovered, attempts, counted = [], 0, 0, 0, 0
    first: list[int | None] = []
    further: list[int | None] = []
    for one in told:
        if error := one.get("error") or _is_half(one):
            unread.append({"file": one["file"], "error": error})
            continue
        turns += 1
        attempts += len(one["attempts"])
        recovered += len(one["attempts"]) > 1 and one["next"].get("status") == "complete"
        counts["ended"][_end(one["next"])] += 1
        for number, attempt in enumerate(one["attempts"]):
            counts["stops"][f"{one.get('model') or 'model unknown'}: {attempt['reason']}"] += 1
            counts["outcomes"][str(attempt["outcome"] or "passed on unread")] += 1
            if attempt["rung"]:
                counts["rungs"][str(attempt["rung"])] += 1
            counted += attempt["usage"] is not None
            used = (attempt["usage"] or {}).get("output_tokens")
            (further if number else first).append(used)
    most = {name: dict(count.most_common()) for name, count in counts.items()}
    numbers = {
        "turns": turns,
        "attempts": attempts,
        "counted": counted,
        "recovered": recovered,
        "output_tokens": _sum([*first, *further]),
        "recovery_output_tokens": _sum(further),
    }
    return {"folder": folder, **numbers, **most, "unread": unread}


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known or not counts else None


def _is_half(one: Plain) -> str:
    """Return why a file is not counted, if it breaks off before its format can be known; else "".
    On its own, such a file is an answer that was dropped. In a folder of captures, it is more
    likely a file that a program did not finish writing."""
    dropped = one["wire"] is None and one["attempts"][-1]["outcome"] == "dropped"
    return "it is only a part of a document" if dropped else ""


def _end(following: Plain) -> str:
    if following["do"] == "send":
        return "not ended: another request follows"
    return f"{following['status']}: {following['reason']}"


def print_summary(told: Plain) -> None:
    """Print a summary for a person; files that could not be read go to standard error."""
    for one in told["unread"]:
        print_told(one, "explained", str, json=False)
    print("\n".join(_lines(told)))
    for name, title in TABLES:
        rows = list(told[name].items())
        if rows:
            words = sentence_of if name == "rungs" else str
            shown = [
                (printable(words(word), 120), f"{many:,}") for word, many in rows[:_SHOWN_ROWS]
            ]
            more = len(rows) - len(shown)
            shown += [(f"and {more} more (--json shows them)", "")] if more else []
            print_table((title, "count"), shown)


def _lines(told: Plain) -> Iterator[str]:
    recovered = f"{told['recovered']:,} complete after more than one attempt"
    yield f"{printable(told['folder'], 200)}: turns: {told['turns']:,}, {recovered}"
    yield f"  attempts: {told['attempts']:,}, of which {told['counted']:,} have usage"
    output, further = (
        "unknown" if told[name] is None else f"{told[name]:,}"
        for name in ("output_tokens", "recovery_output_tokens")
    )
    yield f"  output tokens: {output}, of which {further} after the first attempt of a turn"
    if told["unread"]:
        yield f"  files that could not be read and are not counted: {len(told['unread']):,}"
