"""Detection against recorded responses of real services (`shared/corpus`, not part of the project).

Run as a program it prints the figures: `python tests/test_corpus.py`.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tenuto import Confidence, Stop, StreamDetector, detect
from tenuto.core.stop import CLEAN
from tenuto.detection import recognize
from tenuto.wire.aws_eventstream import AwsEventDecoder

NAME = Path("shared/corpus/recorded.jsonl.gz")
LABELS = {"context_window": "context_window_exceeded"}
"""Words of the corpus that are not ours."""

STOP = {
    "ollama": re.compile(rb'"done_reason"\s*:\s*"[^"]+"'),
    "openai-chat": re.compile(rb'"finish_reason"\s*:\s*"[^"]+"'),
    "openai-completions": re.compile(rb'"finish_reason"\s*:\s*"[^"]+"'),
    "anthropic-messages": re.compile(rb'"stop_reason"\s*:\s*"[^"]+"'),
    # Other events name a status too, those of items and of a response in progress.
    "openai-responses": re.compile(
        rb'"type"\s*:\s*"response\.(?:completed|incomplete|failed)"'
        rb'|\A\s*\{.*"status"\s*:\s*"completed"',
        re.DOTALL,
    ),
    "gemini-generate": re.compile(rb'"finishReason"\s*:\s*("[^"]+"|\d)'),
    "bedrock-converse": re.compile(rb'"stopReason"\s*:\s*"[^"]+"'),
    "bedrock-invoke": re.compile(
        rb'"(?:stop_?reason|completionReason|finish_?reason|reason|amazon-bedrock-guardrailAction)"'
        rb'\s*:\s*"[^"]+"',
        re.IGNORECASE,
    ),
    "cohere": re.compile(rb'"finish_reason"\s*:\s*"[^"]+"'),
    "mistral": re.compile(rb'"finish_reason"\s*:\s*"[^"]+"'),
}
"""The native stop, by wire."""

NOT_ITS_OWN = {"openai-completions": 1}
"""Records that look as the wire never does, by whose name they are read: a stream of Writer's, which
ends without a stop and without an end mark."""

EVERY_CUT_UP_TO_BYTES = 1_500
CUTS_OF_EACH = 8


def place() -> Path | None:
    return next((up / NAME for up in Path(__file__).parents if (up / NAME).exists()), None)


@cache
def corpus() -> dict[str, list[tuple[str, bytes, frozenset[str]]]]:
    """The id, the bytes and the acceptable reasons of each record, by wire."""
    path = place()
    if path is None:
        pytest.skip(f"no {NAME} above {Path(__file__).parent}: the corpus is kept elsewhere")
    found = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            body = row["response_body"]
            raw = base64.b64decode(body) if row["response_is_base64"] else body.encode()
            reasons = (row["label"], *row["label_alt"])
            labels = frozenset(LABELS.get(r, r) for r in reasons)
            found[row["wire"]].append((row["id"], raw, labels))
    return found


def recorded(wire: str) -> list[tuple[str, bytes, frozenset[str]]]:
    """The records of a wire."""
    return corpus()[wire]


def shown(raw: bytes) -> bytes:
    """The bytes in which a stop can be seen: those of binary messages hold theirs encoded."""
    if raw[:1] not in (b"\0", b"\1"):
        return raw
    events = AwsEventDecoder().feed(raw)
    return b"\n".join(event.data or b"" for event in events)


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
        every = number % 50 == 0
        places = (
            range(len(small)) if every else rng.sample(range(len(raw)), min(len(raw), CUTS_OF_EACH))
        )
        # Near the end is where a stop may be lost.
        for at in {*places, *(len(raw) - rng.randint(1, 400) for _ in range(3))}:
            yield name, raw[: max(0, at)]


def is_false_clean_end(wire: str, raw: bytes, stop: Stop) -> bool:
    """A clean end of high confidence although the bytes hold no stop."""
    sure = stop.confidence is Confidence.HIGH and stop.reason in CLEAN
    return sure and not STOP[wire].search(shown(raw))


def cut_figures(wire: str) -> Counter[str]:
    figures: Counter[str] = Counter()
    for _, raw in cuts(wire):
        stop = detect(raw, wire=wire)
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
@pytest.mark.parametrize("wire", ["hf", "other"])
def test_of_the_rarest_apis_all_are_read_but_one_of_each_two(wire):
    """Words of a 404 without any form, and Aleph Alpha's, whose service is no more, say nothing."""
    (wrong,) = disagreements(wire, by_shape=True)
    assert len(recorded(wire)) == 2
    assert "unknown" in wrong or "dropped" in wrong


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
