"""docs/events.md: what a turn tells those who watch it."""

from page import code, codes, sentence, table

from tenuto.cli.docstrings import attributes
from tenuto.core.events import EVENTS, Event, Report

HEAD = """\
# Events

What a turn tells `on_event`. Events hold names, numbers and reasons, never content or secrets; a
text that comes from the far side (a stop value, an error code) is made printable and bounded first.

## Every event
"""

DATA_HEAD = """
## The fields of `data`, by name of the event
"""

REPORT_HEAD = """
## The report

How a turn ended. `turn_ended` carries the same.
"""


def render() -> str:
    """The page."""
    lines = [HEAD, *table(["Field", "Meaning"], _fields(Event)), DATA_HEAD]
    lines += table(
        ["Event", "Fields"], ([code(name), codes(data)] for name, data in EVENTS.items())
    )
    return "\n".join([*lines, REPORT_HEAD, *table(["Field", "Meaning"], _fields(Report))]) + "\n"


def _fields(described: type) -> list[list[str]]:
    told = attributes(described.__doc__)
    return [[code(name), sentence(meaning)] for name, meaning in told.items()]
