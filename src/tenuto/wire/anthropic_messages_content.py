"""What a model said on Anthropic Messages, block by block, over all attempts of a turn.

The provider wants some of it back as it came (a paused turn, signed thinking before failed calls),
and a whole body is made of it. Calls for the caller stay out: they are judged and written by
themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tenuto.core.actions import Content
from tenuto.wire.anthropic_messages_request import with_text
from tenuto.wire.base import JsonObject, Spoken
from tenuto.wire.json import count, decode_object

THINKING = ("thinking", "redacted_thinking")


def merged_content(spoken: Sequence[Spoken]) -> Content:
    """The blocks of all attempts in order, with the text that is kept of each.

    A continuation's text goes on in the block that was cut. What it thought before is left out: the
    reader of the answer would see one sentence in two blocks. A cut block with citations is not
    gone on in (C28a).

    >>> cut = {"content": [{"type": "text", "text": "Half of "}]}
    >>> rest = {"content": [{"type": "text", "text": "half of it."}]}
    >>> merged_content([Spoken(cut, (), "Half "), Spoken(rest, (), "of it.")])
    ({'type': 'text', 'text': 'Half of it.'},)
    """
    merged: list[JsonObject] = []
    for one in spoken:
        blocks = [dict(block) for block in with_text(_blocks(one), one.text)]
        if not one.apart and merged and _is_plain_text(merged[-1]):
            if one.text and not one.text.strip():  # of an attempt that only closed the seam
                merged[-1] = {**merged[-1], "text": merged[-1]["text"] + one.text}
            blocks = _after_thinking(blocks)
            if blocks and blocks[0].get("type") == "text":
                more = blocks.pop(0)
                merged[-1] = {**more, **merged[-1], "text": merged[-1]["text"] + more["text"]}
        merged.extend(blocks)
    return tuple(merged)


def _is_plain_text(block: JsonObject) -> bool:
    return block.get("type") == "text" and not block.get("citations")


def _after_thinking(blocks: list[JsonObject]) -> list[JsonObject]:
    number = next((n for n, b in enumerate(blocks) if b.get("type") not in THINKING), len(blocks))
    return blocks[number:]


def _blocks(spoken: Spoken) -> list[JsonObject]:
    """The blocks of one attempt, without calls for the caller."""
    if spoken.value is not None:
        content = spoken.value.get("content")
        found = content if isinstance(content, list) else []
    else:
        found = _from_events(spoken.events)
    return [b for b in found if isinstance(b, dict) and b.get("type") != "tool_use"]


def _from_events(events: Iterable[bytes]) -> list[JsonObject]:
    """The blocks that the events of a stream build, as a body would hold them."""
    blocks: dict[Any, JsonObject] = {}
    inputs: dict[Any, list[str]] = {}
    added: dict[Any, _Pieces] = {}
    for data in events:
        event = decode_object(data)
        if not isinstance(event, dict):
            continue
        index = count(event.get("index"))
        block, delta = event.get("content_block"), event.get("delta")
        if event.get("type") == "content_block_start" and isinstance(block, dict):
            blocks[index], added[index] = dict(block), {}
        elif event.get("type") == "content_block_delta" and isinstance(delta, dict):
            if delta.get("type") == "input_json_delta":
                inputs.setdefault(index, []).append(str(delta.get("partial_json") or ""))
            elif index in blocks:
                _add(blocks[index], delta, added[index])
    for index, members in added.items():
        for name, pieces in members.items():
            blocks[index][name] = str(blocks[index].get(name) or "") + "".join(pieces)
    for index, pieces in inputs.items():
        value = decode_object("".join(pieces).encode("utf-8", "replace"))
        if index in blocks and isinstance(value, dict):
            blocks[index]["input"] = value
    return list(blocks.values())


_ADDED = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "compaction_delta": "content",
}
"""Which member of a block a delta of a kind adds to; its own member has the same name."""


_Pieces = dict[str, list[str]]
"""What deltas add to a block's members, joined at the end: a long text stays linear."""


def _add(block: JsonObject, delta: JsonObject, added: _Pieces) -> None:
    kind = delta.get("type")
    if kind == "citations_delta":
        held = block.get("citations")
        block["citations"] = [*(held if isinstance(held, list) else []), delta.get("citation")]
        return
    name = _ADDED.get(kind) if isinstance(kind, str) else None
    more = delta.get(name) if name is not None else None
    if name is not None and isinstance(more, str):
        added.setdefault(name, []).append(more)
