"""What a model said on Converse, block by block, over all attempts of a turn.

The provider wants some of it back as it came (signed reasoning before failed calls), and a whole
body is made of it. Calls for the caller stay out: they are judged and written by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tenuto.core.actions import Content
from tenuto.wires.base import JsonObject, Spoken
from tenuto.wires.bedrock_converse.events import SERVER_TOOL, cited_texts
from tenuto.wires.blocks_content import Block, Speech
from tenuto.wires.json import count, decode_object
from tenuto.wires.members import object_in


def is_unsigned(block: Block) -> bool:
    """Whether a block is reasoning that its provider does not take back."""
    thought = object_in(block.get("reasoningContent")).get("reasoningText")
    return isinstance(thought, dict) and not thought.get("signature")


def _said(block: Block, text: str) -> Block:
    """A block with another text. One that cites keeps what it holds as long as that is whole."""
    cites = "citationsContent" in block and text.rstrip() == text_of(block).rstrip()
    return block if cites else {"text": text}


def _is_kept(block: Block, answered: Sequence[Any]) -> bool:
    """Calls for the caller, calls without a result and unsigned reasoning are not."""
    call = block.get("toolUse")
    if isinstance(call, dict):
        return call.get("type") == SERVER_TOOL and call.get("toolUseId") in answered
    return not is_unsigned(block) and (bool(text_of(block).strip()) or "text" not in block)


def _is_said(block: Block) -> bool:
    return "text" in block or "citationsContent" in block


SPEECH = Speech(
    text_of=lambda block: text_of(block) if _is_said(block) else None,
    said=_said,
    is_plain=lambda block: "text" in block,
    is_thought=lambda block: "reasoningContent" in block,
    is_open=lambda block: "text" in block,
    joined=lambda last, more: {"text": last["text"] + more["text"]},
    is_kept=_is_kept,
    answers=lambda block: object_in(block.get("toolResult")).get("toolUseId"),
)


def merged_content(spoken: Sequence[Spoken]) -> Content:
    """Return the blocks of all attempts, with the text that is kept of each.

    >>> cut = {"output": {"message": {"content": [{"text": "Half of "}]}}}
    >>> rest = {"output": {"message": {"content": [{"text": "half of it."}]}}}
    >>> merged_content([Spoken(cut, (), "Half "), Spoken(rest, (), "of it.")])
    ({'text': 'Half of it.'},)
    """
    return SPEECH.merged(spoken, _blocks)


def text_of(block: Block) -> str:
    """The text of a block, "" where it is of another kind."""
    text = block.get("text")
    if isinstance(text, str):
        return text
    return "".join(cited_texts(block.get("citationsContent")))


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
