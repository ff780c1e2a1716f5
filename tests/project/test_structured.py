"""Documents that frameworks ask for: what was counted keeps the promises, and who counts finds breaches."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest

import tenuto

FOLDER = Path(__file__).resolve().parents[2] / "checks" / "frameworks"
FOUND: dict[str, Any] = json.loads((FOLDER / "structured.json").read_text("utf-8"))
WAYS = [(name, each) for name, found in FOUND.items() for each in found["ways"]]
MOST = 1 + tenuto.Policy().continuation_max_attempts

pytestmark = pytest.mark.behaviour("C27a")


def test_the_figures_hold_every_way_on_every_provider() -> None:
    sent = {(name, each["way"].split()[0], each["sends"]) for name, each in WAYS}
    providers = {
        "instructor": ("openai", "responses", "anthropic", "genai", "mistral", "groq"),
        "langchain": ("openai", "responses", "anthropic", "google", "mistral", "groq"),
        "pydantic-ai": ("openai", "responses", "anthropic", "google", "mistral", "groq"),
    }
    for name, named in providers.items():
        assert {provider for found, provider, _ in sent if found == name} == set(named)
        assert {kind for found, _, kind in sent if found == name} >= {"schema", "object", "call"}
    assert {each["questions"] for _, each in WAYS} == {56}


def test_a_framework_takes_a_turns_requests_and_validates_what_is_proven() -> None:
    for name, way in WAYS:
        where = name, way["way"]
        assert way["requests_in_a_turn"] <= MOST, where
        if way["sends"] in ("schema", "call"):
            assert way["joined"] == 0, where
        if way["sends"] == "schema":
            assert way["requests"]["error"] <= MOST, where


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("structured")


def asking(lab: Any, check: Callable[[Any], Any]) -> Callable[[Any], Callable[[], Any]]:
    """A framework that asks once more if its model refuses the document, and looks at no stop."""

    def made(given: Any) -> Callable[[], Any]:
        client = given.wrap(openai.OpenAI(base_url=given.url, api_key="key", max_retries=0))
        schema = lab.Tide.model_json_schema()
        form = {"type": "json_schema", "json_schema": {"name": "tide", "schema": schema}}
        body = {"model": "m", "max_tokens": lab.LIMIT_TOKENS, "response_format": form}
        rows = [{"role": "user", "content": lab.QUESTION}]

        def ask() -> Any:
            try:
                return check(client.chat.completions.create(messages=rows, **body))
            except ValueError:
                return check(client.chat.completions.create(messages=rows, **body))

        return ask

    return made


def test_who_counts_finds_what_breaks_a_promise(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "POLICIES", {"error": {"on_incomplete": "error"}})

    def read(answer: Any) -> Any:
        return lab.Tide.model_validate_json(answer.choices[0].message.content)

    def read_joined(_: Any) -> Any:
        return lab.Tide.model_validate_json(lab.BEGUN + lab.RESTS["another key"])

    with lab.Provider() as provider:
        found = {}
        for check in (read, read_joined):
            way = lab.Way(check.__name__, "openai-chat", "openai", asking(lab, check))
            found[check] = [each for each in lab.played(way, provider) if not each.stream]
    assert [each.wrong for each in found[read]] == [""] * len(lab.RESTS)
    assert {each.sends for each in found[read]} == {"schema"}
    assert max(each.requests for each in found[read]) == MOST
    # It gets a document, and validates another one, twice.
    seen = {each.rest: each.wrong for each in found[read_joined]}
    assert "put together" in seen["a document that matches"]
