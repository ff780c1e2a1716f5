"""Asking a simulator through Cohere's SDK on the API of version 1, as its documentation shows how to,
and judging what comes back. What is common to all wires stands in `openai_chat`."""

from __future__ import annotations

import asyncio
import itertools
import json
from dataclasses import dataclass, field
from typing import Any

import cohere
from cohere.core import ApiError
from support.asking.cohere import ErrorSeen
from support.asking.wrapping import Watching
from support.loops import close_loop

from tenuto_sim import CASES_ON, Bare, Case, Simulator

WIRE = "cohere-v1"
CASES = CASES_ON[WIRE]
TOOLS: list[Any] = [
    {
        "name": "write_file",
        "description": "Write a text file.",
        "parameter_definitions": {
            "path": {"type": "str", "required": True},
            "content": {"type": "str", "required": True},
        },
    }
]
_number = itertools.count(1)
Row = dict[str, Any]


@dataclass
class Said:
    """What one call of the SDK gave: a row as it would go into the history, or an error."""

    text: str = ""
    calls: list[Row] = field(default_factory=list)
    finish: str | None = None
    error: Exception | None = None
    usage: Any = None
    history: list[Any] = field(default_factory=list)
    """The rows that the answer itself says, as a program sends them back."""
    prompt: str = ""

    @property
    def inputs(self) -> list[Any]:
        """The arguments of the calls."""
        return [call["parameters"] for call in self.calls]


def plain(value: Any) -> Any:
    """An object of the SDK as a program keeps it: as JSON."""
    return json.loads(value.model_dump_json(exclude_none=True, warnings=False))


def of_answer(answer: Any) -> Said:
    """What a whole answer says."""
    return Said(
        text=answer.text,
        calls=[plain(call) for call in answer.tool_calls or ()],
        finish=answer.finish_reason,
        usage=answer.meta,
        history=[plain(row) for row in answer.chat_history or ()],
    )


def kind_of(event: Any) -> str:
    """What an event is, "" for one that the SDK does not know: it gives a dictionary then."""
    return getattr(event, "event_type", "")


def of_events(events: list[Any]) -> Said:
    """Read a stream as a program does that takes each event for what it says."""
    said = Said()
    for event in events:
        match kind_of(event):
            case "text-generation":
                said.text += event.text
            case "tool-calls-chunk":
                said.text += event.text or ""
            case "tool-calls-generation":
                said.calls = [plain(call) for call in event.tool_calls]
            case "stream-end":
                if getattr(event, "error", None):
                    raise ErrorSeen(event.error)
                said.finish = getattr(event, "finish_reason", None) or said.finish
                whole = of_answer(event.response)
                said.usage = whole.usage or said.usage
                said.history = whole.history or said.history
    return said


class CohereV1Asker:
    """Asks a simulator through the SDK, with nothing else around it; `told` holds the events of the
    last stream."""

    own_errors: tuple[type[Exception], ...] = (ApiError,)
    """What programs that use the SDK catch."""

    def __init__(self, sim: Simulator, max_retries: int = 0) -> None:
        self.sim = sim
        given: Any = {"base_url": sim.root_url, "api_key": "key", "max_retries": max_retries}
        self.client: Any = cohere.Client(**given)
        self.async_client: Any = cohere.AsyncClient(**given)
        self.loop = asyncio.new_event_loop()
        self.told: list[Any] = []

    def close(self) -> None:
        self.client._client_wrapper.httpx_client.httpx_client.close()
        closed = self.async_client._client_wrapper.httpx_client.httpx_client
        self.loop.run_until_complete(closed.aclose())
        close_loop(self.loop)

    def prompt_for(self, case: Case) -> str:
        """Return a prompt that no other test uses, so that the case's plan begins anew."""
        return f"Tell me about {case.name}, take {next(_number)}."

    def history_for(self, case: Case, prompt: str) -> list[Any]:
        history: list[Any] = [{"role": "USER", "message": prompt}]
        if case.after_tool_result:
            whole = self.sim.expected(prompt, "tool").calls[0]
            call = {"name": whole.name, "parameters": json.loads(str(whole.arguments))}
            history.append({"role": "CHATBOT", "message": "I will.", "tool_calls": [call]})
            history.append({"role": "TOOL", "tool_results": [result_of(call)]})
        return history

    def ask_case(self, case: Case, mode: str, way: str = "sync", **more: Any) -> Said:
        prompt = self.prompt_for(case)
        given = dict(case.request) | ({"tools": TOOLS} if case.wants_tools else {}) | more
        history = self.history_for(case, prompt)
        said = self.ask(history, mode, way, **({"model": f"sim/{case.name}"} | given))
        said.prompt = prompt
        return said

    def ask(self, rows: list[Any], mode: str = "body", way: str = "sync", **more: Any) -> Said:
        """Ask once, what the last row asks; what the SDK raises is kept in the result."""
        self.told.clear()
        *before, now = rows
        given: Row = {"model": "sim", "chat_history": before, "message": now.get("message", "")}
        given |= {"tool_results": now["tool_results"]} if "tool_results" in now else {}
        ask = self._ask_async if way == "async" else self._ask
        try:
            return ask(given | more, mode == "stream")
        except Exception as error:  # noqa: BLE001 - which one it is, is what tests are about
            return Said(error=error)

    def _ask(self, given: Row, stream: bool) -> Said:
        if not stream:
            return of_answer(self.client.chat(**given))
        self.told.extend(self.client.chat_stream(**given))
        return of_events(self.told)

    def _ask_async(self, given: Row, stream: bool) -> Said:
        async def run() -> Said:
            if not stream:
                return of_answer(await self.async_client.chat(**given))
            async for event in self.async_client.chat_stream(**given):
                self.told.append(event)
            return of_events(self.told)

        return self.loop.run_until_complete(run())

    def wanted(self, said: Said, case: Case) -> tuple[str, list[Any]]:
        """Return text and arguments of the full right answer."""
        if case.after_tool_result:
            return self.sim.answer(said.prompt), []
        form = case.request.get("response_format")
        whole = self.sim.expected(said.prompt, case.name, response_format=form)
        return whole.text, [json.loads(str(call.arguments)) for call in whole.calls]


def result_of(call: Row) -> Row:
    """A result as the documentation shows one."""
    return {"call": call, "outputs": [{"text": "written"}]}


def broken_call(said: Any, wanted: list[Any]) -> str:
    """Return what is wrong with the calls that were handed out, "" where nothing is.

    A cut call has a dictionary for its arguments as a whole one has: only the right one tells.
    """
    if said.calls and said.inputs != wanted:
        return "input"
    return "lying" if said.calls and said.finish != "COMPLETE" else ""


def next_turn_is_refused(asker: Any, said: Any, case: Case) -> bool:
    """Return whether the history that the answer says is refused."""
    after: list[Row] = [{"role": "USER", "message": "Go on."}]
    if said.calls:
        after = [{"role": "TOOL", "tool_results": [result_of(call) for call in said.calls]}]
    tools = {"tools": TOOLS} if case.wants_tools else {}
    asked = asker.ask([*said.history, *after], **tools)
    return isinstance(asked.error, ApiError)


def verdicts(asker: Any, said: Any, case: Case) -> set[Bare]:
    """Return everything that is true of a result. An error in a stream raises nothing."""
    if isinstance(said.error, ErrorSeen):
        return {Bare.SILENT}
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


class WrappedCohereV1(Watching, CohereV1Asker):
    """Asks through `tenuto.wrap`."""


def assert_one_message(told: list[Any]) -> None:
    """A stream is one message: one beginning, one end, which says all that was said before it and
    the caller's own rows alone."""
    kinds = [kind_of(event) for event in told]
    assert (kinds.count("stream-start"), kinds.count("stream-end")) == (1, 1)
    assert (kinds[0], kinds[-1]) == ("stream-start", "stream-end")
    end = told[-1]
    if getattr(end, "error", None):
        return
    whole = end.response
    said = [getattr(event, "text", None) or "" for event in told[:-1]]
    pieces = [
        text
        for text, kind in zip(said, kinds[:-1], strict=True)
        if kind in ("text-generation", "tool-calls-chunk")
    ]
    assert whole.text.strip() == "".join(pieces).strip()
    assert whole.generation_id == told[0].generation_id
    calls = [event.tool_calls for event in told if kind_of(event) == "tool-calls-generation"]
    assert (whole.tool_calls or []) == [call for some in calls for call in some]
    *before, last = whole.chat_history
    assert (last.role, last.message) == ("CHATBOT", whole.text)
    assert not any("[Your" in (getattr(row, "message", "") or "") for row in before)
