"""DSPy: a `dspy.LM` that asks by LiteLLM, in a loop of our own: its agents end otherwise.

`ReAct` reads calls out of the text, and `ReActV2` ends with a call of its tool `submit`. The
simulator makes neither.
"""

import asyncio
import atexit
import json
import os
import shutil
import tempfile
from typing import Any

os.environ |= {
    "DSPY_CACHEDIR": tempfile.mkdtemp(),
    "LITELLM_LOCAL_MODEL_COST_MAP": "true",
}  # read when it is imported

import dspy
from dspy.lm15 import Config, FunctionTool, Message, RefusalPart, Request, Response, TextPart
from framework_judge import MOST_REQUESTS, Answer, Endless, Given, fault_of
from loop import schemas

import tenuto.litellm
from tenuto_sim import STEPS, Simulator

atexit.register(shutil.rmtree, os.environ["DSPY_CACHEDIR"], ignore_errors=True)
dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)


class Driver:
    distribution = "dspy"
    wire = "openai-chat"
    library = "httpx"
    ways = ("sync", "async")

    installed: Any = None

    def __init__(self, given: Given) -> None:
        # A client for each case, as the others are given one; what was learned goes with it.
        if given.policy is not None and Driver.installed is not given.http:
            tenuto.litellm.install(policy=given.policy)
            Driver.installed = given.http
        self.given = given
        self.tools = {tool.__name__: tool for tool in given.tools}
        self.messages: list[Any] = []

    @staticmethod
    def fails(sim: Simulator) -> list[str]:
        """Ask a program in each way, at an address that no variable names; what was not whole."""
        ways = {"sync": _sync, "async": _async, "streamed": _streamed}
        return [
            f"{kind}, {way}"
            for kind in ("chat", "responses")
            for way, ask in ways.items()
            if not _is_whole(sim, kind, ask)
        ]

    def _lm(self) -> Any:
        return dspy.LM(
            "openai/sim",
            engine="litellm",
            api_base=self.given.base_url,
            api_key="key",
            num_retries=0,
            extra_headers=fault_of(self.given),
        )

    def _request(self) -> Request:
        functions = [each["function"] for each in schemas(self.given.tools)]
        return Request(
            "openai/sim",
            messages=tuple(self.messages),
            tools=tuple(FunctionTool(**each) for each in functions),
            config=Config(**self.given.body),
        )

    def ask(self, prompt: str) -> Answer:
        lm, self.messages = self._lm(), [*self.messages, Message.user(prompt)]
        for _ in range(MOST_REQUESTS):
            made = (
                _streamed(_Asks(lm), self._request()).response
                if self.given.stream
                else lm(self._request())
            )
            if not self._run(made):
                return _answer(made)
        raise Endless

    async def ask_async(self, prompt: str) -> Answer:
        lm, self.messages = self._lm(), [*self.messages, Message.user(prompt)]
        for _ in range(MOST_REQUESTS):
            if self.given.stream:
                asked = dspy.streamify(_Asks(lm), is_async_program=True)
                made = [each async for each in asked(self._request())][-1].response
            else:
                made = await lm.acall(self._request())
            if not self._run(made):
                return _answer(made)
        raise Endless

    def _run(self, made: Response) -> bool:
        """Keep an answer and run its calls. False: it has none."""
        self.messages.append(made.message)
        for call in made.tool_calls:
            result = self.tools[call.name](**call.input)
            self.messages.append(Message.tool(call.id, result))
        return bool(made.tool_calls)


class _Asks(dspy.Module):  # type: ignore[misc]
    """A program that does nothing but ask: only programs are streamed."""

    def __init__(self, lm: Any) -> None:
        super().__init__()
        self.asked = lm

    def forward(self, request: Request) -> dspy.Prediction:
        return dspy.Prediction(response=self.asked(request))

    async def aforward(self, request: Request) -> dspy.Prediction:
        return dspy.Prediction(response=await self.asked.acall(request))


def _answer(made: Response) -> Answer:
    said = made.message.parts_of(TextPart) + made.message.parts_of(RefusalPart)
    return Answer("".join(part.text for part in said), made.finish_reason)


def _is_whole(sim: Simulator, kind: str, ask: Any) -> bool:
    program = dspy.Predict("question -> title: str, points: list[str]")
    lm = dspy.LM(
        "openai/gpt-4.1-mini",  # one of which DSPy knows that it takes a schema
        kind,
        engine="litellm",
        api_base=sim.base_url,
        api_key="key",
        max_tokens=1_000,
    )
    sim.script([STEPS["length"]])
    before = len(sim.requests)
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
        made = ask(program, question=f"Why do tides come twice, {kind} {ask.__name__}?")
    first = sim.requests[before]
    form = first.json.get("response_format") or dict(first.json["text"])["format"]
    form = form if "json_schema" in form else {"type": "json_schema", "json_schema": form}
    wanted: Any = json.loads(sim.answer(first.prompt, response_format=form))
    return bool(made.toDict() == wanted)


def _sync(program: Any, *args: Any, **inputs: Any) -> Any:
    return program(*args, **inputs)


def _async(program: Any, *args: Any, **inputs: Any) -> Any:
    return asyncio.run(program.acall(*args, **inputs))


def _streamed(program: Any, *args: Any, **inputs: Any) -> Any:
    *_, last = dspy.streamify(program, async_streaming=False)(*args, **inputs)
    return last
