"""Measures how well cut texts are put together again, prints the tables, and writes them into
docs/seams.md.

With --json it prints the figures as JSON; with --keep it leaves the page as it is; --cases N takes
N cases for each kind of seam (2,000), and a page is only written with that many or more.

With --preambles FILE ... only preambles are tried, and those of the files alone: a line of a file
is a preamble, or in JSON a string or an object with "text". It prints which of them stayed in a
text, and how often. No page is written.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "seams.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
CASES = 2_000
SEED = 90210
SIZES = (100_000, 1_000_000)
DELTA_CHARS = 20
REPEATS = 5

sys.path.insert(0, str(PROJECT / "tests"))

from support.cuts.cases import SEAMS, Case, every_case  # noqa: E402
from support.cuts.joining import Result, chunked, judged, live_stream, whole_body  # noqa: E402
from support.cuts.preambles import read  # noqa: E402
from support.cuts.texts import KINDS  # noqa: E402

from tenuto.core.seam.seam import Seam  # noqa: E402

ABOUT = """\
The table shows how many texts of 100 came out exactly right; a cell has two figures if body and
stream differ. The last three columns count cases. *Twice*: something is repeated, and nothing is
missing. *Lost*: a character is missing. *Spaces*: only white space is wrong."""

LENGTHS = ((3, 5), (6, 11), (12, 23), (24, 400))


class Score:
    """What became of all cases."""

    def __init__(self) -> None:
        self.body: dict[tuple[str, str], Counter[Result]] = defaultdict(Counter)
        self.stream: dict[tuple[str, str], Counter[Result]] = defaultdict(Counter)
        self.held_chars: dict[str, list[int]] = defaultdict(list)
        self.lengths: dict[tuple[int, int], Counter[Result]] = defaultdict(Counter)
        self.disagree = 0

    def take(self, case: Case, rng: random.Random) -> None:
        """Play one case both ways."""
        body = whole_body(case)
        stream = live_stream(case, chunked(case.continuation, rng))
        self.disagree += body != stream.text
        result = judged(case, body)
        self.body[case.seam, case.kind][result] += 1
        self.stream[case.seam, case.kind][judged(case, stream.text)] += 1
        self.held_chars[case.seam].append(stream.held_chars)
        if case.seam == "overlap":
            chars = len("".join(case.repeated.split()))
            for least, most in LENGTHS:
                if least <= chars <= most:
                    self.lengths[least, most][result] += 1

    def rows(self) -> Iterator[list[str]]:
        """Kind of seam by kind of text: restored of 100, body / stream."""
        yield ["Seam", "Cases", *KINDS, "All", "Twice", "Lost", "Spaces"]
        for seam in SEAMS:
            body = sum((self.body[seam, kind] for kind in KINDS), Counter[Result]())
            stream = sum((self.stream[seam, kind] for kind in KINDS), Counter[Result]())
            cells = [_both(self.body[seam, kind], self.stream[seam, kind]) for kind in KINDS]
            counts = [str(body[what]) for what in (Result.TWICE, Result.LOST, Result.SPACE)]
            yield [seam, f"{body.total():,}", *cells, _both(body, stream), *counts]

    def held_rows(self) -> Iterator[list[str]]:
        """Characters held back on a stream."""
        yield ["Seam", "Median", "99th percentile", "Maximum"]
        for seam in SEAMS:
            held = sorted(self.held_chars[seam])
            ninety_ninth = held[int(len(held) * 0.99)]
            yield [seam, f"{statistics.median(held):.0f}", str(ninety_ninth), f"{held[-1]:,}"]

    def length_rows(self) -> Iterator[list[str]]:
        """Restored overlaps by how much was said again."""
        yield ["Visible characters repeated", "Cases", "Restored"]
        for least, most in LENGTHS:
            results = self.lengths[least, most]
            yield [f"{least} to {most}", f"{results.total():,}", _percent(results)]


def _percent(results: Counter[Result]) -> str:
    share = 100 * results[Result.RESTORED] / max(1, results.total())
    return "100" if share == 100 else f"{min(share, 99.99):.2f}".rstrip("0").rstrip(".")


def _both(body: Counter[Result], stream: Counter[Result]) -> str:
    one, other = _percent(body), _percent(stream)
    return one if one == other else f"{one} / {other}"


def cost_rows() -> Iterator[list[str]]:
    """Nanoseconds a character for continuations of 100 KB and of 1 MB."""
    yield ["Continuation", "100 KB", "1 MB", "1 MB against 100 KB"]
    for name, work in _COSTS.items():
        costs = []
        for size in SIZES:
            said, continuation = work(size)
            costs.append(_best_s(said, continuation) / size * 1e9)
        ratio = costs[1] / costs[0]
        yield [name, f"{costs[0]:.1f} ns a character", f"{costs[1]:.1f} ns", f"{ratio:.2f}×"]


def _best_s(said: str, continuation: str) -> float:
    deltas = [
        continuation[at : at + DELTA_CHARS] for at in range(0, len(continuation), DELTA_CHARS)
    ]
    best_s = float("inf")
    for _ in range(REPEATS):
        start_s = time.process_time()
        seam = Seam(said)
        for delta in deltas:
            seam.feed(delta)
        seam.finish()
        best_s = min(best_s, time.process_time() - start_s)
    return best_s


def _words(chars: int) -> str:
    rng = random.Random(SEED)
    words = [f"{rng.getrandbits(24):x}" for _ in range(chars // 6)]
    return " ".join(words).ljust(chars, ".")[:chars]


_BASE = _words(6_000)
_COSTS: Mapping[str, Callable[[int], tuple[str, str]]] = {
    "exact": lambda size: (_BASE, " and so " + _words(size)),
    "overlap": lambda size: (_BASE, _BASE[-200:] + " on " + _words(size)),
    "unfinished line": lambda size: (_BASE + "\nthe line that", "the line that is " + _words(size)),
    "preamble": lambda size: (
        _BASE + "\nthe line that",
        "Here is the rest:\n\nthe line that is " + _words(size),
    ),
    "code fence": lambda size: (_BASE + "\n```py\nx = 1\ny", "```py\ny = 2\n" + _words(size)),
    "restart of all of it": lambda size: (_words(size), _words(size) + " on"),
    "restart of 6,000 characters": lambda size: (_BASE, _BASE + _words(size)),
    "zeros": lambda size: ("0" * size, "0" * size),
    "zeros with spaces": lambda size: ("0 " * (size // 2) + "0", " 0" * (size // 2)),
    "one line again and again": lambda size: (
        "- item\n" * (size // 7) + "-",
        " item\n-" * (size // 7),
    ),
}


def try_preambles(files: list[Path], *, seed: int, number: int) -> None:
    """Print how often the preambles of these files were taken away."""
    preambles = [one for file in files for one in read(file)]
    rng = random.Random(seed + 1)
    results: Counter[Result] = Counter()
    tried: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    disagree = 0
    for case in every_case(
        seed=seed, number=number, real=True, seams=("preamble",), preambles=preambles
    ):
        body = whole_body(case)
        disagree += body != live_stream(case, chunked(case.continuation, rng)).text
        result = judged(case, body)
        results[result] += 1
        tried[case.preamble] += 1
        failed[case.preamble] += result is not Result.RESTORED
    print(f"{len(preambles)} preambles, {results.total():,} cases: {_percent(results)} % restored,")
    print(", ".join(f"{results[what]} {what}" for what in Result), f"{disagree} differ in a stream")
    for preamble, times in failed.most_common():
        if times:
            print(f"{times:4} of {tried[preamble]:3}  {preamble!r}")


def table(rows: Iterator[list[str]]) -> str:
    """Rows in Markdown, the first being the head."""
    head, *rest = rows
    lines = [head, ["---"] * len(head), *rest]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main(arguments: list[str]) -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--preambles", type=Path, nargs="+", metavar="FILE")
    asked = parser.parse_args(arguments)
    if asked.preambles:
        try_preambles(asked.preambles, seed=asked.seed, number=asked.cases)
        return 0
    score, rng = Score(), random.Random(asked.seed + 1)
    cases = every_case(seed=asked.seed, number=asked.cases, real=True)
    for number, case in enumerate(cases, 1):
        score.take(case, rng)
        if number % 500 == 0:
            print(f"{number:,} of {len(cases):,} cases", file=sys.stderr, flush=True)
    tables = {
        "restored, of 100": list(score.rows()),
        "overlaps": list(score.length_rows()),
        "held back": list(score.held_rows()),
        "cost": list(cost_rows()),
    }
    agree = f"Body and stream differ in {score.disagree} of {len(cases):,} cases."
    text = "\n\n".join(
        [
            ABOUT,
            table(iter(tables["restored, of 100"])),
            agree,
            "Overlaps by length:",
            table(iter(tables["overlaps"])),
            "Characters of a stream that are held back until the seam is decided:",
            table(iter(tables["held back"])),
            f"Processor time for a continuation in deltas of {DELTA_CHARS} characters:",
            table(iter(tables["cost"])),
        ]
    )
    if asked.json:
        print(json.dumps({"disagree": score.disagree, **tables}, indent=2, ensure_ascii=False))
    else:
        print(text)
    if not asked.keep and asked.cases >= CASES:
        page = PAGE.read_text("utf-8")
        before, _, rest = page.partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
