"""How the calls of a turn run: in order, side by side, too long, and when they raise."""

import asyncio
import contextvars
import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import msgspec
import pytest

from tenuto.core.answer.arguments import judge
from tenuto.core.answer.calls import ToolCall
from tenuto_agent import background, loop_hints
from tenuto_agent.function_tool import Failure, Tool, tool
from tenuto_agent.jobs import MOST_AT_ONCE
from tenuto_agent.running import CallRunner
from tenuto_agent.toolbox import Toolbox
from tenuto_agent.transcript import Result


def call(name: str, number: int = 1, /, **arguments: object) -> ToolCall:
    judged = judge(json.dumps(arguments))
    return ToolCall(f"call_{number}", name, judged.text, judged.finding)


async def driven(toolbox: Toolbox, calls: list[ToolCall], **said: Any) -> tuple[Result, ...]:
    return await CallRunner(toolbox, **said).arun(calls)


def in_a_loop(toolbox: Toolbox, calls: list[ToolCall], **said: Any) -> tuple[Result, ...]:
    return asyncio.run(driven(toolbox, calls, **said))


def here(toolbox: Toolbox, calls: list[ToolCall], **said: Any) -> tuple[Result, ...]:
    return CallRunner(toolbox, **said).run(calls)


@pytest.fixture(params=[here, in_a_loop], ids=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Callable[..., tuple[Result, ...]]:
    driver: Callable[..., tuple[Result, ...]] = request.param
    return driver


@tool
def add(a: int, b: int) -> int:
    return a + b


@tool
async def later(word: str) -> str:
    await asyncio.sleep(0)
    return word


def raising(error: BaseException) -> Callable[[], object]:
    def fail() -> object:
        raise error

    return fail


def test_each_call_gets_its_result_in_the_order_of_the_calls(run):
    calls = [call("add", 1, a=1, b=2), call("later", 2, word="x"), call("add", 3, a=3, b=4)]
    assert run(Toolbox([add, later]), calls) == (
        Result("call_1", "add", "3"),
        Result("call_2", "later", "x"),
        Result("call_3", "add", "7"),
    )


class Span(msgspec.Struct):
    start: Annotated[int, msgspec.Meta(ge=1)]

    def __post_init__(self) -> None:
        if self.start == 13:
            raise ValueError("not that one")


def test_arguments_are_of_the_annotated_types_when_the_function_is_called(run):
    @tool
    def describe(span: Span) -> str:
        return f"{type(span).__name__} {span.start}"

    calls = [call("describe", 1, span={"start": 2}), call("describe", 2, span={"start": 13})]
    good, bad = run(Toolbox([describe]), calls)
    assert good == Result("call_1", "describe", "Span 2")
    assert bad.failed
    assert bad.text.endswith("the parameters of describe:\n- span: not that one")


@pytest.mark.behaviour("T15")
@pytest.mark.parametrize("concurrent", [False, True])
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no such thing"), "ValueError: no such thing"),
        (StopIteration(3), "StopIteration: 3"),
        (SystemExit(2), "SystemExit: 2"),
    ],
)
def test_a_tool_that_raises_fails_alone(run, error, text, concurrent):
    fail = tool(raising(error), concurrent=concurrent)
    sound = tool(lambda: "well", name="sound", concurrent=concurrent)
    calls = [call("sound", 1), call("fail", 2), call("sound", 3)]
    results = run(Toolbox([fail, sound]), calls)
    assert results == (
        Result("call_1", "sound", "well"),
        Result("call_2", "fail", text, failed=True),
        Result("call_3", "sound", "well"),
    )
    assert "Traceback" not in results[1].text


@pytest.mark.behaviour("T15")
def test_an_async_tool_that_raises_or_cancels_itself_fails_alone(run):
    async def fail() -> None:
        raise OSError("gone")

    async def cancel() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    toolbox = Toolbox([fail, cancel, later])
    calls = [call("fail", 1), call("cancel", 2), call("later", 3, word="on")]
    assert [(r.text, r.failed) for r in run(toolbox, calls)] == [
        ("OSError: gone", True),
        ("CancelledError", True),
        ("on", False),
    ]


def test_a_tool_whose_schema_is_not_that_of_its_function_fails(run):
    schema = {"type": "object"}
    wrong = Tool(name="wrong", description="", parameters=schema, function=later.function)
    (result,) = run(Toolbox([wrong]), [call("wrong", other=1)])
    assert result.failed
    assert result.text.startswith("TypeError: later() got an unexpected keyword argument")


def test_a_tool_may_say_that_it_failed(run):
    @tool
    def open_door() -> Failure:
        return Failure("The door is locked.")

    (result,) = run(Toolbox([open_door]), [call("open_door")])
    assert result == Result("call_1", "open_door", "The door is locked.", failed=True)


async def told_later():
    yield 1


def holding_itself(value: object) -> object:
    circle = [value]
    circle.append(circle)
    return circle


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (lambda: (line for line in "ab"), "generator"),
        (lambda: map(int, "12"), "map"),
        (told_later, "async_generator"),
        (lambda: [1, (line for line in "ab")], "list with a generator in it"),
        (lambda: ("a", {"b": [told_later()]}), "tuple with a async_generator in it"),
        (lambda: {"rows": zip("ab", "cd", strict=True)}, "dict with a zip in it"),
        (lambda: {(1, 2): iter(b"ab")}, "dict with a bytes_iterator in it"),
        (lambda: {"a": {iter([1])}}, "dict with a list_iterator in it"),
        (lambda: holding_itself(iter([1])), "list with a list_iterator in it"),
    ],
)
def test_a_tool_that_gives_what_nobody_goes_through_has_failed(run, value, kind):
    def plain() -> object:
        return value()

    async def awaited() -> object:
        return value()

    for result in run(Toolbox([plain, awaited]), [call("plain"), call("awaited")]):
        assert result.failed
        assert result.text == (
            f"Error: {result.name} gave a {kind} in place of a value, so what it was to do may not "
            "be done. Allowed are values: texts, numbers, and lists or dicts of them."
        )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (["ab", {"c": (1, None)}], '["ab",{"c":[1,null]}]'),
        ([{}.values(), range(2)], '["dict_values([])","range(0, 2)"]'),
        ({(1, 2): [print]}, '{"(1, 2)":["<built-in function print>"]}'),
        (holding_itself(1), "[1, [...]]"),
    ],
)
def test_other_odd_values_in_a_tools_result_are_shown(run, value, text):
    def odd() -> object:
        return value

    (result,) = run(Toolbox([odd]), [call("odd")])
    assert (result.text, result.failed) == (text, False)


@pytest.mark.behaviour("T3")
def test_a_refused_call_does_not_run_and_those_beside_it_do(run):
    ran: list[int] = []
    seen: list[tuple[str, str]] = []

    @tool
    def note(number: int) -> None:
        ran.append(number)

    calls = [call("note", 1, number=1), call("note", 2, number="two"), call("nope", 3)]
    results = run(
        Toolbox([note]),
        calls,
        began=lambda call: seen.append(("began", call.id)),
        ended=lambda call, result: seen.append(("ended", result.call_id)),
    )
    assert ran == [1]
    assert [result.failed for result in results] == [False, True, True]
    assert seen == [("began", "call_1"), *(("ended", f"call_{n}") for n in (1, 2, 3))]


@pytest.mark.parametrize("kind", ["threads", "async"])
def test_calls_whose_tools_allow_it_run_side_by_side(run, kind):
    barrier = threading.Barrier(3, timeout=10)
    together = asyncio.Event()
    present: list[int] = []

    def meet(number: int) -> int:
        barrier.wait()
        return number

    async def ameet(number: int) -> int:
        present.append(number)
        if len(present) == 3:
            together.set()
        await asyncio.wait_for(together.wait(), 10)
        return number

    made = tool(meet if kind == "threads" else ameet, name="meet", concurrent=True)
    results = run(Toolbox([made]), [call("meet", n, number=n) for n in range(3)])
    assert [result.text for result in results] == ["0", "1", "2"]


def test_calls_of_other_tools_wait_until_those_before_them_are_done(run):
    at_work: list[int] = []
    most: dict[str, int] = {}
    both_began = threading.Barrier(2)

    def work(kind: str) -> None:
        at_work.append(1)
        most[kind] = max(most.get(kind, 0), len(at_work))
        if kind == "beside" and "alone" not in most:
            both_began.wait(timeout=10)
        time.sleep(0.02)
        at_work.pop()

    beside = tool(lambda: work("beside"), name="beside", concurrent=True)
    alone = tool(lambda: work("alone"), name="alone")
    order = ["beside", "beside", "alone", "alone", "beside"]
    run(Toolbox([beside, alone]), [call(name, n) for n, name in enumerate(order)])
    assert most == {"beside": 2, "alone": 1}


def test_no_more_than_a_limit_run_at_once(run):
    at_work: list[int] = []
    most: list[int] = []

    @tool(concurrent=True)
    async def work() -> None:
        at_work.append(1)
        most.append(len(at_work))
        await asyncio.sleep(0.001)
        at_work.pop()

    run(Toolbox([work]), [call("work", n) for n in range(MOST_AT_ONCE * 2)])
    assert max(most) == MOST_AT_ONCE


def test_a_tool_that_takes_too_long_fails_and_those_beside_it_do_not(run):
    ended = threading.Event()
    cleaned: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.append("slow")

    stuck = tool(lambda: ended.wait(60), name="stuck", timeout_s=0.05, concurrent=True)
    waiting = tool(slow, timeout_s=0.05, concurrent=True)
    quick = tool(lambda: "done", name="quick", concurrent=True)
    calls = [call("stuck", 1), call("slow", 2), call("quick", 3)]
    results = run(Toolbox([stuck, waiting, quick]), calls)
    ended.set()
    given_up = (
        loop_hints.TOOL_TIMED_OUT.format(name="stuck", timeout_s=0.05) + loop_hints.TOOL_GOES_ON
    )
    assert results == (
        Result("call_1", "stuck", given_up, failed=True),
        Result("call_2", "slow", "Error: slow did not end within 0.05 s and was given up.", True),
        Result("call_3", "quick", "done"),
    )
    assert cleaned == ["slow"]


def test_an_async_tool_that_will_not_be_cancelled_is_left(run, monkeypatch):
    monkeypatch.setattr("tenuto_agent.running._GRACE_S", 0.02)
    release: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    @tool(timeout_s=0.02)
    async def stubborn() -> None:
        event = asyncio.Event()
        release.append((asyncio.get_running_loop(), event))
        for _ in range(2):
            try:
                await event.wait()
            except asyncio.CancelledError:
                continue

    (result,) = run(Toolbox([stubborn]), [call("stubborn")])
    assert result.failed
    assert result.text.endswith(loop_hints.TOOL_GOES_ON)
    loop, event = release[0]
    if not loop.is_closed():
        loop.call_soon_threadsafe(event.set)


def test_when_the_time_of_the_turn_is_over_no_further_call_begins(run):
    ran: list[str] = []

    @tool
    async def wait() -> None:
        ran.append("wait")
        await asyncio.sleep(60)

    began: list[str] = []
    calls = [call("wait", 1), call("wait", 2)]
    first, second = run(
        Toolbox([wait]), calls, within_s=0.05, began=lambda call: began.append(call.id)
    )
    assert first.text.startswith("Error: wait did not end within")
    assert second == Result("call_2", "wait", loop_hints.NO_TIME_LEFT, failed=True)
    assert ran == ["wait"]
    assert began == ["call_1"]


def test_what_the_model_sees_of_a_result_is_bounded(run):
    long = tool(lambda: "a" * 1000, name="long")
    (result,) = run(Toolbox([long]), [call("long")], limit_chars=100)
    assert "[… 900 of 1,000 characters left out here …]" in result.text


USER: contextvars.ContextVar[str] = contextvars.ContextVar("user")


@pytest.mark.parametrize("concurrent", [False, True])
def test_tools_see_the_context_variables_of_who_runs_them(run, concurrent):
    plain = tool(lambda: USER.get("nobody"), name="plain", concurrent=concurrent)

    @tool(concurrent=concurrent)
    async def waiting() -> str:
        return USER.get("nobody")

    token = USER.set("ada")
    results = run(Toolbox([plain, waiting]), [call("plain", 1), call("waiting", 2)])
    USER.reset(token)
    assert [result.text for result in results] == ["ada", "ada"]


def test_a_function_that_gives_something_to_await_is_awaited(run):
    async def work(text: str) -> str:
        await asyncio.sleep(0)
        if not text:
            raise ValueError("nothing")
        return text

    @tool
    def wrapped(text: str) -> Coroutine[None, None, str]:
        return work(text)

    results = run(Toolbox([wrapped]), [call("wrapped", 1, text="a"), call("wrapped", 2, text="")])
    assert [result.text for result in results] == ["a", "ValueError: nothing"]


def test_an_object_with_an_async_call_is_a_tool(run):
    class Say:
        async def __call__(self, word: str) -> str:
            return word

    say = tool(Say(), name="say")
    assert run(Toolbox([say]), [call("say", word="x")])[0].text == "x"


def test_in_a_sync_run_a_plain_function_is_called_in_the_callers_thread():
    connection = sqlite3.connect(":memory:")  # it refuses every other thread

    @tool
    def query() -> object:
        return connection.execute("select 1").fetchone()

    assert CallRunner(Toolbox([query])).run([call("query")])[0].text == "[1]"
    connection.close()


def test_in_a_sync_run_all_async_calls_share_one_loop():
    loops: list[asyncio.AbstractEventLoop] = []

    @tool
    async def where() -> None:
        loops.append(asyncio.get_running_loop())

    for _ in range(2):
        CallRunner(Toolbox([where])).run([call("where")])
    assert loops[0] is loops[1]
    assert loops[0].is_running()


async def test_a_sync_run_works_inside_a_running_loop():
    (result,) = CallRunner(Toolbox([later])).run([call("later", word="x")])
    assert result.text == "x"


def test_an_async_tool_may_run_calls_and_wait_for_them():
    @tool
    async def nested() -> str:
        return CallRunner(Toolbox([later])).run([call("later", word="inner")])[0].text

    assert CallRunner(Toolbox([nested])).run([call("nested")])[0].text == "inner"


@pytest.mark.parametrize("concurrent", [False, True])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_interrupt_passes_through_a_sync_run(concurrent, asynchronous):
    async def afail() -> None:
        raise KeyboardInterrupt

    fail = afail if asynchronous else raising(KeyboardInterrupt())
    stop = tool(fail, name="stop", concurrent=concurrent)
    with pytest.raises(KeyboardInterrupt):
        CallRunner(Toolbox([stop, add])).run([call("stop", 1), call("add", 2, a=1, b=2)])
    assert background.submit(later.function(word="the loop goes on")).result()  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are not sent to threads there")
@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_while_calls_run_cancels_them():
    cancelled = threading.Event()

    @tool
    async def wait() -> None:
        await asyncio.sleep(0.05)  # by then the caller waits
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    with pytest.raises(KeyboardInterrupt):
        CallRunner(Toolbox([wait])).run([call("wait")])
    assert cancelled.wait(5)


async def test_cancelling_passes_through_and_reaches_the_tools():
    begun = asyncio.Event()
    cleaned: list[str] = []

    @tool(concurrent=True)
    async def wait(number: int) -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)
            cleaned.append(f"wait {number}")
            raise

    calls = [call("wait", n, number=n) for n in range(2)]
    running = asyncio.create_task(CallRunner(Toolbox([wait])).arun(calls))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert sorted(cleaned) == ["wait 0", "wait 1"]


def test_what_an_observer_raises_reaches_the_caller_as_it_is(run):
    def ended(_call: ToolCall, _result: Result) -> None:
        raise RuntimeError("the observer")

    quick = tool(lambda: "done", name="quick", concurrent=True)
    with pytest.raises(RuntimeError, match="the observer"):
        run(Toolbox([quick]), [call("quick", n) for n in range(2)], ended=ended)


def test_a_tool_that_never_ends_does_not_keep_the_process():
    program = """
import asyncio, threading
from tenuto_agent.running import CallRunner
from tenuto_agent.function_tool import tool
from tenuto_agent.toolbox import Toolbox
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall

@tool(timeout_s=0.01, concurrent=True)
def stuck() -> None:
    threading.Event().wait()

@tool(concurrent=True)
async def behind() -> None:
    global task
    task = asyncio.create_task(asyncio.sleep(60))

calls = [ToolCall(name, name, "{}", Finding.WHOLE) for name in ("stuck", "behind")]
print([result.failed for result in CallRunner(Toolbox([stuck, behind])).run(calls)])
"""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[True, False]\n", "")
