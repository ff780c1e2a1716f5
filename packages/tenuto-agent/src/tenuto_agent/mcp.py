"""Tools of MCP servers (https://modelcontextprotocol.io), through the official `mcp` package.

Theory of operation
-------------------
A connection belongs to the task that opened it: the package can close it only there. So each server
has a keeper, a task on the background loop (`background`), which connects, lists the tools, and
waits until it is told to close. Calls are handed to that loop from wherever the agent runs.
"""

from __future__ import annotations

import asyncio
import importlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from tenuto.core.errors import ToolError
from tenuto_agent.background import submit
from tenuto_agent.function_tool import Failure, Tool
from tenuto_agent.mcp_content import text_of
from tenuto_agent.shown import quoted, shown

_CLOSE_S: Final = 10.0  # the package needs up to 6.5 s to end a server that doesn't exit
_MOST_PAGES: Final = 100
_LONGEST_NAME: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """An MCP server: a command that communicates over stdin and stdout, or the URL of a server with
    streamable HTTP.

    Attributes:
        name: its name in messages, and the prefix of its tools if two servers have a tool of the
            same name.
        command: the command and its arguments. It runs as long as the connection is open.
        url: the server's endpoint, instead of a command.
        env: further environment variables for the command, besides the few that it inherits (PATH,
            HOME, …).
        cwd: the working directory of the command; None: the current one.
        headers: sent with each request to the URL (authorization).
        only: the names of the tools to use; None: all.
        prefix: whether to name all its tools `name_tool`.
        connect_timeout_s: seconds to connect and list its tools.
        timeout_s: seconds that a call may take; None: no limit.
        concurrent: whether its tools may run alongside other calls of the same turn.

    Raises:
        ToolError: there is neither a command nor a URL, or both.

    >>> McpServer(name="files", command=("python", "files_server.py")).timeout_s
    60.0
    >>> McpServer(name="files")
    Traceback (most recent call last):
    ...
    tenuto.core.errors.ToolError: the MCP server 'files' needs a command or a url, one of them
    """

    name: str
    command: Sequence[str] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    only: Collection[str] | None = None
    prefix: bool = False
    connect_timeout_s: float = 30.0
    timeout_s: float | None = 60.0
    concurrent: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ToolError(f"the name of an MCP server is a text, not {quoted(self.name)}")
        if bool(self.command) == bool(self.url):
            raise ToolError(f"the MCP server {self.name!r} needs a command or a url, one of them")
        if self.command and not _is_command(self.command):
            raise ToolError(
                f"the command of the MCP server {self.name!r} is a list: the program, then each "
                "argument, all texts"
            )
        if self.url and not _is_url(self.url):
            raise ToolError(
                f"the url of the MCP server {self.name!r} is {quoted(self.url)}, but it must be "
                "http(s)://host[:port][/path]"
            )


def _is_command(given: object) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(part, str) for part in given)


def _is_url(given: object) -> bool:
    return isinstance(given, str) and given.startswith(("http://", "https://"))


class McpTools:
    """The tools of MCP servers, for as long as the connections are open.

    Use it with `with` or `async with`, which gives a list of `Tool`s. If the server returns an
    error, takes too long, or the connection breaks, the call's result is a failure.

    Args:
        servers: each an `McpServer`, or a list of them; or the URL of one; or a command, as a list
            of the program and each argument.

    Raises:
        ToolError: an argument is none of these; or, on entering, a server can't be reached or a
            tool is missing. Connections that are already open are closed again.

    >>> import sys
    >>> server = McpServer(name="clock", command=[sys.executable, "-c", ""])
    >>> with McpTools(server) as tools:
    ...     print([tool.name for tool in tools])
    Traceback (most recent call last):
    ...
    tenuto.core.errors.ToolError: the MCP server 'clock' could not be reached: ...
    """

    def __init__(self, *servers: McpServer | str | Sequence[str] | Sequence[McpServer]) -> None:
        self._servers = _servers(servers)
        self._keepers: list[_Keeper] = []

    def __enter__(self) -> list[Tool]:
        package = _package()
        self._keepers = [_Keeper(server, package) for server in self._servers]
        try:
            listed = [keeper.listed() for keeper in self._keepers]
            return list(_tools(self._keepers, listed))
        except BaseException:
            self._close()
            raise

    def __exit__(self, *_: object) -> None:
        self._close()

    async def __aenter__(self) -> list[Tool]:
        try:
            return await asyncio.to_thread(self.__enter__)
        except asyncio.CancelledError:
            for keeper in self._keepers:  # this also ends the thread that waits for them
                keeper.close()
            raise

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        keepers, self._keepers = self._keepers, []
        for keeper in keepers:  # all at once, because each may take seconds
            keeper.close()
        for keeper in keepers:
            keeper.wait()


def _servers(given: Sequence[object]) -> list[McpServer]:
    """Return the servers, each with a name of its own."""
    servers: list[McpServer] = []
    for each in given:
        match each:
            case McpServer():
                servers.append(each)
            case str() if _is_url(each):
                name = urlsplit(each).hostname or "server"
                servers.append(McpServer(name=_unlike(name, servers), url=each))
            case list() | tuple() if each and _is_command(each):
                name = Path(each[0]).stem or "server"
                servers.append(McpServer(name=_unlike(name, servers), command=tuple(each)))
            case list() | tuple() if each and all(isinstance(part, McpServer) for part in each):
                servers += each
            case _:
                raise ToolError(
                    f"{quoted(each)} is no MCP server: it must be a URL ('https://…/mcp'), a "
                    "command (['python', 'server.py']), McpServer(name=…, url=…) or "
                    "McpServer(name=…, command=[…])"
                )
    return servers


def _unlike(name: str, servers: Sequence[McpServer]) -> str:
    taken = {server.name for server in servers}
    numbered = (f"{name}_{number}" for number in count(2))
    return name if name not in taken else next(each for each in numbered if each not in taken)


def _package() -> Any:
    try:
        return importlib.import_module("mcp")
    except ImportError:
        raise ToolError(
            "tools of MCP servers need the package mcp: pip install 'tenuto[mcp]'"
        ) from None


class _Keeper:
    """Keeps the connection to one server open."""

    def __init__(self, server: McpServer, package: Any) -> None:
        self.server = server
        self._package = package
        self._ready: Future[list[Any]] = Future()
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Event | None = None
        self._running = submit(self._keep())

    def listed(self) -> list[Any]:
        """Wait for the connection, and return the tools as the server lists them."""
        self._running.add_done_callback(self._not_ready)
        return self._ready.result()

    def _not_ready(self, ended: Future[None]) -> None:
        if self._ready.done():
            return
        error = None if ended.cancelled() else ended.exception()
        server = self.server
        why = shown(error) if error else "it was closed"
        if isinstance(error, TimeoutError):
            why = f"it did not list its tools within {server.connect_timeout_s:g} s"
        said = f"the MCP server {server.name!r} could not be reached: {why}"
        self._ready.set_exception(ToolError(said))

    async def _keep(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self.server.connect_timeout_s):
                target = await self._target(stack)
                self._client = await stack.enter_async_context(self._package.Client(target))
                tools = await self._list()
            self._ready.set_result(tools)
            await self._closing.wait()

    async def _target(self, stack: AsyncExitStack) -> Any:
        """Return the argument for the package's `Client`."""
        server = self.server
        if server.command:
            program, *arguments = server.command
            return self._package.StdioServerParameters(
                command=program, args=arguments, env=dict(server.env), cwd=server.cwd
            )
        transport = importlib.import_module("mcp.client.streamable_http")
        http = importlib.import_module("httpx2")
        # Calls have time limits of their own, and a stream may be silent for long.
        limits = http.Timeout(server.connect_timeout_s, read=None)
        client = http.AsyncClient(headers=dict(server.headers), timeout=limits)
        await stack.enter_async_context(client)
        return transport.streamable_http_client(server.url, http_client=client)

    async def _list(self) -> list[Any]:
        tools: list[Any] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        return tools

    async def call(self, name: str, arguments: dict[str, Any]) -> str | Failure:
        """Call a tool, from any event loop."""
        if self._loop is None or self._running.done():
            return Failure(f"Error: the connection to the MCP server {self.server.name} is closed.")
        work = self._client.call_tool(name, arguments)
        try:
            called = asyncio.run_coroutine_threadsafe(work, self._loop)
            result = await asyncio.wrap_future(called)
        except Exception as error:  # noqa: BLE001  # from the package, its transport or pydantic
            said = shown(error)
            return Failure(f"Error: the MCP server {self.server.name} gave no result: {said}")
        text = text_of(result.content, result.structured_content)
        return Failure(text) if result.is_error else text

    def close(self) -> None:
        """Begin to close the connection."""
        if self._loop is None or self._closing is None or not self._ready.done():
            self._running.cancel()
        elif not self._running.done():
            self._loop.call_soon_threadsafe(self._closing.set)

    def wait(self) -> None:
        """Wait until the connection is closed. If it broke earlier, its calls have already
        failed."""
        try:
            self._running.exception(_CLOSE_S)
        except (TimeoutError, CancelledError):
            self._running.cancel()


# --- tools ---


def _tools(keepers: Sequence[_Keeper], listed: Sequence[Sequence[Any]]) -> Iterator[Tool]:
    taken = [
        (keeper, found)
        for keeper, tools in zip(keepers, listed, strict=True)
        for found in _wanted(keeper.server, tools)
    ]
    names = _names([(keeper.server, found.name) for keeper, found in taken])
    for name, (keeper, found) in zip(names, taken, strict=True):
        yield _tool(name, keeper, found)


def _wanted(server: McpServer, tools: Sequence[Any]) -> list[Any]:
    known = {found.name for found in tools}
    if server.only is None:
        return list(tools)
    if missing := sorted(set(server.only) - known):
        raise ToolError(
            f"the MCP server {server.name!r} has no tool named {missing[0]!r}; it has "
            f"{', '.join(sorted(known)) or 'none'}"
        )
    return [found for found in tools if found.name in server.only]


def _names(tools: Sequence[tuple[McpServer, str]]) -> list[str]:
    """Return a name for each tool that all providers accept: its own name, with the server's name
    as a prefix if two tools share one, and with a number if that is still ambiguous."""
    bare = Counter(_allowed(name) for _, name in tools)
    names: dict[str, None] = {}
    numbers: Counter[str] = Counter()
    for server, name in tools:
        whole = first = _allowed(name)
        if server.prefix or bare[whole] > 1:
            whole = first = _allowed(f"{server.name}_{name}")
        while whole in names:
            numbers[first] += 1
            number = f"_{numbers[first] + 1}"
            whole = first[: _LONGEST_NAME - len(number)] + number
        names[whole] = None
    return list(names)


def _allowed(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:_LONGEST_NAME] or "_"


def _tool(name: str, keeper: _Keeper, found: Any) -> Tool:
    async def call(**arguments: Any) -> str | Failure:
        return await keeper.call(found.name, arguments)

    return Tool(
        name=name,
        description=found.description or "",
        parameters={"type": "object", **found.input_schema},
        function=call,
        timeout_s=keeper.server.timeout_s,
        concurrent=keeper.server.concurrent,
        remote=True,
    )
