"""What is known of models by name, what a row or an error says instead, and the bytes that follow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tenuto import Provider, register_provider
from tenuto.core.settings.policy import Policy
from tenuto.providers.models import (
    CLAUDE_TAKES_PREFILL,
    GEMINI_TAKES_PREFILL,
    MODELS,
    output_tokens,
)
from tenuto.providers.table import ROWS
from tenuto.turn.drivers.commands import Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine

URL = "https://gateway.example/v1/chat/completions"

OUTPUT = {
    "claude-opus-4-1-20250805": None,
    "claude-opus-4-20250514": None,
    "us.anthropic.claude-opus-4-5-20251101-v1:0": 64_000,
    "claude-sonnet-4-20250514": 64_000,
    "anthropic/claude-sonnet-4.5": 64_000,
    "claude-haiku-4-5": 64_000,
    "claude-opus-4-6": 128_000,
    "claude-sonnet-4.6": 128_000,
    "claude-opus-5-5": 128_000,
    "claude-fable-5-1": 128_000,
    "openai/gpt-4o-2024-08-06": 16_384,
    "gpt-4.1-mini": 32_768,
    "gpt-5.6-sol": 128_000,
    "openai/gpt-oss-120b": 65_536,
    "gemini-2.5-pro": 65_536,
    "models/gemini-3-flash": 65_536,
    "deepseek-v4-pro": 393_216,
    "us.amazon.nova-pro-v1:0": 10_000,
    "llama-3.3-70b": None,
    "": None,
}

PREFILLED = {
    "claude-3-5-sonnet-20241022": True,
    "claude-3.7-sonnet": True,
    "claude-opus-4-1": True,
    "claude-opus-4": True,
    "eu.anthropic.claude-sonnet-4-20250514-v1:0": True,
    "anthropic/claude-sonnet-4": True,
    "anthropic/claude-haiku-4.5": True,
    "anthropic/claude-sonnet-4.5:beta": True,
    "claude-opus-4-6": False,
    "anthropic/claude-opus-4.6": False,
    "claude-sonnet-5-5": False,
    "claude-mythos-5-2": False,
    "claude-next": False,
}


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = ROWS.all()
    yield
    ROWS._all, ROWS.changes = before, ROWS.changes + 1


def body(text: str, finish: str, used: tuple[int, int] = (10, 5)) -> Scripted:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": used[0], "completion_tokens": used[1]}
    value = {"choices": [choice | {"finish_reason": finish}], "usage": usage}
    return Scripted.body(json.dumps(value).encode())


def refusal(words: str) -> Scripted:
    error = {"message": words, "type": "invalid_request_error"}
    return Scripted.body(json.dumps({"error": error}).encode(), status=400)


def budgets(engine: Engine, *answers: Scripted, model: str = "m", **more: Any) -> list[Any]:
    """The output limits of the requests that leave for a turn."""
    request = {"model": model, "messages": [{"role": "user", "content": "Tell."}], **more}
    script = Script(*answers)
    run = engine.begin(Request("POST", URL, (), json.dumps(request).encode()))
    assert run is not None
    assert list(Drive(run, script.connect).pieces())
    return [json.loads(one.body).get("max_tokens") for one in script.transmitted]


CUT, ALL = body("The first half of it goes", "length"), body(" on to its end.", "stop")


@pytest.mark.behaviour("C17")
def test_the_largest_output_limit_of_a_model_is_known_by_its_name():
    assert {name: output_tokens(name) for name in OUTPUT} == OUTPUT
    assert all(row.source.endswith(("2026-11-21", "2026-11-22")) for row in MODELS)


@pytest.mark.behaviour("C8")
def test_whether_a_model_takes_a_prefill_is_known_by_its_name():
    assert {name: bool(CLAUDE_TAKES_PREFILL.search(name)) for name in PREFILLED} == PREFILLED
    gemini = ("gemini-2.5-flash", "gemini-3.5-flash", "gemini-3.5-flash-lite", "gemini-3.6-flash")
    assert [bool(GEMINI_TAKES_PREFILL.search(name)) for name in gemini] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.behaviour("C17")
@pytest.mark.parametrize(
    ("model", "asked", "boosted"),
    [("gpt-4o", 12_000, 16_384), ("gpt-4o", 20_000, 20_000), ("unknown", 12_000, 24_000)],
)
def test_a_boost_stays_below_the_models_own_limit_and_never_below_what_was_asked(
    model, asked, boosted
):
    sent = budgets(Engine(Policy()), CUT, ALL, model=model, max_tokens=asked)
    assert sent == [asked, boosted]


@pytest.mark.behaviour("C17", "N8")
def test_what_a_row_says_of_the_output_limit_counts_before_the_models_name():
    register_provider(
        Provider("lab", wire="openai-chat", hosts=["gateway.example"], output_tokens=13_000)
    )
    assert budgets(Engine(Policy()), CUT, ALL, model="gpt-4o", max_tokens=12_000) == [
        12_000,
        13_000,
    ]


@pytest.mark.behaviour("C18", "P8c")
def test_an_output_limit_that_an_error_names_holds_for_the_turns_that_follow():
    engine = Engine(Policy())
    words = "Range of max_tokens should be [1, 15000]"
    assert budgets(engine, CUT, refusal(words), ALL, max_tokens=9_000) == [9_000, 18_000, 15_000]
    assert budgets(engine, CUT, ALL, max_tokens=9_000) == [9_000, 15_000]
    assert budgets(engine, CUT, ALL, model="n", max_tokens=9_000) == [9_000, 18_000]


SHARED = (
    "'max_tokens' or 'max_completion_tokens' is too large: 7000. This model's maximum context length"
    " is 8192 tokens and your request has 3192 input tokens (7000 > 8192 - 3192)."
)


@pytest.mark.behaviour("C18", "C12", "P8c")
def test_of_a_window_that_an_error_names_a_prompt_leaves_the_rest_and_later_ones_their_own():
    engine = Engine(Policy())
    whole = body("All of it.", "stop")
    assert budgets(engine, refusal(SHARED), whole, max_tokens=7_000) == [7_000, 5_000]
    # A lesson about the window is none about the model's output limit.
    assert budgets(engine, CUT, ALL, max_tokens=3_500) == [3_500, 7_000]
    full = body("The first half of it goes", "length", used=(4_000, 3_800))
    assert budgets(engine, full, ALL, max_tokens=3_800) == [3_800], "less than 512 tokens are left"
    assert len(budgets(Engine(Policy()), full, ALL, max_tokens=3_800)) == 2


@pytest.mark.behaviour("C12", "N8")
def test_a_context_window_is_said_by_the_policy_else_by_the_row():
    full = body("The first half of it goes", "length", used=(4_000, 3_800))
    register_provider(
        Provider("lab", wire="openai-chat", hosts=["gateway.example"], window_tokens=8_000)
    )
    assert len(budgets(Engine(Policy()), full, ALL)) == 1
    assert len(budgets(Engine(Policy(context_window_tokens=9_000)), full, ALL)) == 2
