"""What became of a turn, judged by the truth alone, and whether a wrong one could be right at all."""

from __future__ import annotations

import json
from typing import Any

from checks.soak.asking import CLEAN, Got
from checks.soak.truth import Plan

SHORT_CHARS = 12
"""An overlap with fewer visible characters is no evidence: nobody can tell it from a text that says
the same twice (docs/seams.md, "No right answer")."""
END_CHARS = 20
"""A seam excuses what stands at it, and never a text that ends before its last characters."""
BROKEN_CHARS = 24
"""What broke off in what it repeats is known by so many characters (behaviour S3b)."""
ECHO_CHARS = 6
"""A prefill with fewer visible characters that comes again may as well be new text."""
DOUBLED_CHARS = 5
"""A text that says so many characters or more twice in a row, just where it was cut, looks like an
overlap."""


def verdict(plan: Plan, got: Got) -> tuple[str, str]:
    """One of "complete", "said" (unfinished, and says so) and "wrong", and why."""
    if got.odd:
        return "wrong", got.odd[0]
    calls, broken = _calls(got)
    true_calls = [(call.name, call.input) for call in plan.calls]
    clean = not got.error and got.stop in CLEAN[plan.wire]
    if clean:
        if broken:
            return "wrong", broken
        if got.text == plan.text and calls == true_calls:
            told = got.report.get("status") or "complete"  # None: the answer was not read
            return "complete", "" if told == "complete" else f"reported as {told}"
        reported = got.report.get("status") == "partial" and plan.on_incomplete == "stop"
        if reported and plan.text.startswith(got.text) and not calls:
            return "said", f"report: {got.report.get('reason')}"
        what = "text" if got.text != plan.text else "calls"
        return "wrong", f"a clean stop ({got.stop}) and wrong {what}"
    if not got.error and plan.on_incomplete == "error" and got.stop is not None:
        return "wrong", f'no error though on_incomplete is "error": {got.stop}'
    if not got.error and (broken or any(call not in true_calls for call in calls)):
        return "wrong", f"an unfinished turn hands out a wrong call: {broken or calls}"
    if not plan.text.startswith(got.text.rstrip("\ufffd \n")):
        return "wrong", "the text of an unfinished turn is not the beginning of the truth"
    return "said", got.error[:80] or str(got.stop)


def _calls(got: Got) -> tuple[list[tuple[str, Any]], str]:
    ids = [call[0] for call in got.calls]
    if len(set(ids)) < len(ids) or not all(ids):
        return [], f"ids of calls: {ids}"
    found = []
    for _, name, raw in got.calls:
        try:
            found.append((name, json.loads(raw or "{}") if isinstance(raw, str) else raw))
        except ValueError:
            return [], f"arguments that are no JSON: {raw!r}"
    return found, ""


def excuse(plan: Plan, got: Got | None, attempts: list[dict[str, Any]]) -> str:
    """Why a turn that went wrong could not be known to; "" where it could.

    `got`: what the caller got, where that is wrong; None where only a request was."""
    texts = [a["said"] for a in attempts if not plan.text.startswith(a["said"])]
    # A model that is shown another text than the truth's cannot know how it ends.
    if got is not None and not texts and not got.error and got.stop in CLEAN[plan.wire]:
        end = plan.text.rstrip()[-END_CHARS:]
        if not got.text.rstrip().endswith(end):
            return ""
    if got is not None:
        texts.append(got.text)
    return ambiguous(plan, texts[0], attempts) if texts else ""


def ambiguous(plan: Plan, text: str, attempts: list[dict[str, Any]]) -> str:
    """Why the text, which is wrong, could be right as well; "" where it could not.

    Where the server repeated little, or broke off after a little of what it repeats, the plain join is
    as good an answer as any; where the truth says a passage twice just where it was cut, leaving it
    out is; where the model left out white space that had not come before either, nothing tells of it.
    """
    for number, attempt in enumerate(attempts, 1):
        said, sent = attempt["said"], attempt["sent"].lstrip()
        if not said or not plan.text.startswith(said) or not text.startswith(said):
            continue
        if "status" in attempt["fault"] or "refused" in attempt["fault"]:
            continue  # it sent no text
        rest, more = plan.text[len(said) :], text[len(said) :].lstrip()
        # Where the next request shows a text that is not the truth's, the model cannot know where it
        # is, and says whatever comes to it.
        lost = any(
            not plan.text.startswith(later["said"]) for later in attempts[number : number + 1]
        )
        left_out, came = attempt["left_out"], attempt["came"]
        if left_out.startswith(came) and left_out != came:
            shown = said + came + rest[len(left_out) :]
            if text == shown or (
                shown.startswith(text) and any(text == later["said"] for later in attempts)
            ):
                return f"of {left_out!r} no more than {came!r} ever came"
        if attempt["style"] in ("overlap", "line", "restart", "preamble"):
            length = _common(sent, more)
            came = sent[:length]
            begun = attempt["style"] == "preamble" and "\n" not in came.rstrip()
            again = came.partition("\n\n")[2] if attempt["style"] == "preamble" else came
            short = begun or len(again) < len(attempt["repeated"])
            short = short or _visible(attempt["repeated"]) < SHORT_CHARS
            goes_on = rest.lstrip().startswith(more[length:].lstrip()) or sent.startswith(more)
            goes_on = goes_on or lost
            if came.strip() and short and goes_on and (begun or _visible(again) < BROKEN_CHARS):
                return f"so little came of what was repeated: {came!r}"
            plain = sent.startswith(more) and _visible(attempt["repeated"]) < SHORT_CHARS
            if plain and attempt["style"] != "preamble" and more:
                return f"so little was repeated: {attempt['repeated']!r}"
        elif attempt["style"] == "echo":
            if _visible(attempt["repeated"]) < ECHO_CHARS and sent.startswith(more) and more:
                return f"so little was said again: {attempt['repeated']!r}"
        elif attempt["style"] == "fence" and attempt["repeated"]:
            again = sent.partition("\n")[2].lstrip()
            length = _common(again, more)
            short = length < len(attempt["repeated"]) and _visible(again[:length]) < BROKEN_CHARS
            goes_on = rest.lstrip().startswith(more[length:].lstrip()) or again.startswith(more)
            if length and short and goes_on:
                return f"so little came of what was repeated: {again[:length]!r}"
        elif not attempt["style"]:
            for size in range(min(400, len(said), len(rest)), DOUBLED_CHARS - 1, -1):
                if said.endswith(rest[:size]) and rest[size:].lstrip().startswith(more) and more:
                    return f"the truth itself says {rest[:size]!r} twice"
    return ""


def _visible(text: str) -> int:
    return len("".join(text.split()))


def _common(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
