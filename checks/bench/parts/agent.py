"""What a step of the agent costs: all of it beside HTTP, and its loop alone as it grows.

For the loop alone the driver answers from memory, as the pipe would: what is measured is the
request that grows, the transcript, the check of the call and the tool that runs.
"""

from __future__ import annotations

import time
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial

import httpx2
from parts.figures import Figure, each_us
from parts.replay import ARGUMENTS, SAID, TOOL, replaying
from parts.sides import SIDES, Side

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.signals import Usage
from tenuto.core.events.report import Report
from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.call_context import CallContext
from tenuto.wires.answer import Answer
from tenuto_agent import Agent, Limits, Model
from tenuto_agent.composing import Composed
from tenuto_agent.loop import Ask, Loop, RunCalls
from tenuto_agent.requests import Setup
from tenuto_agent.running import CallRunner
from tenuto_agent.toolbox import Toolbox
from tenuto_agent.transcript import Transcript, User

STEPS = 1_000
SHARE = 100
"""Steps at the beginning and at the end of a conversation that are compared."""
HTTP_STEPS = 40
BESIDE_HTTP_US = 1_000.0
FLAT = 1.25
_RUNS = 5
_CALL = ToolCall("call_1", TOOL, "".join(ARGUMENTS), Finding.WHOLE)
_SYSTEM = "You are a patient assistant."


def look(path: str, line: int) -> str:
    """Look at a line of a file."""
    return f"{path}, line {line}: the river bends toward a quiet town, where lamps are lit." * 3


def figures() -> Iterator[Figure]:
    """Microseconds for a step, and how they and the memory grow."""
    with replaying() as root:
        for side in SIDES:
            yield _beside_http(side, root, stream=False)
            yield _beside_http(side, root, stream=True)
    for side in SIDES:
        yield from _alone(side)
        yield from _memory(side)


# --- the whole of a step


def _model(side: Side, root: str) -> Model:
    base = root + ("/agent/v1" if side.wire.name == "openai-chat" else "/agent")
    return Model(f"{side.wire.name}:gpt-4o", base_url=base, api_key="none")


def _beside_http(side: Side, root: str, *, stream: bool) -> Figure:
    model = _model(side, root)
    bodies = [request.body for _, request in _steps(model, HTTP_STEPS, stream=stream)]
    client = httpx2.Client()

    def bare() -> None:
        for body in bodies:
            request = client.build_request(
                "POST", model.url(stream), content=body, headers=model.request_headers()
            )
            response = client.send(request, stream=True)
            for _ in response.iter_bytes():
                pass
            response.close()

    agent = Agent(
        model,
        tools=[look],
        system=_SYSTEM,
        limits=Limits(max_steps=HTTP_STEPS, repeated_calls=0),
        policy=Policy(),
        stream=stream,
    )

    def ours() -> None:
        result = agent.run("Go.")
        assert (result.steps, result.reason) == (HTTP_STEPS, "step_limit"), result

    bare()
    ours()
    bare_us, ours_us = each_us((bare, HTTP_STEPS), (ours, HTTP_STEPS))
    agent.close()
    client.close()
    what = f"streamed, {len(SAID)} tokens and a call" if stream else "whole body"
    name = f"{side.name}: a step of the agent beside HTTP, {what}"
    beside = f"{bare_us:.0f} → {ours_us:.0f} µs"
    return Figure(name, ours_us - bare_us, "µs", BESIDE_HTTP_US, beside)


# --- the loop alone


def _loop(model: Model, steps: int, toolbox: Toolbox, stream: bool) -> Loop:
    told = toolbox.declarations()
    limits = Limits(max_steps=steps, repeated_calls=0)
    setup = Setup([model], _SYSTEM, told, {}, limits, stream, time.monotonic)
    return Loop(setup, Transcript())


def _answer(context: CallContext) -> None:
    report = Report("complete", "completed", None, (Usage(46, 43),), "stop")
    context.ended(report, Answer("".join(SAID), calls=(_CALL,)), None, {})


def _steps(model: Model, steps: int, *, stream: bool = True) -> Iterator[tuple[float, Composed]]:
    """Each step's seconds of processor time and its request, whose bytes are not made."""
    toolbox = Toolbox([look])
    run = _loop(model, steps, toolbox, stream).run("Go.")
    command = next(run, None)
    began_s = time.process_time()
    while command is not None:
        reply = None
        if isinstance(command, Ask):
            yield time.process_time() - began_s, command.request
            began_s = time.process_time()
            _answer(command.context)
        elif isinstance(command, RunCalls):
            reply = CallRunner(toolbox).run(command.calls)
        try:
            command = run.send(reply)
        except StopIteration:
            return


def _alone(side: Side) -> Iterator[Figure]:
    model = _model(side, "http://localhost")
    runs = [[took_s for took_s, _ in _steps(model, STEPS)] for _ in range(_RUNS)]
    quickest_s = [min(each) for each in zip(*runs, strict=True)][1:]
    first, last = (sum(some) / SHARE * 1e6 for some in (quickest_s[:SHARE], quickest_s[-SHARE:]))
    name = f"{side.name}: the agent's loop alone, the last {SHARE} steps of {STEPS:,}"
    yield Figure(name, last / first, "×", FLAT, f"{first:.0f} → {last:.0f} µs a step")
    request = deque(_steps(model, STEPS), maxlen=1).pop()[1]

    def written() -> None:
        request.add(User("-"))
        assert request.body

    name = (
        f"{side.name}: the bytes of a request of {len(request) / 1e6:.1f} MB, written once a step"
    )
    yield Figure(name, each_us((written, 1))[0], "µs")


def _memory(side: Side) -> Iterator[Figure]:
    model = _model(side, "http://localhost")
    sizes = [_peak(partial(_last, model, n)) for n in (STEPS // 2, STEPS)]
    (half, _), (whole, body) = sizes
    name = f"{side.name}: memory of {STEPS:,} steps against {STEPS // 2}"
    beside = f"{whole / 1e6:.1f} MB at most, the last request {body / 1e6:.1f} MB of it"
    yield Figure(name, whole / half, "×", 2.1, beside)


def _last(model: Model, steps: int) -> int:
    """The size of the last request."""
    size = 0
    for _, request in _steps(model, steps):
        size = len(request)
    return size


def _peak(work: Callable[[], int]) -> tuple[int, int]:
    work()
    tracemalloc.start()
    size = work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, size
