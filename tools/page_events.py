"""docs/events.md: what a turn tells those who watch it, from the classes of the events."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields

from page import code, sentence, table

from tenuto.command_kit.docstrings import attributes
from tenuto.core.answer.signals import Usage
from tenuto.core.deciding.actions import Recovery
from tenuto.core.events.event import VERSION, Event, own_fields
from tenuto.core.events.kinds import EVENTS
from tenuto.core.events.recovery import (
    ContinuationAttempt,
    EmptyRecovery,
    RecoveryEnded,
    RecoveryStarted,
    ToolPayloadRepair,
)
from tenuto.core.events.report import Report
from tenuto.turn.record.event_sender import RECOVERIES

HEAD = """\
# Events

Tenuto reports what happens in a turn as events, to the function that you pass as `on_event`. Events
hold names, numbers and reasons, never content or secrets. Text from the provider, such as a stop
value or an error code, is made printable and shortened.

Each kind of event is a class in `tenuto.events` with typed fields; `tenuto.events.EVENTS` has
them by name. `event.as_dict()` returns a flat dictionary of JSON values: `version`, `name`, the
fields that all events have, and the event's own. `event.data` returns only the event's own.
`tenuto.events.event_from_dict()` reads an event back. It returns an `UnknownEvent` with all
fields for an unknown name, and ignores unknown fields. The version of the schema,
`tenuto.events.VERSION`, is {version}; new events and fields do not change it.

```python
import tenuto
from tenuto.events import RecoveryEnded, TurnEnded


def hear(event: tenuto.Event) -> None:
    if isinstance(event, TurnEnded) and event.status != "complete":
        print(event.turn, event.model, event.reason, event.duration_s)
    elif isinstance(event, RecoveryEnded):
        print(event.name, event.result, event.attempts)
```

## In which order

`turn_started` comes first and `turn_ended` last, once each, whatever happens in between. Each
request has one `attempt_started` and one `attempt_ended`. `stop_reason_observed` says what its
response means, and `fault` what was wrong with it.

Each recovery that begins has exactly one end of its own kind, before the end of the turn. A retry
or a repair of the request may happen within another recovery. No other two recoveries overlap.

An event about something that took time comes when it is over, and has a `duration_s`.
"""

ALL_HEAD = """
## All events
"""

SHARED_HEAD = """
## Fields of every event
"""

USAGE_HEAD = """
## Tokens

The fields of a `usage`.
"""

REPORT_HEAD = """
## The report

How a turn ended. The event `turn_ended` has the same fields.
"""

_RECOVERIES: dict[Recovery, tuple[str, type[Event] | None]] = {
    Recovery.CONTINUATION: ("Text that was cut or broke off", ContinuationAttempt),
    Recovery.TOOL_REPAIR: ("A broken or missing tool call", ToolPayloadRepair),
    Recovery.EMPTY: ("An empty answer", EmptyRecovery),
    Recovery.PAUSE: ("A turn that the provider paused", None),
    Recovery.RETRY: ("A fault before anything came", None),
    Recovery.REQUEST_REPAIR: ("A request that the provider refused", None),
}
"""What each kind is for, and the event of each of its requests."""

_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "None": "null",
    "Usage": "[tokens](#tokens)",
    "Stop": "`Stop`",
}


def render() -> str:
    """The page."""
    lines = [HEAD.format(version=VERSION)]
    lines += table(["Recovery", "Begins", "Each request", "Ends"], _recoveries())
    rows = ([link(name), code(kind.__name__), _what(kind)] for name, kind in EVENTS.items())
    lines += [ALL_HEAD, *table(["Event", "Class", "When"], rows)]
    lines += [SHARED_HEAD, *_table(Event, *(field.name for field in fields(Event)))]
    for base in (RecoveryStarted, RecoveryEnded):
        lines += ["", f"## Fields of every `{base.__name__}`", ""]
        lines += _table(base, *own_fields(base))
    for name, kind in EVENTS.items():
        lines += ["", f"## {name}", "", *_event(kind)]
    lines += [USAGE_HEAD, *_table(Usage, *(field.name for field in fields(Usage)))]
    lines += [REPORT_HEAD, *_table(Report, *(field.name for field in fields(Report)))]
    return "\n".join(lines) + "\n"


def _recoveries() -> Iterator[list[str]]:
    for kind, (what, each) in _RECOVERIES.items():
        begins, ends = RECOVERIES[kind]
        yield [what, link(begins.NAME), link(each.NAME) if each else "–", link(ends.NAME)]


def link(name: str) -> str:
    """The name of an event, which leads to its fields."""
    return f"[{code(name)}](#{name})"


def _what(kind: type[Event]) -> str:
    """The docstring without the meanings of its fields."""
    said = inspect.cleandoc(kind.__doc__ or "").partition("\n\nAttributes:")[0]
    return " ".join(said.split())


def _event(kind: type[Event]) -> Iterator[str]:
    yield _what(kind)
    inherited = next((b for b in (RecoveryStarted, RecoveryEnded) if issubclass(kind, b)), Event)
    if inherited is not Event:
        yield from ("", f"With the fields of every `{inherited.__name__}`.")
    own = [name for name in own_fields(kind) if name not in own_fields(inherited)]
    if own:
        yield from ("", *_table(kind, *own))


def _table(described: type, *names: str) -> list[str]:
    told = attributes(described.__doc__)
    types = {field.name: str(field.type) for field in fields(described)}
    rows = ([code(name), in_json(types[name]), sentence(told[name])] for name in names)
    return table(["Field", "Type", "Meaning"], rows)


def in_json(annotation: str) -> str:
    """A type as JSON has it.

    >>> in_json("str | None"), in_json("tuple[str, ...]"), in_json("tuple[Usage | None, ...]")
    ('string or null', 'array of string', 'array of [tokens](#tokens) or null')
    """
    if inner := re.fullmatch(r"tuple\[(.*), \.\.\.\]", annotation):
        return f"array of {in_json(inner[1])}"
    return " or ".join(_TYPES[part] for part in annotation.split(" | "))
