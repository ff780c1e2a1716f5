"""`tenuto demo agent`: an agent writes a small project while its model's answers break."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenuto.cli.app import CommandError
from tenuto.cli.printing import JsonFlag, print_json

if TYPE_CHECKING:
    from tenuto.cli.demo_agent_faults import Faults
    from tenuto.cli.demo_agent_play import Played

EXAMPLES = (
    "tenuto demo agent",
    "tenuto demo agent --wire anthropic-messages",
    "tenuto demo agent --json",
)


def demo_agent(*, wire: str = "openai-chat", json: JsonFlag = False) -> int:
    """Show an agent that writes and edits a small project while every third answer is broken.

    A simulated model on this machine calls the agent's file tools in two turns; its answers are
    cut, malformed, empty or dropped in turn, some of them in a row. The exit code is 0 if all files
    and answers equal those of a run without faults and no tool ran twice.

    Args:
        wire: the model's wire, such as openai-chat, anthropic-messages or gemini-generate.
        json: print one JSON object at the end, and nothing else.
    """
    # Loaded here, since no other command needs the agent and the simulator.
    from tenuto.cli.demo_agent_faults import NOT_ON, Faults
    from tenuto.cli.demo_agent_play import WIRES, play
    from tenuto.cli.demo_agent_view import AgentView

    if wire not in WIRES:
        raise CommandError(
            f"the demo cannot play the wire {wire}; allowed is one of {', '.join(WIRES)}", 2
        )
    faults = Faults(NOT_ON.get(wire, ()))
    view = AgentView(faults, quiet=json)
    with tempfile.TemporaryDirectory() as scratch:
        right = play(Path(scratch), wire)
    folder = Path(tempfile.mkdtemp(prefix="tenuto-demo-"))
    view.say(f"A simulated model writes into {folder}; every third answer is broken.")
    made = play(folder, wire, faults=faults, on_turn=view.turn, on_event=view.event)
    outcome = _outcome(made, right, faults, folder)
    view.closing(outcome)
    if json:
        print_json(outcome)
    return 0 if outcome["ok"] else 1


def _outcome(made: Played, right: Played, faults: Faults, folder: Path) -> dict[str, Any]:
    identical = made.equals(right)
    whole = all(result.ok for result in (*made.results, *right.results))
    return {
        "ok": identical and whole and not made.twice and not made.refused,
        "identical": identical,
        "faults": [
            {"fault": name, "met": met, "recovered": recovered}
            for name, (met, recovered) in faults.counts().items()
        ],
        "faults_met": len(faults.met),
        "faults_recovered": len(faults.recovered),
        "turns": [result.as_dict() for result in made.results],
        "tool_runs": len(made.runs),
        "ran_twice": made.twice,
        "requests": made.requests,
        "requests_without_faults": right.requests,
        "requests_refused": made.refused,
        "files": list(made.files),
        "folder": str(folder),
    }
