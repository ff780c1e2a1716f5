"""The result of an MCP server's tool, as text.

https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result (read 2026-11-22):
`content` is a list of blocks. `structuredContent` is JSON, which should be in a text block, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tenuto_agent.shown import shown


def text_of(content: Sequence[Any], structured: Any = None) -> str:
    """Return the text of each block, and the structured content if no block has it.

    >>> from types import SimpleNamespace as Block
    >>> text_of([Block(type="text", text="Done.")], {"lines": 3})
    'Done.\\n{"lines":3}'
    >>> text_of([Block(type="text", text='{"lines": 3}')], {"lines": 3})
    '{"lines": 3}'
    """
    parts = [_block(block) for block in content]
    if structured is not None and not _is_said(structured, content):
        parts.append(shown(structured, limit_chars=0))
    return "\n".join(parts)


def _is_said(structured: Any, content: Sequence[Any]) -> bool:
    """Return whether the text blocks have the structured content: as JSON, or, from servers built
    with the official package, {"result": …} as the text itself or as one block for each item."""
    texts = [block.text for block in content if block.type == "text"]
    read = [_read(text) for text in texts]
    bare = structured
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        bare = structured["result"]
    return structured in read or bare in read or bare in texts or bare in (read, texts)


def _read(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return text


def _block(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return _not_shown(block.type, block.mime_type, block.data)
        case "resource_link":
            about = f": {block.description}" if block.description else ""
            return f"[resource {block.name}, {block.uri}{about}]"
        case "resource":
            found = block.resource
            if (text := getattr(found, "text", None)) is not None:
                return f"[resource {found.uri}]\n{text}"
            return _not_shown(f"resource {found.uri}", found.mime_type, found.blob)
        case other:
            return f"[{other}: not shown]"


def _not_shown(what: str, mime_type: str | None, base64: str) -> str:
    size_bytes = len(base64) * 3 // 4 - base64[-2:].count("=")
    return f"[{what}, {mime_type or 'of no known type'}, {size_bytes:,} bytes: not shown]"
