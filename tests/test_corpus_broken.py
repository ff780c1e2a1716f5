"""What is left of a recorded response (`shared/corpus`, not part of the project) that is cut, or in
which a value is of another type: nothing raises, and no end passes for a clean one.

Of every record a few replacements (and cuts, `test_corpus.py`); `make heavy` takes all of those that
are not long, of the long ones the places that few before them had, and prints how many."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from support.pairing import some_or_every
from support.recorded import (
    BINARY,
    STOP,
    Part,
    corpus,
    is_false_clean_end,
    parts,
    recorded,
    shown,
)
from support.replacing import places

from tenuto.core.answer.response import Response
from tenuto.core.deciding.outcome import classify
from tenuto.detection import read

Path = tuple[str, ...]
WIRES = (*STOP, "hf", "other")
OTHERS: tuple[Any, ...] = (None, 5, "x", [], [None], {}, True)
SPOTS_OF_EACH = 4
LONG_BYTES, PLACES_OF_A_LONG_ONE = 6_000, 1_000
ALIKE = 10
"""How often, in the long responses of a wire, values of one type at one path are replaced. The longest
repeat the request's tools, 1,700 values in 100 kB, and each replacement is read with all of it."""


def replaced(
    raw: bytes, rng: random.Random, seen: Counter[Path], *, every: bool
) -> Iterator[bytes]:
    """A response in which one node, which may be the whole, is a value of another type: of a stream
    one of each event that is not like one before it. Of a long response only nodes whose path and
    type were `seen` less often than `ALIKE`."""
    whole = parts(raw)
    values = [part.value for part in whole]
    spots = [(at, *spot) for at, part in enumerate(whole) if part.value is not None
             if not part.again for spot in ((values, at), *places(part.value))]  # fmt: skip
    if every and sum(len(part.raw) for part in whole) > LONG_BYTES:
        paths = [path for part in whole if part.value is not None and not part.again
                 for path in ((of_type(part.value),), *paths_in(part.value))]  # fmt: skip
        rare = []
        for spot, path in zip(spots, paths, strict=True):
            seen[path] += 1
            if seen[path] <= ALIKE:
                rare.append(spot)
        spots = rare
    for at, container, key in spots if every else rng.sample(spots, min(len(spots), SPOTS_OF_EACH)):
        before, after = (b"".join(map(framed, side)) for side in (whole[:at], whole[at + 1 :]))
        kept = container[key]
        for other in OTHERS if every else (rng.choice(OTHERS),):
            container[key] = other
            yield before + framed(whole[at], json.dumps(values[at]).encode()) + after
        container[key] = kept


def paths_in(value: Any, above: Path = ()) -> Iterator[Path]:
    """The path and the type of every node, as `places` orders them. An element of a list has no number
    in it: the `type` that it and those above it name tell it from others."""
    path = (*above, of_type(value))
    pairs = value.items() if isinstance(value, dict) else (("", inner) for inner in value)
    for key, inner in pairs:
        yield (*path, key, of_type(inner))
        if isinstance(inner, dict | list):
            yield from paths_in(inner, (*path, key))


def of_type(value: Any) -> str:
    """The type of a value in Python, and the one that an object names."""
    named = value.get("type") if isinstance(value, dict) else None
    return f"{type(value).__name__} {named if isinstance(named, str) else ''}"


def framed(part: Part, data: bytes | None = None) -> bytes:
    """A part's bytes, with other data in them; messages of AWS as lines."""
    if part.raw[:1] in BINARY:
        return b"data: %b\n\n" % (part.data if data is None else data)
    return part.raw if data is None else part.raw.replace(part.data, data, 1)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.behaviour("N6")
@some_or_every
@pytest.mark.parametrize("wire", WIRES)
def test_a_value_of_another_type_in_a_recorded_response_raises_nothing(wire, every):
    rng, tried, seen = random.Random("replaced"), 0, Counter[Path]()
    for _, raw, _ in recorded(wire):
        for changed in replaced(raw, rng, seen, every=every):
            for name in (wire, None):
                assert isinstance(read_whole(changed, name), Response)
                tried += 1
    print(f"{wire}: {tried:,} replacements, 0 raised")
    assert tried > 2 * len(recorded(wire))


def read_whole(raw: bytes, name: str | None) -> Response:
    """A response as it is read, and judged."""
    response = read(raw, wire=name)
    classify(response)
    return response


def cut_at_every_byte(raw: bytes, rng: random.Random) -> Iterator[bytes]:
    """A response cut at every byte; a very long one at some, and at every one near its end."""
    size = len(raw)
    where: Iterable[int] = range(size)
    if size > LONG_BYTES:
        near = range(size - PLACES_OF_A_LONG_ONE, size)
        where = [*sorted(rng.sample(range(near.start), PLACES_OF_A_LONG_ONE)), *near]
    return (raw[:at] for at in where)


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.timeout(1800)
@pytest.mark.behaviour("N6", "S1")
@pytest.mark.parametrize("wire", STOP)
def test_no_cut_of_a_recorded_response_raises_or_is_a_clean_end(wire):
    rng, tried, clean = random.Random("cut"), 0, 0
    for number, (_, raw, _) in enumerate(recorded(wire)):
        short = b"".join(part.raw for part in parts(raw))
        assert STOP[wire].search(shown(short)) or not STOP[wire].search(shown(raw))
        for at, cut in enumerate(cut_at_every_byte(short, rng), number):
            stop = read_whole(cut, None if at % 2 else wire).stop
            tried += 1
            clean += is_false_clean_end(wire, cut, stop)
    print(f"{wire}: {tried:,} cuts, 0 raised, {clean} false clean ends")
    assert not clean


@pytest.mark.behaviour("N6", "S1")
@pytest.mark.parametrize("wire", ["openai-chat", "openai-completions"])
def test_a_stream_that_is_made_short_keeps_the_stop_that_looks_like_text(wire):
    """Servers name the stop in an event that has the members of those before it."""
    said = [*({"index": 0, "text": "go", "finish_reason": None} for _ in range(5)),
            {"index": 0, "text": "", "finish_reason": "length"}]  # fmt: skip
    raw = b"".join(b"data: %b\n\n" % json.dumps({"choices": [choice]}).encode() for choice in said)
    short = b"".join(part.raw for part in parts(raw + b"data: [DONE]\n\n"))
    assert len(short) < len(raw)
    assert STOP[wire].search(short)
    assert read(short, wire=wire).stop == read(raw, wire=wire).stop


def test_no_wire_of_the_corpus_is_left_out():
    assert set(corpus()) == set(WIRES)
