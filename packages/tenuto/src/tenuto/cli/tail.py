"""`tenuto tail`: the turns of running programs in the terminal, from their event files."""

from __future__ import annotations

import contextlib
import json as json_module
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from tenuto.command_kit.command_error import CommandError, one_line
from tenuto.command_kit.numbers import whole_number
from tenuto.command_kit.printing import (
    BAD_FILE,
    JsonFlag,
    Switch,
    json_line,
    print_line,
    print_words,
    visible,
    why_unread,
)
from tenuto.core.answer.signals import Usage
from tenuto.core.answer.stop import printable
from tenuto.core.events.attempt import FaultReported, Stalled, UnknownStopSeen
from tenuto.core.events.event import Event
from tenuto.core.events.kinds import event_from_dict
from tenuto.core.events.recovery import RecoveryEnded
from tenuto.core.events.turn import Cancelled, LeftAlone, TurnEnded, TurnStarted
from tenuto.core.settings.rule import Rule
from tenuto.providers.table import UNKNOWN
from tenuto.telemetry.event_files import LINE_MAX_BYTES
from tenuto.telemetry.following import lines_of

EXAMPLES = (
    "tenuto tail events",
    "tenuto tail --all --no-follow events.jsonl",
    "tenuto tail --json events.jsonl | jq .reason",
)


def tail(
    file: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    *,
    last: Annotated[int, Parameter(name=("--last", "-n")), whole_number(Rule(int))] = 10,
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    no_follow: Switch = False,
    json: JsonFlag = False,
) -> int:
    """Show the turns of running programs as they end.

    It reads the event files that the programs write. Each turn is one line, with a line above it
    for each recovery and each fault. A turn that has begun but not ended gets a line that says so:
    it is still running, or its program was killed. If a file of a folder cannot be read, the
    command says so, goes on with the others, and exits with 2. Press Ctrl-C to stop.

    Args:
        file: the folder that TENUTO_EVENTS names, or the file that a program writes with
            tenuto.telemetry.EventFile. It need not exist yet.
        last: how many of the turns that are already in the files to show; 0 shows none.
        every: show every event with all its fields.
        no_follow: stop at the end of the files instead of waiting for more.
        json: print the events as JSON, one per line.
    """
    if str(file) == "-":
        raise CommandError("tail follows a file and cannot read standard input", BAD_FILE)
    if not no_follow and not _is_there(file):
        print(f"tenuto: waiting for {printable(str(file), 200)}", file=sys.stderr)
    elif not no_follow and not (first := first_line(file)).endswith("\n") and is_odd(first):
        print(f"tenuto: {file}: its first line is not an event", file=sys.stderr)
    skipped: set[Path] = set()
    open_turns: set[str] = set()
    hosts: dict[str, str] = {}
    unread = 0
    for line in _from_the_last(_read(file, skipped, follow=not no_follow), last, open_turns):
        told = _told(line, open_turns, hosts, every=every, json=json)
        if told is None:
            unread += 1
            if unread == 1 and not no_follow:  # the command may never end, so say it now
                print(f"tenuto: {file}: a line is not an event", file=sys.stderr)
        elif told:
            (print_line if json else print_words)(told)
    if unread:
        found = "1 line is" if unread == 1 else f"{unread} lines are"
        raise CommandError(f"{file}: {found} not an event", BAD_FILE)
    return BAD_FILE if skipped else 0


def _is_there(file: Path) -> bool:
    """Return whether there is anything to read yet. Invalid names count: reading reports the
    error."""
    with contextlib.suppress(OSError):
        return any(file.glob("*.jsonl")) if file.is_dir() else file.exists()
    return True


def _read(file: Path, skipped: set[Path], *, follow: bool) -> Iterator[str | None]:
    """Yield the lines of the file. An error of a file becomes a CommandError; in a folder, a file
    that can't be read is reported and added to `skipped`."""

    def skip(one: Path, error: OSError) -> None:
        skipped.add(one)
        why = why_unread(str(one), error)
        print(f"tenuto: {one_line(f'{one}: {why}')}", file=sys.stderr)

    try:
        yield from lines_of(file, follow=follow, unread=skip)
    except OSError as error:
        one = error.filename or str(file)
        raise CommandError(f"{one}: {why_unread(one, error)}", BAD_FILE) from None


def _from_the_last(found: Iterable[str | None], last: int, open_turns: set[str]) -> Iterator[str]:
    """Yield the lines of the turns with the latest events when the end of the file is first
    reached, and all later lines. Lines without an event pass. Turns that have not ended by then are
    added to `open_turns`."""
    latest: dict[str, bool] = {}  # whether each turn has ended, in order of their latest events
    held: list[tuple[str | None, str]] = []
    behind = False
    for line in found:
        if behind:
            if line is not None:
                yield line
        elif line is None:
            behind = True
            shown = {None, *list(latest)[max(len(latest) - last, 0) :]}
            open_turns.update(turn for turn, ended in latest.items() if not ended)
            yield from (one for turn, one in held if turn in shown)
            held.clear()
        else:
            event = _event_of(line)
            held.append((event.turn if event else None, line))
            if event is not None:
                ended = latest.pop(event.turn, False)  # put in again, so that it is the last
                latest[event.turn] = ended or isinstance(event, TurnEnded)


_ODD = (ValueError, TypeError, AttributeError, KeyError, OverflowError, OSError, RecursionError)
"""The errors of reading or showing a line with odd values: the values of events are not checked."""


def _event_of(line: str) -> Event | None:
    with contextlib.suppress(*_ODD):
        event = event_from_dict(json_module.loads(line))
        return event if isinstance(event.turn, str) else None
    return None


def first_line(file: Path) -> str:
    """Return the first line of a file, which may be incomplete; "" for a folder, an empty file, and
    one that can't be read."""
    with contextlib.suppress(OSError):
        if file.is_file():  # opening a pipe would wait
            with file.open("rb") as opened:
                return opened.readline(LINE_MAX_BYTES).decode("utf-8", "replace")
    return ""


def is_odd(line: str) -> bool:
    """Return whether a line holds something other than an event."""
    return bool(line.strip()) and _event_of(line) is None


def _told(
    line: str, open_turns: set[str], hosts: dict[str, str], *, every: bool, json: bool
) -> str | None:
    """Return what to print for a line: "" for nothing, None if it has no event. The beginning of a
    turn is printed only if the turn is one of `open_turns`, or with `every`. `hosts` keeps where
    each turn goes that has not ended, since only its beginning has that."""
    event = _event_of(line)
    if event is None:
        return None
    if isinstance(event, TurnStarted) and event.host:
        hosts[event.turn] = f"{event.host}:{event.port}" if event.port else event.host
    ended = isinstance(event, TurnStarted) and event.turn not in open_turns
    if not every and (ended or not isinstance(event, tuple(_WORDS))):
        return ""
    with contextlib.suppress(*_ODD):
        host = hosts.pop(event.turn, "") if isinstance(event, TurnEnded) else hosts.get(event.turn)
        return json_line(event.as_dict()) if json else _words(event, host, every=every)
    return None


# --- sentences ----------------------------------------------------------------------------------


def _turn(event: TurnEnded) -> str:
    attempts = "1 attempt" if event.attempts == 1 else f"{event.attempts} attempts"
    told = f"{event.status or 'passed on unread'}: {event.reason}, stop {event.stop or 'unread'}"
    words = f"{told}, {attempts}, {event.duration_s:.1f} s, {_tokens(event)}"
    return f"{words}. {event.advice}" if event.advice else words


def _tokens(event: TurnEnded) -> str:
    """Return the tokens that the provider counted, and of how many attempts if not of all."""
    usages = [usage or Usage() for usage in event.usage]
    counts = {
        "in": [u.input_tokens for u in usages if u.input_tokens is not None],
        "out": [u.output_tokens for u in usages if u.output_tokens is not None],
    }
    if not any(counts.values()):
        return "tokens unknown"
    words = [f"{sum(one):,} {name}" if one else f"unknown {name}" for name, one in counts.items()]
    of = [
        f" as {len(one)} of {len(usages)} attempts tell" if 0 < len(one) < len(usages) else ""
        for one in counts.values()
    ]
    if of[0] == of[1]:
        of[0] = ""
    return f"tokens {words[0]}{of[0]}, {words[1]}{of[1]}"


def _recovery(event: RecoveryEnded) -> str:
    kind = event.name.removesuffix("_ended").removesuffix("_terminated").replace("_", " ")
    return f"  {kind}: {event.result} ({event.reason}), requests: {event.attempts}"


def _fault(event: FaultReported) -> str:
    status = f"HTTP {event.status}" if event.status is not None else "no response"
    waits = f", next request in {event.wait_s:g} s" if event.wait_s else ""
    return f"  fault: {event.kind}, {status}{f' ({event.code})' if event.code else ''}{waits}"


_WORDS: Final[Mapping[type[Event], Callable[[Any], str]]] = {
    TurnStarted: lambda event: "begun, but not ended so far",
    TurnEnded: _turn,
    RecoveryEnded: _recovery,
    FaultReported: _fault,
    Stalled: lambda event: f"  stalled with {event.output_chars:,} characters of text",
    LeftAlone: lambda event: f"  left alone: {event.why}",
    UnknownStopSeen: lambda event: f"  unknown stop value: {event.raw!r}",
    Cancelled: lambda event: f"  cancelled after {event.output_chars:,} characters of text",
}
"""What to print for an event, by its class. Others are shown only with `--all`."""


def _words(event: Event, host: str | None, *, every: bool) -> str:
    words = next((of for kind, of in _WORDS.items() if isinstance(event, kind)), None)
    # Each function takes the events of the class at its key.
    told = words(event) if words and not every else _fields(event)  # pyright: ignore[reportArgumentType]
    when = datetime.fromtimestamp(event.time).astimezone()
    provider = host if host and event.provider == UNKNOWN.dialect.name else event.provider
    who = " ".join(printable(part) for part in (provider, event.model) if part)
    # An id ends in the turn's number in its process; its beginning differs between processes.
    return visible(f"{when:%H:%M:%S} {event.turn[-12:]} {who}  {told}".replace("\n", "\\n"))


def _fields(event: Event) -> str:
    told = ", ".join(f"{name} {value}" for name, value in event.data.items())
    return f"{event.name}: attempt {event.attempt}" + (f", {told}" if told else "")
