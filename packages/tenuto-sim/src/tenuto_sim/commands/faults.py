"""`tenuto faults`: lists the faults that the simulator can play."""

from __future__ import annotations

from typing import Final, Literal

from tenuto.command_kit.printing import JsonFlag, print_rows
from tenuto_sim.cases import TABLES_ON, described

EXAMPLES = ("tenuto faults", "tenuto faults --wire anthropic-messages", "tenuto faults --json")

WireName = Literal[
    "openai-chat", "anthropic-messages", "openai-responses", "openai-completions",
    "gemini-generate", "gemini-interactions", "bedrock-converse", "bedrock-invoke", "cohere",
    "mistral", "ollama",
]  # fmt: skip

_GROUPS: Final = {"faults": "fault", "http_faults": "http", "quirks": "quirk"}


def faults(*, wire: WireName = "openai-chat", json: JsonFlag = False) -> None:
    """List the faults that the simulator can play, and how the SDK alone handles each.

    The SDK alone is silent (a wrong answer, no exception), harmful (it returns a broken call, or
    raises an exception that is not its own), raises (its own exception), or fine.

    Args:
        wire: the wire to list the faults of; most exist on every wire.
        json: print one JSON object, including the simulator's steps.
    """
    print_rows(
        described(wire),
        ("name", "group", "bare SDK", "can be recovered", "as", "what happens"),
        (
            (
                case.name,
                _GROUPS.get(title, title),
                case.bare.value,
                "yes" if case.recoverable else "no",
                " ".join(sorted(case.modes)),
                case.summary,
            )
            for title, table in TABLES_ON[wire].items()
            for case in table.values()
        ),
        json=json,
    )
