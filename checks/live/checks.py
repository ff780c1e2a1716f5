"""What is checked: a table of checks, each with its request, what the row says, and its judgement.

The model is asked to count, since the whole answer is then known before it comes. Where it says
something else, its own whole answer stands for that: `Session.whole`. Nothing is judged by wording.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import tenuto
from checks.live.asking import OutOfBudget, Refused, Reply, Session
from checks.live.providers import Target
from tenuto.core.answer.signals import Usage
from tenuto.core.answer.stop import CLEAN, StopReason, printable
from tenuto.detection import read
from tenuto.events import ContinuationAttempt

LAST = 40
COUNT = ", ".join(map(str, range(1, LAST + 1)))
PROMPT = (
    f"Write the whole numbers from 1 to {LAST} in digits, separated by a comma and a space. "
    "Write nothing else."
)
CALL_PROMPT = (
    'Call write_file with the path "numbers.txt". The content is the whole numbers from 1 to '
    f"{LAST} in digits, separated by a comma and a space."
)
WHOLE_TOKENS, CUT_TOKENS, STOP_TOKENS = 200, 24, 120
PREFILL_TOKENS = 16
"""Less than `CUT_TOKENS`, so that an answer that begins again is shorter than the one before it."""
CALL_TOKENS = 32
SEAM_TOKENS, SEAM_CONTINUATIONS = 48, 3
SEAM_MOST_TOKENS = SEAM_TOKENS * (1 + SEAM_CONTINUATIONS)

POLICY = tenuto.Policy(
    continuation_max_attempts=SEAM_CONTINUATIONS,
    continuation_max_total_completion_tokens=SEAM_MOST_TOKENS,
    hard_max_tokens=SEAM_TOKENS,
    empty_recovery=False,
    thinking_retries=0,
    fault_retries=0,
    missing_call_retries=0,
    pause_resumes=0,
    parameter_fixes=0,
    turn_timeout_s=120.0,
    retry_after_max_s=1.0,
)
"""Continuations and nothing else, so that the most that a turn may use is known."""


class Verdict(StrEnum):
    """What came of a check."""

    AGREES = "agrees"
    DIFFERS = "differs"
    OPEN = "open"
    """This answer does not decide it."""
    REFUSED = "refused"
    """The service gave no answer: a wrong key, a rate limit, a fault, no connection."""
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Found:
    """The outcome of one check: the verdict, and in words what the service did."""

    verdict: Verdict
    seen: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Attributes:
        name: what is checked.
        most_tokens: the output tokens that it may use; 0: it looks at answers that came before.
        says: what Tenuto's rows say, in words.
        judge: sends the request and judges the answer.
    """

    name: str
    most_tokens: int
    says: Callable[[Target], str]
    judge: Callable[[Session], Found]


def judge(check: Check, session: Session) -> Found:
    """Run one check. What a service refuses is told as such, and is no difference."""
    session.tokens = 0
    try:
        found = check.judge(session)
    except OutOfBudget:
        left = session.budget.left_tokens
        return Found(
            Verdict.NOT_ASKED, f"it may use {check.most_tokens} tokens, and {left} are left"
        )
    except Refused as refused:
        found = Found(Verdict.REFUSED, str(refused))
        key = session.target.wire.limit_key or session.target.row.dialect.output_key
        if refused.status in (400, 422) and key in refused.body:
            found = Found(Verdict.DIFFERS, f"refuses the output limit {key}: {refused}")
    return Found(found.verdict, found.seen, session.tokens)


def run(session: Session, checks: Iterable[Check]) -> list[tuple[Check, Found]]:
    """Run checks in their order; where the first is refused, the others are not asked."""
    made: list[tuple[Check, Found]] = []
    for check in checks:
        if made and made[0][1].verdict in (Verdict.REFUSED, Verdict.NOT_ASKED):
            made.append((check, Found(Verdict.NOT_ASKED, f"“{made[0][0].name}” had no answer")))
        else:
            made.append((check, judge(check, session)))
    return made


# --- stops --------------------------------------------------------------------------------------


def _natives(target: Target, *reasons: StopReason) -> str:
    stops = target.knows.stops.items()
    by = ((reason, [native for native, means in stops if means == reason]) for reason in reasons)
    return "; ".join(f"{'/'.join(natives)} = {reason}" for reason, natives in by if natives)


def _stop(session: Session, reply: Reply, *wanted: StopReason) -> tuple[list[str], str]:
    """Judge the stop of an answer: what is wrong with it, and the stop in words."""
    native = reply.seen.native
    told = tenuto.detect(reply.content, wire=session.target.name).reason
    if native is None:
        return ["it names no stop"], "no stop"
    shown = printable(native, 40)
    means = session.target.knows.stops.get(native.lower())
    wrong = []
    if means is None:
        wrong.append(f"no row knows {shown}")
    elif means not in wanted:
        wrong.append(f"the row takes it for {means}")
    if told not in wanted:
        wrong.append(f"Tenuto reads {told}")
    return wrong, shown


def _found(wrong: list[str], seen: str) -> Found:
    return Found(Verdict.DIFFERS if wrong else Verdict.AGREES, "; ".join([seen, *wrong]))


def _whole(session: Session) -> Found:
    reply = session.ask(PROMPT, WHOLE_TOKENS)
    session.whole = reply.seen.text.strip()
    if tenuto.detect(reply.content).reason is StopReason.MAX_TOKENS:
        native = printable(str(reply.seen.native), 40)
        return Found(Verdict.OPEN, f"{native}: the answer is longer than {WHOLE_TOKENS} tokens")
    wrong, seen = _stop(session, reply, StopReason.END_TURN)
    if not session.whole:
        wrong.append("no text")
    return _found(wrong, seen)


def _cut_as(session: Session, *, stream: bool) -> tuple[Reply, list[str], str]:
    reply = session.ask(PROMPT, CUT_TOKENS, stream=stream)
    wrong, seen = _stop(session, reply, StopReason.MAX_TOKENS)
    used = reply.seen.said_tokens
    if used is not None and used > CUT_TOKENS:
        wrong.append(f"it used {used} tokens of {CUT_TOKENS}")
    return reply, wrong, seen


def _cut(session: Session) -> Found:
    session.cut, wrong, seen = _cut_as(session, stream=False)
    return _found(wrong, seen)


def _cut_stream(session: Session) -> Found:
    reply, wrong, seen = _cut_as(session, stream=True)
    session.cut_stream = reply
    if reply.seen.native is None and session.target.knows.sends_stop is not True:
        return Found(Verdict.OPEN, "no stop; the row leaves open whether one comes")
    return _found(wrong, seen)


def _cut_stream_says(target: Target) -> str:
    sends = {
        True: "always ends with a stop",
        False: "ends without a stop",
        None: "learns if it ends so",
    }
    return f"{_natives(target, StopReason.MAX_TOKENS)}; {sends[target.knows.sends_stop]}"


def _stop_sequence(session: Session) -> Found:
    if not session.target.wire.has_stop:
        return Found(Verdict.NOT_ASKED, "the wire has no stop sequences")
    whole = session.whole or COUNT
    words = whole.split()
    third = len(whole) // 3
    # A small model may write no spaces at all.
    sequence = words[len(words) // 3] if len(words) > 8 else whole[third : third + 3].strip()
    reply = session.ask(PROMPT, STOP_TOKENS, stop=sequence)
    text, before = reply.seen.text, whole[: whole.find(sequence)]
    wrong, seen = _stop(session, reply, StopReason.STOP_SEQUENCE, StopReason.END_TURN)
    if text.rstrip().endswith(sequence) and text.count(sequence) == 1:
        seen += ", the sequence at the end of the text"
    elif sequence in text:
        wrong.append("the text goes on behind the sequence")
    elif text.strip() != before.strip():
        return Found(Verdict.OPEN, f"{seen}; the model says something else this time")
    return _found(wrong, seen)


# --- usage --------------------------------------------------------------------------------------


def _usage(session: Session) -> Found:
    replies = (("body", session.cut), ("stream", session.cut_stream))
    seen, wrong = [], []
    for mode, reply in replies:
        if reply is None:
            continue
        counted = (reply.seen.sent_tokens, reply.seen.said_tokens)
        usage = read(reply.content, wire=session.target.name).usage or Usage()
        told = (usage.input_tokens, usage.output_tokens)
        seen.append(f"{mode} {_number(counted[0])} in, {_number(counted[1])} out")
        if None in counted:
            wrong.append(f"the {mode} does not count")
        if told != counted:
            wrong.append(f"Tenuto reads {_number(told[0])} in, {_number(told[1])} out ({mode})")
    if not seen:
        return Found(Verdict.NOT_ASKED, "there is no answer to look at")
    return _found(wrong, "; ".join(seen))


def _number(tokens: int | None) -> str:
    return "–" if tokens is None else str(tokens)


# --- prefill and seam ---------------------------------------------------------------------------


def _begins_by(text: str, wanted: str) -> bool:
    """Whether a text is a beginning of another, or the other way round; white space aside.

    >>> _begins_by(" 9, 10", "9, 10, 11"), _begins_by("1, 2", "9, 10"), _begins_by(" ", "9")
    (True, False, False)
    """
    one, other = text.strip(), wanted.strip()
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


def _prefill(session: Session) -> Found:
    said = session.cut.seen.text.rstrip() if session.cut else ""
    if not said:
        return Found(Verdict.NOT_ASKED, "there is no cut text to begin with")
    target, dialect = session.target, session.target.row.dialect
    relies = target.knows.continues_by == "prefill"
    more: dict[str, Any] = {}
    if relies:
        more = {"said_members": dialect.prefill_row, "members": dialect.prefill_members}
    try:
        reply = session.ask(PROMPT, PREFILL_TOKENS, said=said, **more)
    except Refused as refused:
        if refused.status not in (400, 422):
            raise
        return Found(Verdict.DIFFERS if relies else Verdict.AGREES, f"refuses it: {refused}")
    whole = session.whole if session.whole.startswith(said) else COUNT
    text = reply.seen.text
    if text.startswith(said) and len(text) > len(said):
        return Found(_relied(relies), "repeats it and goes on")
    if whole.startswith(said) and _begins_by(text, whole[len(said) :]):
        if relies and dialect.prefill_echoed:
            return Found(Verdict.DIFFERS, "goes on, without repeating it first")
        return Found(_relied(relies), "goes on")
    if _begins_by(text, said):
        return Found(Verdict.DIFFERS if relies else Verdict.AGREES, "begins again")
    return Found(Verdict.OPEN, "neither goes on nor begins again")


def _relied(relies: bool) -> Verdict:
    """What it means that a service goes on: where no row relies on it, once is no proof."""
    return Verdict.AGREES if relies else Verdict.OPEN


def _prefill_says(target: Target) -> str:
    if target.knows.continues_by == "hint":
        return "not relied on"
    echoed = target.row.dialect.prefill_echoed
    return "repeats a cut text and goes on" if echoed else "goes on behind a cut text"


def _seam(session: Session) -> Found:
    text = session.turn(PROMPT, SEAM_TOKENS, SEAM_MOST_TOKENS, POLICY).strip()
    asked = [event for event in session.events if isinstance(event, ContinuationAttempt)]
    if not asked:
        return Found(Verdict.OPEN, "no continuation: the answer was not cut")
    ways = "/".join(sorted({"prefill" if event.prefill else "hint" for event in asked}))
    seen = f"{len(asked)} by {ways}"
    wrong = [] if ways == session.target.knows.continues_by else ["the row says another way"]
    whole = session.whole or COUNT
    if text == whole:
        return _found(wrong, f"{seen}, joined without a difference")
    if text and whole.startswith(text):
        return _found(wrong, f"{seen}, without a difference as far as it came")
    if text.startswith(whole):
        return _found(wrong, f"{seen}, without a difference as far as the whole one came")
    cut = session.cut.seen.text.rstrip() if session.cut else ""
    if not (cut and whole.startswith(cut)):
        return Found(Verdict.OPEN, f"{seen}; the model says something else each time")
    pairs = enumerate(zip(text, whole, strict=False))
    first = next((n for n, (one, other) in pairs if one != other), 0)
    other = printable(text[first : first + 20])
    return _found([*wrong, f"another text from character {first} on: {other}"], seen)


def _seam_says(target: Target) -> str:
    return f"asks for the rest by a {target.knows.continues_by}"


# --- calls --------------------------------------------------------------------------------------


def _call_as(session: Session, *, stream: bool) -> Found:
    reply = session.ask(CALL_PROMPT, CALL_TOKENS, stream=stream, call=True)
    native, given = reply.seen.native, reply.seen.arguments
    stop = tenuto.detect(reply.content, wire=session.target.name)
    came = "no call" if given is None else "a whole call" if _is_whole(given) else "a cut call"
    seen = f"{printable(str(native), 40)}, {came}"
    told = stop.reason not in CLEAN or stop.broken is not None
    if native is not None and native.lower() not in session.target.knows.stops:
        return _found([f"no row knows {printable(native, 40)}"], seen)
    malformed = stop.reason is StopReason.MALFORMED_TOOL_CALL
    if came == "a whole call" or (came == "no call" and not malformed):
        return Found(Verdict.OPEN, seen)
    return _found([] if told else [f"Tenuto reads {stop.reason}, and no broken call"], seen)


def _is_whole(given: Any) -> bool:
    """Whether the arguments of a call are those that were asked for, to their end."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return False
    content = given.get("content") if isinstance(given, dict) else None
    return isinstance(content, str) and content.rstrip(" .\n").endswith(str(LAST))


def _call_says(target: Target) -> str:
    return f"{_natives(target, StopReason.MAX_TOKENS)}; the call is not whole"


CHECKS: tuple[Check, ...] = (
    Check("whole", WHOLE_TOKENS, lambda target: _natives(target, StopReason.END_TURN), _whole),
    Check("cut", CUT_TOKENS, lambda target: _natives(target, StopReason.MAX_TOKENS), _cut),
    Check("cut, streamed", CUT_TOKENS, _cut_stream_says, _cut_stream),
    Check("usage", 0, lambda target: "counted in bodies and streams", _usage),
    Check("prefill", PREFILL_TOKENS, _prefill_says, _prefill),
    Check("call cut", CALL_TOKENS, _call_says, lambda session: _call_as(session, stream=False)),
    Check(
        "call cut, streamed",
        CALL_TOKENS,
        _call_says,
        lambda session: _call_as(session, stream=True),
    ),
    Check(
        "stop sequence",
        STOP_TOKENS,
        lambda target: _natives(target, StopReason.STOP_SEQUENCE, StopReason.END_TURN),
        _stop_sequence,
    ),
    Check("seam", SEAM_MOST_TOKENS, _seam_says, _seam),
)
"""In this order: later ones look at the answers of earlier ones."""
