"""python -m checks.recorder compare [--base COMMIT] | show KEY: see README.md."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from checks.recorder import catalogue, playing
from checks.recorder.comparing import CannotPlay, Compared, compare, play
from checks.recorder.showing import WITHOUT_EVENTS, Shown
from checks.recorder.trees import PROJECT, NoSuchTree, Tree, described, unpacked, usual_base

EQUAL, DIFFERENT, UNKNOWN, INTERRUPTED = 0, 1, 2, 130
"""Exit codes."""


def main(arguments: list[str] | None = None) -> int:
    """Run one of the commands; returns the exit code."""
    asked = _arguments().parse_args(arguments)
    return {"compare": _compare, "show": _show, "play": _play}[asked.command](asked)


def _arguments() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("recorder", description=__doc__)
    commands = made.add_subparsers(dest="command", required=True)
    compare = commands.add_parser("compare", help="play every case with two trees' sources")
    base = compare.add_mutually_exclusive_group()
    base.add_argument("--base", help="a commit; without it, where this branch left the main branch")
    base.add_argument("--against", type=Path, help="another checkout, instead of a commit")
    compare.add_argument(
        "--without-events", action="store_true", help="leave out events and the names of rungs"
    )
    compare.add_argument("--shown", type=int, default=5, help="how many differences in full")
    played = commands.add_parser("play", help="what compare runs for each tree")
    played.add_argument("--share", default="0/1", help="which of how many shares of the cases")
    for command in (compare, played):
        command.add_argument("--simulator", action="store_true", help="the simulator alone")
        command.add_argument("--only", nargs="*", default=[], help="beginnings of keys")
        command.add_argument(
            "--every", type=int, default=1, help="only every so manieth case of a group"
        )
    show = commands.add_parser("show", help="print what a case does")
    show.add_argument("keys", nargs="+", metavar="KEY")
    show.add_argument("--json", action="store_true")
    return made


def _play(asked: argparse.Namespace) -> int:
    # Ctrl-C reaches each process of the terminal: the one that compares ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    play(asked.share, asked.only, of_simulator=asked.simulator, every=asked.every)
    return EQUAL


def _compare(asked: argparse.Namespace) -> int:
    if asked.without_events:
        os.environ[WITHOUT_EVENTS] = "1"  # the processes that play the cases inherit it
    # A process that is asked to end removes the temporary tree, as one does on Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with _base(asked) as base:
            return _compared((base, Tree("this tree", PROJECT)), asked)
    except (NoSuchTree, CannotPlay) as error:
        _tell(f"{error} Name another commit with --base (make replay BASE=...).")
        return UNKNOWN
    except KeyboardInterrupt:
        return INTERRUPTED


@contextmanager
def _base(asked: argparse.Namespace) -> Iterator[Tree]:
    if asked.against:
        yield Tree(str(asked.against), asked.against.resolve())
        return
    commit, why = (asked.base, "named") if asked.base else usual_base()
    _tell(f"Comparing this tree with {described(commit) or commit} ({why})")
    with unpacked(commit) as tree:
        try:
            yield tree._replace(name=asked.base or commit[:8])
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # while the folder is removed


def _compared(trees: tuple[Tree, Tree], asked: argparse.Namespace) -> int:
    choice = ["--every", str(asked.every), "--only", *asked.only]
    choice += ["--simulator"] if asked.simulator else []
    found = Compared((trees[0].name, trees[1].name))
    try:
        compare(trees, choice, _tell, found)
    except KeyboardInterrupt:
        print(*found.lines(), "interrupted before the last case", sep="\n", flush=True)
        raise
    print(*found.lines(), sep="\n", flush=True)
    both = [key for key, columns in sorted(found.differ.items()) if columns]
    if keys := both[: asked.shown]:
        one, other = (_shown(tree, keys) for tree in trees)
        for key in keys:
            print(*_difference(key, trees, one[key], other[key]), sep="\n", flush=True)
    if not found.played:
        raise CannotPlay("No case was played.")
    return DIFFERENT if found.differ or found.failed else EQUAL


def _shown(tree: Tree, keys: list[str]) -> dict[str, dict[str, str]]:
    """What cases do with the source of a tree, in a process of its own."""
    made = subprocess.run(
        [sys.executable, "-m", "checks.recorder", "show", "--json", *keys],
        cwd=PROJECT,
        env=tree.environment(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return dict(json.loads(made.stdout))


def _difference(
    key: str, trees: tuple[Tree, Tree], one: dict[str, str], other: dict[str, str]
) -> list[str]:
    lines = [f"\n##### {key}"]
    for column in {**one, **other}:
        before, after = (_in_lines(texts.get(column, "")) for texts in (one, other))
        names = [f"{tree.name}: {column}" for tree in trees]
        lines += difflib.unified_diff(before, after, names[0], names[1], n=2, lineterm="")
    return lines


def _in_lines(text: str) -> list[str]:
    """The lines of a text that was read byte by byte; one of JSON is broken before each member."""
    said = text.encode("latin-1").decode("utf-8", "backslashreplace")
    return re.sub(r',(?= ?["{])', ",\n", said).splitlines()


def _show(asked: argparse.Namespace) -> int:
    playing.steady()
    made: dict[str, Shown] = {}
    for key in asked.keys:
        case = catalogue.find(key)
        if case is None:
            _tell(f"there is no case {key!r}")
            return UNKNOWN
        made[key] = catalogue.played(case)
    if asked.json:
        json.dump({key: _texts(columns) for key, columns in made.items()}, sys.stdout)
        return EQUAL
    for key, columns in made.items():
        for column, text in columns.items():
            sys.stdout.buffer.write(b"=== %s %s\n%s\n" % (key.encode(), column.encode(), text))
    return EQUAL


def _texts(columns: Shown) -> dict[str, str]:
    return {column: text.decode("latin-1") for column, text in columns.items()}


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
