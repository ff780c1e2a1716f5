"""make documents: 300 documents over 30 schemas, each cut, by every wire and mode, judged by the schema.

Prints how it goes, the figures and every invalid document that was told complete, and exits with 1 if
there is one. `--only KEY` plays one turn again, alone, and tells what was asked, sent and received.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from checks.documents.truth import DOCUMENTS, ENDINGS, MODES, WIRES, Plan, plan_of
from checks.documents.wording import KEYWORDS

if TYPE_CHECKING:
    from checks.documents.asking import Asker, Result

SEED: Final = 39
SLICE: Final = 96
"""Turns of the slice: each of another document, over all wires and modes."""
STEP: Final = 37
"""Shares no divisor with the number of documents, so that the slice has every schema."""
LEAST_CUTS: Final = 10
VALID_SHARE: Final = 0.95
"""Of bodies and of held streams, where one more request can give the whole document."""
HELD: Final = ("body", "hold")
TOLD_EVERY_S: Final = 10.0

_asker: Asker | None = None


def keys(seed: int, modes: tuple[str, ...], *, slice_alone: bool) -> list[str]:
    """The keys of all turns, or of the slice; always the same ones in the same order."""
    ways = [(wire, mode, on) for on in ENDINGS for mode in modes for wire in WIRES]
    if slice_alone:
        chosen = [
            (n * STEP % DOCUMENTS, ways[(n + n // len(ways)) % len(ways)]) for n in range(SLICE)
        ]
    else:
        chosen = [(number, way) for number in range(DOCUMENTS) for way in ways]
    return [f"{seed}.{number}.{'.'.join(way)}" for number, way in chosen]


def _play(key: str) -> Result:
    """Play one turn in this process."""
    global _asker  # noqa: PLW0603 - a process makes its server and clients once
    if _asker is None:
        from checks.documents.asking import Asker

        _asker = Asker()
    return _asker.play(key)


def results(chosen: list[str], processes: int) -> Iterator[Result]:
    """Play all turns, in this process or in several."""
    if processes == 1:
        yield from map(_play, chosen)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(_play, chosen, chunksize=12)


class Found:
    """What all turns came to."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.wrong: list[Result] = []
        self.odd: list[Result] = []
        self.cuts: dict[str, set[int]] = {keyword: set() for keyword in KEYWORDS}

    def take(self, result: Result) -> None:
        """Count one turn."""
        plan = plan_of(result.key)
        self.cuts[plan.keyword].add(plan.number)
        made = Counter(
            {"turns": 1, result.what: 1, "requests": result.requests, "tokens": result.tokens}
        )
        made["plain_tokens"], made["lost"] = result.plain_tokens, int(result.lost)
        made["raisable"] = int(plan.raisable)
        made["raisable_valid"] = int(plan.raisable and result.what == "valid")
        for group in _groups(plan):
            self.counts[group] += made
        if result.what == "WRONG":
            self.wrong.append(result)
        if result.notes:
            self.odd.append(result)

    def failed(self, *, whole: bool) -> list[str]:
        """What does not hold."""
        found = [f"{len(self.wrong)} invalid documents were told complete"] if self.wrong else []
        found += [f"{len(self.odd)} turns had an odd request or answer"] if self.odd else []
        if whole:
            few = [word for word, cut in self.cuts.items() if len(cut) < LEAST_CUTS]
            found += [f"fewer than {LEAST_CUTS} cuts inside of {few}"] if few else []
            found += [
                f"{mode}: fewer than {VALID_SHARE:.0%} valid where the limit may be raised"
                for mode in HELD
                if mode in self.counts and _share(self.counts[mode]) < VALID_SHARE
            ]
        return found


def _groups(plan: Plan) -> tuple[str, ...]:
    return (
        *("all", plan.mode, f"{plan.mode} {plan.wire}", f"{plan.mode} {plan.fault}"),
        *(f"on_incomplete={plan.on_incomplete}", f"cut inside {plan.keyword}"),
    )


def _share(counts: Counter[str]) -> float:
    return counts["raisable_valid"] / max(1, counts["raisable"])


def table(found: Found) -> str:
    """The figures for a person."""
    head = (
        f"{'':28}{'turns':>7}{'valid':>8}{'of raisable':>13}{'said so':>9}{'lost':>6}{'WRONG':>7}"
        f"{'requests':>10}{'tokens':>8}{'plain':>7}"
    )
    lines = [head]
    order = ("all", *MODES, "on_incomplete", "cut inside")
    place: Callable[[str], Any] = lambda name: (  # noqa: E731
        next((n for n, start in enumerate(order) if name.startswith(start)), 9),
        name,
    )
    for name in sorted(found.counts, key=place):
        c = found.counts[name]
        n = c["turns"]
        of = f"{_share(c):.1%}" if c["raisable"] else "–"
        lines.append(
            f"{name:28}{n:>7,}{c['valid'] / n:>8.1%}{of:>13}{c['said so']:>9,}{c['lost']:>6,}"
            f"{c['WRONG']:>7,}{c['requests'] / n:>10.2f}{c['tokens'] / n:>8.0f}"
            f"{c['plain_tokens'] / n:>7.0f}"
        )
    cuts = ", ".join(f"{word} {len(cut)}" for word, cut in found.cuts.items())
    return "\n".join(
        [
            *lines,
            "",
            "requests and tokens: means for one turn; plain: the tokens of one request with a sufficient limit.",
            "of raisable: valid ones where the limit may be raised, so that the document comes whole in a turn's tokens.",
            f"documents whose cut falls inside of each keyword's value: {cuts}",
        ]
    )


def story(result: Result) -> str:
    """One turn, request by request, for a person."""
    plan = plan_of(result.key)
    lines = [
        f"{result.key}: {result.what} {result.why} [{result.reason}]",
        (
            f"  schema {plan.name}, {plan.fault} inside {plan.keyword}, limit {plan.limit} tokens,"
            f" ceiling {plan.ceiling}, whole {result.plain_tokens} tokens {result.notes or ''}"
        ),
    ]
    for number, made in enumerate(result.attempts, 1):
        lines.append(
            f"  {number}. limit {made['limit']} schema {made['schema']} said {made['said_chars']}:"
            f" {made['way']} {made['stop']} {made['fault']} {made['tokens']} tokens"
            f" …{made['sent'][-60:]!r}"
        )
    seen = result.seen
    text = seen.get("text", "")
    lines.append(
        f"  got {seen.get('stop')} {seen.get('error', '')} {len(text)} characters …{text[-90:]!r}"
    )
    return "\n".join(lines)


def main() -> int:
    """Run what the arguments say."""
    parser = argparse.ArgumentParser(prog="make documents", description=__doc__)
    parser.add_argument("--only", default="", help="the key of a turn")
    parser.add_argument("--slice", action="store_true", help="the turns that `make test` plays")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=570.0, help="no turn is played later")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    asked = parser.parse_args()
    if asked.only:
        result = _play(asked.only)
        print(json.dumps(asdict(result), indent=1) if asked.json else story(result))
        return int(result.what == "WRONG" or bool(result.notes))
    from checks.documents.asking import HOLDS

    modes = tuple(m for m in asked.modes.split(",") if HOLDS or m != "hold")
    skipped = "" if HOLDS else "hold: not played, because Policy has no structured_streams yet"
    chosen = keys(asked.seed, modes, slice_alone=asked.slice)
    found, began, told, late = Found(), time.monotonic(), 0.0, 0
    for number, result in enumerate(results(chosen, asked.processes), 1):
        found.take(result)
        now = time.monotonic()
        if now - told > TOLD_EVERY_S and not asked.json:
            told, all_of = now, found.counts["all"]
            print(
                f"{now - began:4.0f} s  {number:,} of {len(chosen):,} turns, {all_of['valid']:,}"
                f" valid, {all_of['said so']:,} said so, {len(found.wrong):,} wrong",
                flush=True,
            )
        if now - began > asked.seconds:
            late = len(chosen) - number
            break
    failed = found.failed(whole=not (late or asked.slice))
    failed += [f"{late:,} turns were not played in {asked.seconds:g} s"] if late else []
    took = round(time.monotonic() - began)
    if asked.json:
        made = {"seed": asked.seed, "seconds": took, "turns": found.counts["all"]["turns"]}
        made |= {"counts": found.counts, "cuts": {k: len(v) for k, v in found.cuts.items()}}
        made |= {"wrong": [asdict(r) for r in found.wrong], "odd": [asdict(r) for r in found.odd]}
        print(json.dumps(made | {"skipped": skipped, "failed": failed}))
        return bool(failed)
    print("\n" + table(found))
    print(skipped) if skipped else None
    for title, entries in (("ODD", found.odd), ("WRONG", found.wrong)):
        for result in entries[:3]:
            print(f"\n{title}: {story(result)}")
        if entries:
            print(f"\n{title}, all {len(entries):,}: make documents ONLY=<key>")
            print("\n".join(f"  {r.key}  {r.why or r.notes}" for r in entries))
    print("\n".join(["", *(f"Failed: {what}." for what in failed)]) if failed else "\nAll holds.")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
