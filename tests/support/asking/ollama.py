"""Asking a simulator through ollama-python, as its documentation shows how to, and judging what comes
back. What is common to all wires stands in `openai_chat`."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import ollama

from support.asking.openai_chat import TOOLS as CHAT_TOOLS
from support.asking.wrapping import Watching
from support.loops import close_loop
from tenuto_sim import CASES_ON, Bare, Case, Simulator

WIRE = "ollama"
CASES = CASES_ON[WIRE]
TOOLS: list[Any] = CHAT_TOOLS
CLEAN = ("stop",)
_number = itertools.count(1)
Row = dict[str, Any]


@dataclass
class Said:
    """What one call of the SDK gave: a message as it would go into the history, or an error."""

    text: str = ""
    thinking: str = ""
    calls: list[Row] = field(default_factory=list)
    stop: str | None = None
    message: Row = field(default_factory=dict)
    error: Exception | None = None
    usage: Row = field(default_factory=dict)
    prompt: str = ""
    history: list[Any] = field(default_factory=list)

    @property
    def inputs(self) -> list[Any]:
        """The arguments of the calls."""
        return [call["function"]["arguments"] for call in self.calls]


def of_parts(parts: list[Any]) -> Said:
    """Read a response, or the parts of a stream, as a program does that keeps what it is given."""
    said = Said()
    for part in parts:
        message = getattr(part, "message", None) or ollama.Message(
            role="assistant", content=part.response, thinking=part.thinking
        )
        said.text += message.content or ""
        said.thinking += message.thinking or ""
        said.calls += [call.model_dump(exclude_none=True) for call in message.tool_calls or ()]
        said.stop = part.done_reason or said.stop
        if part.eval_count is not None:
            said.usage = {"input": part.prompt_eval_count, "output": part.eval_count}
    said.message = {"role": "assistant", "content": said.text}
    said.message |= {"thinking": said.thinking} if said.thinking else {}
    said.message |= {"tool_calls": said.calls} if said.calls else {}
    return said


class OllamaAsker:
    """Asks a simulator through the SDK, with nothing else around it; `told` holds the parts of the
    last answer."""

    own_errors: tuple[type[Exception], ...] = (ollama.ResponseError, ollama.RequestError)
    """What programs that use the SDK catch."""

    def __init__(self, sim: Simulator, max_retries: int = 0) -> None:
        self.sim = sim
        self.client: Any = ollama.Client(host=sim.root_url)
        self.async_client: Any = ollama.AsyncClient(host=sim.root_url)
        self.loop = asyncio.new_event_loop()
        self.told: list[Any] = []

    def close(self) -> None:
        self.client.close()
        self.loop.run_until_complete(self.async_client.close())
        close_loop(self.loop)

    def prompt_for(self, case: Case) -> str:
        """Return a prompt that no other test uses, so that the case's plan begins anew."""
        return f"Tell me about {case.name}, take {next(_number)}."

    def history_for(self, case: Case, prompt: str) -> list[Any]:
        history: list[Any] = [{"role": "user", "content": prompt}]
        if case.after_tool_result:
            whole = self.sim.expected(prompt, "tool").calls[0]
            function = {"name": whole.name, "arguments": json.loads(str(whole.arguments))}
            call = {"function": function}
            history.append({"role": "assistant", "content": "", "tool_calls": [call]})
            history.append({"role": "tool", "tool_name": whole.name, "content": "written"})
        return history

    def ask_case(self, case: Case, mode: str, way: str = "sync", **more: Any) -> Said:
        prompt = self.prompt_for(case)
        given = dict(case.request) | ({"tools": TOOLS} if case.wants_tools else {}) | more
        history = self.history_for(case, prompt)
        said = self.ask(history, mode, way, **({"model": f"sim/{case.name}"} | given))
        said.prompt, said.history = prompt, history
        return said

    def ask(self, messages: list[Any], mode: str = "body", way: str = "sync", **more: Any) -> Said:
        """Ask once; what the SDK raises is kept in the result."""
        self.told.clear()
        given: Row = {"model": "sim", "messages": messages, "stream": mode == "stream"} | more
        try:
            if way == "async":
                self.loop.run_until_complete(self._ask_async(given))
            else:
                made: Any = self.made(self.client, given)
                self.told.extend(made if given["stream"] else [made])
            return of_parts(self.told)
        except Exception as error:  # noqa: BLE001 - which one it is, is what tests are about
            return Said(error=error)

    async def _ask_async(self, given: Row) -> None:
        made: Any = await self.made(self.async_client, given)
        if not given["stream"]:
            self.told.append(made)
            return
        async for part in made:
            self.told.append(part)

    def made(self, client: Any, given: Row) -> Any:
        """What a client says to a question, or will say."""
        return client.chat(**given)

    def wanted(self, said: Said, case: Case) -> tuple[str, list[Any]]:
        """Return text and arguments of the full right answer."""
        if case.after_tool_result:
            return self.sim.answer(said.prompt), []
        format_ = {"type": "json_object"} if case.request.get("format") else None
        whole = self.sim.expected(said.prompt, case.name, response_format=format_)
        return whole.text, [json.loads(str(call.arguments)) for call in whole.calls]


class PromptAsker(OllamaAsker):
    """Asks by a prompt, which holds all that was said, in paragraphs."""

    def made(self, client: Any, given: Row) -> Any:
        prompt = "\n\n".join(row["content"] for row in given["messages"])
        more = {key: value for key, value in given.items() if key != "messages"}
        return client.generate(prompt=prompt, **more)


WITHOUT_TOOLS = {
    name: case
    for name, case in CASES.items()
    if not case.wants_tools and not case.after_tool_result
}
"""A prompt comes without any."""


def broken_call(said: Any, wanted: list[Any]) -> str:
    """Return what is wrong with the calls that were handed out, "" where nothing is.

    A cut call has a dictionary for its arguments as a whole one has: only the right one tells.
    """
    if said.calls and said.inputs != wanted:
        return "input"
    return "lying" if said.calls and said.stop not in CLEAN else ""


def next_turn_is_refused(asker: Any, said: Any, case: Case) -> bool:
    """Return whether the history with the answer in it is refused."""
    results = [
        {"role": "tool", "tool_name": call["function"]["name"], "content": "ok"}
        for call in said.calls
    ]
    after = results or [{"role": "user", "content": "Go on."}]
    tools = {"tools": TOOLS} if case.wants_tools else {}
    asked = asker.ask([*said.history, said.message, *after], **tools)
    return isinstance(asked.error, ollama.ResponseError)


def verdicts(asker: Any, said: Any, case: Case) -> set[Bare]:
    """Return everything that is true of a result."""
    if said.error is not None:
        return {Bare.RAISES if isinstance(said.error, asker.own_errors) else Bare.HARMFUL}
    text, inputs = asker.wanted(said, case)
    if broken_call(said, inputs):
        return {Bare.HARMFUL}
    right = (said.text, said.inputs) == (text, inputs)
    refused = next_turn_is_refused(asker, said, case)
    if right and not refused:
        return {Bare.FINE}
    return ({Bare.HARMFUL} if refused else set()) | (set() if right else {Bare.SILENT})


class WrappedOllama(Watching, OllamaAsker):
    """Asks through `tenuto.wrap`."""

    retries: ClassVar[Mapping[str, int]] = {}


class WrappedPrompts(WrappedOllama, PromptAsker):
    """The same by prompts."""
