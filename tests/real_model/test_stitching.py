"""A real model's answer, cut by a small output limit and stitched, against its uncut answer.

Both are asked for within one run at temperature 0: what the model says depends on the processor
that computes it, so no text stands here. Prompts whose answers fall into a loop are left out: a
loop is stopped on purpose (core/answer/runaway.py).
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, field
from typing import Any

import openai
import pytest
from support.pairing import matrix, param

import tenuto

pytestmark = [pytest.mark.real_model, pytest.mark.slow, pytest.mark.timeout(300)]

MODES = ("body", "stream")
UNCUT_TOKENS = 400
CUT_ONCE = (
    ("Explain how rain forms, in one paragraph.", 24),
    ("What is the moon?", 24),
    ("What is a computer program?", 40),
)
"""Prompts and output limits in tokens; the answers have 45 to 75 tokens."""
CUT_TWICE = (
    ("What is photosynthesis?", 24),
    ("What does a plumber do?", 24),
    ("Count from 1 to 30 in words.", 40),
)
"""The same; the answers have 79 to 122 tokens and stay below four times the limit."""
FRUIT = (
    "apple, banana, cherry, date, elderberry, fig, grape, honeydew, kiwi, lemon, mango, nectarine, "
    "orange, papaya, quince, raspberry."
)
CITIES = (
    "Paris, London, Rome, Berlin, Madrid, Vienna, Athens, Lisbon, Dublin, Oslo, Helsinki, Warsaw, "
    "Prague, Budapest, Sofia, Bucharest."
)
BY_HINT = (
    (f"Copy this list: {FRUIT}", 28),
    (f"Copy this list: {FRUIT}", 40),
    (f"Repeat this list exactly: {FRUIT}", 36),
    (f"Repeat this list exactly: {CITIES}", 24),
)
"""A model of this size hardly ever obeys the hint to go on, but where the answer is in the prompt."""
BY_HINT_TWICE = (
    (f"Copy this list: {FRUIT}", 18),
    (f"Copy this list: {FRUIT}", 20),
    (f"Repeat this list exactly: {FRUIT}", 18),
    (f"Repeat this list exactly: {FRUIT}", 20),
)
"""The same, cut again in the first continuation: it begins the list anew, and its limit is twice the
first one's. What is said again costs tokens, so these turns have no limit on their sum."""


def in_turn(
    cases: tuple[tuple[str, int], ...],
    *,
    first: str = "body",
    both: bool = False,
    smoke: bool = True,
) -> pytest.MarkDecorator:
    """The cases as bodies and as streams in turn: that a continuation comes out of a stream as it does
    out of a body is not the model's doing, and is tried on many texts (core/test_seam_bounds.py).
    `both`: the other mode as well. All but the first one, as `first`, are heavy: they say more of the
    model than of us. So is that without `smoke`: what is ours in it is tried on the simulator."""
    modes = itertools.cycle((first, *(mode for mode in MODES if mode != first)))
    runs = [(*case, mode) for case, mode in zip(cases, modes, strict=False)]
    if both:
        runs += [(prompt, limit, MODES[mode == "body"]) for prompt, limit, mode in runs]
    return matrix(
        ("prompt", "limit_tokens", "mode"),
        [
            param(
                *run, heavy=number >= smoke, id=f"{' '.join(run[0].split()[:3])}-{run[1]}-{run[2]}"
            )
            for number, run in enumerate(runs)
        ],
    )


def one_mode(mode: str) -> pytest.MarkDecorator:
    """Both modes, one of which is heavy."""
    return matrix("mode", [param(each, heavy=each != mode, id=each) for each in MODES])


@dataclass
class Turn:
    """What a client handed out, and what Tenuto told of it."""

    text: str = ""
    finish: str | None = None
    events: list[tenuto.Event] = field(default_factory=list)

    @property
    def continuations(self) -> list[dict[str, Any]]:
        return [e.data for e in self.events if e.name == "continuation_attempt"]


def request(prompt: str, limit_tokens: int) -> dict[str, Any]:
    messages = [{"role": "user", "content": prompt}]
    return {"model": "small", "messages": messages, "max_tokens": limit_tokens, "temperature": 0}


def ask(client: openai.OpenAI, mode: str, prompt: str, limit_tokens: int) -> Turn:
    turn = Turn()
    asked = request(prompt, limit_tokens)
    if mode == "body":
        choice = client.chat.completions.create(**asked).choices[0]
        return Turn(choice.message.content or "", choice.finish_reason)
    for chunk in client.chat.completions.create(stream=True, **asked):
        for choice in chunk.choices:
            turn.text += choice.delta.content or ""
            turn.finish = choice.finish_reason or turn.finish
    return turn


def ask_wrapped(
    client: openai.OpenAI, mode: str, prompt: str, limit_tokens: int, policy: tenuto.Policy
) -> Turn:
    events: list[tenuto.Event] = []
    wrapped = tenuto.wrap(client, policy=policy, on_event=events.append)
    turn = ask(wrapped, mode, prompt, limit_tokens)
    turn.events = events
    return turn


@functools.cache
def bare(client: openai.OpenAI, prompt: str, limit_tokens: int) -> Turn:
    """What the bare SDK hands out under a limit; asked once a run."""
    return ask(client, "body", prompt, limit_tokens)


def uncut_and_cut(client: openai.OpenAI, prompt: str, limit_tokens: int) -> tuple[Turn, Turn]:
    """The whole answer, and what the bare SDK hands out under the limit."""
    return bare(client, prompt, UNCUT_TOKENS), bare(client, prompt, limit_tokens)


def assert_stitched(turn: Turn, uncut: Turn, cut: Turn, *, prefill: bool, least: int = 1) -> None:
    assert uncut.finish == "stop", "the model does not end by itself here: choose another prompt"
    assert cut.finish == "length"
    assert uncut.text.startswith(cut.text)
    assert len(cut.text) < len(uncut.text)
    assert len(turn.continuations) >= least
    assert {data["prefill"] for data in turn.continuations} == {prefill}
    assert turn.text == uncut.text
    assert turn.finish == "stop"


@pytest.mark.behaviour("C1")
@in_turn(CUT_ONCE, both=True)
def test_an_answer_that_is_cut_once_equals_the_uncut_one(
    client: openai.OpenAI, prompt: str, limit_tokens: int, mode: str
) -> None:
    uncut, cut = uncut_and_cut(client, prompt, limit_tokens)
    turn = ask_wrapped(client, mode, prompt, limit_tokens, tenuto.Policy())
    assert_stitched(turn, uncut, cut, prefill=True)


@pytest.mark.behaviour("C1")
@in_turn(CUT_TWICE, first="stream", both=True)
def test_an_answer_that_is_cut_several_times_equals_the_uncut_one(
    client: openai.OpenAI, prompt: str, limit_tokens: int, mode: str
) -> None:
    uncut, cut = uncut_and_cut(client, prompt, limit_tokens)
    turn = ask_wrapped(client, mode, prompt, limit_tokens, tenuto.Policy())
    assert_stitched(turn, uncut, cut, prefill=True, least=2)


@pytest.mark.behaviour("C1")
@one_mode("stream")
async def test_the_async_client_stitches_alike(client: openai.OpenAI, mode: str) -> None:
    prompt, limit_tokens = CUT_TWICE[0]
    uncut, cut = uncut_and_cut(client, prompt, limit_tokens)
    turn = Turn()
    async with openai.AsyncOpenAI(
        base_url=str(client.base_url), api_key="none", max_retries=0
    ) as bare:
        wrapped = tenuto.wrap(bare, policy=tenuto.Policy(), on_event=turn.events.append)
        asked = request(prompt, limit_tokens)
        if mode == "body":
            choice = (await wrapped.chat.completions.create(**asked)).choices[0]
            turn.text, turn.finish = choice.message.content or "", choice.finish_reason
        else:
            async for chunk in await wrapped.chat.completions.create(stream=True, **asked):
                for piece in chunk.choices:
                    turn.text += piece.delta.content or ""
                    turn.finish = piece.finish_reason or turn.finish
    assert_stitched(turn, uncut, cut, prefill=True, least=2)


@in_turn(CUT_ONCE[1:2] + CUT_TWICE[:1], both=True)
def test_a_server_that_has_prefill_switched_off_is_asked_for_it_by_name(
    plain_client: openai.OpenAI, prompt: str, limit_tokens: int, mode: str
) -> None:
    uncut, cut = uncut_and_cut(plain_client, prompt, limit_tokens)
    turn = ask_wrapped(plain_client, mode, prompt, limit_tokens, tenuto.Policy())
    assert_stitched(turn, uncut, cut, prefill=True)


@in_turn(BY_HINT)
def test_without_prefill_an_answer_is_continued_by_a_hint(
    plain_client: openai.OpenAI, prompt: str, limit_tokens: int, mode: str
) -> None:
    uncut, cut = uncut_and_cut(plain_client, prompt, limit_tokens)
    policy = tenuto.Policy(prefill="never")
    turn = ask_wrapped(plain_client, mode, prompt, limit_tokens, policy)
    assert_stitched(turn, uncut, cut, prefill=False)


@in_turn(BY_HINT_TWICE, first="stream", smoke=False)
def test_without_prefill_an_answer_that_is_cut_several_times_is_continued_by_hints(
    plain_client: openai.OpenAI, prompt: str, limit_tokens: int, mode: str
) -> None:
    uncut, cut = uncut_and_cut(plain_client, prompt, limit_tokens)
    policy = tenuto.Policy(prefill="never", continuation_max_total_completion_tokens=0)
    turn = ask_wrapped(plain_client, mode, prompt, limit_tokens, policy)
    assert_stitched(turn, uncut, cut, prefill=False, least=2)


@one_mode("body")
def test_an_answer_beyond_the_attempts_is_the_beginning_of_the_uncut_one_and_says_length(
    client: openai.OpenAI, mode: str
) -> None:
    prompt, limit_tokens = CUT_TWICE[0]
    uncut, cut = uncut_and_cut(client, prompt, limit_tokens)
    policy = tenuto.Policy(continuation_max_attempts=1)
    turn = ask_wrapped(client, mode, prompt, limit_tokens, policy)
    assert len(turn.continuations) == 1
    assert turn.finish == "length"
    assert uncut.text.startswith(turn.text)
    assert len(cut.text) < len(turn.text) < len(uncut.text)


@pytest.mark.heavy
@one_mode("stream")
def test_an_answer_that_is_not_cut_takes_one_request(client: openai.OpenAI, mode: str) -> None:
    prompt, limit_tokens = CUT_ONCE[1]
    uncut, _ = uncut_and_cut(client, prompt, limit_tokens)
    turn = ask_wrapped(client, mode, prompt, UNCUT_TOKENS, tenuto.Policy())
    assert (turn.text, turn.finish) == (uncut.text, "stop")
    assert not turn.continuations
