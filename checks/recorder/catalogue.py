"""Every case, in one order, and what plays a case."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from checks.recorder import groups_asked, groups_sim, groups_written, simulator
from checks.recorder.cases import Group, Recorded
from checks.recorder.showing import Shown


def groups(*, of_simulator: bool) -> list[Group]:
    """Return the groups of the simulator alone, or those of whole turns."""
    if of_simulator:
        return [*simulator.groups()]
    return [*groups_sim.groups(), *groups_asked.groups(), *groups_written.groups()]


def cases(
    only: Iterable[str] = (), *, of_simulator: bool = False, every: int = 1
) -> list[Recorded]:
    """Return the cases whose keys begin with one of `only`, or all of them.

    They are in an order that looks random and is the same for both trees: the part of the cases
    that is done then says how much time is left.

    Args:
        only: beginnings of keys; none: all.
        of_simulator: the cases of the simulator alone.
        every: only every so manieth case of a group.
    """
    wanted = tuple(only)
    found = [
        case for group in groups(of_simulator=of_simulator)
        if not wanted or any(f"{group.name}/".startswith(w) or w.startswith(f"{group.name}/")
                             for w in wanted)
        for case in _listed(group, wanted, every)
    ]  # fmt: skip
    return sorted(found, key=lambda case: hashlib.sha256(case[0].encode()).digest())


def _listed(group: Group, wanted: tuple[str, ...], every: int) -> list[Recorded]:
    """The chosen cases of a group. One that cannot be listed is itself a case, which fails."""
    try:
        return [
            case for number, case in enumerate(group.cases())
            if number % every == 0 and (not wanted or case[0].startswith(wanted))
        ]  # fmt: skip
    except Exception as error:  # noqa: BLE001 - it is told as a difference
        return [(group.name, partial(_raise, error))]


def _raise(error: Exception) -> Shown:
    raise error


def played(play: Callable[[], Shown]) -> Shown:
    """Play a case; if it raises, that is all that is kept of it, in the column `failed`."""
    try:
        return play()
    except Exception as error:  # noqa: BLE001 - a case that fails is told, and the others go on
        told = traceback.format_exception_only(error)
        return {"failed": "".join(told).encode("utf-8", "replace")}


def find(key: str) -> Callable[[], Shown] | None:
    """Return what plays the case with this key, None where there is no such case."""
    both = (cases([key], of_simulator=of_simulator) for of_simulator in (False, True))
    return next((play for found in both for known, play in found if known == key), None)


def share(found: list[Recorded], number: int, of: int) -> Iterator[Recorded]:
    """Return one of so many shares. Both trees deal the same case to the same share."""
    return iter(found[number::of])
