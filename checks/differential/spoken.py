"""Answers that a case says in the simulator's words, written as the bytes of any wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from checks.differential.far import Answer, Written
from checks.differential.sdks import SDKS
from tenuto_sim import Step
from tenuto_sim.case import Ending
from tenuto_sim.envelope import Envelope
from tenuto_sim.openai_chat.wire import IN_DIALECTS
from tenuto_sim.reply import Call, Reply
from tenuto_sim.wire import Wire
from tenuto_sim.wires import WIRES

JSON: Final = {"content-type": "application/json"}
EVENTS: Final = {"content-type": "text/event-stream; charset=utf-8"}

Said = tuple[Reply, Step]
"""What an answer says, and how it ends on the wire."""
Speaker = Callable[[Any], Said]
"""Says something to a request."""


def says(
    text: str = "",
    *calls: tuple[str, str],
    finish: str | None = "stop",
    tokens: int | None = None,
    **step: Any,
) -> Said:
    """Return an answer: a text, and calls by name and raw arguments.

    `tokens` is the output that the usage counts; None: one for four characters. Further arguments
    are fields of a `Step`.
    """
    count = len(text) // 4 + sum(len(raw) // 4 for _, raw in calls) + 1
    made = tuple(Call(f"call_{number}", *call) for number, call in enumerate(calls))
    ended = step.get("ending") in (Ending.DROP, Ending.EOF, Ending.CUT_OFF, Ending.RESET)
    stop = None if ended else finish
    told = Reply(
        text=text or (None if calls else ""),
        calls=made,
        finish="tool_calls" if calls and stop == "stop" else stop,
        prompt_tokens=12,
        completion_tokens=count if tokens is None else tokens,
    )
    return told, Step(finish=stop, **step)


def rest_of(whole: str, chars: int | None = None, before: str = "", **said: Any) -> Speaker:
    """Return a model that goes on where the history stops, or says all if it has nothing of it.

    `chars` is how much it says, None: all that is left. `before` is what it says first.
    """

    def speak(request: Any) -> Said:
        told = json.dumps(request, ensure_ascii=False)
        have = next((n for n in range(len(whole), 3, -1) if _quoted(whole[:n]) in told), 0)
        left = whole[have:] if chars is None else whole[have : have + chars]
        return says((before if have else "") + left, **said)

    return speak


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def wire_of(sdk: str) -> Wire:
    """Return the simulator's wire of an SDK."""
    spoken = SDKS[sdk]
    return IN_DIALECTS[spoken.dialect] if spoken.dialect else WIRES[spoken.wire]


def answer(sdk: str, said: Said, *, stream: bool, number: int) -> Answer:
    """Return an answer as bytes."""
    wire, (reply, step) = wire_of(sdk), said
    if step.error and wire.errors[step.error].status != 200:
        failed = wire.errors[step.error]
        headers = JSON | {k: v for k, v in failed.headers.items() if k != "retry-after"}
        return Answer(failed.status, headers, json.dumps(failed.document).encode())
    envelope = Envelope(id=wire.answer_id(f"written/{number}"), model="m", include_usage=True)
    if not stream:
        body = json.dumps(wire.render_body(reply, step, envelope), ensure_ascii=False)
        return Answer(200, JSON, body.encode(), ending=step.ending)
    events = wire.frame(wire.render_events(reply, step, envelope), step.framing)
    return Answer(
        *(200, wire.stream_headers, b"", tuple(events), step.ending, step.writes),
        last_event=wire.last_event,
    )


def spoken(sdk: str, said: Sequence[Said | Speaker], *, stream: bool) -> Written:
    """Return a far side that says these answers in order, the last one to all further requests."""

    def heard(speak: Speaker, number: int) -> Callable[[Any], Answer]:
        return lambda request: answer(sdk, speak(request), stream=stream, number=number)

    return Written(
        [
            heard(one, n) if callable(one) else answer(sdk, one, stream=stream, number=n)
            for n, one in enumerate(said)
        ]
    )


def each_turn(sdk: str, said: Sequence[Said], *, stream: bool) -> Written:
    """Return a far side that begins again whenever the first request arrives again."""
    made = [answer(sdk, one, stream=stream, number=n) for n, one in enumerate(said)]
    state: dict[str, Any] = {"first": None, "at": -1}

    def answers(request: Any) -> Answer:
        state["first"] = state["first"] or json.dumps(request)
        state["at"] = 0 if json.dumps(request) == state["first"] else state["at"] + 1
        at: int = min(state["at"], len(made) - 1)
        return made[at]

    return Written([answers])


def between(answer: Answer, extra: bytes, after: int = 2) -> Answer:
    """Return a stream with bytes put behind its first events."""
    assert answer.events is not None
    events = [*answer.events]
    events.insert(min(after, len(events) - 1), extra)
    return replace(answer, events=tuple(events))


Far = Callable[[str, bool], Written]
"""Makes the far side for an SDK, as stream or body."""
