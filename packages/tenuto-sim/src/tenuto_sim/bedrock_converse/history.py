"""The rules for histories, and the provider's error messages.

Theory of operation: messages are not merged. Each rule checks the messages as received, and the
first violation is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from tenuto_sim.anthropic_messages.seals import signature
from tenuto_sim.bedrock_converse.errors import RETURNED, failure
from tenuto_sim.bedrock_converse.models import speaks_in_blocks_of_one_kind, takes_prefill
from tenuto_sim.bedrock_converse.request import blocks_of, thinks
from tenuto_sim.shapes import Violations

PREFILL: Final = (
    f"{RETURNED}This model does not support assistant message prefill. The conversation must end "
    "with a user message."
)
KINDS: Final = frozenset(
    {"text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent"}
    | {"cachePoint", "reasoningContent", "citationsContent", "searchResult"}
)
_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")

Body = Mapping[str, Any]
Messages = Sequence[dict[str, Any]]


def history_violations(body: Body, prefill: str) -> Violations:
    """Yield the violations in a body's messages; `prefill` is the server's setting.

    >>> ask = {"model": "sim", "messages": [{"role": "assistant", "content": [{"text": "x"}]}]}
    >>> next(history_violations(ask, "restart")).document["message"][:46]
    'A conversation must start with a user message.'
    """
    messages: Messages = body["messages"]
    for rule in (_contents, _turns, _pairs):
        yield from rule(messages)
    if speaks_in_blocks_of_one_kind(body["model"]):
        yield from _mixed(messages)
    yield from _last(messages, body, prefill)


def _contents(messages: Messages) -> Violations:
    for i, message in enumerate(messages):
        content = message.get("content")
        if not isinstance(content, list) or not content:
            yield failure(
                f"The content field in the Message object at messages.{i} is empty. Add a "
                "ContentBlock object to the content field and try again."
            )
        for j, block in enumerate(message["content"]):
            yield from _block(f"messages.{i}.content.{j}", block)


def _block(place: str, block: Any) -> Violations:
    kinds = list(block) if isinstance(block, dict) else []
    if len(kinds) != 1 or kinds[0] not in KINDS:
        yield failure(
            f"The ContentBlock object at {place} must set one of the following keys: "
            f"{', '.join(sorted(KINDS))}."
        )
    text = block.get("text", "x")
    if not isinstance(text, str) or not text.strip():
        yield failure(
            f"The text field in the ContentBlock object at {place} is blank. Add text to the text "
            "field, and try again."
        )
    yield from _call(place, block)
    thought = block.get("reasoningContent", {}).get("reasoningText")
    if isinstance(thought, dict) and thought.get("signature") != signature(str(thought["text"])):
        yield failure(f"{RETURNED}{place}: Invalid `signature` in `thinking` block")


def _call(place: str, block: Body) -> Violations:
    for kind in ("toolUse", "toolResult"):
        name = block.get(kind, {}).get("toolUseId", "x")
        if not isinstance(name, str) or not _ID.fullmatch(name):
            yield failure(
                f"1 validation error detected: Value '{name}' at '{place}.member.{kind}.toolUseId' "
                "failed to satisfy constraint: Member must satisfy regular expression pattern: "
                "[a-zA-Z0-9_-]+"
            )
    if not isinstance(block.get("toolUse", {}).get("input", {}), dict):
        yield failure(
            f"The format of the value at {place}.toolUse.input is invalid. Provide a json object "
            "for the field and try again."
        )
    result = block.get("toolResult", {})
    if result.get("status") == "error" and not result.get("content"):
        yield failure(
            f"The content field at {place}.toolResult cannot be empty when status value is error."
        )


def _turns(messages: Messages) -> Violations:
    if messages[0]["role"] != "user":
        yield failure(
            "A conversation must start with a user message. Try again with a conversation that "
            "starts with a user message."
        )
    for before, message in pairwise(messages):
        if before["role"] == message["role"]:
            yield failure(
                "A conversation must alternate between user and assistant roles. Make sure the "
                "conversation alternates between user and assistant roles and try again."
            )


def _pairs(messages: Messages) -> Violations:
    for i, message in enumerate(messages):
        before = blocks_of(messages[i - 1]) if i and message["role"] == "user" else []
        called = [block["toolUse"]["toolUseId"] for block in before if "toolUse" in block]
        answered = [b["toolResult"]["toolUseId"] for b in blocks_of(message) if "toolResult" in b]
        if missing := [name for name in called if name not in answered]:
            yield failure(
                f"Expected toolResult blocks at messages.{i}.content for the following Ids: "
                f"{', '.join(missing)}"
            )
        if len(answered) > len(called) or not set(answered) <= set(called):
            yield failure(
                f"The number of toolResult blocks at messages.{i}.content exceeds the number of "
                "toolUse blocks of previous turn."
            )
    last = messages[-1]
    if last["role"] == "assistant" and any("toolUse" in block for block in blocks_of(last)):
        yield failure(f"Expected toolResult blocks at messages.{len(messages)}.content")


def _mixed(messages: Messages) -> Violations:
    for i, message in enumerate(messages):
        kinds = {"toolResult" in block for block in blocks_of(message)}
        if len(kinds) > 1:
            yield failure(
                f"messages.{i}.content: Conversation blocks and tool result blocks cannot be "
                "provided in the same turn."
            )


def _last(messages: Messages, body: Body, prefill: str) -> Violations:
    """Yield the violations of a history that ends in an assistant message."""
    if messages[-1]["role"] != "assistant":
        return
    if not takes_prefill(body["model"], prefill) or thinks(body):
        yield failure(PREFILL)
    text = blocks_of(messages[-1])[-1].get("text", "")
    if text != text.rstrip():
        yield failure(
            f"{RETURNED}messages: final assistant content cannot end with trailing whitespace"
        )
