"""python -m recorder record | check | show KEY | compare --against TREE: see README.md."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from recorder import INSIDE, recording
from recorder.groups_written import corpus
from recorder.showing import WITHOUT_EVENTS

PROJECT = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Run one of the commands; returns the exit code."""
    asked = _arguments().parse_args(arguments)
    commands = {"record": _record, "check": _check, "show": _show, "compare": _compare}
    return int(commands[asked.command](asked))


def _arguments() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("recorder", description=__doc__)
    commands = made.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="play every case and write the digests")
    record.add_argument("--into", type=Path, default=recording.FILE, help=argparse.SUPPRESS)
    check = commands.add_parser("check", help="play every case and compare with the digests")
    compare = commands.add_parser("compare", help="play every case with another tree's source too")
    compare.add_argument("--against", type=Path, required=True, help="a checkout, or its src")
    compare.add_argument(
        "--without-events", action="store_true", help="leave out events and the names of rungs"
    )
    for command in (record, check, compare):
        command.add_argument("--only", nargs="*", default=[], help="beginnings of keys")
        command.add_argument(
            "--every", type=int, default=1, help="only every so manieth case of a group"
        )
    for command in (check, compare):
        command.add_argument("--shown", type=int, default=5, help="how many differences in full")
    show = commands.add_parser("show", help="print what a case does")
    show.add_argument("key")
    show.add_argument("--json", action="store_true")
    return made


def _record(asked: argparse.Namespace) -> int:
    found = recording.record(asked.only, _tell, asked.every)
    kept = found
    if asked.into == recording.FILE and asked.into.exists():
        kept = _kept(recording.read(asked.into.read_text("utf-8")), asked) | found
    text = recording.written(kept)
    asked.into.write_text(text, "utf-8")
    failed = [key for key, columns in found.items() if "failed" in columns]
    _tell(f"{len(found):,} cases, {len(failed)} failed; {len(text):,} bytes in {asked.into.name}")
    for key in failed:
        _tell(f"  failed: {key}")
    return bool(failed)


def _kept(before: recording.Digests, asked: argparse.Namespace) -> recording.Digests:
    """What stays of the recording before: what was not played this time."""
    if asked.every > 1:
        return before
    wanted = tuple(asked.only)
    if corpus() is None:
        _tell("The corpus (shared/corpus) is not here: its digests stay as they were.")
    return {
        key: columns for key, columns in before.items()
        if (wanted and not key.startswith(wanted))
        or (corpus() is None and key.startswith("corpus/"))
    }  # fmt: skip


def _check(asked: argparse.Namespace) -> int:
    kept = recording.read(recording.FILE.read_text("utf-8"))
    found = recording.record(asked.only, _tell, asked.every)
    wanted = tuple(asked.only)
    if asked.every > 1:
        kept = {key: kept[key] for key in found if key in kept}
    elif wanted:
        kept = {key: columns for key, columns in kept.items() if key.startswith(wanted)}
    if corpus() is None:
        _tell("The corpus (shared/corpus) is not here: its cases are not compared.")
        kept = {key: columns for key, columns in kept.items() if not key.startswith("corpus/")}
    return _told(kept, found)


def _told(before: recording.Digests, after: recording.Digests) -> int:
    """Say what differs; 1 where something does."""
    found = list(recording.differences(before, after))
    for key, columns in found:
        print(f"{key}: {', '.join(columns) or ('gone' if key in before else 'new')}")
    counts = Counter(column for _, columns in found for column in columns)
    print(f"{len(after):,} cases, {len(found):,} differ {dict(counts) if counts else ''}".rstrip())
    return bool(found)


def _show(asked: argparse.Namespace) -> int:
    try:
        made = recording.show(asked.key)
    except LookupError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    if asked.json:
        json.dump({column: text.decode("latin-1") for column, text in made.items()}, sys.stdout)
        return 0
    for column, text in made.items():
        sys.stdout.write(f"=== {column}\n")
        sys.stdout.flush()
        sys.stdout.buffer.write(text + b"\n")
        sys.stdout.buffer.flush()
    return 0


def _compare(asked: argparse.Namespace) -> int:
    """The cases of this tree by the source of both: only what is measured differs."""
    there = asked.against / "src" if (asked.against / "src").is_dir() else asked.against
    sources = {"there": there.resolve(), "here": PROJECT / "src"}
    if asked.without_events:
        os.environ[WITHOUT_EVENTS] = "1"  # the processes that play the cases inherit it
    folder = PROJECT / ".recorder"
    folder.mkdir(exist_ok=True)
    digests = {}
    for name, source in sources.items():
        _tell(f"{name}: {source}")
        into = folder / f"{name}.txt"
        given = ["--into", str(into), "--every", str(asked.every), "--only", *asked.only]
        _run(source, "record", *given, check=False)
        digests[name] = recording.read(into.read_text("utf-8"))
    code = _told(digests["there"], digests["here"])
    found = list(recording.differences(digests["there"], digests["here"]))
    for key, _ in found[: asked.shown]:
        one, other = (_shown(source, key) for source in sources.values())
        print("".join(_difference(key, one, other)))
    return code


def _run(source: Path, *given: str, check: bool = True, kept: bool = False) -> str:
    own = source.parent / "recorder" / "inside.py"
    made = subprocess.run(
        [sys.executable, "-m", "recorder", *given],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(source), INSIDE: str(own) if own.exists() else ""},
        stdout=subprocess.PIPE if kept else None,
        text=True,
        check=check,
    )
    return made.stdout or ""


def _shown(source: Path, key: str) -> dict[str, str]:
    said = _run(source, "show", "--json", key, check=False, kept=True)
    return dict(json.loads(said)) if said else {}


def _difference(key: str, one: dict[str, str], other: dict[str, str]) -> list[str]:
    lines = [f"\n##### {key}\n"]
    for column in {**one, **other}:
        before, after = (_in_lines(texts.get(column, "")) for texts in (one, other))
        names = (f"there {column}", f"here {column}")
        made = difflib.unified_diff(before, after, *names, n=2, lineterm="")
        lines += [f"{line}\n" for line in made]
    return lines


def _in_lines(text: str) -> list[str]:
    """The lines of a text that was read byte by byte; one of JSON is broken before each member."""
    said = text.encode("latin-1").decode("utf-8", "backslashreplace")
    return re.sub(r',(?= ?["{])', ",\n", said).splitlines()


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
