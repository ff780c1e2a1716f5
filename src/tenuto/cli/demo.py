"""`tenuto demo`: a real model's cut answers and a simulator's faults, without and with Tenuto."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tenuto.cli.app import CommandError
from tenuto.cli.demo_faults import FaultRow, faults_to_play, play
from tenuto.cli.demo_model import PROMPTS, ModelRow, ask_model
from tenuto.cli.demo_view import View, view
from tenuto.cli.model_server import MODEL_NAME, ModelServer, ModelServerUnavailable
from tenuto.cli.printing import JsonFlag, print_json

if TYPE_CHECKING:
    import openai

EXAMPLES = (
    "tenuto demo",
    "tenuto demo --fast --json",
    "tenuto demo --no-model",
    "OPENAI_API_KEY=... tenuto demo --live --model gpt-4.1-mini",
)
LIVE_MODEL = "gpt-4.1-mini"
Switch = Annotated[bool, Parameter(negative="")]


def demo(
    *,
    live: Switch = False,
    model: str | None = None,
    json: JsonFlag = False,
    fast: Switch = False,
    no_model: Annotated[bool, Parameter(name="--no-model", negative="")] = False,
) -> int:
    """Show cut answers of a real model and faults of a simulator, without and with Tenuto.

    A small model runs on this machine and nothing leaves it, except with --live. The exit code is
    0 if Tenuto recovered every answer or reported truthfully that it is incomplete.

    Args:
        live: use the service of OPENAI_API_KEY and OPENAI_BASE_URL instead of the small model.
        model: the model of that service; needs --live.
        json: print one JSON object at the end, and nothing else.
        fast: ask one question, and play each fault in one mode.
        no_model: skip the model, and only play the simulator's faults.
    """
    _check(live=live, model=model, no_model=no_model)
    show = view(quiet=json)
    rows, skipped = _first_act(show, live=live, model=model, fast=fast, no_model=no_model)
    faults = _second_act(show, fast=fast)
    # A service that samples need not say the same twice, so only the small model is held to it.
    good = all(row.good for row in faults) and (live or all(r.verdict != "differs" for r in rows))
    if json:
        print_json(
            {
                "ok": good,
                "model": {"skipped": skipped, "answers": [_plain_answer(row) for row in rows]},
                "faults": [asdict(row) | {"good": row.good} for row in faults],
            }
        )
    return 0 if good else 1


def _check(*, live: bool, model: str | None, no_model: bool) -> None:
    if live and no_model:
        raise CommandError("--live and --no-model cannot be used together", 2)
    if model is not None and not live:
        raise CommandError("--model needs --live: it names a model of the real service", 2)
    if live and not os.environ.get("OPENAI_API_KEY"):
        raise CommandError("--live needs an API key in the variable OPENAI_API_KEY", 2)
    try:
        import openai  # noqa: F401 - loaded here, so that its absence is told before any work
    except ModuleNotFoundError:
        raise CommandError(
            "the demo needs the package openai; install it with: pip install 'tenuto[demo]'", 2
        ) from None


def _first_act(
    show: View, *, live: bool, model: str | None, fast: bool, no_model: bool
) -> tuple[list[ModelRow], str | None]:
    """The model's answers, and why it was left out if it was."""
    if no_model:
        return [], "not wanted (--no-model)"
    prompts = PROMPTS[:1] if fast else PROMPTS
    rows: list[ModelRow] = []
    try:
        with _live() if live else _small_model(show) as client:
            named, limit_key = MODEL_NAME, "max_tokens"
            if live:
                named, limit_key = model or LIVE_MODEL, "max_completion_tokens"
                show.say(f"Asking {named} at {client.base_url}.")
            for row in ask_model(client, prompts, model=named, limit_key=limit_key):
                failed = row.bare.error or row.wrapped.error or row.uncut.error
                if failed:
                    raise CommandError(f"the model did not answer ({failed})")
                rows.append(row)
                show.model_row(row)
    except ModelServerUnavailable as error:
        show.say(f"The small model is left out: {error}.")
        return rows, str(error)
    return rows, None


@contextmanager
def _live() -> Iterator[openai.OpenAI]:
    import openai

    with openai.OpenAI() as client:
        yield client


@contextmanager
def _small_model(show: View) -> Iterator[openai.OpenAI]:
    import openai

    show.say(f"Starting {MODEL_NAME} on this machine; no network is used.")
    with (
        ModelServer() as server,
        openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0) as client,
    ):
        yield client


def _second_act(show: View, *, fast: bool) -> list[FaultRow]:
    plan = faults_to_play(fast=fast)
    show.say("\nThe same SDK against a provider that is told to fail:")
    rows = list(show.faults(play(plan), len(plan)))
    show.closing(rows)
    good = sum(row.good for row in rows)
    recovered = sum(row.wrapped.verdict == "recovered" for row in rows)
    show.say(
        f"{len(rows)} faults: {recovered} recovered, {good - recovered} told truthfully, "
        f"{len(rows) - good} wrong."
    )
    return rows


def _plain_answer(row: ModelRow) -> dict[str, Any]:
    return asdict(row) | {"equal": row.equal, "verdict": row.verdict}
