"""Prints what was measured, and writes it below the mark of docs/frameworks.md.

`python checks/frameworks/table.py .frameworks`: the folder holds what `run.py` wrote.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "frameworks.md"
MARK = "<!-- Below: written by `make frameworks`. -->\n"
SDKS = ("openai", "openai-responses", "anthropic", "google-genai")
"""The providers' SDKs by themselves. Each row is compared with the one on the same wire."""
NAMES = (
    *SDKS, "langchain", "langgraph", "pydantic-ai", "openai-agents", "openai-agents-responses", "strands", "agno",
    "litellm", "litellm-anthropic", "llamaindex", "llamaindex-anthropic", "crewai", "haystack",
    "autogen", "agent-framework", "semantic-kernel", "google-adk", "smolagents", "instructor", "dspy", "llm",
)  # fmt: skip
APIS = {
    "openai-chat": "Chat Completions",
    "openai-responses": "Responses",
    "anthropic-messages": "Anthropic Messages",
    "gemini-generate": "Gemini's API",
}
"""The wires that are measured, in the order of the page."""
VERDICTS = ("right", "told", "silent", "harmful")
CLIENTS = {"bare": "bare", "stop": "Tenuto, default policy", "error": 'Tenuto, `"error"`'}


def worst(results: Iterable[dict[str, Any]]) -> str:
    """The worst verdict, "" where there is none."""
    return max((r["verdict"] for r in results), key=VERDICTS.index, default="")


def recipe_of(found: dict[str, Any]) -> str:
    """The column of the policy that the page recommends."""
    return str(found.get("recipe", "error"))


def _key(result: dict[str, Any]) -> tuple[str, ...]:
    return result["case"], result["mode"], result["way"]


def right_of(found: dict[str, Any]) -> set[tuple[str, ...]]:
    """The turns that come out right with the recommended policy."""
    mine = (r for r in found["results"] if r["column"] == recipe_of(found))
    return {_key(r) for r in mine if r["verdict"] == "right"}


def share_of(found: dict[str, Any], sdk: set[tuple[str, ...]]) -> str:
    """How many of a framework's turns come out right, of those that do with the wrapped SDK."""
    both = sdk & {_key(result) for result in found["results"]}
    return f"{len(right_of(found) & both)} of {len(both)}"


def sums(measured: dict[str, Any], sdks: dict[str, set[tuple[str, ...]]]) -> list[str]:
    """How many turns came out how, framework by framework."""
    rows = [
        f"| | | {' | '.join(VERDICTS)} | of the SDK's |",
        "| --- | --- " + "| ---: " * (len(VERDICTS) + 1) + "|",
    ]
    for name, found in measured.items():
        for column, client in CLIENTS.items():
            counts = Counter(r["verdict"] for r in found["results"] if r["column"] == column)
            cells = " | ".join(str(counts[verdict]) for verdict in VERDICTS)
            title = f"{name} {found['version']}" if column == "bare" else ""
            recommended = ", as above" if column == recipe_of(found) else ""
            sdk = sdks.get(found["wire"])  # None: it was not measured
            share = share_of(found, sdk) if recommended and sdk else ""
            rows.append(f"| {title} | {client}{recommended} | {cells} | {share} |")
    return rows


def faults(found: dict[str, Any]) -> list[str]:
    """What a framework makes of each fault: the worst verdict over streams and bodies, sync and async,
    bare → as the page recommends. Faults that come out alike share a row, the worst bare ones first."""
    alike: dict[tuple[int, int], list[str]] = {}
    for case in dict.fromkeys(r["case"] for r in found["results"]):
        bare, ours = (
            worst(r for r in found["results"] if (r["case"], r["column"]) == (case, column))
            for column in ("bare", recipe_of(found))
        )
        came = -VERDICTS.index(bare), VERDICTS.index(ours)
        alike.setdefault(came, []).append(f"`{case}`")
    return [
        f"| {VERDICTS[-bare]} → {VERDICTS[ours]} | {', '.join(cases)} |"
        for (bare, ours), cases in sorted(alike.items())
    ]


def by_api(measured: dict[str, Any]) -> Iterator[str]:
    """A part for each API: all sums, then the faults of each framework."""
    sdks = {measured[sdk]["wire"]: right_of(measured[sdk]) for sdk in SDKS if sdk in measured}
    for wire, title in APIS.items():
        mine = {name: found for name, found in measured.items() if found["wire"] == wire}
        if not mine:
            continue
        yield from (f"### Over {title}", "", *sums(mine, sdks), "")
        for name, found in mine.items():
            yield from (
                f"#### {name}, by fault",
                "",
                "| Bare → as above | Faults |",
                "| --- | --- |",
            )
            yield from (*faults(found), "")


def main(folder: str) -> None:
    files = {name: Path(folder) / f"{name}.json" for name in NAMES}
    measured = {
        name: json.loads(file.read_text("utf-8")) for name, file in files.items() if file.exists()
    }
    text = "\n".join(by_api(measured)).rstrip()
    print(text)
    if len(measured) < len(NAMES):
        print(f"Not all were measured, so {PAGE.name} stays as it is.")
        return
    page = PAGE.read_text("utf-8").partition(MARK)[0]
    PAGE.write_text(f"{page}{MARK}\n{text}\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
