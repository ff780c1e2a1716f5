"""The judge of tool-call arguments agrees with a strict `json.loads`, and piece by piece with
itself."""

from __future__ import annotations

import json
from collections.abc import Iterator

from checks.fuzz.drawing import seed, split, text_of, text_pieces
from checks.fuzz.histories import ARGUMENTS
from tenuto.core.answer.arguments import ArgumentTracker, Finding, judge


def seeds() -> Iterator[bytes]:
    for text in ARGUMENTS:
        yield seed(text.encode(), 0, 3, 50)


def check(data: bytes) -> None:
    knobs, payload = split(data)
    text = text_of(payload)
    whole = ArgumentTracker()
    whole.feed(text)
    for sizes in (knobs, b"\0"):
        tracker, found = ArgumentTracker(), Finding.EMPTY
        for piece in text_pieces(text, sizes):
            tracker.feed(piece)
            assert found is not Finding.MALFORMED or tracker.finding is found, "no way back"
            found = tracker.finding
        assert (tracker.finding, tracker.error_at) == (whole.finding, whole.error_at)
        assert (tracker.done, tracker.fed_chars) == (whole.done, len(text))
    try:
        strict = is_json(text)
    except RecursionError:
        return
    assert (whole.finding is Finding.WHOLE) == strict, (whole.finding, strict)
    judged = judge(text)
    if judged.finding is Finding.WHOLE:
        assert isinstance(json.loads(judged.text, parse_int=len, parse_float=len), dict)
        judged.text.encode(errors="surrogatepass")
    elif strict:
        inner = json.loads(text, parse_int=len, parse_float=len)
        assert not isinstance(inner, dict)


def is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=refuse, parse_int=len, parse_float=len)
    except ValueError:
        return False
    return True


def refuse(constant: str) -> None:
    raise ValueError(constant)
