"""Transfer codings: reading what SDKs ask to be compressed (S8a)."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
from typing import Any, Protocol


class Decoder(Protocol):
    """Turns coded bytes into plain ones, piece by piece."""

    def feed(self, data: bytes) -> bytes:
        """The plain bytes that these give.

        Raises:
            UndecodableBytes: they are not what the header says."""


class UndecodableBytes(Exception):
    """Bytes are not coded as the header says; internal to the relay."""


class _Plain:
    def feed(self, data: bytes) -> bytes:
        return data


class _Coded:
    """A decoder of a library, whose own exceptions become ours at this one seam."""

    def __init__(
        self, decode: Callable[[bytes], bytes], errors: tuple[type[Exception], ...]
    ) -> None:
        self._decode = decode
        self._errors = errors

    def feed(self, data: bytes) -> bytes:
        try:
            return self._decode(data)
        except self._errors as error:
            raise UndecodableBytes(str(error)) from error


class _Deflate:
    """`deflate` is zlib by the standard and raw by habit: the first bytes tell."""

    def __init__(self) -> None:
        self._inner: Any = None

    def feed(self, data: bytes) -> bytes:
        if self._inner is not None:
            return self._inner.decompress(data)  # type: ignore[no-any-return]
        self._inner = zlib.decompressobj()
        try:
            return self._inner.decompress(data)  # type: ignore[no-any-return]
        except zlib.error:
            self._inner = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._inner.decompress(data)  # type: ignore[no-any-return]


def _gzip() -> Decoder:
    return _Coded(zlib.decompressobj(16 + zlib.MAX_WBITS).decompress, (zlib.error,))


def _deflate() -> Decoder:
    return _Coded(_Deflate().feed, (zlib.error,))


def _brotli() -> Decoder:
    brotli = importlib.import_module("brotli")
    return _Coded(brotli.Decompressor().process, (brotli.error,))


def _zstd() -> Decoder:
    zstandard = importlib.import_module("zstandard")
    decoder = zstandard.ZstdDecompressor().decompressobj()
    return _Coded(decoder.decompress, (zstandard.ZstdError,))


CODINGS: dict[str, Callable[[], Decoder]] = {
    "": _Plain,
    "identity": _Plain,
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
"""By the word of `content-encoding`. `br` and `zstd` need the extra `compression`; an SDK asks for
them only where the same libraries are installed."""


def decoder_for(coding: str) -> Decoder | None:
    """A decoder for a `content-encoding`, or None where it cannot be read here.

    >>> decoder_for("identity").feed(b"plain")
    b'plain'
    >>> decoder_for("compress") is None
    True
    """
    make = CODINGS.get(coding.strip().lower())
    try:
        return make() if make else None
    except ImportError:
        return None
