"""`tenuto faults`: what the simulator can be told to do."""

from __future__ import annotations

from tenuto.cli.printing import JsonFlag, print_json, print_table
from tenuto.sim.cases import BLOCKED, FAULTS, HTTP_FAULTS, NORMAL, QUIRKS, described

EXAMPLES = ("tenuto faults", "tenuto faults --json")


def faults(*, json: JsonFlag = False) -> None:
    """List the faults that the simulator knows, and what the bare SDK makes of each.

    Bare SDK: silent (a wrong answer, no exception), harmful (a broken call is handed out, or a
    foreign exception comes), raises (an exception of the SDK's own), fine.

    Args:
        json: print one JSON object, with the simulator's steps as well.
    """
    if json:
        print_json(described())
        return
    groups = {
        "normal": NORMAL,
        "fault": FAULTS,
        "http": HTTP_FAULTS,
        "quirk": QUIRKS,
        "blocked": BLOCKED,
    }
    print_table(
        ("name", "group", "bare SDK", "can be recovered", "as", "what happens"),
        (
            (
                case.name,
                group,
                case.bare.value,
                "yes" if case.recoverable else "no",
                " ".join(sorted(case.modes)),
                case.summary,
            )
            for group, table in groups.items()
            for case in table.values()
        ),
    )
