"""docs/ladders.md: what is done about each outcome, from the machine's own tables."""

from collections.abc import Iterator
from typing import get_args

from page import code, codes, table

from tenuto.core import hints
from tenuto.core.answer.builder import Builder
from tenuto.core.answer.signals import CallDelta, TextDelta
from tenuto.core.deciding.actions import AppendAssistant, AppendUser, Edit, Status
from tenuto.core.deciding.endings import ENDINGS
from tenuto.core.deciding.ladders import LADDERS
from tenuto.core.deciding.outcome import Outcome
from tenuto.core.deciding.rung import Rung
from tenuto.core.deciding.view import CONSECUTIVE, LIMITS, Facts, State, View
from tenuto.core.events.advice import ADVICE
from tenuto.core.settings.policy import Policy

HEAD = """\
# Ladders

This page shows what Tenuto does about each outcome of a response. For each outcome there is a
ladder of actions, the rungs. Tenuto takes the first rung whose guards all hold and whose budget
isn't spent; after the last rung, the turn ends. The page is generated from the table `LADDERS` in
`packages/tenuto/src/tenuto/core/deciding/ladders.py`.

## A turn
"""

LADDER_HEAD = """
## The ladders

`Decision.rung`, `Report.rungs` and the events name a rung by its id, and `Policy(decide=…)` may
return one. Tenuto takes a rung if all conditions under "Taken when" hold. A budget counts how often
the rung is used in a turn, and a setting of the policy limits it. A rung that sends nothing ends
the turn.
"""

ENDING_HEAD = """
## The endings

The first table shows how a turn ends when no rung is left: its status with and without text, and
its reason. If certain guards prevented a rung, the reason says so; the second table lists them.
[What the caller sees](guide/what-the-caller-sees.md) shows how each ending looks on each wire.
"""

EDITS_HEAD = """
## The edits

This table shows how Tenuto's requests differ from the caller's own. The texts of the hints
(`CONTINUE`, …) are in `packages/tenuto/src/tenuto/core/hints.py`.
"""

_SAID = "What was said so far"
_HINTS = {text: name for name, text in vars(hints).items() if name.isupper()}


def render() -> str:
    """The page."""
    lines = [HEAD, "```mermaid", *_diagram(), "```", LADDER_HEAD]
    lines += table(
        ["Outcome", "Rung", "What it does", "Taken when", "Budget", "What is sent"], _rungs()
    )
    lines.append(EDITS_HEAD)
    lines += table(["Edit", "What it does"], _meanings())
    lines.append(ENDING_HEAD)
    lines += table(["Outcome", "Reason", "With text", "Without", "What may help"], _endings())
    lines.append("")
    lines += table(["Condition that does not hold", "Reason of the ending"], _reasons())
    return "\n".join(lines) + "\n"


def _diagram() -> Iterator[str]:
    """One state per outcome; a rung that sends leads back to the request."""
    yield "stateDiagram-v2"
    yield "    [*] --> Request"
    for outcome, ladder in LADDERS.items():
        state = _state(outcome)
        yield f"    Request --> {state}: {_words(outcome)}"
        for number, rung in enumerate(ladder, 1):
            if rung.edits is not None:
                yield f"    {state} --> Request: {number}. {rung.sentence}"
            else:
                for status in _statuses(outcome, rung):
                    yield f"    {state} --> {status.title()}: {number}. {rung.sentence}"
        for status in dict.fromkeys((ENDINGS[outcome].kept, ENDINGS[outcome].bare)):
            yield f"    {state} --> {status.title()}: {ENDINGS[outcome].reason}"
    for status in Status:
        yield f"    {status.title()} --> [*]"


def _statuses(outcome: Outcome, rung: Rung) -> list[Status]:
    if rung.ends is not None:
        return [rung.ends[0]]
    return list(dict.fromkeys((ENDINGS[outcome].kept, ENDINGS[outcome].bare)))


def _state(outcome: Outcome) -> str:
    return "".join(word.title() for word in outcome.split("_"))


def _words(outcome: Outcome) -> str:
    return outcome.replace("_", " ")


def _rungs() -> Iterator[list[str]]:
    for outcome, ladder in LADDERS.items():
        for number, rung in enumerate(ladder, 1):
            guards = "; ".join(guard.name for guard in rung.guards)
            yield [
                code(outcome),
                f"{number}. {code(rung.id)}",
                rung.sentence,
                guards,
                _budget(rung),
                _sent(outcome, rung),
            ]
        if not ladder:
            yield [code(outcome), "none; the turn ends", "–", "–", "–", "–"]


def _budget(rung: Rung) -> str:
    if rung.budget is None:
        return "–"
    key = LIMITS[rung.budget]
    row = ", in a row" if rung.budget in CONSECUTIVE else ""
    return f"{code(rung.budget)}: {code(key)} = {getattr(Policy(), key)}{row}"


def _sent(outcome: Outcome, rung: Rung) -> str:
    """The edits that a rung makes, found by making them for an example."""
    if rung.edits is None:
        if rung.ends is None:
            return f"nothing: ends as {code(outcome)} does"
        status, reason = rung.ends
        return f"nothing: ends {status}, {code(reason)}"
    plain = _edits(rung, structured=False)
    document = [name for name in _edits(rung, structured=True) if name not in plain]
    sent = codes(plain) if plain else "the same request again"
    sent += f"; for a document {codes(document)}" if document else ""
    return f"{sent}; after a wait" if rung.waits else sent


def _edits(rung: Rung, *, structured: bool) -> list[str]:
    assert rung.edits is not None
    builder = Builder()
    for signal in (TextDelta(_SAID), CallDelta(0, "a", "tool", '{"cut": ')):
        builder.feed(signal)
    facts = Facts(kept_text=_SAID, structured=structured)
    view = View(State(), builder.build(), facts, Policy(), now_s=0.0)
    return [_name(edit) for edit in rung.edits(view)]


def _name(edit: Edit) -> str:
    """The edit's own name; for what is said in it, the name of the hint."""
    name = type(edit).__name__
    if isinstance(edit, AppendAssistant | AppendUser) and edit.text in _HINTS:
        return f"{name}({_HINTS[edit.text]})"
    if isinstance(edit, AppendAssistant) and edit.prefill:
        return f"{name}(prefill)"
    return name


def _meanings() -> Iterator[list[str]]:
    for edit in get_args(Edit):
        yield [code(edit.__name__), " ".join((edit.__doc__ or "").split())]


def _endings() -> Iterator[list[str]]:
    for outcome, ending in ENDINGS.items():
        row = [code(outcome), code(ending.reason), ending.kept, ending.bare]
        yield [*row, ADVICE[ending.reason].suggestion.replace("_", " ")]


def _reasons() -> Iterator[list[str]]:
    """The guards that give the end its reason where they do not hold."""
    guards = (guard for ladder in LADDERS.values() for rung in ladder for guard in rung.guards)
    for guard in dict.fromkeys(guard for guard in guards if guard.ends_as):
        yield [guard.name, code(guard.ends_as)]
