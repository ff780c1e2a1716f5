"""Read compressed answers, in the content codings that SDKs ask for (S8a)."""

from __future__ import annotations

import importlib
import sys
import zlib
from collections.abc import Callable
from typing import Any, Protocol


class Decoder(Protocol):
    """Decodes bytes piece by piece.

    `plain`: they are plain already."""

    plain: bool

    def feed(self, data: bytes) -> bytes:
        """Return the plain bytes of this piece.

        Raises:
            UndecodableBytes: the bytes don't match the header, or unpack to more than is
                allowed."""
        ...


class UndecodableBytes(Exception):
    """Bytes don't match their content coding, or a few of them unpack to more than is allowed.
    Internal to the turn."""


class _Plain:
    plain = True

    def __init__(self, _: int) -> None:
        pass

    def feed(self, data: bytes) -> bytes:
        return data


class _Coded:
    """A library's decoder, whose exceptions become Tenuto's own here.

    `unpack` returns the plain bytes of coded ones, and stops shortly after a given number."""

    plain = False

    def __init__(
        self,
        unpack: Callable[[bytes, int], bytes],
        errors: tuple[type[Exception], ...],
        limit_bytes: int,
    ) -> None:
        self._unpack = unpack
        self._errors = errors
        self._limit_bytes = limit_bytes or sys.maxsize - 1

    def feed(self, data: bytes) -> bytes:
        try:
            plain = self._unpack(data, self._limit_bytes + 1)
        except self._errors as error:
            raise UndecodableBytes(str(error)) from error
        if len(plain) > self._limit_bytes:
            raise UndecodableBytes(f"{len(data)} bytes unpack to more than {self._limit_bytes}")
        return plain


class _Deflate:
    """`deflate` means zlib by the standard, but raw deflate in practice. The first two bytes show
    which (https://www.rfc-editor.org/rfc/rfc1950#section-2.2)."""

    def __init__(self) -> None:
        self._head = b""
        self._inner: Callable[[bytes, int], bytes] | None = None

    def decompress(self, data: bytes, most_bytes: int) -> bytes:
        if self._inner is None:
            self._head = data = self._head + data
            if len(data) < 2:
                return b""
            wrapped = data[0] & 0x8F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            wbits = zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS
            self._inner = _unpacker(zlib.decompressobj(wbits))
        return self._inner(data, most_bytes)


def _unpacker(inner: Any) -> Callable[[bytes, int], bytes]:
    """Return a function that unpacks with a `zlib.decompressobj`. Bytes after the end are not
    passed to it, since it would keep them all, and copy them with every piece."""

    def unpack(data: bytes, most_bytes: int) -> bytes:
        return b"" if inner.eof else inner.decompress(data, most_bytes)

    return unpack


def _gzip(limit_bytes: int) -> Decoder:
    unpack = _unpacker(zlib.decompressobj(16 + zlib.MAX_WBITS))
    return _Coded(unpack, (zlib.error,), limit_bytes)


def _deflate(limit_bytes: int) -> Decoder:
    return _Coded(_Deflate().decompress, (zlib.error,), limit_bytes)


def _brotli(limit_bytes: int) -> Decoder:
    brotli = importlib.import_module("brotli")
    inner = brotli.Decompressor()
    # Versions before 1.2 can't be limited, so they exceed the limit before it is checked.
    bounded = hasattr(inner, "can_accept_more_data")

    def unpack(data: bytes, most_bytes: int) -> bytes:
        options = {"output_buffer_limit": most_bytes} if bounded else {}
        return inner.process(data, **options)  # type: ignore[no-any-return]

    return _Coded(unpack, (brotli.error,), limit_bytes)


_ZSTD_SLICE_BYTES = 256
"""Four bytes unpack to 128 KB at most (https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.2.3),
so a slice unpacks to 8 MB."""


class _Zstd:
    """Decodes zstd frames, one after the other. The first byte of each is fed alone: the library
    reads a frame in one piece more strictly than one in several, and chunking must not matter."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._frame: Any = None

    def decompress(self, data: bytes) -> bytes:
        out: list[bytes] = []
        while data:
            if self._frame is None:
                self._frame = self._make()
                out.append(self._frame.decompress(data[:1]))
                data = data[1:]
            else:
                out.append(self._frame.decompress(data))
                data = self._frame.unused_data
                if self._frame.eof:
                    self._frame = None
        return b"".join(out)


def _zstd(limit_bytes: int) -> Decoder:
    zstandard = importlib.import_module("zstandard")
    inner = _Zstd(zstandard.ZstdDecompressor().decompressobj)

    def unpack(data: bytes, most_bytes: int) -> bytes:
        out: list[bytes] = []
        size = 0
        for at in range(0, len(data), _ZSTD_SLICE_BYTES):
            out.append(inner.decompress(data[at : at + _ZSTD_SLICE_BYTES]))
            size += len(out[-1])
            if size >= most_bytes:
                break
        return b"".join(out)

    return _Coded(unpack, (zstandard.ZstdError,), limit_bytes)


class _Chain:
    """Codings applied one over the other. The last one is decoded first."""

    plain = False

    def __init__(self, decoders: list[Decoder]) -> None:
        self._decoders = decoders

    def feed(self, data: bytes) -> bytes:
        for decoder in self._decoders:
            data = decoder.feed(data)
        return data


_MOST_CODINGS = 4
"""More codings in a row can only be an attack: each may unpack a thousandfold."""

CODINGS: dict[str, Callable[[int], Decoder]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
"""Decoders by the words of `content-encoding`. `br` and `zstd` need the extra `compression`. An SDK
asks for them only if the same libraries are installed."""


def decoder_for(coding: str, limit_bytes: int = 0) -> Decoder | None:
    """Return a decoder for a `content-encoding`; None: it can't be read here.

    Args:
        coding: the header's value.
        limit_bytes: the largest size of one unpacked piece; 0: no limit.

    >>> decoder_for("identity").feed(b"plain")
    b'plain'
    >>> decoder_for("gzip, compress") is None
    True
    """
    words = [word for part in coding.split(",") if (word := part.strip().lower())]
    applied = [CODINGS.get(word) for word in words if word != "identity"]
    if len(applied) > _MOST_CODINGS or None in applied:
        return None
    try:
        made = [make(limit_bytes) for make in reversed(applied) if make is not None]
    except ImportError:
        return None
    if len(made) > 1:
        return _Chain(made)
    return made[0] if made else _Plain(limit_bytes)
