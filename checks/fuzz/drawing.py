"""How a target reads its input: `KNOBS` bytes that choose, then the payload.

The payload comes last and whole, so that the fuzzer works on real bodies and streams, and a seed is
made by putting knobs before a fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from examples.wires.tests import at_hand
from tenuto.frames.aws_messages import AwsEventDecoder

KNOBS = 8


def split(data: bytes) -> tuple[bytes, bytes]:
    """The knobs, of which missing ones are 0, and the payload."""
    return data[:KNOBS].ljust(KNOBS, b"\0"), data[KNOBS:]


def seed(payload: bytes, *knobs: int) -> bytes:
    """An input of these knobs and this payload."""
    return bytes(knobs).ljust(KNOBS, b"\0") + payload


def pieces(data: bytes, knobs: bytes) -> Iterator[bytes]:
    """The same bytes in pieces of 1 to 256 bytes, as the knobs say."""
    at = 0
    for knob in cycle(knobs):
        if at >= len(data):
            return
        yield data[at : at + knob + 1]
        at += knob + 1


def text_pieces(text: str, knobs: bytes) -> Iterator[str]:
    """The same for text."""
    at = 0
    for knob in cycle(knobs):
        if at >= len(text):
            return
        yield text[at : at + knob + 1]
        at += knob + 1


def text_of(payload: bytes) -> str:
    """A text that may hold anything that a text of Python can, lone surrogates included."""
    try:
        return payload.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return payload.decode("latin-1")


def fixtures(wire: str) -> Iterator[bytes]:
    """The bodies and streams of one wire's fixtures."""
    for file in sorted(at_hand.fixtures(wire).glob("*/*")):
        if file.stem in ("body", "stream"):
            yield as_lines(file.read_bytes())


def is_stream(data: bytes) -> bool:
    """Whether this is a stream: one of events, or one of objects on lines of their own."""
    return b"data:" in data or b'}\n{"' in data.replace(b"\r", b"")


def as_lines(data: bytes) -> bytes:
    """A stream of binary messages as one of lines, so that its events can be changed; anything else
    as it is. The messages themselves are what `framing` is about."""
    if data[:1] != b"\0":
        return data
    return b"".join(b"data: %b\n\n" % event.data for event in AwsEventDecoder().feed(data)
                    if event.data)  # fmt: skip
