"""Fit the weights of `tenuto.core.seam.evidence.EVIDENCE` anew, and print them.

    uv run --with scikit-learn python tools/weigh_preambles.py FOLDER ...

Places that are no preamble come from exact cuts of the text files in the folders and of made texts;
places that are one, from the preambles of tests/support/cuts/preambles before a line that comes
again (`--without` leaves batches out, to be tried afterwards). It prints how many of the first
would be taken, and how many of the second, for a few thresholds.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tests"))

from support.cuts import preambles  # noqa: E402
from support.cuts.texts import KINDS, Texts  # noqa: E402

from tenuto.core.seam.evidence import EVIDENCE, Preamble  # noqa: E402
from tenuto.core.seam.preamble import places  # noqa: E402
from tenuto.core.seam.repetition import Opening  # noqa: E402
from tenuto.core.seam.seam import trailing_space  # noqa: E402

TEXT_CHARS = 4_000
FILE_BYTES = range(2_000, 2_000_000)
LEAST_REST_CHARS = 600
CUTS_OF_A_TEXT = 20
MADE_TEXTS = 0.3
BREAKS = ("\n\n", "\n\n", "\n", "\n\n---\n\n")
FALSE_ALARMS = (3, 7, 15, 30, 60)


class Cuts:
    """Cut texts, as (what was said, white space behind it, the rest)."""

    def __init__(self, folders: list[Path], rng: random.Random) -> None:
        self.rng = rng
        self.made = Texts(rng, real=True)
        self.by_kind: dict[str, list[Path]] = {}
        for folder in folders:
            for file in folder.rglob("*"):
                if file.is_file() and file.stat().st_size in FILE_BYTES:
                    self.by_kind.setdefault(file.suffix, []).append(file)

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        while True:
            text = self.text()
            for _ in range(CUTS_OF_A_TEXT if len(text) > 2 * LEAST_REST_CHARS else 0):
                at = self.rng.randrange(max(1, len(text) - TEXT_CHARS))
                part = text[at : at + TEXT_CHARS]
                said, space = trailing_space(
                    part[: self.rng.randrange(12, len(part) - LEAST_REST_CHARS)]
                )
                if said:
                    yield said, space, part[len(said) :]

    def text(self) -> str:
        if not self.by_kind or self.rng.random() < MADE_TEXTS:
            return self.made.text(self.rng.choice(KINDS))
        kind = self.rng.choice(sorted(self.by_kind))
        try:
            return self.rng.choice(self.by_kind[kind]).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return ""


def measures(said: str, space: str, continuation: str) -> Iterator[tuple[int, list[float]]]:
    """(Where what comes again ends, what is measured) at each place of a continuation."""
    if not said.strip() or not continuation or continuation[0].isspace():
        return
    opening = Opening(said, space, start=len(said) - len(said.lstrip()), restarts=True)
    opening.held = continuation
    for place in places(opening, final=True):
        if isinstance(place, Preamble):
            yield place.end, [float(one.measure(place)) for one in EVIDENCE]


def without_preamble(cuts: Cuts, number: int) -> Iterator[list[float]]:
    """What is measured where an exact continuation has such places by itself."""
    for (said, space, rest), _ in zip(cuts, range(number), strict=False):
        for _, measured in measures(
            said, space, rest if cuts.rng.random() < 0.5 else rest.lstrip()
        ):
            yield measured


def with_preamble(cuts: Cuts, preambles: list[str], number: int) -> Iterator[list[float]]:
    """What is measured behind a preamble."""
    for said, space, rest in cuts:
        line = said[said.rfind("\n") + 1 :]
        bare = re.escape(line.strip())
        if sum(map(str.isalnum, line)) < 2 or re.search(rf"{bare}\s*{bare}", said + space + rest):
            continue
        preamble, gap = cuts.rng.choice(preambles), cuts.rng.choice(BREAKS)
        begin = preamble + (gap if preamble[-1] in ":\uff1a" or gap != "\n" else "\n\n")
        again = cuts.rng.choice((line, line.lstrip()))
        for end, measured in measures(said, space, begin + again + rest):
            if end == len(begin + again):
                yield measured
                number -= 1
                break
        if not number:
            return


def main(arguments: list[str]) -> int:
    """Collect, fit, print."""
    import numpy
    from sklearn.linear_model import LogisticRegression

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--cuts", type=int, default=200_000)
    parser.add_argument("--preambles", type=int, default=11_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", nargs="*", default=[], metavar="BATCH")
    asked = parser.parse_args(arguments)
    batches = sorted(Path(preambles.__file__).parent.glob("*.txt"))
    used = [
        one for file in batches if file.stem not in asked.without for one in preambles.read(file)
    ]
    cuts = Cuts(asked.folders, random.Random(asked.seed))
    none = numpy.array(list(without_preamble(cuts, asked.cuts)))
    some = numpy.array(list(with_preamble(cuts, used, asked.preambles)))
    labels = [0] * len(none) + [1] * len(some)
    model = LogisticRegression(max_iter=4_000, fit_intercept=False)
    weights = model.fit(numpy.vstack([none, some]), labels).coef_[0]
    for one, weight in zip(EVIDENCE, weights, strict=True):
        print(f"{weight:6.1f}  (now {one.weight:4.1f})  {one.name}")
    for which, by in (("fitted", weights), ("now", [one.weight for one in EVIDENCE])):
        taken = sorted(none @ by, reverse=True)
        for number in FALSE_ALARMS:
            share = (some @ by > taken[number]).mean()
            cuts_taken = f"{number} of {asked.cuts:,} cuts"
            print(f"{which}: above {taken[number]:.1f} {cuts_taken}, {share:.2%} of preambles")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
