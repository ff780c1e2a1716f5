"""Asking a simulator for completions of a prompt, through the official SDK, and judging what comes
back. What is common to all wires stands in `openai_chat`."""

from __future__ import annotations

from typing import Any

from support.asking.openai_chat import Asker, Got
from support.asking.wrapping import Watching
from tenuto_sim import CASES_ON, Case

WIRE = "openai-completions"
CASES = CASES_ON[WIRE]


def of_body(completion: Any) -> Got:
    choice = completion.choices[0]
    return Got(text=choice.text, finish=choice.finish_reason, usage=completion.usage)


def of_parts(parts: list[Any]) -> Got:
    """Read the events of a stream as a program does that keeps what it is given."""
    got = Got()
    for part in parts:
        got.usage = part.usage or got.usage
        for choice in part.choices or ():
            got.text += choice.text or ""
            got.finish = choice.finish_reason or got.finish
    return got


class CompletionsAsker(Asker):
    """Asks through the SDK, with nothing else around it; a history is a prompt here: a line that
    asks, and what was written so far."""

    def history_for(self, case: Case, prompt: str) -> list[Any]:
        return [f"{prompt}\n"]

    def _ask(self, given: dict[str, Any]) -> Got:
        made = self.client.completions.create(**_prompted(given))
        return of_parts(list(made)) if given["stream"] else of_body(made)

    def _ask_async(self, given: dict[str, Any]) -> Got:
        async def run() -> Got:
            made = await self.async_client.completions.create(**_prompted(given))
            return of_parts([part async for part in made]) if given["stream"] else of_body(made)

        return self.loop.run_until_complete(run())

    def wanted(self, got: Got, case: Case) -> tuple[str, list[Any]]:
        """The full right answer, which has no calls."""
        form = case.request.get("response_format")
        return self.sim.expected(got.prompt, case.name, response_format=form).text, []


def _prompted(given: dict[str, Any]) -> dict[str, Any]:
    rows = [row for row in given["messages"] if isinstance(row, str)]
    more = {key: value for key, value in given.items() if key != "messages"}
    # What no parameter of the SDK names goes by the body.
    form = more.pop("response_format", None)
    if form is not None:
        more["extra_body"] = {"response_format": form}
    return {**more, "prompt": "".join(rows)}


class WrappedCompletions(Watching, CompletionsAsker):
    """Asks through `tenuto.wrap`."""
