"""Judges one framework in its own environment: `python checks/frameworks/run.py agno agno.json`.

Columns may follow, to judge these alone.
"""

import contextlib
import importlib
import importlib.metadata
import importlib.util
import io
import json
import logging
import os
import re
import sys
import warnings
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from framework_judge import COLUMNS, ORDER, Judge, Result, Verdict, recipe_of

from tenuto_sim import STEPS, Simulator

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "packages/tenuto/src/tenuto/.agents/skills/tenuto/references/hosts.md"
"""The skill for coding agents. Its examples are those of docs/frameworks.md, word for word."""
QUESTION = "Why do tides come twice a day?"
ASKED = ("/chat/completions", "/responses", "/messages", ":generateContent")
TOKEN_CHARS = 20
"""Tokens longer than real ones: frameworks take their time for each event of a stream."""


def key_of(result: Result) -> tuple[str, ...]:
    """The turn of a result, whatever the client."""
    return result.case, result.mode, result.way


def wrong_of(results: list[Result], recipe: str) -> list[Result]:
    """The results with a recovering client that must not be: silence and harm under "error" and where
    the page recommends the policy, and anywhere harm that the bare client does not do."""
    bare = {key_of(r) for r in results if r.column == "bare" and r.verdict is Verdict.HARMFUL}
    found = []
    for result in results:
        advised = result.column in (recipe, "error")
        silent = result.verdict is Verdict.SILENT and advised
        harmful = result.verdict is Verdict.HARMFUL and (advised or key_of(result) not in bare)
        if result.column != "bare" and (silent or harmful):
            found.append(result)
    return found


def block_fails(name: str) -> str:
    """Run the framework's block of the skill: what went wrong, "" where nothing did."""
    blocks = re.findall(
        rf"^```python {name}\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(blocks) == 1, f"{PAGE} has {len(blocks)} blocks for {name}"
    printed = io.StringIO()
    # Not strict: Strands sends an empty list of tools for an agent that has none.
    with Simulator(strict=False, token_chars=TOKEN_CHARS) as sim:
        os.environ |= {f"{name}_API_KEY": "none" for name in ("OPENAI", "ANTHROPIC", "GEMINI")}
        os.environ |= {"OPENAI_BASE_URL": sim.base_url, "OPENAI_API_BASE": sim.base_url}
        os.environ |= {"GOOGLE_GEMINI_BASE_URL": sim.root_url}
        os.environ |= {"ANTHROPIC_BASE_URL": sim.root_url, "ANTHROPIC_API_BASE": sim.root_url}
        sim.script([STEPS["length"]])
        with contextlib.redirect_stdout(printed):
            exec(compile(blocks[0], f"{PAGE.name}: {name}", "exec"), {})
        asked = [request for request in sim.requests if request.path.endswith(ASKED)]
        if len(asked) != 2:
            return f"{len(asked)} requests instead of a question and a continuation"
        # CrewAI puts the question into words of its own.
        assert QUESTION in asked[0].prompt, asked[0].prompt
        form = asked[0].json.get("response_format")
        wanted = sim.answer(asked[0].prompt, response_format=form)
        whole = as_read(printed.getvalue(), form) == as_read(wanted, form)
        return "" if whole else f"printed {printed.getvalue()!r}"


def as_read(text: str, form: Any) -> Any:
    """A text, or the JSON that was asked for, however it is spaced."""
    return json.loads(text) if form else text.strip()


def main(name: str, to: str, *columns: str) -> int:
    logging.disable()
    warnings.simplefilter("ignore")
    module = f"drive_{name.replace('-', '_')}"
    # What has no loop that the simulator could play has only its block.
    driver: Any = (
        importlib.import_module(module).Driver if importlib.util.find_spec(module) else None
    )
    wrong = measured(name, driver, to, columns or tuple(COLUMNS)) if driver else 0
    failed = block_fails(name)
    if failed:
        print(f"  the block of the skill: {failed}")
    # After the block: it leaves a policy installed in the process.
    with Simulator(token_chars=TOKEN_CHARS) as sim:
        missed = driver.fails(sim) if hasattr(driver, "fails") else []
    for path in missed:
        print(f"  not whole: {path}")
    return int(bool(wrong or failed or missed))


def measured(name: str, driver: Any, to: str, columns: tuple[str, ...]) -> int:
    """Judge a framework, keep its results in a file, and return how many are wrong."""
    with Simulator(token_chars=TOKEN_CHARS) as sim:
        results = list(Judge(driver, sim).results(columns))
    version = importlib.metadata.version(driver.distribution)
    recipe = recipe_of(driver)
    found = {
        "version": version,
        "wire": driver.wire,
        "recipe": recipe,
        "results": [asdict(r) for r in results],
    }
    Path(to).write_text(json.dumps(found, indent=0), "utf-8")
    for column in columns:
        counts = Counter(r.verdict for r in results if r.column == column)
        print(f"{name:14} {column:6}", *(f"{counts[v]:4} {v}" for v in ORDER), flush=True)
    wrong = wrong_of(results, recipe)
    for r in results:
        if r in wrong or (r.column != "bare" and r.verdict is Verdict.HARMFUL):
            excuse = "" if r in wrong else ", as with the bare client"
            where = f"{r.case} {r.mode} {r.way} {r.column}"
            print(f"  {r.verdict}{excuse}: {where}: {r.why[:200]}")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
