"""What a model said on Converse, block by block, over all attempts of a turn.

The provider wants some of it back as it came (signed reasoning before failed calls), and a whole
body is made of it. Calls for the caller stay out: they are judged and written by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tenuto.core.actions import Content
from tenuto.core.white_space import space_behind
from tenuto.wire.base import JsonObject, Spoken
from tenuto.wire.bedrock_converse_events import SERVER_TOOL, cited_texts
from tenuto.wire.json import count, decode_object

Block = Mapping[str, Any]


def merged_content(spoken: Sequence[Spoken]) -> Content:
    """The blocks of all attempts in order, with the text that is kept of each.

    A continuation's text goes on in the block that was cut. What it thought before is left out: the
    reader of the answer would see one sentence in two blocks. Text that cites is not gone on in
    (C28a).

    >>> cut = {"output": {"message": {"content": [{"text": "Half of "}]}}}
    >>> rest = {"output": {"message": {"content": [{"text": "half of it."}]}}}
    >>> merged_content([Spoken(cut, (), "Half "), Spoken(rest, (), "of it.")])
    ({'text': 'Half of it.'},)
    """
    merged: list[Block] = []
    for one in spoken:
        blocks = list(with_text(_blocks(one), one.text))
        if not one.apart and merged and "text" in merged[-1]:
            if one.text and not one.text.strip():  # of an attempt that only closed the seam
                merged[-1] = {"text": merged[-1]["text"] + one.text}
            blocks = _after_reasoning(blocks)
            if blocks and "text" in blocks[0]:
                merged[-1] = {"text": merged[-1]["text"] + blocks.pop(0)["text"]}
        merged.extend(blocks)
    return tuple(merged)


def with_text(blocks: Sequence[Block], text: str) -> list[Block]:
    """The blocks with `text` dealt out to those of text, from its end backwards and to each as much
    as it held: what a seam took away is missed where the seam was. White space alone is no block
    and goes with the next one. A block that cites keeps what it holds as long as that is whole.

    >>> with_text([{"text": "Half a "}, {"text": "word"}], "a word")
    [{'text': 'a '}, {'text': 'word'}]
    >>> with_text([{"text": "One. "}, {"text": "Two. "}], "One. Two. ")
    [{'text': 'One. '}, {'text': 'Two. '}]
    """
    texts = [text_of(block) for block in blocks]
    surplus = max(space_behind("".join(texts)) - space_behind(text), 0)
    pieces: list[str] = []
    rest = text
    for held in reversed(texts):
        size = max(len(held) - surplus, 0)
        surplus -= len(held) - size
        cut = max(len(rest) - size, 0)
        pieces.append(rest[cut:])
        rest = rest[:cut]
    out: list[Block] = []
    waiting = rest
    for block, held, piece in zip(blocks, texts, reversed(pieces), strict=True):
        if "text" not in block and "citationsContent" not in block:
            out.append(block)
        elif not (waiting + piece).strip():
            waiting += piece
        else:
            whole = not waiting and piece.rstrip() == held.rstrip()
            cites = "citationsContent" in block and whole
            out.append(block if cites else {"text": waiting + piece})
            waiting = ""
    return [*out, {"text": waiting}] if waiting.strip() else out


def text_of(block: Block) -> str:
    """The text of a block, "" where it is of another kind."""
    text = block.get("text")
    if isinstance(text, str):
        return text
    return "".join(cited_texts(block.get("citationsContent")))


def _after_reasoning(blocks: list[Block]) -> list[Block]:
    kinds = ["reasoningContent" in block for block in blocks]
    return blocks[kinds.index(False) if False in kinds else len(kinds) :]


def _blocks(spoken: Spoken) -> list[Block]:
    """The blocks of one attempt, without calls for the caller."""
    found: Sequence[Any] = ()
    if spoken.value is not None:
        output = spoken.value.get("output")
        message = output.get("message") if isinstance(output, dict) else None
        content = message.get("content") if isinstance(message, dict) else None
        found = content if isinstance(content, list) else ()
    else:
        found = _from_events(spoken.events)
    return [b for b in found if isinstance(b, dict) and b and not _is_call(b)]


def _is_call(block: JsonObject) -> bool:
    call = block.get("toolUse")
    return "toolUse" in block and not (isinstance(call, dict) and call.get("type") == SERVER_TOOL)


class _Building:
    """One block of a stream, as a body would hold it."""

    def __init__(self, start: JsonObject) -> None:
        self.start = start
        self.texts: dict[str, list[str]] = {}
        self.citations: list[Any] = []
        self.results: list[Any] = []

    def add(self, kind: str, value: Any) -> None:
        if kind == "reasoningContent" and isinstance(value, dict):
            for name, text in value.items():
                self._join(name if name != "text" else "reasoning", text)
        elif kind == "toolUse" and isinstance(value, dict):
            self._join("input", value.get("input"))
        elif kind == "citation":
            self.citations.append(value)
        elif kind == "toolResult" and isinstance(value, list):
            self.results += value
        elif kind == "text":
            self._join("text", value)

    def _join(self, name: str, text: Any) -> None:
        if isinstance(text, str):
            self.texts.setdefault(name, []).append(text)

    def built(self) -> JsonObject:
        said = {name: "".join(pieces) for name, pieces in self.texts.items()}
        if "toolUse" in self.start:
            value = decode_object(said.get("input", "").encode("utf-8", "replace"))
            return {"toolUse": {**self.start["toolUse"], "input": value or {}}}
        if "toolResult" in self.start:
            return {"toolResult": {**self.start["toolResult"], "content": self.results}}
        if "redactedContent" in said:
            return {"reasoningContent": {"redactedContent": said["redactedContent"]}}
        if "reasoning" in said or "signature" in said:
            signed = {"signature": said["signature"]} if "signature" in said else {}
            return {
                "reasoningContent": {"reasoningText": {"text": said.get("reasoning", ""), **signed}}
            }
        if self.citations:
            content = [{"text": said["text"]}] if said.get("text") else []
            return {"citationsContent": {"content": content, "citations": self.citations}}
        return {"text": said["text"]} if said.get("text") else dict(self.start)


def _from_events(events: Iterable[bytes]) -> list[JsonObject]:
    """The blocks that the events of a stream build."""
    blocks: dict[int | None, _Building] = {}
    for data in events:
        event = decode_object(data)
        if not isinstance(event, dict):
            continue
        began, came = event.get("contentBlockStart"), event.get("contentBlockDelta")
        if isinstance(began, dict):
            start = began.get("start")
            parts = start if isinstance(start, dict) else {}
            kept = {kind: part for kind, part in parts.items() if isinstance(part, dict)}
            blocks[count(began.get("contentBlockIndex"))] = _Building(kept)
        if isinstance(came, dict) and isinstance(delta := came.get("delta"), dict):
            block = blocks.setdefault(count(came.get("contentBlockIndex")), _Building({}))
            for kind, value in delta.items():
                block.add(kind, value)
    return [block.built() for block in blocks.values()]
