"""Asking a simulator through huggingface_hub's own client, as its documentation shows how to, and
judging what comes back. What is common to all wires stands in `openai_chat`.

The clients of huggingface_hub share one HTTP client, which it makes as it is told to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import huggingface_hub
from huggingface_hub.errors import HfHubHTTPError, TextGenerationError
from huggingface_hub.utils._http import default_async_client_factory, default_client_factory

import tenuto
from support.asking import wrapping
from support.asking.openai_chat import Asker, Got
from support.loops import close_loop
from tenuto.sim import CASES_ON, Case, Simulator

WIRE = "tgi"
CASES = CASES_ON[WIRE]
MODEL_AT = {
    "sync": {"body": "/models/{}", "stream": "/models/{}"},
    "async": {"body": "/{}/generate", "stream": "/{}/generate_stream"},
}
"""Where a model is asked: as the client finds it by itself, and by the paths of the server."""


def of_body(made: Any) -> Got:
    text = made.generated_text or ""
    return Got(text, finish=made.details.finish_reason if made.details else None)


def of_parts(parts: list[Any]) -> Got:
    """Read the events of a stream as a program does that keeps what it is given."""
    got = Got()
    for part in parts:
        got.text += "" if part.token.special else part.token.text
        got.finish = part.details.finish_reason if part.details else got.finish
    return got


class TgiAsker(Asker):
    """Asks through the client, with nothing else around it; a history is a prompt here: a line that
    asks, and what was written so far. `told` holds the parts of the last answer."""

    own_errors = (HfHubHTTPError, TextGenerationError)

    def __init__(self, sim: Simulator, max_retries: int = 0) -> None:
        self.sim = sim
        self.options: dict[str, Any] = {"provider": "hf-inference", "token": "none"}
        self.made_by: tuple[Callable[[], Any], Callable[[], Any]] = (
            default_client_factory,
            default_async_client_factory,
        )
        self.async_client = huggingface_hub.AsyncInferenceClient(**self.options)
        self.client: Any = None
        self.loop = asyncio.new_event_loop()
        self.told: list[Any] = []

    def close(self) -> None:
        huggingface_hub.close_session()
        self.loop.run_until_complete(self.async_client.close())
        close_loop(self.loop)

    def history_for(self, case: Case, prompt: str) -> list[Any]:
        return [f"{prompt}\n"]

    def ask(self, messages: list[Any], mode: str = "body", way: str = "sync", **more: Any) -> Got:
        self.told.clear()
        if huggingface_hub.get_session() is not self.client:
            huggingface_hub.set_client_factory(self.made_by[0])
            huggingface_hub.set_async_client_factory(self.made_by[1])
            self.client = huggingface_hub.get_session()
        rows = [row for row in messages if isinstance(row, str)]
        path = MODEL_AT[way][mode].format(more.pop("model", "sim/normal"))
        more |= {"prompt": "".join(rows), "model": self.sim.root_url + path}
        got = super().ask([], mode, way, **more)
        if way == "sync" and mode == "body":  # as servers of such models do unless told otherwise
            got.text = got.text.removeprefix(more["prompt"])
        return got

    def _ask(self, given: dict[str, Any]) -> Got:
        with huggingface_hub.InferenceClient(**self.options) as client:
            made = client.text_generation(**_asked(given))
            self.told += made if given["stream"] else [made]
        return self._got(given)

    def _ask_async(self, given: dict[str, Any]) -> Got:
        async def run() -> None:
            made = await self.async_client.text_generation(**_asked(given))
            self.told += [part async for part in made] if given["stream"] else [made]

        self.loop.run_until_complete(run())
        return self._got(given)

    def _got(self, given: dict[str, Any]) -> Got:
        return of_parts(self.told) if given["stream"] else of_body(self.told[0])

    def wanted(self, got: Got, case: Case) -> tuple[str, list[Any]]:
        """The full right answer, which has no calls."""
        grammar = case.request.get("grammar")
        schema = {"schema": grammar["value"]} if grammar else None
        form = {"type": "json_schema", "json_schema": schema} if grammar else None
        return self.sim.expected(got.prompt, case.name, response_format=form).text, []


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    return {"details": True, **{key: value for key, value in given.items() if key != "messages"}}


class RecoveringTgi(wrapping.Watching, TgiAsker):
    """Asks through clients that recover."""

    def wrap(self, policy: tenuto.Policy, *, watched: bool = True) -> None:
        self.events: list[tenuto.Event] = []
        self.watched = watched
        told: dict[str, Any] = {
            "policy": policy,
            "on_event": self.events.append if watched else None,
        }
        own, claims = (made().event_hooks for made in self.made_by)
        self.made_by = (
            lambda: tenuto.http_client(verify=False, event_hooks=own, **told),
            lambda: tenuto.async_http_client(verify=False, event_hooks=claims, **told),
        )


def assert_one_generation(told: list[Any]) -> None:
    """The events are one answer: they count on, and the last one says all of the text."""
    indexes = [part.index for part in told]
    assert indexes == sorted(set(indexes))
    assert [part for part in told if part.generated_text is not None] == told[-1:]
    assert told[-1].generated_text.endswith(of_parts(told).text)
