"""Tools of real MCP servers: one that is a command, one that speaks HTTP on loopback."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace as Block

import pytest

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.errors import ToolError
from tenuto_agent import Agent, AgentEvent, Model
from tenuto_agent.events import Returned
from tenuto_agent.function_tool import Tool
from tenuto_agent.mcp import McpServer, McpTools
from tenuto_agent.mcp_content import text_of
from tenuto_agent.running import CallRunner
from tenuto_agent.toolbox import Toolbox
from tenuto_agent.transcript import Result
from tenuto_sim import Simulator

SCRIPT = str(Path(__file__).with_name("mcp_server.py"))
COMMAND = (sys.executable, SCRIPT)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server over HTTP, which ends when its stdin does."""
    with subprocess.Popen(
        [*COMMAND, "http"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as served:
        assert served.stdin
        assert served.stdout
        yield f"http://127.0.0.1:{int(served.stdout.readline())}/mcp"
        served.stdin.close()
        assert served.wait(20) == 0


@pytest.fixture(scope="module")
def both(url: str) -> Iterator[list[Tool]]:
    """The tools of both, in one agent: each name is there twice."""
    said = McpServer(name="said", command=COMMAND, env={"GREETING": "Good day"}, timeout_s=30)
    served = McpServer(name="served", url=url, headers={"x-who": "ada"}, concurrent=True)
    with McpTools(said, served) as tools:
        yield tools


@pytest.fixture(params=["said", "served"])
def tools(request: pytest.FixtureRequest, both: list[Tool]) -> list[Tool]:
    """Those of one, under the names that the server gives them."""
    name = f"{request.param}_"
    return [of_one(each, name) for each in both if each.name.startswith(name)]


def of_one(tool: Tool, prefix: str, timeout_s: float | None = 30) -> Tool:
    return Tool(
        name=tool.name.removeprefix(prefix),
        description=tool.description,
        parameters=tool.parameters,
        function=tool.function,
        timeout_s=timeout_s,
    )


def call(name: str, arguments: str = "{}") -> ToolCall:
    return ToolCall("call_1", name, arguments, Finding.WHOLE)


def asked(tools: list[Tool], name: str, arguments: str = "{}") -> Result:
    (result,) = CallRunner(Toolbox(tools)).run([call(name, arguments)])
    return result


def test_a_servers_tools_are_declared_as_it_describes_them(tools):
    add = Toolbox(tools)["add"]
    assert add.description == "Add two numbers."
    assert set(add.parameters["properties"]) == {"a", "b"}
    assert add.parameters["required"] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("add", '{"a": 1, "b": 2}', "3"),
        ("say", '{"word": "é \\ud83d\\ude00"}', "é \N{GRINNING FACE}"),
        ("point", "{}", '{\n  "x": 1,\n  "y": 2\n}'),
        ("words", "{}", "one\ntwo"),
        ("picture", "{}", "[image, image/png, 5 bytes: not shown]"),
        (
            "mixed",
            "{}",
            'Done.\n[resource notes, file:///notes.txt: what was said]\n[resource file:///a.txt]\ninside\n[resource file:///a.bin, application/x-a, 4 bytes: not shown]\n{"lines":3}',
        ),
        ("with_dots_and_slashes", "{}", "dotted"),
    ],
)
def test_what_a_server_gives_is_shown_as_text(tools, name, arguments, text):
    assert asked(tools, name, arguments) == Result("call_1", name, text)


@pytest.mark.behaviour("T15")
def test_an_error_of_a_servers_tool_is_a_failed_result(tools):
    result = asked(tools, "fail", '{"why": "No such city."}')
    assert result.failed
    assert result.text.endswith("No such city.")
    assert asked(tools, "add", '{"a": 1, "b": 2}').text == "3"


@pytest.mark.behaviour("T3")
def test_arguments_are_checked_before_a_server_hears_of_them(tools):
    result = asked(tools, "add", '{"a": "one", "b": 2}')
    assert result.failed
    assert result.text.endswith("- a: \"one\" is not of type 'integer'")


def test_a_call_that_takes_too_long_is_given_up_and_the_connection_goes_on(tools):
    quick = [of_one(each, "", timeout_s=0.2 if each.name == "slow" else 30) for each in tools]
    result = asked(quick, "slow")
    assert result.text == "Error: slow did not end within 0.2 s and was given up."
    assert result.failed
    assert asked(quick, "add", '{"a": 1, "b": 2}').text == "3"


async def test_an_async_agent_calls_them_on_its_own_loop(both):
    calls = [call(f"{who}_add", '{"a": 1, "b": 2}') for who in ("said", "served", "served")]
    results = await CallRunner(Toolbox(both)).arun(calls)
    assert [result.text for result in results] == ["3", "3", "3"]


async def test_cancelling_an_async_agent_cancels_the_call(both):
    running = asyncio.create_task(CallRunner(Toolbox(both)).arun([call("said_slow")]))
    await asyncio.sleep(0.1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (result,) = await CallRunner(Toolbox(both)).arun([call("said_say", '{"word": "on"}')])
    assert result.text == "on"


@pytest.mark.behaviour("T1", "T16")
@pytest.mark.parametrize("case", ["tool", "call_cut_length"])
def test_an_agent_calls_a_servers_tool_once_and_only_whole(both, case):
    events: list[AgentEvent] = []
    say = next(each for each in both if each.name == "said_say")
    with Simulator() as sim:
        model = Model(f"openai-chat:sim/{case}", base_url=sim.base_url)
        with Agent(model, tools=[say], on_event=events.append) as agent:
            result = agent.run("Say it.")
    (returned,) = [event for event in events if isinstance(event, Returned)]
    assert (result.status, returned.result.failed) == ("complete", False)
    assert returned.result.text == json.loads(returned.call.arguments)["word"]


def test_names_that_two_servers_have_are_told_apart(both):
    names = [each.name for each in both]
    assert len(names) == len(set(names))
    assert {"said_add", "served_add", "said_with_dots_and_slashes"} <= set(names)


def test_a_command_gets_the_variables_that_it_is_given_and_no_secrets(both, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "secret")
    assert asked(both, "said_variable", '{"name": "GREETING"}').text == "Good day"
    assert asked(both, "said_variable", '{"name": "SOME_API_KEY"}').text == "(not set)"


async def test_a_server_that_dies_fails_its_calls_and_is_closed_without_a_sound():
    server = McpServer(name="frail", command=COMMAND, only=["end", "say"], prefix=True)
    async with McpTools(server) as tools:
        assert [each.name for each in tools] == ["frail_say", "frail_end"]
        toolbox = Toolbox(tools)
        (died,) = await CallRunner(toolbox).arun([call("frail_end")])
        (after,) = await CallRunner(toolbox).arun([call("frail_say", '{"word": "a"}')])
    assert died.text == after.text
    (closed,) = await CallRunner(toolbox).arun([call("frail_say", '{"word": "a"}')])
    assert closed.text == "Error: the connection to the MCP server frail is closed."
    for result in (died, after):
        assert result.failed
        assert result.text.startswith("Error: the MCP server frail gave no result: ")


def reaching(server: McpServer) -> None:
    with McpTools(server):
        raise AssertionError("it was reached")


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (
            {"command": [sys.executable, "-c", ""]},
            "the MCP server 'x' could not be reached: .*closed",
        ),
        (
            {"command": ["no-such-program-anywhere"]},
            "the MCP server 'x' could not be reached: FileNotFoundError",
        ),
        (
            {
                "command": [sys.executable, "-c", "import sys; sys.stdin.read()"],
                "connect_timeout_s": 0.2,
            },
            "the MCP server 'x' could not be reached: it did not list its tools within 0.2 s",
        ),
        ({"url": "http://127.0.0.1:9/mcp"}, "the MCP server 'x' could not be reached: "),
    ],
)
def test_a_server_that_cannot_be_reached_is_named_with_the_reason(server, said):
    with pytest.raises(ToolError, match=said):
        reaching(McpServer(name="x", **server))


def test_a_tool_that_a_server_does_not_have_is_named(url):
    with pytest.raises(
        ToolError, match=r"the MCP server 'x' has no tool named 'sub'; it has add, "
    ):
        reaching(McpServer(name="x", url=url, only=["add", "sub"]))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, "the MCP server 'x' needs a command or a url, one of them"),
        ({"command": ["a"], "url": "http://b"}, "needs a command or a url, one of them"),
        ({"command": "python server.py"}, "the command of the MCP server 'x' is a list"),
    ],
)
def test_a_server_that_cannot_be_is_refused_with_its_reason(wrong, said):
    with pytest.raises(ToolError, match=said):
        McpServer(name="x", **wrong)


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(ToolError, match=r"pip install 'tenuto\[mcp\]'"):
        reaching(McpServer(name="x", command=COMMAND))


def text(said: str) -> Block:
    return Block(type="text", text=said)


@pytest.mark.parametrize(
    ("content", "structured", "shown"),
    [
        ([], None, ""),
        ([], {"a": 1}, '{"a":1}'),
        ([text('{"a": 1}')], {"a": 1}, '{"a": 1}'),
        ([text("yes")], {"result": "yes"}, "yes"),
        ([text("1"), text("2")], {"result": [1, 2]}, "1\n2"),
        ([text("3")], {"result": 4}, '3\n{"result":4}'),
        ([text("[" * 100_000)], {"a": 1}, "[" * 100_000 + '\n{"a":1}'),
        ([Block(type="hologram")], None, "[hologram: not shown]"),
    ],
)
def test_structured_content_is_shown_where_no_text_says_it(content, structured, shown):
    assert text_of(content, structured) == shown


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("weather", '"weather" is no MCP server: it must be a URL'),
        ({"command": "python"}, "is no MCP server: it must be a URL"),
        ({"mcpServers": {"weather": {"command": "python"}}}, "is no MCP server"),
        ([], "is no MCP server"),
        (["python", 7], "is no MCP server"),
        (None, "null is no MCP server"),
        (7, "7 is no MCP server"),
        (McpServer, "is no MCP server"),
    ],
)
def test_what_is_no_server_is_refused_at_once_with_what_is_allowed(given, said):
    with pytest.raises(ToolError) as raised:
        McpTools(given)
    assert said in str(raised.value)


def test_a_url_and_a_command_are_taken_for_the_servers_that_they_mean(url):
    with McpTools(url, list(COMMAND), COMMAND) as tools:
        names = {tool.name for tool in tools}
    assert {"127_0_0_1_add", f"{Path(sys.executable).stem}_add".replace(".", "_")} <= names
    with McpTools([McpServer(name="one", url=url, only=["add"])]) as tools:
        assert [tool.name for tool in tools] == ["add"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": 7, "url": "http://b"}, "the name of an MCP server is a text"),
        (
            {"name": "x", "url": "weather"},
            r"the url of the MCP server 'x' is \"weather\", but it must be",
        ),
        ({"name": "x", "command": ["a", 7]}, "the command of the MCP server 'x' is a list"),
        ({"name": "x", "command": {"a": 1}}, "the command of the MCP server 'x' is a list"),
    ],
)
def test_a_server_of_the_wrong_types_is_refused_with_its_reason(wrong, said):
    with pytest.raises(ToolError, match=said):
        McpServer(**wrong)


def test_two_thousand_tools_of_one_name_are_told_apart_in_seconds():
    raw = str(Path(__file__).with_name("raw_mcp_server.py"))
    began_s = time.thread_time()
    with McpTools([sys.executable, raw]) as tools:
        names = [tool.name for tool in tools]
        Toolbox(tools)
    assert time.thread_time() - began_s < 3
    assert len(set(names)) == 2_000
    assert {len(name) for name in names} == {64}


def test_a_call_that_was_given_up_may_still_be_at_work_on_the_server(both):
    slow = next(tool for tool in both if tool.name == "said_slow")
    (result,) = CallRunner(Toolbox([replace(slow, name="slow", timeout_s=0.2)])).run([call("slow")])
    assert result.text == (
        "Error: slow did not end within 0.2 s and was given up. It may still be at work, so what "
        "it was to do may yet be done."
    )
