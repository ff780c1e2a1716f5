"""docs/compared.md: what `make differential WRITE=1` measured.

The figures are in checks/differential/results.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent.parent / "checks" / "differential" / "results.json"

HEAD = """\
# Compared with the bare SDK

Tenuto must not make anybody worse off than without it. `make differential` checks that: it sends
the same bytes to an official SDK twice, once bare and once wrapped by `tenuto.wrap`, and compares
what the two programs see. The server knows what the model really said, so it can tell which of the
two is right.

On {date}, {pairs:,} pairs were played in {minutes} minutes: the SDKs of the extras ({releases}),
the simulator's faults, and cases made after public bug reports, as body and stream, {ways}. Each
pair is played under the default policy and under `on_incomplete="error"`, and counts by the worse
of the two.

"""
MEANINGS = {
    "worse": "Something that was right is wrong with Tenuto, or less of the answer can be read.",
    "better": "More of the answer came, or the program is told that it is unfinished.",
    "equal": "Both programs see the same, or both are told of the same problem.",
    "listed": "Judged by hand; the reasons are below.",
}


def render() -> str:
    """The page."""
    found: dict[str, Any] = json.loads(RESULTS.read_text("utf-8"))
    minutes = max(1, round(found["seconds"] / 60))
    given = {"pairs": found["pairs"], "date": found["date"], "minutes": minutes}
    made = HEAD.format(**given, releases=found["releases"], ways=found["ways"])
    made += "| Verdict | Pairs | What it means |\n| --- | ---: | --- |\n"
    for verdict, meaning in MEANINGS.items():
        made += f"| {verdict} | {found['count'].get(verdict, 0):,} | {meaning} |\n"
    made += "\n## By kind\n\n" + _table("What happens", found["kinds"])
    made += "\n## By SDK\n\n" + _table("SDK", found["sdks"])
    made += "\n## How a pair is judged\n\n" + _rows(found["rows"])
    made += "\n## Listed by hand\n\n" + _listed(found["listed"])
    return made + AGAIN


def _table(title: str, counts: dict[str, dict[str, int]]) -> str:
    lines = [f"| {title} | {' | '.join(MEANINGS)} |", "| --- |" + " ---: |" * len(MEANINGS)]
    for name, by_verdict in counts.items():
        figures = " | ".join(str(by_verdict.get(verdict) or "") for verdict in MEANINGS)
        lines.append(f"| {name} | {figures} |")
    return "\n".join(lines) + "\n"


def _rows(rows: list[dict[str, str]]) -> str:
    said = """\
The table is read from the top, and the first row that applies gives the verdict. An answer is whole
if its text has an end mark and isn't empty, if each call's arguments are a JSON object, or if it
was refused or blocked. Responses, and Anthropic's helper for streams, are judged twice: by what
streams in, and by the object at the end.

| First answer | What is looked at | Verdict |
| --- | --- | --- |
"""
    return said + "".join(f"| {row['of']} | {row['says']} | {row['verdict']} |\n" for row in rows)


def _listed(listed: dict[str, str]) -> str:
    if not listed:
        return "None.\n"
    return "".join(f"- `{kind}`: {why}\n" for kind, why in listed.items())


AGAIN = """
## Play it again

    make differential                            # all pairs; exits with 1 if any is worse
    make differential ONLY="gemini sim/length"   # the pairs whose keys have these parts
    make differential ONLY=openai-chat/D2/two_calls/stream/sync   # one pair, with all bytes
    make differential JSON=1                     # figures for a program

[checks/differential/README.md](../checks/differential/README.md) says how it is built.
"""
