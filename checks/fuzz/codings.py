"""Compressed bytes decode the same however they were cut, or are `UndecodableBytes`."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

import brotli  # type: ignore[import-untyped]
import zstandard

from checks.fuzz.drawing import pieces, seed, split
from tenuto.frames.compression import CODINGS, UndecodableBytes, decoder_for

NAMES = sorted(CODINGS)
COMPRESS = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}
PLAIN = b'data: {"choices":[{"delta":{"content":"Hello, hello"}}]}\n\n' * 3


def seeds() -> Iterator[bytes]:
    for number, name in enumerate(NAMES):
        compress = (COMPRESS | {"zstd": zstandard.compress}).get(name, bytes)
        coded = compress(PLAIN)
        yield from (
            seed(made, 5, 60, 0, 0, 0, 0, 0, number) for made in (coded, coded[:-9], coded * 2)
        )


def check(data: bytes) -> None:
    knobs, payload = split(data)
    name = NAMES[knobs[7] % len(NAMES)]
    whole = decoded(name, [payload])
    for sizes in (knobs[:7], b"\0"):
        cut = decoded(name, list(pieces(payload, sizes)))
        assert cut == whole, name


def decoded(name: str, chunks: list[bytes]) -> bytes | None:
    decoder = decoder_for(name)
    assert decoder is not None
    try:
        return b"".join(decoder.feed(chunk) for chunk in chunks)
    except UndecodableBytes:
        return None
