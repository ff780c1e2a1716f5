"""docs/stops.md: why a response ended, and what its errors mean."""

from collections.abc import Iterator, Sequence

from page import code, codes, table, yes

from tenuto.core.answer.fault import FAULT_CLASSES
from tenuto.core.answer.stop import CLEAN, GRAVITY, SENTENCES
from tenuto.wires.errors import ErrorRow
from tenuto.wires.registry import wires
from tenuto.wires.stops import SHARED_STOPS, StopTable

HEAD = """\
# Stops

This page explains why responses end. It lists Tenuto's normalized reasons, each API's own stop
values, and the kinds of errors.

## Reasons

The most serious reason comes first. If a response has several reasons, the most serious one counts.
A clean reason means that the provider calls the response complete.
"""

KINDS_HEAD = """
## Kinds of errors

The table shows what each kind of error means for the next step: whether it makes sense to send the
same request again (retryable), to try another model (fallback), or to shorten the prompt
(compress), and the stop reason that Tenuto reports.
"""


SHARED_HEAD = """
## Stop values of all wires

Gateways pass on the values of other APIs, and some servers have values of their own. So these are
read on every wire, where the wire's own table below does not have them.
"""

VALUES = ["Native value", "Reason", "Detail"]


def render() -> str:
    """The page."""
    lines = [HEAD]
    lines += table(["Reason", "Clean", "What it says"], _reasons())
    lines.append(KINDS_HEAD)
    lines += table(["Kind", "Retryable", "Fallback", "Compress", "Reason"], _kinds())
    lines.append(SHARED_HEAD)
    lines += table(VALUES, _values(SHARED_STOPS))
    for name, wire in sorted(wires().items()):
        lines += ["", f"## Wire: {name}", "", "### Stop values", ""]
        lines += table(VALUES, _values(wire.stops))
        lines += ["", "### Errors", "", "The first row that matches counts.", ""]
        lines += table(["Kind", "Codes and types", "Words", "HTTP status"], _errors(wire.errors))
    return "\n".join(lines) + "\n"


def _reasons() -> Iterator[list[str]]:
    for reason in GRAVITY:
        yield [code(reason), yes(reason in CLEAN), SENTENCES[reason]]


def _kinds() -> Iterator[list[str]]:
    for kind, known in FAULT_CLASSES.items():
        flags = (known.retryable, known.fallback, known.compress)
        yield [code(kind), *map(yes, flags), code(known.reason)]


def _values(stops: StopTable) -> Iterator[list[str]]:
    for native, (reason, detail) in stops.items():
        yield [code(native), code(reason), code(detail) if detail else "–"]


def _errors(errors: Sequence[ErrorRow]) -> Iterator[list[str]]:
    for row in errors:
        words = code(row.words.pattern) if row.words else "–"
        last = max(row.statuses, default=0)
        statuses = f"{row.statuses.start}–{last}" if len(row.statuses) > 1 else str(last or "–")
        always = "–" if row.codes or row.words or row.statuses else "all else"
        yield [
            code(row.kind),
            codes(sorted(row.codes)),
            words,
            statuses if always == "–" else always,
        ]
