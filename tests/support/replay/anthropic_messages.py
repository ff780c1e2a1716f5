"""What a `Replay` says on Anthropic Messages: content block by block, as a test wrote it down.

`R("part 1 ", MAX)` reads as in `openai_chat`; where the blocks matter, `R([thought("hm"), said("Hi")])`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jiter import from_json

import tenuto
from support.asking.anthropic_messages import (
    TOOLS,
    AnthropicAsker,
    Said,
    WrappedAnthropic,
    assert_one_message,
    of_the_wire,
)
from support.asking.wrapping import QUICK
from support.events import anthropic_messages as events
from support.events.framing import sse
from support.replay import openai_chat as replay
from support.replay.openai_chat import INPUT_TOKENS, Answer, OnStage, Replay, Reply

END, MAX, TOOL, SAFETY, PAUSE = "end_turn", "max_tokens", "tool_use", "refusal", "pause_turn"

Block = dict[str, Any]

CITATION: Block = {
    "type": "web_search_result_location",
    "cited_text": "twice a day",
    "encrypted_index": "aW5kZXg=",
    "title": "Tides",
    "url": "https://example.com/tides",
}


def said(text: str, *citations: Block) -> Block:
    """A block of text."""
    return {"type": "text", "text": text} | ({"citations": list(citations)} if citations else {})


def thought(text: str, signature: str = "c2lnbmVk") -> Block:
    """A block of thinking; without a signature it was cut."""
    return {"type": "thinking", "thinking": text, "signature": signature}


REDACTED: Block = {"type": "redacted_thinking", "data": "b3BhcXVl"}


def searching(id_: str = "srvtoolu_1") -> Block:
    """A search that the provider runs itself."""
    return {
        "type": "server_tool_use", "id": id_, "name": "web_search", "input": {"query": "tides"}
    }  # fmt: skip


def found(id_: str = "srvtoolu_1") -> Block:
    """The result of such a search."""
    result = {
        "type": "web_search_result", "title": "Tides", "url": "https://example.com/tides",
        "encrypted_content": "Y29udGVudA==", "page_age": None,
    }  # fmt: skip
    return {"type": "web_search_tool_result", "tool_use_id": id_, "content": [result]}


@dataclass(frozen=True)
class Call:
    """A call for the caller; `arguments` is the raw text, of which a body holds what it says."""

    name: str = "write_file"
    arguments: Any = '{"path": "a.txt", "content": "x"}'
    id: str | None = "toolu_a"
    index: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)

    def block(self) -> Block:
        """The call with its raw arguments."""
        named = {} if self.id is None else {"id": self.id}
        return {
            "type": "tool_use",
            **named,
            "name": self.name,
            **self.extra,
            "input": self.arguments,
        }


@dataclass(frozen=True)
class R:
    """One response of the model.

    Attributes:
        says: its text, or its blocks; streams write them in pieces of `piece_chars` characters.
        stop: the stop reason; None: none comes.
        calls: calls behind the blocks.
        reasoning: a block of thinking before them.
        tokens: the output tokens; None: no usage is given.
        input_tokens: those of the prompt.
        dropped: the transfer ends without an end mark, inside the last block (bodies: in the middle
            of the document).
        wait_s: how long it thinks.
        id: the message's id.
        beside: what stands beside the stop.
        usage: further counts at the end.
        headers: further headers.
    """

    says: str | Sequence[Block] = ""
    stop: str | None = END
    calls: Sequence[Call] = ()
    reasoning: str = ""
    tokens: int | None = 1
    input_tokens: int = INPUT_TOKENS
    dropped: bool = False
    wait_s: float = 0.0
    piece_chars: int = 5
    id: str = "msg_1"
    beside: Mapping[str, Any] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All that there is to read."""
        return "".join(b["text"] for b in self.blocks() if b["type"] == "text")

    def blocks(self) -> list[Block]:
        """The content, each call with its raw arguments."""
        says = self.says
        blocks = [said(says)] if isinstance(says, str) and says else list(says or ())
        first = [thought(self.reasoning)] if self.reasoning else []
        return [*first, *blocks, *(call.block() for call in self.calls)]

    def reply(self, asked: Any) -> Reply:
        model = str(asked.get("model"))
        if asked.get("stream"):
            return Reply(200, "text/event-stream", self.stream(model), self.headers)
        return Reply(200, "application/json", self.body(model), self.headers)

    def body(self, model: str) -> bytes:
        content = [_decoded(block) for block in self.blocks()]
        usage = self._counted() | {"output_tokens": self.tokens, **self.usage}
        value = self._message(model, content, usage) | {"stop_reason": self.stop, **self.beside}
        if self.tokens is None:
            del value["usage"]
        made = json.dumps(value, ensure_ascii=False).encode()
        return made[: len(made) // 2] if self.dropped else made

    def events(self, model: str) -> list[Block]:
        """The events of a stream."""
        start = self._message(model, [], self._counted() | {"output_tokens": 1})
        told: list[Block] = [{"type": "message_start", "message": start}, {"type": "ping"}]
        indexed = [call.index for call in self.calls]
        blocks = self.blocks()
        named = [True] * (len(blocks) - len(indexed)) + indexed
        for number, (block, with_index) in enumerate(zip(blocks, named, strict=True)):
            told += events.block(_told(block, self.piece_chars), number if with_index else None)
        if self.dropped:
            return told[:-1] if blocks else told
        usage = {"output_tokens": self.tokens, **self.usage} if self.tokens is not None else {}
        return [*told, *events.end(self.stop, usage, **self.beside)]

    def stream(self, model: str) -> bytes:
        return b"".join(sse(self.events(model)))

    def _message(self, model: str, content: list[Block], usage: Block) -> Block:
        return events.message(content, usage=usage, id=self.id, model=model)

    def _counted(self) -> Block:
        return {
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }


@dataclass(frozen=True)
class Refused(replay.Refused):
    """An HTTP error; `code` is its type."""

    def body(self) -> bytes:
        error = {"type": self.code or "api_error", "message": self.message}
        return json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()


def _decoded(block: Block) -> Block:
    """A block as a body holds it: the provider decodes the arguments of a call, cut ones too."""
    raw = block.get("input")
    if block["type"] != "tool_use" or not isinstance(raw, str):
        return block
    try:
        return block | {"input": from_json(raw.encode(), partial_mode="trailing-strings")}
    except ValueError:
        return block


_ADDED = {"text": ("text", "text_delta"), "thinking": ("thinking", "thinking_delta")}


def _told(block: Block, size: int) -> events.Told:
    """A block as it begins, and its deltas: what is told in pieces begins empty."""
    kind, empty, deltas = block["type"], dict(block), list[Block]()
    if kind in ("text", "thinking"):
        text = block[kind]
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        begun, deltas = events.said(*pieces, kind=kind)
        empty |= begun
    if kind == "text" and "citations" in block:
        empty["citations"] = []
        deltas += [{"type": "citations_delta", "citation": c} for c in block["citations"]]
    if kind == "thinking":
        empty["signature"] = ""
        if block["signature"]:
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
    if kind.endswith("tool_use") and (raw := block["input"]) is not None:
        empty["input"] = {}
        raw = raw if isinstance(raw, str) else json.dumps(raw)
        half = len(raw) // 2
        deltas = [events.json_delta(piece) for piece in ("", raw[:half], raw[half:])]
    return empty, deltas


ASK: dict[str, Any] = {"role": "user", "content": "Tell me."}
FILES: dict[str, Any] = {"tools": TOOLS}
"""Keywords of a request that attaches the tool `write_file`."""

_CALL = {"type": "tool_use", "id": "toolu_0", "name": "write_file"}
AFTER_RESULT: list[Any] = [
    ASK,
    {"role": "assistant", "content": [_CALL | {"input": {"path": "a", "content": "b"}}]},
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_0", "content": "written"}],
    },
]
"""A conversation that ends in a tool result."""


def user(text: str) -> dict[str, Any]:
    """A row of ours that holds a hint."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def assistant(*blocks: str | dict[str, Any]) -> dict[str, Any]:
    """A row of ours that holds what the model has said."""
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    return {"role": "assistant", "content": content}


class PlayedAnthropic(OnStage, WrappedAnthropic):
    """The SDK of Anthropic. Every stream that ends well must be one message."""

    def ask(self, messages: list[Any], mode: str = "body", way: str = "sync", **more: Any) -> Said:
        got = super().ask(messages, mode, way, **more)
        if mode == "stream" and got.error is None:
            assert_one_message(of_the_wire(self.told))
        return got

    def tell(self, mode: str = "body", way: str = "sync", **more: Any) -> Said:
        """Ask `ASK`."""
        return self.ask([ASK], mode, way, **more)


def played(
    base: AnthropicAsker, replay: Replay, *answers: Answer, **settings: Any
) -> PlayedAnthropic:
    """A wrapped client that meets these answers; keywords are settings of the policy."""
    replay.say(*answers)
    return PlayedAnthropic(base, replay, tenuto.Policy(**(QUICK | settings)))
