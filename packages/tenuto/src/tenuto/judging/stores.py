"""Open files on this machine and in object stores, and unpack those that are compressed.

A file in a store has a URL (`s3://…`, `gs://…`, `https://…`), which fsspec opens
(`pip install 'tenuto[check]'`) with the package of that store, such as s3fs. It reads the
credentials as that package documents it.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final, cast

GZIP: Final = b"\x1f\x8b"
ZSTD: Final = b"\x28\xb5\x2f\xfd"
PACKED: Final = (".gz", ".zst")
"""Suffixes of compressed files."""


class NotReadable(OSError):
    """A file cannot be read, although it is there; `strerror` says why and what helps."""


def is_remote(path: str) -> bool:
    """Return whether a path is the URL of a file in an object store.

    >>> is_remote("s3://runs/a.jsonl"), is_remote("a.jsonl")
    (True, False)
    """
    return "://" in path


def needed(module: str, extra: str, what: str, path: str) -> Any:
    """Import an optional package.

    Raises:
        NotReadable: it is not installed; the message names the extra.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise NotReadable(0, f"{what}; pip install 'tenuto[{extra}]' to read it", path) from None


def store_of(path: str) -> tuple[Any, str]:
    """Return the file system of a URL, as fsspec has it, and the path in it.

    Raises:
        NotReadable: fsspec or the package of the store is missing, or there is no such store.
    """
    fsspec = needed("fsspec", "check", "it is in an object store", path)
    try:
        store, inner = fsspec.core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise NotReadable(0, f"its store cannot be reached ({error})", path) from None
    return store, str(inner)


def open_bytes(path: str) -> IO[bytes]:
    """Open a file as it is stored.

    Raises:
        OSError: it cannot be read.
    """
    if not is_remote(path):
        return Path(path).open("rb")
    store, inner = store_of(path)
    with _asking(path):
        return cast("IO[bytes]", store.open(inner, "rb"))


@contextmanager
def _asking(path: str) -> Iterator[None]:
    """Ask a store for something. Each store has errors of its own."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - botocore's, aiohttp's and others
        raise NotReadable(0, _of_store(error), path) from None


def _of_store(error: Exception) -> str:
    return f"its store says: {type(error).__name__}: {error}"


def open_unpacked(path: str) -> IO[bytes]:
    """Open a file and unpack it, if it begins as gzip or zstd does.

    Raises:
        OSError: it cannot be read.
        NotReadable: it is compressed with zstd, and nothing here reads that.
    """
    file = open_bytes(path)
    mark = file.read(4)
    file.seek(0)
    if mark[:2] == GZIP:
        return cast("IO[bytes]", _Gzip(file))
    if mark != ZSTD:
        return file
    try:
        return _Unpacked(_zstd(file, path), file)
    except NotReadable:
        file.close()
        raise


class _Gzip(gzip.GzipFile):
    """What unpacks a file, and closes it too. It hands on all that comes before a damaged place."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(fileobj=file)
        self._packed = file

    def close(self) -> None:
        super().close()
        self._packed.close()


class _Unpacked(io.BufferedReader):
    """The same for another way to unpack."""

    def __init__(self, unpacking: Any, file: IO[bytes]) -> None:
        super().__init__(unpacking, 262_144)
        self._file = file

    def close(self) -> None:
        super().close()
        self._file.close()


def _zstd(file: IO[bytes], path: str) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(file)
    zstandard = needed("zstandard", "check", "it is compressed with zstd", path)
    return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)


def damage(error: Exception, path: str) -> str | None:
    """Return what is wrong with a file that broke off while it was read; None: something else
    happened."""
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        return f"it is compressed, and damaged ({error})"
    if type(error).__name__ == "ZstdError":
        return f"it is compressed, and damaged ({error})"
    return _of_store(error) if is_remote(path) and not isinstance(error, OSError) else None


def size_of(path: str) -> int:
    """Return the size of a file in bytes.

    Raises:
        OSError: there is no such file, or it is a folder.
        NotReadable: it leads nowhere, or may never end.
    """
    if is_remote(path):
        store, inner = store_of(path)
        with _asking(path):
            return int(store.info(inner).get("size") or 0)
    try:
        found = Path(path).stat()
    except FileNotFoundError:
        if Path(path).is_symlink():
            raise NotReadable(0, "it is a link to a file that is not there", path) from None
        raise
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(found.st_mode):
        why = "it is a pipe or a device; write what comes out of it to a file first"
        raise NotReadable(0, why, path)
    return found.st_size


def files_under(path: str, on_error: Callable[[OSError], None]) -> list[str] | None:
    """Return the files in a folder and in those below it, sorted; None: it is no folder. Links to
    folders are followed, each folder once.

    Args:
        on_error: is called with why a folder below cannot be listed.

    Raises:
        OSError: there is nothing, or it cannot be listed.
    """
    if not is_remote(path):
        if not Path(path).is_dir():
            size_of(path)
            return None
        os.scandir(path).close()
        return [str(each) for each in sorted(_walked(path, on_error))]
    store, inner = store_of(path)
    with _asking(path):
        if store.isfile(inner):
            return None
        found = store.find(inner)
    if not found:
        raise FileNotFoundError(2, "there is no such file, and no file under it", path)
    return [store.unstrip_protocol(each) for each in sorted(found)]


def _walked(path: str, on_error: Callable[[OSError], None]) -> Iterator[Path]:
    """Return what a folder holds, but for folders."""
    seen = {os.path.realpath(path)}
    for place, folders, names in os.walk(path, onerror=on_error, followlinks=True):
        for name in sorted(folders):
            own = os.path.realpath(Path(place, name))
            if own in seen:
                folders.remove(name)
            seen.add(own)
        yield from (Path(place, name) for name in names)
