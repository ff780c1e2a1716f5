"""The seam: how a continuation was cut into deltas does not matter, held text is bounded, and after
a prefill nothing is removed but an echo of all that was said."""

from __future__ import annotations

from collections.abc import Iterator

from checks.fuzz.drawing import seed, split, text_of, text_pieces
from checks.fuzz.histories import SEAMS
from tenuto.core.seam.seam import Seam, join, trailing_space


def seeds() -> Iterator[bytes]:
    for said, more in SEAMS:
        for exact in (0, 1):
            yield seed((said + "\0" + more).encode(), 1, 9, 30, 0, 0, 0, exact)


def check(data: bytes) -> None:
    knobs, payload = split(data)
    exact, hold_chars = bool(knobs[6] & 1), 40 if knobs[7] & 1 else 2_000
    said, _, more = text_of(payload).partition("\0")
    base, space = trailing_space(said)
    given = space[: knobs[5] % (len(space) + 1)]
    whole = Seam(base, trimmed=space, delivered_trimmed=given, exact=exact, hold_chars=hold_chars)
    rest = whole.feed(more) + whole.finish()
    assert base + given + rest == join(
        base, more, trimmed=space, delivered_trimmed=given, exact=exact, hold_chars=hold_chars
    )
    assert 0 <= whole.new_chars <= len(more)
    for sizes in (knobs[:5], b"\0"):
        seam = Seam(
            base, trimmed=space, delivered_trimmed=given, exact=exact, hold_chars=hold_chars
        )
        out = ""
        for piece in text_pieces(more, sizes):
            out += seam.feed(piece)
            assert len(seam._held) <= hold_chars + len(piece)
        assert out + seam.finish() == rest, (out, rest)
        assert (seam.kind, seam.new_chars) == (whole.kind, whole.new_chars)
    if exact:
        # White space at the seam is settled by what was trimmed; all else stays or is an echo.
        kept = "".join(rest.split())
        new = "".join(more.split())
        assert kept in (new, new.removeprefix("".join(base.split()))), (kept, new)
