"""A real MCP server for the tests: `python mcp_server.py`, or `… http` for streamable HTTP.

Over HTTP it prints its port, and ends when its stdin does; over stdio it does so anyway.
"""

import asyncio
import os
import socket
import sys
import threading
from dataclasses import dataclass

from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

server = MCPServer("of the tests", log_level="ERROR")


@dataclass
class Point:
    x: int
    y: int


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(structured_output=False)
def say(word: str) -> str:
    """Say a word."""
    return word


@server.tool()
def point() -> Point:
    return Point(1, 2)


@server.tool()
def words() -> list[str]:
    return ["one", "two"]


@server.tool()
def picture() -> Image:
    return Image(data=b"12345", format="png")


@server.tool()
def mixed() -> CallToolResult:
    link = ResourceLink(
        type="resource_link", name="notes", uri="file:///notes.txt", description="what was said"
    )
    text = TextResourceContents(uri="file:///a.txt", text="inside")
    blob = BlobResourceContents(uri="file:///a.bin", blob="MTIzNA==", mime_type="application/x-a")
    return CallToolResult(
        content=[
            TextContent(type="text", text="Done."),
            link,
            EmbeddedResource(type="resource", resource=text),
            EmbeddedResource(type="resource", resource=blob),
        ],
        structured_content={"lines": 3},
    )


@server.tool()
def fail(why: str) -> str:
    raise ToolError(why)


@server.tool()
async def slow() -> str:
    await asyncio.sleep(60)
    return "late"


@server.tool()
def end() -> None:
    os._exit(3)


@server.tool(name="with.dots/and slashes")
def dotted() -> str:
    return "dotted"


@server.tool()
def variable(name: str) -> str:
    return os.environ.get(name, "(not set)")


def serve_http() -> None:
    import uvicorn  # over stdio nobody needs it

    listening = socket.create_server(("127.0.0.1", 0))
    serving = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error"))

    def until_stdin_ends() -> None:
        sys.stdin.read()
        serving.should_exit = True

    threading.Thread(target=until_stdin_ends, daemon=True).start()
    print(listening.getsockname()[1], flush=True)
    serving.run(sockets=[listening])


if __name__ == "__main__":
    serve_http() if sys.argv[1:] == ["http"] else server.run()
