"""A plan that comes with each attempt at a call is there once, in bodies and in streams."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.asking.openai_chat import TOOLS
from support.asking.wrapping import QUICK
from support.events.cohere import body, events
from support.events.framing import Call, sse
from support.every_wire import MAKERS, At, arguments_of
from support.far_sides import FarSide, answer, json_answer

import tenuto

CUT = '{"path": "a.t'
WANTED = {"path": "a.txt", "content": "x"}
ROW = {"role": "user", "content": "Write it."}
LONG = "I will read the tables first, then write the file."


def streamed(plan: str, arguments: str, stop: str | None, chars: int, text: str = "") -> bytes:
    start, *rest = events(text, [Call((arguments,))], stop)
    pieces = [plan[at : at + chars] for at in range(0, len(plan), chars)]
    told = [
        {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": piece}}} for piece in pieces
    ]
    return answer(b"".join(sse([start, *told, *rest])), "content-type: text/event-stream")


def whole(plan: str, arguments: str, stop: str | None, text: str = "") -> bytes:
    made = body(text, [Call((arguments,))], stop)
    made["message"] |= {"tool_plan": plan} if plan else {}
    return json_answer(json.dumps(made).encode())


def asked(mode: str, *answers: bytes) -> Any:
    with FarSide(*answers) as far:
        asker = MAKERS["cohere"](At(far), tenuto.Policy(**QUICK))
        said = asker.ask([ROW], mode, "sync", tools=TOOLS)
        asker.close()
        assert len(far.requests) == len(answers)
    assert (said.error, arguments_of(said)) == (None, [WANTED])
    return said


PLANS = [
    (["I will read.", "I will read."], "I will read."),
    (["I will read.", "I will read.", "I will read."], "I will read."),
    (["I will read.", "I will read. Then I write."], "I will read. Then I write."),
    (["I will read.", "Let me look."], "I will read.\n\nLet me look."),
    (["Let me look.", "I write.", "Let me look."], "Let me look.\n\nI write."),
    (["I will read.", ""], "I will read."),
    (["", "I will read."], "I will read."),
    (["I will read. ", "I will read. "], "I will read. "),
    ([LONG, LONG], LONG),
]


@pytest.mark.behaviour("S2", "T5")
@pytest.mark.parametrize("stop", ["MAX_TOKENS", None])
@pytest.mark.parametrize(("plans", "told"), PLANS)
@pytest.mark.parametrize("chars", [0, 1, 7, 400])
def test_a_plan_that_comes_with_each_attempt_at_a_call_is_told_once(
    chars: int, plans: list[str], told: str, stop: str | None
) -> None:
    *before, last = plans
    given = [(plan, CUT, stop) for plan in before] + [(last, json.dumps(WANTED), None)]
    made = [streamed(*one, chars) if chars else whole(*one) for one in given]
    said = asked("stream" if chars else "whole", *made)
    assert said.message["tool_plan"] == told


@pytest.mark.behaviour("S2", "T5")
@pytest.mark.parametrize("chars", [0, 1, 7, 400])
def test_a_text_behind_the_plan_is_told_once_too(chars: int) -> None:
    given = [("I read.", CUT, "MAX_TOKENS", "So."), ("I read.", json.dumps(WANTED), None, "So.")]
    made = [
        streamed(plan, arguments, stop, chars, text)
        if chars
        else whole(plan, arguments, stop, text)
        for plan, arguments, stop, text in given
    ]
    said = asked("stream" if chars else "whole", *made)
    assert (said.text, said.message["tool_plan"]) == ("So.", "I read.")
