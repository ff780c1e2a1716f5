"""`tenuto tail`: the turns of a running program in the terminal, from its event file."""

from __future__ import annotations

import json as json_module
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from tenuto.cli.command_error import CommandError
from tenuto.cli.following import lines
from tenuto.cli.printing import BAD_FILE, JsonFlag, Switch, print_json, visible, why_unread
from tenuto.core.event import Event
from tenuto.core.events import (
    Cancelled,
    FaultReported,
    LeftAlone,
    RecoveryEnded,
    Stalled,
    TurnEnded,
    UnknownStopSeen,
    event_from_dict,
)
from tenuto.core.stop import printable

EXAMPLES = (
    "tenuto tail events.jsonl",
    "tenuto tail --all --no-follow events.jsonl",
    "tenuto tail --json events.jsonl | jq .reason",
)


def tail(
    file: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    *,
    last: Annotated[int, Parameter(name=("--last", "-n"))] = 10,
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    no_follow: Switch = False,
    json: JsonFlag = False,
) -> int:
    """Show the turns of a running program as they end, from the file of its events.

    Each turn is one line, with a line above it for each recovery and each fault. It ends with
    Ctrl-C.

    Args:
        file: the file that the program writes: one event as JSON on each line. It need not exist
            yet.
        last: turns to show of those that have ended before; 0 shows none.
        every: show every event with all its fields.
        no_follow: end at the end of the file.
        json: print the events as JSON, one on each line.
    """
    if last < 0:
        raise CommandError(f"--last is {last}, but it must be 0 or more", BAD_FILE)
    if file.is_dir():
        raise CommandError(f"{file} is a folder; name the file of events in it", BAD_FILE)
    show = _shown_json if json else _shown_words
    unread = 0
    try:
        for line in _from_the_last(lines(file, follow=not no_follow), last):
            event = _event_of(line)
            if event is None:
                unread += 1
            elif every or isinstance(event, tuple(_WORDS)):
                show(event, every)
    except OSError as error:
        raise CommandError(f"{file}: {why_unread(str(file), error)}", BAD_FILE) from None
    if unread:
        raise CommandError(f"{file}: {unread} lines hold no event", BAD_FILE)
    return 0


def _from_the_last(found: Iterable[str | None], last: int) -> Iterator[str]:
    """The lines of the last turns that had ended when the file was opened, and all behind them."""
    held: deque[list[str]] = deque([[]], maxlen=last + 1)
    holding = True
    for line in found:
        if line is None:
            if holding:
                yield from (one for turn in held for one in turn)
            holding = False
        elif not holding:
            yield line
        else:
            held[-1].append(line)
            if f'"name": "{TurnEnded.NAME}"' in line or f'"name":"{TurnEnded.NAME}"' in line:
                held.append([])


def _event_of(line: str) -> Event | None:
    try:
        return event_from_dict(json_module.loads(line))
    except (ValueError, TypeError, AttributeError):
        return None


# --- words --------------------------------------------------------------------------------------


def _turn(event: TurnEnded) -> str:
    counts = [usage for usage in event.usage if usage is not None]
    asked = sum(usage.input_tokens or 0 for usage in counts)
    answered = sum(usage.output_tokens or 0 for usage in counts)
    attempts = "1 attempt" if event.attempts == 1 else f"{event.attempts} attempts"
    told = f"{event.status or 'passed on unread'}: {event.reason}, stop {event.stop or 'unread'}"
    words = f"{told}, {attempts}, {event.duration_s:.1f} s, tokens {asked:,} in, {answered:,} out"
    return f"{words}. {event.advice}" if event.advice else words


def _recovery(event: RecoveryEnded) -> str:
    kind = event.name.removesuffix("_ended").removesuffix("_terminated").replace("_", " ")
    return f"  {kind}: {event.result} ({event.reason}), requests: {event.attempts}"


def _fault(event: FaultReported) -> str:
    status = f"HTTP {event.status}" if event.status is not None else "no response"
    waits = f", next request in {event.wait_s:g} s" if event.wait_s else ""
    return f"  fault: {event.kind}, {status}{f' ({event.code})' if event.code else ''}{waits}"


_WORDS: Final[Mapping[type[Event], Callable[[Any], str]]] = {
    TurnEnded: _turn,
    RecoveryEnded: _recovery,
    FaultReported: _fault,
    Stalled: lambda event: f"  stalled with {event.output_chars:,} characters of text",
    LeftAlone: lambda event: f"  left alone: {event.why}",
    UnknownStopSeen: lambda event: f"  unknown stop value: {event.raw!r}",
    Cancelled: lambda event: f"  cancelled after {event.output_chars:,} characters of text",
}
"""What is said of an event, by its class; the others are shown with `--all` alone."""


def _shown_words(event: Event, every: bool) -> None:
    words = next((of for kind, of in _WORDS.items() if isinstance(event, kind)), None)
    told = words(event) if words is not None and not every else _fields(event)
    when = datetime.fromtimestamp(event.time).astimezone()
    who = " ".join(printable(part) for part in (event.provider, event.model) if part)
    print(visible(f"{when:%H:%M:%S} {event.turn[:8]} {who}  {told}"), flush=True)


def _fields(event: Event) -> str:
    told = ", ".join(f"{name} {value}" for name, value in event.data.items())
    return f"{event.name}: attempt {event.attempt}" + (f", {told}" if told else "")


def _shown_json(event: Event, every: bool) -> None:
    print_json(event.as_dict(), indent=None)
