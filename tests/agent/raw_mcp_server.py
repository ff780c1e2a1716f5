"""An MCP server on stdin and stdout that lists 2,000 tools of one name: `python raw_mcp_server.py`."""

import json
import sys

SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}}
NAME = "a.name/that is as long as providers take it, sixty-four letters--"


def serve() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        answer: dict[str, object] = {"jsonrpc": "2.0", "id": asked["id"]}
        match asked["method"]:
            case "initialize":
                answer["result"] = {
                    "protocolVersion": asked["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "raw", "version": "1"},
                }
            case "tools/list":
                answer["result"] = {"tools": [{"name": NAME, "inputSchema": SCHEMA}] * 2_000}
            case _:
                answer["error"] = {"code": -32601, "message": "Method not found"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
