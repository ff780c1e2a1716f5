"""The acts of `tenuto demo`: the official SDK under a small output limit and with the simulator's
faults, with and without Tenuto."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tenuto.cli.demo_faults import FAULTS
from tenuto.clients.wrap import wrap
from tenuto.core.events.event import Event
from tenuto.core.events.recovery import ContinuationAttempt
from tenuto_sim import CASES, Simulator

if TYPE_CHECKING:
    import openai

PROMPTS: Final = ("What is photosynthesis?", "What does a plumber do?")
"""Questions that the small model answers in about 80 tokens before it stops by itself."""

LIMIT_TOKENS: Final = 24
UNCUT_TOKENS: Final = 400

TOOLS: Final[list[Any]] = [
    {
        "type": "function",
        "function": {
            "name": "write_file",
            "description": "Write a text file.",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
                "required": ["path", "content"],
            },
        },
    }
]
_PROMPT: Final = "Tell me what happened in the harbour."
_RIGHT: Final = ("the whole text", "the right call", "the right calls")
_GOOD: Final = ("fine", "recovered", "truthful")


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of one call of the SDK.

    Attributes:
        text: the text; "" if there was none.
        calls: the name and the raw arguments of each tool call.
        finish: the finish reason from the SDK; None if there was none.
        error: the name of the exception's class; "" if none was raised.
        foreign: whether the exception is not one of the SDK's own.
    """

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    finish: str | None = None
    error: str = ""
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One question, asked three times.

    Attributes:
        bare: the answer under the limit, from the SDK alone.
        wrapped: the answer under the same limit, through Tenuto.
        uncut: the answer without the limit, from the SDK alone.
        seams: where each continuation begins in the wrapped answer, in characters.
        requests: how many requests the wrapped answer took.
        equal: whether the wrapped answer is the uncut one, character by character.
        verdict: "recovered", "truthful" for a part that says so, "fine" if nothing was cut, or
            "differs".
    """

    prompt: str
    limit_tokens: int
    bare: Answered
    wrapped: Answered
    uncut: Answered
    seams: tuple[int, ...]
    requests: int
    seconds: float
    equal: bool
    verdict: str


@dataclass(frozen=True, slots=True)
class Played:
    """One fault with one of the two clients.

    Attributes:
        verdict: "fine" or "recovered" for the right answer, "truthful" for an answer that shows
            that it is incomplete, "raised" for an exception of the SDK, "silent" for a wrong answer
            without any sign, "harmful" for a broken call or a foreign exception.
        detail: what the SDK returned or raised.
        requests: how many requests the provider got.
    """

    verdict: str
    detail: str
    requests: int


@dataclass(frozen=True, slots=True)
class FaultRow:
    """One fault, in one mode, with both clients. `good`: with Tenuto, the answer was right or
    showed that it was not."""

    fault: str
    mode: str
    summary: str
    bare: Played
    wrapped: Played
    good: bool


# --- requests, as in the SDK's documentation -----------------------------------------------------


def ask(client: openai.OpenAI, *, stream: bool, **request: Any) -> Answered:
    """Send one request. An exception of the SDK is part of the answer.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    import openai

    try:
        if stream:
            return _assembled(client.chat.completions.create(stream=True, **request))
        choice = client.chat.completions.create(**request).choices[0]
        functions = [getattr(call, "function", None) for call in choice.message.tool_calls or ()]
        calls = tuple((f.name, f.arguments) for f in functions if f is not None)
        return Answered(choice.message.content or "", calls, choice.finish_reason)
    except Exception as error:  # noqa: BLE001 - the demo shows that anything can be raised
        foreign = not isinstance(error, openai.OpenAIError)
        return Answered(error=type(error).__name__, foreign=foreign)


def _assembled(chunks: Any) -> Answered:
    text, finish = "", None
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    for chunk in chunks:
        for choice in chunk.choices or ():
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for piece in choice.delta.tool_calls or ():
                names.setdefault(piece.index, piece.function.name)
                before = arguments.get(piece.index, "")
                arguments[piece.index] = before + (piece.function.arguments or "")
    calls = tuple((names[index], arguments[index]) for index in names)
    return Answered(text, calls, finish)


# --- a model's answers under a limit -------------------------------------------------------------


def ask_model(
    client: openai.OpenAI, prompts: Sequence[str], *, model: str, limit_key: str = "max_tokens"
) -> Iterator[ModelRow]:
    """Ask each question bare, wrapped (as a stream) and uncut.

    Args:
        client: any client of the official SDK; this function wraps it.
        limit_key: the name of the request's output limit, which differs between services.
    """
    events: list[Event] = []
    wrapped_client = wrap(client, on_event=events.append)
    for prompt in prompts:
        start_s = time.monotonic()
        messages = [{"role": "user", "content": prompt}]
        small = {"model": model, "messages": messages, "temperature": 0, limit_key: LIMIT_TOKENS}
        bare = ask(client, stream=True, **small)
        events.clear()
        wrapped = ask(wrapped_client, stream=True, **small)
        seams = tuple(e.output_chars for e in events if isinstance(e, ContinuationAttempt))
        requests = sum(event.name == "stop_reason_observed" for event in events)
        uncut = ask(client, stream=True, **{**small, limit_key: UNCUT_TOKENS})
        taken_s = round(time.monotonic() - start_s, 2)
        equal = wrapped.text == uncut.text
        if wrapped.finish == "length" and uncut.text.startswith(wrapped.text):
            verdict = "truthful"
        else:
            verdict = ("recovered" if seams else "fine") if equal else "differs"
        yield ModelRow(
            prompt, LIMIT_TOKENS, bare, wrapped, uncut, seams, requests, taken_s, equal, verdict
        )


# --- the simulator's faults ----------------------------------------------------------------------


def faults_to_play(*, fast: bool) -> list[tuple[str, str]]:
    """Return the names of faults, each with a mode; `fast`: each fault in one mode only.

    >>> faults_to_play(fast=True)[0]
    ('length_twice', 'stream')
    """
    names = [fault.case for fault in FAULTS if fault.case]
    modes = {name: sorted(CASES[name].modes, reverse=True) for name in names}
    return [(name, mode) for name in names for mode in modes[name][: 1 if fast else None]]


def play(plan: list[tuple[str, str]]) -> Iterator[FaultRow]:
    """Play faults one after another against a simulator on loopback."""
    import openai

    with Simulator() as simulator:
        bare = openai.OpenAI(base_url=simulator.base_url, api_key="none", max_retries=0)
        with bare, wrap(bare) as wrapped:
            for name, mode in plan:
                case = CASES[name]
                request: dict[str, Any] = {
                    "model": f"sim/{name}",
                    "messages": [{"role": "user", "content": _PROMPT}],
                    **case.request,
                    **({"tools": TOOLS} if case.wants_tools else {}),
                }
                whole = simulator.expected(_PROMPT, name)
                calls = tuple((call.name, call.arguments) for call in whole.calls)
                played: list[Played] = []
                for client, own in ((bare, "fine"), (wrapped, "recovered")):
                    simulator.forget()
                    before = len(simulator.requests)
                    got = ask(client, stream=mode == "stream", **request)
                    told = judge(got, Answered(whole.text, calls), own)
                    played.append(Played(*told, len(simulator.requests) - before))
                alone, ours = played
                yield FaultRow(name, mode, case.summary, alone, ours, ours.verdict in _GOOD)


def judge(got: Answered, right: Answered, fine: str) -> tuple[str, str]:
    """Return the verdict on an answer, and what it was; `fine` is the verdict on the right answer.

    >>> judge(Answered("Half", finish="length"), Answered("Half of it."), "fine")
    ('truthful', '36 % of the text, finish reason length')
    >>> judge(Answered("Half", finish="stop"), Answered("Half of it."), "fine")[0]
    'silent'
    """
    if got.error:
        return ("harmful" if got.foreign else "raised"), got.error
    finish = f"finish reason {got.finish or 'none'}"
    if (got.text, got.calls) == (right.text, right.calls) and got.finish in ("stop", "tool_calls"):
        return fine, (_RIGHT[min(len(right.calls), 2)]) + f", {finish}"
    if any(not _is_object(raw) for _, raw in got.calls):
        return "harmful", f"a broken call, {finish}"
    if got.calls != right.calls and got.calls:
        return "harmful", f"{len(got.calls)} of {len(right.calls)} calls, {finish}"
    share = round(100 * len(got.text) / len(right.text)) if right.text else 0
    detail = f"{share} % of the text" if got.text else "nothing"
    cut = got.finish in ("length", "content_filter") and not got.calls
    honest = cut and right.text.startswith(got.text.rstrip("\ufffd"))
    return ("truthful" if honest else "silent"), f"{detail}, {finish}"


def _is_object(raw: object) -> bool:
    try:
        return isinstance(raw, str) and isinstance(json.loads(raw), dict)
    except ValueError:
        return False
