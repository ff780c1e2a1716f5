"""The rules for histories, and the provider's error messages.

Theory of operation: consecutive messages of one role are merged first, as on the server. Then each
rule checks the merged messages, and the first violation is the answer. A merged message keeps the
number of its first part, which is the number in the error messages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from tenuto_sim.anthropic_messages.errors import WORDS, failure, mistyped, required
from tenuto_sim.anthropic_messages.models import takes_prefill
from tenuto_sim.anthropic_messages.request import RESUMED_BY, blocks_of, thinks
from tenuto_sim.anthropic_messages.seals import cipher, signature
from tenuto_sim.shapes import Shape, Types, Violations

PREFILL: Final = (
    "This model does not support assistant message prefill. "
    "The conversation must end with a user message."
)
_ROW: Final = Shape.of("content role", types={"content": str | list})
_EVERYWHERE: Final = frozenset({"type", "cache_control"})
_OF_BLOCK: Final[Types] = {
    **dict.fromkeys(("text", "thinking", "signature", "data", "id", "name", "tool_use_id"), str),
    "input": dict,
}
_shape = partial(Shape.of, types=_OF_BLOCK)
SHAPES: Final[Mapping[str, Shape]] = {
    "text": _shape("text", "citations"),
    "image": _shape("source"),
    "document": _shape("source", "title context citations"),
    "thinking": _shape("signature thinking"),
    "redacted_thinking": _shape("data"),
    "tool_use": _shape("id input name", "caller toolset_name"),
    "tool_result": _shape("tool_use_id", "content is_error"),
    "server_tool_use": _shape("id input name", "caller"),
    "web_search_tool_result": _shape("content tool_use_id", "caller"),
    "compaction": _shape("content", "encrypted_content"),
}
"""Keys of each block type, beyond those that all blocks may have."""

_ASSISTANT_ONLY: Final = frozenset(
    {"tool_use", "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result"}
)
_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class Turn:
    """Merged messages of one role; `number` is that of the first."""

    number: int
    role: str
    blocks: tuple[Mapping[str, Any], ...]

    def of(self, *types: str) -> list[Mapping[str, Any]]:
        """Return the blocks of these types."""
        return [block for block in self.blocks if block["type"] in types]


Body = Mapping[str, Any]


def history_violations(body: Body, prefill: str) -> Violations:
    """Yield the violations in a body's messages; `prefill` is the server's setting.

    >>> ask = {"model": "sim", "messages": [{"role": "assistant", "content": "x"}]}
    >>> next(history_violations(ask, "restart")).document["error"]["message"]
    'messages: first message must use the "user" role'
    """
    messages = body["messages"]
    yield from _messages(messages)
    yield from _texts(messages)
    turns = _merged(messages)
    for rule in (_calls, _results, _searches):
        yield from rule(turns)
    yield from _last(turns[-1], body, prefill)
    yield from _thinking_loop(turns, body)


def _merged(messages: Sequence[Body]) -> list[Turn]:
    turns: list[Turn] = []
    for i, message in enumerate(messages):
        blocks = tuple(blocks_of(message["content"]))
        if turns and turns[-1].role == message["role"]:
            turns[-1] = Turn(turns[-1].number, turns[-1].role, turns[-1].blocks + blocks)
        else:
            turns.append(Turn(i, message["role"], blocks))
    return turns


def _messages(messages: Sequence[Body]) -> Violations:
    for i, message in enumerate(messages):
        role = message["role"]
        if role == "system":
            yield failure(
                'messages: Unexpected role "system". The Messages API accepts a top-level `system` '
                'parameter, not "system" as an input message role.'
            )
        if role not in ("user", "assistant"):
            yield failure(f"messages.{i}.role: Input should be 'user' or 'assistant'")
        yield from _ROW.violations(f"messages.{i}", message, WORDS)
        content = message["content"]
        for j, block in enumerate(content if isinstance(content, list) else ()):
            yield from _block(f"messages.{i}.content.{j}", block, role)
    first = messages[0]
    summarized = any(block.get("type") == "compaction" for block in blocks_of(first["content"]))
    if first["role"] != "user" and not summarized:
        yield failure('messages: first message must use the "user" role')


def _block(path: str, block: Any, role: str) -> Violations:
    if not isinstance(block, dict):
        yield mistyped(path, dict)
    kind = block.get("type")
    if "type" not in block:
        yield required(f"{path}.type")
    if not isinstance(kind, str) or kind not in SHAPES:
        yield failure(
            f"{path}: Input tag '{kind}' found using 'type' does not match any of the expected "
            f"tags: {', '.join(repr(tag) for tag in SHAPES)}"
        )
        return
    own = {name: item for name, item in block.items() if name not in _EVERYWHERE}
    yield from SHAPES[kind].violations(f"{path}.{kind}", own, WORDS)
    if kind in _ASSISTANT_ONLY and role != "assistant":
        yield failure(f"{path}: `{kind}` blocks can only be in `assistant` messages")
    if kind == "tool_result" and role != "user":
        yield failure(f"{path}: `tool_result` blocks can only be in `user` messages")
    for name in ("id", "tool_use_id"):
        if name in block and not _ID.fullmatch(block[name]):
            yield failure(f"{path}.{kind}.{name}: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if kind == "thinking" and block["signature"] != signature(block["thinking"]):
        yield failure(f"{path}: Invalid `signature` in `thinking` block")
    if kind == "web_search_tool_result" and isinstance(block["content"], list):
        for found in block["content"]:
            sealed = found.get("encrypted_content") if isinstance(found, dict) else None
            if sealed is None or sealed != cipher(str(found.get("url"))):
                yield failure(f"{path}: Invalid `encrypted_content` in `search_result` block")


def _texts(messages: Sequence[Body]) -> Violations:
    for i, message in enumerate(messages):
        content = message["content"]
        final = i == len(messages) - 1 and message["role"] == "assistant"
        if not content and not final:
            yield failure(
                f"messages.{i}: all messages must have non-empty content except for the optional "
                "final assistant message"
            )
        # An empty string is empty content, but an empty block is not.
        for block in blocks_of(content) if content else ():
            if block["type"] == "text" and not block["text"]:
                yield failure("messages: text content blocks must be non-empty")
            if block["type"] == "text" and not block["text"].strip():
                yield failure("messages: text content blocks must contain non-whitespace text")


def _calls(turns: Sequence[Turn]) -> Violations:
    seen: set[str] = set()
    for at, turn in enumerate(turns):
        for j, block in enumerate(turn.blocks):
            if block["type"] == "tool_use":
                if block["id"] in seen:
                    yield failure(
                        f"messages.{turn.number}.content.{j}: `tool_use` ids must be unique"
                    )
                seen.add(block["id"])
        ids = [block["id"] for block in turn.of("tool_use")]
        answered = _leading_results(turns[at + 1]) if at + 1 < len(turns) else []
        missing = [id_ for id_ in ids if id_ not in answered]
        if missing:
            yield failure(
                f"messages.{turn.number}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(missing)}. Each `tool_use` block must have a "
                "corresponding `tool_result` block in the next message."
            )


def _leading_results(turn: Turn) -> list[str]:
    """Return the ids of the results that begin a turn. Later results do not count."""
    out: list[str] = []
    for block in turn.blocks:
        if block["type"] != "tool_result":
            break
        out.append(block["tool_use_id"])
    return out


def _results(turns: Sequence[Turn]) -> Violations:
    for at, turn in enumerate(turns):
        called = {block["id"] for block in turns[at - 1].of("tool_use")} if at else set()
        seen: set[str] = set()
        for j, block in enumerate(turn.blocks):
            if block["type"] != "tool_result":
                continue
            place, id_ = f"messages.{turn.number}.content.{j}", block["tool_use_id"]
            if id_ not in called:
                yield failure(
                    f"{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id_}. Each "
                    "`tool_result` block must have a corresponding `tool_use` block in the "
                    "previous message."
                )
            if id_ in seen:
                yield failure(
                    f"{place}: each tool_use must have a single result. Found multiple "
                    f"`tool_result` blocks with id: {id_}"
                )
            seen.add(id_)


def _searches(turns: Sequence[Turn]) -> Violations:
    """Require the result of each search in its own turn. Beside a call for the caller, the search
    is finished in the model's next turn."""
    open_: list[str] = []
    for at, turn in enumerate(turns):
        for j, block in enumerate(turn.blocks):
            if block["type"] == "server_tool_use":
                open_.append(block["id"])
            if block["type"] == "web_search_tool_result":
                if block["tool_use_id"] not in open_:
                    yield failure(
                        f"messages.{turn.number}.content.{j}: unexpected `tool_use_id` found in "
                        f"`web_search_tool_result` blocks: {block['tool_use_id']}. Each "
                        "`web_search_tool_result` block must have a corresponding "
                        "`server_tool_use` block before it."
                    )
                open_.remove(block["tool_use_id"])
        goes_on = turn.role != "assistant" or turn.of("tool_use") or at == len(turns) - 1
        if open_ and not goes_on:
            yield failure(
                f"messages.{turn.number}: `web_search` tool use with id `{open_[0]}` was found "
                "without a corresponding `web_search_tool_result` block"
            )


def _last(turn: Turn, body: Body, prefill: str) -> Violations:
    """Yield the violations of a history that ends in an assistant message."""
    if turn.role != "assistant" or (turn.blocks and turn.blocks[-1]["type"] in RESUMED_BY):
        return
    if not takes_prefill(body["model"], prefill):
        yield failure(PREFILL)
    if thinks(body) == "enabled" and turn.blocks:
        yield from _begins_with_thoughts(turn)
    if turn.blocks and turn.blocks[-1]["type"] in _THOUGHTS:
        yield failure(
            f"messages.{turn.number}: The final block in an assistant message cannot be "
            f"`{turn.blocks[-1]['type']}`."
        )
    if turn.blocks and turn.blocks[-1]["type"] == "text":
        text = turn.blocks[-1]["text"]
        if text != text.rstrip():
            yield failure("messages: final assistant content cannot end with trailing whitespace")


def _thinking_loop(turns: Sequence[Turn], body: Body) -> Violations:
    """Require thinking at the beginning of an ongoing loop of calls, if thinking is on."""
    if thinks(body) != "enabled" or not turns[-1].of("tool_result") or len(turns) < 2:
        return
    yield from _begins_with_thoughts(turns[-2])


def _begins_with_thoughts(turn: Turn) -> Violations:
    first = turn.blocks[0]["type"]
    if first not in _THOUGHTS:
        yield failure(
            f"messages.{turn.number}.content.0.type: Expected `thinking` or `redacted_thinking`, "
            f"but found `{first}`. When `thinking` is enabled, a final `assistant` message must "
            "start with a thinking block (preceeding the lastmost set of `tool_use` and "
            "`tool_result` blocks). We recommend you include thinking blocks from previous turns. "
            "To avoid this requirement, disable `thinking`. Please consult our documentation at "
            "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
        )
