"""Detection against recorded responses of real services (`shared/corpus`, not part of the project).

Run as a program it prints the figures: `python tests/test_corpus.py`.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from support.recorded import NAME, STOP, is_false_clean_end, place, recorded, shown

from tenuto import StreamDetector, detect
from tenuto.core.answer.stop import CLEAN
from tenuto.detection import read, recognize

NOT_ITS_OWN = {"openai-completions": 1}
"""Records that look as the wire never does, by whose name they are read: a stream of Writer's, which
ends without a stop and without an end mark."""

EVERY_CUT_UP_TO_BYTES = 1_500
CUTS_OF_EACH = 2


def disagreements(wire: str, *, by_shape: bool = False) -> list[str]:
    return [
        f"{name}: {stop.reason.value}, not {sorted(reasons)}"
        for name, raw, reasons in recorded(wire)
        if (stop := detect(raw, wire=None if by_shape else wire)).reason.value not in reasons
    ]


def cuts(wire: str) -> Iterator[tuple[str, bytes]]:
    """Every record cut at random bytes, short ones of a sample at every byte."""
    rng = random.Random("cuts")
    for number, (name, raw, _) in enumerate(recorded(wire)):
        small = raw[:EVERY_CUT_UP_TO_BYTES]
        every = number % 100 == 0
        places = (
            range(len(small)) if every else rng.sample(range(len(raw)), min(len(raw), CUTS_OF_EACH))
        )
        # Near the end is where a stop may be lost.
        for at in {*places, *(len(raw) - rng.randint(1, 400) for _ in range(3))}:
            yield name, raw[: max(0, at)]


def cut_figures(wire: str) -> Counter[str]:
    figures: Counter[str] = Counter()
    for _, raw in cuts(wire):
        stop = read(raw, wire=wire).stop  # which raises what `detect` would swallow
        figures["cuts"] += 1
        lost = not STOP[wire].search(shown(raw))
        figures["that lost the stop"] += lost
        figures["false clean ends"] += is_false_clean_end(wire, raw, stop)
        figures["lost the stop, called a clean end at all"] += lost and stop.reason in CLEAN
    return figures


@pytest.mark.behaviour("N1", "N2", "N3")
@pytest.mark.parametrize("by_shape", [False, True], ids=["named", "by shape"])
@pytest.mark.parametrize("wire", STOP)
def test_recorded_responses_are_read_as_they_are_labelled(wire, by_shape):
    wrong = disagreements(wire, by_shape=by_shape)
    other = 0 if by_shape else NOT_ITS_OWN.get(wire, 0)
    assert len(wrong) <= 0.001 * len(recorded(wire)) + other, wrong


@pytest.mark.behaviour("N1", "N2")
@pytest.mark.parametrize(("wire", "unread"), [("hf", 2), ("other", 1)])
def test_of_the_rarest_apis_only_those_that_are_no_more_are_not_read(wire, unread):
    """Words of a 404 without any form, Text Generation Inference's own, and Aleph Alpha's."""
    wrong = disagreements(wire, by_shape=True)
    assert len(recorded(wire)) == 2
    assert len(wrong) == unread
    assert all("unknown" in one or "dropped" in one for one in wrong)


@pytest.mark.behaviour("N8")
def test_mistrals_answers_are_told_from_those_of_openais_chat():
    named = {
        wire: Counter(getattr(recognize(raw)[1], "name", "") for _, raw, _ in recorded(wire))
        for wire in ("mistral", "openai-chat")
    }
    assert named["mistral"] == {"mistral": len(recorded("mistral"))}
    assert not named["openai-chat"]["mistral"]


@pytest.mark.behaviour("S1", "S5")
@pytest.mark.parametrize("wire", STOP)
def test_a_cut_never_raises_and_never_looks_like_a_clean_end(wire):
    figures = cut_figures(wire)
    assert figures["that lost the stop"] > 2 * len(recorded(wire))
    assert figures["false clean ends"] < 0.001 * figures["cuts"]


@pytest.mark.behaviour("S5", "S8")
@pytest.mark.parametrize("wire", STOP)
def test_any_chunking_of_a_recorded_response_gives_what_the_whole_gives(wire):
    rng = random.Random("pieces")
    for name, raw, _ in recorded(wire):
        whole = detect(raw)
        sizes = [lambda: rng.randint(1, 60), lambda: rng.randint(1, 5_000)]
        if len(raw) < 3_000 and rng.random() < 0.15:
            sizes.append(lambda: 1)
        for size in sizes[1:] if len(raw) > 50_000 else sizes:
            detector, at = StreamDetector(), 0
            while at < len(raw):
                step = size()
                detector.feed(raw[at : at + step])
                at += step
            assert detector.finalize() == whole, name


def main() -> None:
    for wire in STOP:
        total = len(recorded(wire))
        for by_shape in (False, True):
            wrong: list[Any] = disagreements(wire, by_shape=by_shape)
            how = "by shape" if by_shape else "named"
            print(f"{wire}, {how}: {total - len(wrong):,} of {total:,} agree "
                  f"({1 - len(wrong) / total:.2%})")  # fmt: skip
            for line in wrong:
                print("   ", line)
        for what, count in cut_figures(wire).items():
            print(f"{count:>8,} {what}")


if __name__ == "__main__":
    if place() is None:
        sys.exit(f"no {NAME} above this file")
    main()
