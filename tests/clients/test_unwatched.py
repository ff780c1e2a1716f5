"""Whether anybody listens to its events changes nothing of what a client hands out and sends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from support.asking.anthropic_messages import WrappedAnthropic
from support.asking.bedrock_converse import WrappedBedrock
from support.asking.gemini_generate import WrappedGemini
from support.asking.gemini_interactions import WrappedInteractions
from support.asking.mistral import WrappedMistral
from support.asking.ollama import WrappedOllama
from support.asking.openai_responses import WrappedResponses
from support.asking.wrapping import QUICK, Wrapped
from support.pairing import one_mode, some_or_every

import tenuto
from tenuto_sim import CASES_ON, Case, Simulator

POLICY = tenuto.Policy(**QUICK)
KINDS: dict[str, Any] = {
    "openai-chat": Wrapped,
    "anthropic-messages": WrappedAnthropic,
    "openai-responses": WrappedResponses,
    "gemini-generate": WrappedGemini,
    "gemini-interactions": WrappedInteractions,
    "bedrock-converse": WrappedBedrock,
    "ollama": WrappedOllama,
    "mistral": WrappedMistral,
}
"""Not InvokeModel, whose shapes and messages are those of the others, nor Cohere, whose SDK is slow to
ask again; all of their faults come before a client that nobody watches in test_faults.py."""

ONCE: dict[str, Any] = {"gemini-generate": {}, "gemini-interactions": {"attempts": 1}}
"""How a client is told not to ask again, where it is not `max_retries`."""

MADE_UP = re.compile(r"\bt[0-9a-f]{5}\d{3}\b")
"""The id of a call whose own was missing or doubled: it names the turn, each of which has its own."""

OF_THE_TURN = re.compile(
    r"(?:,(?:\s|\\n)*)?\(?b?'x-tenuto-turn'(?:: |, )b?'[0-9a-f]{40}'\)?|\"turn\":\"[0-9a-f]{40}\","
    r"|headers=(?:<dict len=\d+>|\{\n.*?\n\s*\}|\{[^}]*\})",
    re.DOTALL,
)
"""The header that names the turn where somebody listens: some SDKs show headers, google-genai's only
how many there are, if there are more than five."""

pytestmark = pytest.mark.filterwarnings("ignore:[\\s\\S]* is not a valid FinishReason")


@contextmanager
def in_front(sim: Simulator, wire: str) -> Iterator[list[Any]]:
    """An asker that is watched and one that is not; neither asks again by itself."""
    own: dict[str, Any] = ONCE.get(wire, {"max_retries": 0})
    with ExitStack() as stack:
        made = [KINDS[wire](sim, POLICY, watched=w, **own) for w in (True, False)]
        for asker in made:
            stack.callback(asker.close)
        yield made


def outcome(asker: Any, case: Case, mode: str) -> str:
    """All that a caller can know of an answer, and the bodies of the requests that left."""
    asker.sim.forget()
    asker.sim.requests.clear()
    asker.prompt_for = lambda case: f"Tell me about {case.name}."
    said = asker.ask_case(case, mode, "async")
    body = getattr(said.error, "body", None)
    sent = [request.json for request in asker.sim.requests]
    told = repr((vars(said), body, sent))
    return MADE_UP.sub("made up", OF_THE_TURN.sub("", told))


@pytest.mark.timeout(300)
@pytest.mark.behaviour("P8", "P1")
@some_or_every
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize("wire", KINDS)
def test_each_answer_and_each_fault_comes_out_alike_watched_or_not(
    wire: str, mode: str, every: bool
) -> None:
    """Two of eight cases, the one as a body and the other one as a stream; all of them are heavy."""
    with Simulator(token_chars=60) as sim, in_front(sim, wire) as askers:
        cases = [
            case
            for number, case in enumerate(CASES_ON[wire].values())
            if mode in (case.modes if every else [one_mode(number, case)])
            and (every or number % 8 < 2)
        ]
        differing = []
        for case in cases:
            watched, unwatched = (outcome(asker, case, mode) for asker in askers)
            if watched != unwatched:
                differing.append((case.name, watched, unwatched))
        assert differing == []
        assert len(cases) > (50 if every else 5)
