"""The recording: every case played, on all cores, and the file that holds their digests."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from recorder import groups_asked, groups_sim, groups_written, playing
from recorder.cases import Group
from recorder.showing import Shown, digest

FILE = Path(__file__).resolve().parent / "digests.txt"
Digests = dict[str, dict[str, str]]
"""By key and column."""


def groups() -> dict[str, Group]:
    """Return every group by name."""
    made = [*groups_sim.groups(), *groups_asked.groups(), *groups_written.groups()]
    return {group.name: group for group in made}


def chosen(only: Iterable[str]) -> list[str]:
    """Return the names of the groups in which keys may begin so; without any, all names."""
    wanted = tuple(only)
    return [
        name for name in groups()
        if not wanted or any(f"{name}/".startswith(w) or w.startswith(f"{name}/") for w in wanted)
    ]  # fmt: skip


def record(
    only: Iterable[str] = (), tell: Callable[[str], None] = print, every: int = 1
) -> Digests:
    """Play the cases whose keys begin with one of these, or all, and return their digests.

    Args:
        only: beginnings of keys; none: all.
        tell: is told of each group that is done.
        every: of each group only every so manieth case is played.
    """
    wanted, names = tuple(only), chosen(only)
    found: Digests = {}
    began = time.monotonic()
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with ProcessPoolExecutor(workers, get_context("spawn"), playing.steady) as pool:
        running = {pool.submit(_play, name, wanted, every): name for name in names}
        for number, done in enumerate(as_completed(running), 1):
            digests, took_s = done.result()
            found |= digests
            at_s = time.monotonic() - began
            tell(
                f"{at_s:5.0f} s  {number:3}/{len(names)}  {running[done]}: {len(digests)} cases,"
                f" {took_s:.0f} s"
            )
    return found


def _play(name: str, wanted: tuple[str, ...], every: int) -> tuple[Digests, float]:
    began = time.monotonic()
    found = {}
    for number, (key, play) in enumerate(groups()[name].cases()):
        if number % every == 0 and (not wanted or key.startswith(wanted)):
            found[key] = {column: digest(text) for column, text in played(play).items()}
    return found, time.monotonic() - began


def played(play: Callable[[], Shown]) -> Shown:
    """Play a case; what it raises is what is kept of it."""
    try:
        return play()
    except Exception as error:  # noqa: BLE001 - a case that fails is a difference, no end
        told = traceback.format_exception_only(error)
        return {"failed": "".join(told).encode("utf-8", "replace")}


def show(key: str) -> Shown:
    """Return all that a case does.

    Raises:
        LookupError: there is no such case.
    """
    playing.steady()
    for name in chosen([key]):
        for known, play in groups()[name].cases():
            if known == key:
                return played(play)
    raise LookupError(f"there is no case {key!r}; recorder/digests.txt has their keys")


def written(digests: Digests) -> str:
    """Return the file of these digests: sorted, one case a line."""
    return "".join(
        f"{key} {' '.join(f'{column}={kept}' for column, kept in columns.items())}\n"
        for key, columns in sorted(digests.items())
    )


def read(text: str) -> Digests:
    """Return the digests of a file."""
    return {
        key: dict(part.split("=") for part in kept)
        for key, *kept in map(str.split, text.splitlines())
    }


def differences(before: Digests, after: Digests) -> Iterator[tuple[str, list[str]]]:
    """Return the keys whose digests differ, with the columns; one that is new or gone has none."""
    for key in sorted({*before, *after}):
        one, other = before.get(key), after.get(key)
        if one is None or other is None:
            yield key, []
        elif one != other:
            yield key, [c for c in {**one, **other} if one.get(c) != other.get(c)]
