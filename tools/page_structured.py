"""Block of docs/guide/structured-output.md: what `make structured` counted, from
checks/frameworks/structured.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from page import code, table

FIGURES = Path(__file__).resolve().parent.parent / "checks" / "frameworks" / "structured.json"
FRAMEWORKS = {"instructor": "instructor", "langchain": "LangChain", "pydantic-ai": "pydantic-ai"}
PROVIDERS = {
    "anthropic": "Anthropic",
    "genai": "Gemini",
    "google": "Gemini",
    "groq": "Groq",
    "mistral": "Mistral",
    "openai": "OpenAI",
    "responses": "Responses",
}
SENDS = {"schema": "the schema", "object": "JSON mode", "call": "a tool", "text": "nothing"}


def render() -> str:
    """The table: a way of a framework with the providers on which it sends the same."""
    found: dict[str, Any] = json.loads(FIGURES.read_text("utf-8"))
    rows = []
    for sends, words in SENDS.items():
        for name, title in FRAMEWORKS.items():
            alike: dict[tuple[Any, ...], list[str]] = {}
            for each in found[name]["ways"]:
                provider, way = each["way"].split()
                counts = [each["requests_in_a_turn"], each["turns"], *_under(each)]
                if each["sends"] == sends:
                    alike.setdefault((way, *counts), []).append(PROVIDERS[provider])
            rows += [
                [words, f"{title}, {code(way)}: {', '.join(providers)}", *map(str, counts)]
                for (way, *counts), providers in alike.items()
            ]
    head = ["The request has", "Asked by", "Requests in a turn", "Turns"]
    head += ['Requests in all, `"error"`', '`"stop"`']
    versions = ", ".join(f"{FRAMEWORKS[name]} {found[name]['version']}" for name in FRAMEWORKS)
    dates = sorted({each["date"] for each in found.values()})
    measured = f"The most that was counted, on {' and '.join(dates)}: {versions}."
    return "\n".join([*table(head, rows), "", measured])


def _under(each: dict[str, Any]) -> list[int]:
    return [each["requests"]["error"], each["requests"]["stop"]]
