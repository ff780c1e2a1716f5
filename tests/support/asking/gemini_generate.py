"""Asking a simulator through google-genai, as its documentation shows how to, and judging what comes
back. What is common to all wires stands in `openai_chat`."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from google import genai
from google.genai import errors, types

from support.asking.wrapping import Watching
from support.loops import close_loop
from tenuto_sim import CASES_ON, Bare, Case, Simulator
from tenuto_sim.gemini_generate.request import lowered
from tenuto_sim.gemini_generate.seals import signature

WIRE = "gemini-generate"
CASES = CASES_ON[WIRE]
TOOLS: list[Any] = [
    {
        "function_declarations": [
            {
                "name": "write_file",
                "description": "Write a text file.",
                "parameters": {
                    "type": "OBJECT",
                    "properties": {"path": {"type": "STRING"}, "content": {"type": "STRING"}},
                    "required": ["path", "content"],
                },
            }
        ]
    }
]
MAX_TOKENS = 4096
CLEAN = (None, "STOP")
_number = itertools.count(1)
Row = dict[str, Any]


def user(*parts: str | Row) -> Row:
    """A turn of the user's."""
    return {"role": "user", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def model(*parts: str | Row) -> Row:
    """A turn of the model's."""
    return {"role": "model", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def result(name: str = "write_file", **response: Any) -> Row:
    """A part that holds the result of a call."""
    return {"functionResponse": {"name": name, "response": response or {"result": "ok"}}}


@dataclass
class Said:
    """What one call of the SDK gave: a turn as it would go into the history, or an error."""

    text: str = ""
    calls: list[Row] = field(default_factory=list)
    stop: str | None = None
    message: Row = field(default_factory=dict)
    error: Exception | None = None
    usage: Any = None
    prompt: str = ""
    history: list[Any] = field(default_factory=list)
    blocked: str | None = None
    last: Any = None

    @property
    def inputs(self) -> list[Any]:
        """The arguments of the calls."""
        return [call.get("args", {}) for call in self.calls]


def written(part: types.Part) -> Row:
    """A part as JSON."""
    made: Row = json.loads(part.model_dump_json(exclude_none=True, by_alias=True))
    return made


def of_responses(responses: list[types.GenerateContentResponse]) -> Said:
    """Read a response, or the chunks of a stream, as a program does that keeps what it is given."""
    parts: list[Row] = []
    said = Said()
    for response in responses:
        said.last = response
        said.usage = response.usage_metadata or said.usage
        if response.prompt_feedback and response.prompt_feedback.block_reason:
            said.blocked = str(response.prompt_feedback.block_reason.value)
        for candidate in (response.candidates or [])[:1]:
            if candidate.finish_reason is not None:
                said.stop = str(candidate.finish_reason.value)
            content = candidate.content
            parts += [written(part) for part in (content and content.parts) or []]
    said.text = "".join(p["text"] for p in parts if "text" in p and not p.get("thought"))
    said.calls = [part["functionCall"] for part in parts if "functionCall" in part]
    said.message = {"role": "model", "parts": parts}
    return said


class GeminiAsker:
    """Asks a simulator through the SDK, with nothing else around it; `told` holds the chunks of the
    last stream."""

    def __init__(self, sim: Simulator, max_retries: int = 0, **options: Any) -> None:
        self.sim = sim
        self.client = self.make(sim, **options)
        self.loop = asyncio.new_event_loop()
        self.told: list[Any] = []

    @staticmethod
    def make(sim: Any, **options: Any) -> genai.Client:
        """A client of this simulator."""
        given = {"base_url": sim.root_url} | options
        return genai.Client(api_key="key", http_options=types.HttpOptions(**given))

    def close(self) -> None:
        self.client.close()
        self.loop.run_until_complete(self.client.aio.aclose())
        close_loop(self.loop)

    def prompt_for(self, case: Case) -> str:
        """Return a prompt that no other test uses, so that the case's plan begins anew."""
        return f"Tell me about {case.name}, take {next(_number)}."

    def history_for(self, case: Case, prompt: str) -> list[Any]:
        history: list[Any] = [user(prompt)]
        if case.after_tool_result:
            whole = self.sim.expected(prompt, "tool").calls[0]
            call = {"name": whole.name, "args": json.loads(str(whole.arguments))}
            sealed = {"functionCall": call, "thoughtSignature": signature(whole.name)}
            history += [model(sealed), user(result(whole.name))]
        return history

    def ask_case(self, case: Case, mode: str, way: str = "sync", **more: Any) -> Said:
        prompt = self.prompt_for(case)
        given = dict(case.request) | ({"tools": TOOLS} if case.wants_tools else {}) | more
        history = self.history_for(case, prompt)
        said = self.ask(history, mode, way, **({"model": f"sim/{case.name}"} | given))
        said.prompt, said.history = prompt, history
        return said

    def ask(self, contents: list[Any], mode: str = "body", way: str = "sync", **more: Any) -> Said:
        """Ask once; what the SDK raises is kept in the result. Keywords are the model and members
        of the config."""
        self.told.clear()
        named = more.pop("model", "sim")
        off = types.AutomaticFunctionCallingConfig(disable=True)
        config = {"max_output_tokens": MAX_TOKENS, "automatic_function_calling": off} | more
        given = {"model": named, "contents": contents, "config": config}
        try:
            if way == "async":
                self.loop.run_until_complete(self._ask_async(given, mode))
            else:
                self._ask(given, mode)
            return of_responses(self.told)
        except Exception as error:  # noqa: BLE001 - which one it is, is what tests are about
            return Said(error=error)

    def _ask(self, given: Row, mode: str) -> None:
        if mode == "body":
            self.told.append(self.client.models.generate_content(**given))
        else:
            self.told.extend(self.client.models.generate_content_stream(**given))

    async def _ask_async(self, given: Row, mode: str) -> None:
        if mode == "body":
            self.told.append(await self.client.aio.models.generate_content(**given))
            return
        async for chunk in await self.client.aio.models.generate_content_stream(**given):
            self.told.append(chunk)

    def wanted(self, said: Said, case: Case) -> tuple[str, list[Any]]:
        """Return text and arguments of the full right answer."""
        if case.after_tool_result:
            return self.sim.answer(said.prompt), []
        schema = case.request.get("response_schema")
        format_ = None
        if schema:
            format_ = {"type": "json_schema", "json_schema": {"schema": lowered(schema)}}
        whole = self.sim.expected(said.prompt, case.name, response_format=format_)
        return whole.text, [json.loads(str(call.arguments)) for call in whole.calls]


def broken_call(said: Any, wanted: list[Any]) -> str:
    """Return what is wrong with the calls that were handed out, "" where nothing is.

    A cut call has a dictionary for its arguments as a whole one has: only the right one tells.
    """
    ids = [call["id"] for call in said.calls if call.get("id")]
    if len(set(ids)) < len(ids):
        return "ids"
    if said.calls and said.inputs != wanted:
        return "input"
    return "lying" if said.calls and said.stop not in CLEAN else ""


def results_for(said: Any) -> list[Any]:
    """Return the turn that answers every call."""
    named = ({"id": c["id"]} if c.get("id") else {} for c in said.calls)
    parts = [
        {"functionResponse": {**given, "name": call.get("name"), "response": {"result": "ok"}}}
        for given, call in zip(named, said.calls, strict=True)
    ]
    return [user(*parts)] if parts else []


def next_turn_is_refused(asker: Any, said: Any, case: Case) -> bool:
    """Return whether the history with the answer in it is refused. What the SDK's own chat leaves
    out of its history (a turn without parts) stays out of this one."""
    after = results_for(said) or [user("Go on.")]
    tools = {"tools": TOOLS} if case.wants_tools else {}
    message = [said.message] if said.message.get("parts") else []
    asked = asker.ask([*said.history, *message, *after], **tools)
    return isinstance(asked.error, errors.ClientError)


def verdicts(asker: Any, said: Any, case: Case) -> set[Bare]:
    """Return everything that is true of a result."""
    if said.error is not None:
        return {Bare.RAISES if isinstance(said.error, errors.APIError) else Bare.HARMFUL}
    text, inputs = asker.wanted(said, case)
    if broken_call(said, inputs):
        return {Bare.HARMFUL}
    right = (said.text, said.inputs) == (text, inputs)
    refused = next_turn_is_refused(asker, said, case)
    if right and not refused:
        return {Bare.FINE}
    return ({Bare.HARMFUL} if refused else set()) | (set() if right else {Bare.SILENT})


class WrappedGemini(Watching, GeminiAsker):
    """Asks through `tenuto.wrap`."""

    retries: ClassVar[Mapping[str, int]] = {}
