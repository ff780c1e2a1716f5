"""The demo's second act: the simulator's worst faults, with the bare SDK and with Tenuto."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tenuto.cli.demo_ask import Answered, ask

WORST: Final = (
    "length_twice",
    "length_in_multibyte",
    "length_always",
    "reasoning_only_length",
    "call_cut_tool_calls",
    "call_malformed",
    "batch_one_broken",
    "empty_once",
    "body_cut",
    "drop_mid_text",
    "eof_no_finish",
    "error_chunk_mid_text",
    "content_filter",
)
"""Names of the simulator's cases that are played."""

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
_TRUTHFUL_CUTS: Final = frozenset({"length", "content_filter"})


@dataclass(frozen=True, slots=True)
class Played:
    """One fault as one of the two clients met it.

    Attributes:
        verdict: "fine" or "recovered" for the right answer, "truthful" for an answer that shows
            that it is not whole, "raised" for an exception of the SDK, "silent" for a wrong answer
            without a word, "harmful" for a broken call or a foreign exception.
        detail: what exactly was handed out.
        requests: how many requests the provider saw.
    """

    verdict: str
    detail: str
    requests: int


@dataclass(frozen=True, slots=True)
class FaultRow:
    """One fault, in one mode, met by both clients."""

    fault: str
    mode: str
    summary: str
    bare: Played
    wrapped: Played

    @property
    def good(self) -> bool:
        """Whether the wrapped client recovered, or told the truth."""
        return self.wrapped.verdict in ("fine", "recovered", "truthful")


def faults_to_play(*, fast: bool) -> list[tuple[str, str]]:
    """Names of faults, each with a mode; fast: each fault in one mode only.

    >>> len(faults_to_play(fast=True)) == len(WORST)
    True
    """
    from tenuto.sim import FAULTS, HTTP_FAULTS, QUIRKS
    from tenuto.sim.cases import BLOCKED

    known = FAULTS | HTTP_FAULTS | QUIRKS | BLOCKED
    modes = {name: sorted(known[name].modes, reverse=True) for name in WORST}
    return [(name, mode) for name in WORST for mode in modes[name][: 1 if fast else None]]


def play(plan: list[tuple[str, str]]) -> Iterator[FaultRow]:
    """Play faults one after the other against a simulator on loopback."""
    import openai

    import tenuto
    from tenuto.sim import CASES, Simulator

    with Simulator() as simulator:
        bare = openai.OpenAI(base_url=simulator.base_url, api_key="none", max_retries=0)
        with bare, tenuto.wrap(bare) as wrapped:
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
                right = Answered(whole.text, calls)
                played: list[Played] = []
                for client, own in ((bare, "fine"), (wrapped, "recovered")):
                    simulator.forget()
                    before = len(simulator.requests)
                    got = ask(client, stream=mode == "stream", **request)
                    verdict, detail = judge(got, right, own)
                    played.append(Played(verdict, detail, len(simulator.requests) - before))
                yield FaultRow(name, mode, case.summary, *played)


def judge(got: Answered, right: Answered, fine: str) -> tuple[str, str]:
    """The verdict on an answer, and what was handed out; `fine` is the word for the right answer.

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
    honest = got.finish in _TRUTHFUL_CUTS and right.text.startswith(got.text.rstrip("\ufffd"))
    return ("truthful" if honest and not got.calls else "silent"), f"{detail}, {finish}"


def _is_object(raw: object) -> bool:
    try:
        return isinstance(raw, str) and isinstance(json.loads(raw), dict)
    except ValueError:
        return False
