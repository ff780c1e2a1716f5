"""`tenuto demo` and `tenuto demo agent`: broken answers, without Tenuto and with it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tenuto.cli.model_server import MODEL_NAME, ModelServer, ModelServerUnavailable
from tenuto.command_kit.command_error import CommandError
from tenuto.command_kit.printing import JsonFlag, Switch, print_json

if TYPE_CHECKING:
    # These need other members of Tenuto, so they are imported after `_need`.
    from tenuto.cli.demo_sdk import FaultRow, ModelRow
    from tenuto.cli.demo_view import View

AGENT_EXAMPLES = (
    "tenuto demo agent",
    "tenuto demo agent --wire anthropic-messages",
    "tenuto demo agent --json",
)
EXAMPLES = (
    "tenuto demo",
    "tenuto demo --fast --json",
    "tenuto demo --no-model",
    "OPENAI_API_KEY=... tenuto demo --live --model gpt-5.4-mini",
    *AGENT_EXAMPLES[:1],
)
LIVE_MODEL = "gpt-5.4-mini"


def demo(
    *,
    live: Switch = False,
    model: str | None = None,
    json: JsonFlag = False,
    fast: Switch = False,
    no_model: Annotated[bool, Parameter(name="--no-model", negative="")] = False,
) -> int:
    """Show what Tenuto does about cut answers of a real model, and about simulated faults.

    A small model runs on this machine, and nothing leaves it unless you use --live. The exit code
    is 0 if Tenuto recovered every answer, or reported truthfully that it is incomplete.

    Args:
        live: use the provider in OPENAI_API_KEY and OPENAI_BASE_URL instead of the small model.
        model: the model to use with --live.
        json: print one JSON object at the end, and nothing else.
        fast: ask one question, and play each fault once.
        no_model: skip the model, and only play the simulated faults.
    """
    _check(live=live, model=model, no_model=no_model)
    from tenuto.cli.demo_view import View

    show = View(quiet=json)
    rows: list[ModelRow] = []
    skipped = "not wanted (--no-model)" if no_model else None
    # The answers of a model show most, so they come last, where a terminal has them in view.
    faults = _play_faults(show, fast=fast)
    try:
        if not no_model:
            _ask_model(show, rows, live=live, model=model, fast=fast)
    except ModelServerUnavailable as error:
        skipped = str(error)
        show.say(f"The small model is left out: {error}.")
    # A service that samples may answer differently each time, so only the small model must repeat
    # itself.
    good = all(row.good for row in faults) and (live or all(r.verdict != "differs" for r in rows))
    if json:
        answers = {"skipped": skipped, "answers": [asdict(row) for row in rows]}
        print_json({"ok": good, "model": answers, "faults": [asdict(row) for row in faults]})
    return 0 if good else 1


def _check(*, live: bool, model: str | None, no_model: bool) -> None:
    if live and no_model:
        raise CommandError("--live and --no-model cannot be used together", 2)
    if model is not None and not live:
        raise CommandError("--model needs --live: it names a model of that provider", 2)
    if live and not os.environ.get("OPENAI_API_KEY"):
        raise CommandError("--live needs an API key in the variable OPENAI_API_KEY", 2)
    _need("openai")


def _need(*packages: str) -> None:
    """Load what the demos need, so that it is reported as missing before any work."""
    for package in (*packages, "tenuto_sim", "tenuto_agent"):
        try:
            import_module(package)
        except ModuleNotFoundError as error:  # a package may lack one that it needs
            name = (error.name or package).replace("_", "-")
            raise CommandError(
                f"the demo needs the package {name}; install it with: pip install 'tenuto[demo]'", 2
            ) from None


def _ask_model(
    show: View, rows: list[ModelRow], *, live: bool, model: str | None, fast: bool
) -> None:
    """Add a model's answers to the rows.

    Raises:
        ModelServerUnavailable: the small model is not available."""
    import openai

    from tenuto.cli import demo_sdk

    named, limit_key = (
        (model or LIVE_MODEL, "max_completion_tokens") if live else (MODEL_NAME, "max_tokens")
    )
    with ExitStack() as stack:
        if live:
            client = stack.enter_context(openai.OpenAI())
            show.say(f"\nAsking {named} at {client.base_url}.")
        else:
            show.say(f"\nStarting {named} on this machine; no network is used.")
            with show.waiting():
                url = stack.enter_context(ModelServer()).base_url
            bare = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
            client = stack.enter_context(bare)
        prompts = demo_sdk.PROMPTS[:1] if fast else demo_sdk.PROMPTS
        asked = demo_sdk.ask_model(client, prompts, model=named, limit_key=limit_key)
        while row := _next(asked, show):
            if failed := row.bare.error or row.wrapped.error or row.uncut.error:
                raise CommandError(f"the model did not answer ({failed})")
            rows.append(row)
            show.model_row(row)


def _next(rows: Iterator[ModelRow], show: View) -> ModelRow | None:
    with show.waiting():
        return next(rows, None)


def _play_faults(show: View, *, fast: bool) -> list[FaultRow]:
    from tenuto.cli import demo_sdk

    plan = demo_sdk.faults_to_play(fast=fast)
    show.say("OpenAI's SDK against a simulated provider that is told to fail:")
    rows = list(show.faults(demo_sdk.play(plan), len(plan)))
    show.closing(rows)
    good = sum(row.good for row in rows)
    recovered = sum(row.wrapped.verdict == "recovered" for row in rows)
    show.say(
        f"{len(rows)} faults: {recovered} recovered, {good - recovered} told truthfully, "
        f"{len(rows) - good} wrong."
    )
    return rows


def agent(*, wire: str = "openai-chat", json: JsonFlag = False) -> int:
    """Show an agent that writes and edits a small project while every third answer is broken.

    A simulated model on this machine calls the agent's file tools in two turns. Its answers are
    cut, malformed, empty or dropped, some of them in a row. The exit code is 0 if all files and
    answers are the same as without faults, and no tool ran twice.

    Args:
        wire: the model's wire, such as openai-chat, anthropic-messages or gemini-generate.
        json: print one JSON object at the end, and nothing else.
    """
    _need()
    from tenuto.cli import demo_agent
    from tenuto.cli.demo_faults import Faults
    from tenuto.cli.demo_view import View

    if wire not in demo_agent.WIRES:
        allowed = ", ".join(demo_agent.WIRES)
        raise CommandError(f"the wire of the demo is {wire}, but it must be one of {allowed}", 2)
    faults = Faults(wire)
    show = View(quiet=json, faults=faults)
    with tempfile.TemporaryDirectory() as scratch:
        right = demo_agent.play(Path(scratch), wire)
    folder = Path(tempfile.mkdtemp(prefix="tenuto-demo-"))
    show.say(f"A simulated model writes into {folder}; every third answer is broken.")
    made = demo_agent.play(folder, wire, faults=faults, show=show)
    identical = made.equals(right)
    whole = all(result.ok for result in (*made.results, *right.results))
    outcome = {
        "ok": identical and whole and not made.twice and not made.refused,
        "identical": identical,
        "faults": faults.counts(),
        "faults_met": len(faults.met),
        "faults_recovered": len(faults.recovered),
        "turns": [result.as_dict() for result in made.results],
        "tool_runs": len(made.runs),
        "ran_twice": made.twice,
        "requests": made.requests,
        "requests_without_faults": right.requests,
        "requests_refused": made.refused,
        "files": list(made.files),
        "folder": str(folder),
    }
    show.outcome(outcome)
    if json:
        print_json(outcome)
    return 0 if outcome["ok"] else 1
