"""Transfer codings: bounded, and the same in whatever pieces they come."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from functools import cache, partial

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from tenuto.core.settings.policy import Policy
from tenuto.frames.compression import UndecodableBytes, decoder_for
from tenuto.turn.drivers.commands import Head, Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(brotli.compress, quality=5),
    "zstd": zstandard.compress,
}


@cache
def bomb(coding: str) -> bytes:
    """A few bytes that unpack to fifty million."""
    return COMPRESS[coding](bytes(50_000_000))


@pytest.mark.behaviour("S8a", "N6")
@pytest.mark.parametrize("coding", COMPRESS)
def test_a_few_bytes_that_unpack_to_many_are_refused_before_they_fill_the_memory(coding):
    decoder = decoder_for(coding, 1_000_000)
    assert decoder is not None
    packed = bomb(coding)
    tracemalloc.start()
    with pytest.raises(UndecodableBytes, match="more than 1000000"):
        decoder.feed(packed)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 20_000_000


@pytest.mark.behaviour("S8a", "N6")
@pytest.mark.parametrize("coding", COMPRESS)
def test_a_stream_that_is_a_bomb_is_a_fault(coding):
    script = Script(
        Scripted.stream(bomb(coding), headers=((b"content-encoding", coding.encode()),))
    )
    body = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}'
    request = Request("POST", "https://host/v1/chat/completions", (), body)
    run = Engine(Policy(backoff_s=0, body_max_bytes=1_000_000)).begin(request)
    assert run is not None
    head, *pieces = Drive(run, script.connect).pieces()
    assert isinstance(head, Head)
    raw = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    assert b'"tenuto_incomplete"' in raw
    assert len(script.transmitted) <= 3


@pytest.mark.behaviour("S8a", "S8")
def test_both_kinds_of_deflate_are_read_byte_by_byte():
    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    for coded in (zlib.compress(b"Hello " * 9), raw.compress(b"Hello " * 9) + raw.flush()):
        decoder = decoder_for("deflate")
        assert decoder is not None
        plain = b"".join(decoder.feed(coded[n : n + 1]) for n in range(len(coded)))
        assert plain == b"Hello " * 9


@pytest.mark.behaviour("S8a", "S8")
@pytest.mark.parametrize("before", [b"", zstandard.compress(b"Hello ")])
def test_zstd_that_says_a_wrong_size_reads_alike_however_it_is_cut(before):
    wrong = before + bytes.fromhex("28b52ffd4100000000010000")  # says 256 bytes, and holds none
    for size in (1, 5, len(wrong)):
        decoder = decoder_for("zstd")
        assert decoder is not None
        pieces = (wrong[n : n + size] for n in range(0, len(wrong), size))
        assert b"".join(map(decoder.feed, pieces)) == (b"Hello " if before else b"")


@pytest.mark.behaviour("S8a", "S8")
def test_zstd_goes_on_behind_the_end_of_a_frame():
    coded = zstandard.compress(b"Hello ") + zstandard.compress(b"again.")
    for size in (1, len(coded)):
        decoder = decoder_for("zstd")
        assert decoder is not None
        pieces = (coded[n : n + size] for n in range(0, len(coded), size))
        assert b"".join(decoder.feed(piece) for piece in pieces) == b"Hello again."
