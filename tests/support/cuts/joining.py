"""Playing a case as a whole body and as a live stream, and judging what came of it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum

from support.cuts.cases import Case
from tenuto.core.seam.seam import Seam, join
from tenuto.turn.stream.client_stream import ClientStream
from tenuto.wires.openai_chat.wire import WIRE


class Result(StrEnum):
    """What became of a text."""

    RESTORED = "restored"
    TWICE = "twice"  # nothing is lost, something stands there twice
    SPACE = "space"  # every visible character is right, white space is not
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Joined:
    """A text that was put together, and how many characters were held back at most."""

    text: str
    held_chars: int


def whole_body(case: Case) -> str:
    """What a caller gets who waits for the whole body."""
    return join(case.said + case.half, case.continuation, trimmed=case.space)


def live_stream(case: Case, deltas: list[str]) -> Joined:
    """What a caller gets of a stream, which holds white space back."""
    given = case.space[: case.given]
    seam = Seam(case.said, trimmed=case.space, delivered_trimmed=given)
    client_stream = ClientStream(WIRE, "m", 0, forwards_all=False)
    client_stream.writer.begin({"id": "one", "model": "m", "choices": []})
    client_stream.begin(None)
    client_stream.write_text(case.said + given)
    client_stream.flush_text()
    client_stream.write_text(case.half)
    client_stream.begin(seam)
    came = said = held_chars = 0
    for delta in deltas:
        came += len(delta)
        text = seam.feed(delta)
        said += len(text)
        client_stream.write_text(text)
        if not seam.is_passthrough:
            held_chars = max(held_chars, came - said)
    client_stream.write_text(seam.finish())
    client_stream.flush_text()
    return Joined(client_stream.delivered_text, held_chars)


def chunked(text: str, rng: random.Random) -> list[str]:
    """The text in deltas: single characters, as tokens come, or larger."""
    most = rng.choice((1, 6, 6, 12, 80))
    deltas = []
    while text:
        size = rng.randint(1, most)
        deltas.append(text[:size])
        text = text[size:]
    return deltas


def judged(case: Case, text: str) -> Result:
    """What became of the case's text."""
    if text == case.text:
        return Result.RESTORED
    if "".join(text.split()) == "".join(case.text.split()):
        return Result.SPACE
    # The end of the text is what had not been said before.
    kept = text.startswith(case.said) and text.endswith(case.rest.lstrip())
    return Result.TWICE if kept and len(text) > len(case.text) else Result.LOST
