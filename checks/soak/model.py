"""A model that really goes on: what it answers, and how an attempt goes wrong.

`said` is what the request shows of the answer so far. The model finds where the truth goes on and
writes the rest; a `Fault` then says how that attempt is spoiled.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field, replace
from typing import Any

from checks.soak.truth import Call, Plan

CHARS_PER_TOKEN = 3

STYLES = ("overlap", "line", "restart", "preamble", "fence", "echo")
"""How a continuation begins that does not begin where it should."""

CUTS = (
    "length_text",
    "length_call",
    "empty",
    "thinking",
    "malformed_call",
    "missing_call",
    "pause",
)
"""Ends that the model or its host writes into a whole answer."""

AGAIN = ("cut_at_once", "empty", "break_in_call", "length_text", "reset")
"""What goes wrong again and again with a further attempt, at the rates of `HARSH_RATE` and more: it is
cut within its first characters, has no text, or breaks off in the call that is owed."""
HARSH_RATE = 0.4
AT_ONCE_CHARS = 40

BREAKS = (
    "reset",
    "no_last_chunk",
    "short_body",
    "stall",
    "half_event",
    "close_no_stop",
    "error_event",
    "status",
)
"""What goes wrong on the way, or in place of the answer."""

PREAMBLES = (
    "Sure, continuing from where I left off:",
    "Continuing:",
    "Here is the rest of the answer.",
    "Sorry about the interruption. I'll carry on with the unfinished line:",
    "Natürlich, hier geht es weiter:",
    "Voici la suite :",
    "[continued]",
    "(…continued from above)",
    "Right. Picking up again.",
    "好的,继续:",
)
CLOSING = (
    "The answer above is complete.",
    "My previous message was already complete. Let me know if you need anything else!",
    "Hello! How can I help you today?",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one attempt says. `stop` is a word of our own: "stop", "length", "pause"; `cut_call` is
    how many characters of the last call's arguments came, None for all; `used` the output tokens
    that are told, None for what the characters make."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    reasoning: str = ""
    stop: str = "stop"
    cut_call: int | None = None
    used: int | None = None

    @property
    def tokens(self) -> int:
        if self.used is not None:
            return self.used
        chars = len(self.text) + len(self.reasoning) + sum(len(c.arguments) for c in self.calls)
        return chars // CHARS_PER_TOKEN + 1


@dataclass(slots=True)
class Attempt:
    """What is kept of one attempt, so that a person can judge the turn: what it showed, what it
    repeated and left out of that, and what had come behind it."""

    said: str = ""
    hint: str = ""
    prefill: bool = False
    style: str = ""
    repeated: str = ""
    left_out: str = ""
    came: str = ""
    fault: str = ""
    at: float = 0.0
    sent: str = ""
    whole: bool = False
    max_tokens: int | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def counted(self) -> dict[str, Any]:
        """What is counted of it."""
        return {name: getattr(self, name) for name in ("style", "fault", "whole", "notes")}


def rest_of(plan: Plan, said: str) -> tuple[str, bool]:
    """Where the truth goes on after `said`, and whether `said` is its beginning."""
    if plan.text.startswith(said):
        return plan.text[len(said) :], True
    for size in (60, 30, 15):
        at = plan.text.find(said[-size:])
        if at >= 0:
            return plan.text[at + len(said[-size:]) :], False
    return plan.text[len(said) :], False


def unfinished_line(said: str) -> str:
    """The line that a model says again: all of the last line, where there is enough of it."""
    line = said.rsplit("\n", 1)[-1]
    letters = re.sub(r"[\W_]", "", line)
    return line if len(letters) >= 3 and len(line) < 400 else ""


def styles_for(said: str, rest: str, prefill: bool, stream: bool) -> list[str]:
    """The ways in which a continuation of this text may begin wrongly."""
    if not said or not rest.strip():
        return []
    if prefill:  # llama.cpp repeats a prefill in whole bodies; a stream goes on exactly
        return [] if stream else ["echo"]
    found = []
    if len(said) >= 12:
        found.append("overlap")
    if len(said) >= 24:
        found.append("restart")
    if unfinished_line(said):
        found += ["line", "preamble"]
    if open_fence(said) is not None:
        found.append("fence")
    return found


_fence_lines = re.compile(r"^```([^\n`]*)(\n|\Z)", re.MULTILINE).findall


def open_fence(said: str) -> str | None:
    """The info string of the code fence that is open where the text stops; None: none is.

    >>> open_fence("So:\\n\\n```python\\nx = 1"), open_fence('{"note": "So:\\\\n```python')
    ('python', None)
    >>> open_fence("```python\\nx = 1\\n```"), open_fence("So:\\n\\n```pyth")
    (None, None)
    """
    begun: str | None = None
    for info, end in _fence_lines(said):
        if begun is None:
            begun = info if end else None
        elif not info:
            begun = None
    return begun


def begin_wrongly(
    style: str, said: str, rest: str, came: str | None, rng: random.Random
) -> tuple[str, str, str]:
    """The continuation in that style, what of it was said before, and what white space it leaves
    out. `came`: the start of `rest` that came before; None where nobody knows."""
    line = unfinished_line(said)
    if style == "overlap":
        short = rng.random() < 0.04
        size = rng.randrange(4, 12) if short else rng.randrange(12, 240)
        repeated = said[-size:].lstrip()
        return repeated + rest, repeated, ""
    if style in ("restart", "echo"):
        return said + rest, said, ""
    if style == "line":
        return line + rest, line, ""
    if style == "preamble":
        return f"{rng.choice(PREAMBLES)}\n\n{line}{rest}", line, ""
    begun = f"```{open_fence(said)}\n"
    if line and rng.random() < 0.5:
        return f"{begun}{line}{rest}", line, ""
    left_out = left_out_of(rest, came, rng) if rng.random() < 0.3 else ""
    return f"{begun}{rest[len(left_out) :]}", "", left_out


def left_out_of(rest: str, came: str | None, rng: random.Random) -> str:
    """What a model leaves out of the white space that comes next, since the line of its fence ends in
    a line break: that line break, or the indentation as well. It was not shown what came of it."""
    if came is None:
        return ""  # a break took some of it, and no judge could tell what
    space = rest[: len(rest) - len(rest.lstrip())]
    breaks = space[: space.rfind("\n") + 1]
    return breaks if "\n" in came and rng.random() < 0.5 else space


def cuts_for(plan: Plan, answer: Answer, stream: bool) -> list[str]:
    """The ends that may be written into this answer."""
    found = ["empty", "thinking"]
    if len(answer.text) >= 2:
        found.append("length_text")
        if plan.wire == "messages":
            found.append("pause")
    if answer.calls:
        found.append("length_call")
        if stream or plan.wire not in ("messages", "converse"):
            found.append("malformed_call")
        if plan.wire != "responses":
            found.append("missing_call")
    return found


def again_for(plan: Plan, answer: Answer, stream: bool) -> list[str]:
    """What of `AGAIN` may be written into this answer of a further attempt."""
    lacks = {"break_in_call"} if not (answer.calls and stream) else set()
    if len(answer.text) < 2:
        lacks |= {"cut_at_once", "length_text"}
    return [kind for kind in AGAIN if kind not in lacks]


def breaks_for(stream: bool) -> list[str]:
    """What may go wrong on the way of a stream, or of a body."""
    return [kind for kind in BREAKS if stream or kind != "close_no_stop"]


def cut_at(name: str, answer: Answer, plan: Plan, rng: random.Random) -> Answer:
    """The answer with that end."""
    match name:
        case "empty":
            return Answer(rng.choice(("", "", " ", "\n")))
        case "thinking":
            stop = rng.choice(("stop", "length"))
            return Answer("", (), "First I look at the question.", stop, used=_used(plan, stop))
        case "length_text" | "pause" | "cut_at_once":
            at_once = name == "cut_at_once"
            most = min(len(answer.text), AT_ONCE_CHARS) if at_once else len(answer.text)
            at = rng.randrange(1, most)
            spaces = [m.start() for m in re.finditer(r"\s", answer.text) if m.start()]
            if spaces and not at_once and rng.random() < 0.25:
                at = min(rng.choice(spaces) + rng.randrange(2), len(answer.text) - 1)
            text = answer.text[:at]
            if name == "pause":
                # The API takes no answer back that ends in white space, so none is paused there.
                first = len(answer.text) - len(answer.text.lstrip()) + 1
                said = text.rstrip() or answer.text[:first]
                return Answer(said, (), answer.reasoning, "pause")
            if not answer.text[at].isascii() and rng.random() < 0.3:
                text += "\ufffd"  # a limit inside of a character
            return Answer(text, (), answer.reasoning, "length", used=_used(plan, "length"))
        case "length_call":
            last = rng.randrange(len(answer.calls))
            size = len(answer.calls[last].arguments)
            calls = answer.calls[: last + 1]
            cut = rng.randrange(size + 1)
            return replace(
                answer, calls=calls, stop="length", cut_call=cut, used=_used(plan, "length")
            )
        case "malformed_call":
            last = rng.randrange(len(answer.calls))
            call = answer.calls[last]
            broken = rng.choice(_BROKEN)(call.arguments)
            return replace(
                answer,
                calls=(*answer.calls[:last], Call(call.name, broken), *answer.calls[last + 1 :]),
            )
        case _:
            return replace(answer, calls=(), stop="calls")


def _used(plan: Plan, stop: str) -> int | None:
    """The output tokens of an attempt whose limit nobody told, thoughts that do not show included:
    the first such number is taken for the limit, and four times that is all a turn may use."""
    return 2_000 if stop == "length" and plan.max_tokens is None else None


_BROKEN = (
    lambda raw: raw[: len(raw) // 2] if len(raw) > 4 else "{",
    lambda raw: raw.replace('"', "'") if '"' in raw else "{'a': 1}",
    lambda raw: raw[:-1].rstrip() + ",}" if len(raw) > 4 else "{,}",
    lambda raw: raw + "}",
)


def within_limit(answer: Answer, max_tokens: int | None) -> Answer:
    """The answer as far as the request's own limit lets it be written."""
    if max_tokens is None:
        return answer
    left = max_tokens * CHARS_PER_TOKEN
    if len(answer.text) > left:
        return Answer(answer.text[:left], (), "", "length")
    left -= len(answer.text)
    calls: list[Call] = []
    for call in answer.calls:
        calls.append(call)
        if len(call.arguments) > left:
            return replace(answer, calls=tuple(calls), stop="length", cut_call=left)
        left -= len(call.arguments)
    return answer
