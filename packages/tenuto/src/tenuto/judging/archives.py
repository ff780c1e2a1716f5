"""Read the samples of inspect_ai's `.eval` logs: a ZIP whose members are compressed with zstd.

Not every version of Python's zipfile reads such members, so they are found by its directory and
unpacked with the package zstandard (`pip install 'tenuto[compression]'`).
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from importlib import import_module
from typing import IO, Final

from tenuto.judging.stores import NotReadable, open_bytes

__all__ = ["NotReadable", "is_eval_log", "samples_of"]

_ZSTD: Final = 93
"""The method of zstd: section 4.4.5 of PKWARE's APPNOTE.TXT, version 6.3.8."""

_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")
"""The mark of a member, and the lengths of its name and of its extra field, which its bytes
follow."""

MOST_BYTES: Final = 268_435_456
"""A larger member is not read."""


def is_eval_log(path: str) -> bool:
    """Return whether a file is a ZIP, as inspect's logs are."""
    if not path.endswith(".eval"):
        return False
    with open_bytes(path) as file:
        return zipfile.is_zipfile(file)


def samples_of(path: str) -> Iterator[bytes]:
    """Return each sample of a log as JSON, in the order of the log.

    Raises:
        NotReadable: the log is damaged, or zstandard is missing.
    """
    try:
        with open_bytes(path) as file, zipfile.ZipFile(file) as log:
            for member in log.infolist():
                if member.filename.startswith("samples/") and member.file_size <= MOST_BYTES:
                    yield (
                        _unpacked(file, member)
                        if member.compress_type == _ZSTD
                        else log.read(member)
                    )
    except (zipfile.BadZipFile, struct.error, ValueError) as error:
        raise NotReadable(0, f"it is a damaged log ({error})", path) from None
    except ModuleNotFoundError:
        why = "its samples are compressed; pip install 'tenuto[compression]' to read them"
        raise NotReadable(0, why, path) from None


def _unpacked(file: IO[bytes], member: zipfile.ZipInfo) -> bytes:
    file.seek(member.header_offset)
    mark, name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    if mark != b"PK\x03\x04":
        raise zipfile.BadZipFile("a member has no header")
    file.seek(name + extra, 1)
    packed = file.read(member.compress_size)
    zstandard = import_module("zstandard")
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
            return bytes(reader.read(MOST_BYTES))
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from None
