"""Requests of DashScope's own API: those of Chat Completions, split into `input` and `parameters`,
with the same names of members.

https://help.aliyun.com/zh/model-studio/qwen-api-via-dashscope (2026-11-22): a header asks for a
stream; `input` has messages, or a prompt with the turns before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tenuto.wire_kit import (
    UNREADABLE,
    ChatRequest,
    Dialect,
    Edit,
    JsonObject,
    Watched,
    WireRequest,
    begins_answer,
    encode,
    is_utf8,
    joined,
    members_of,
    object_in,
    value_of,
    with_beginnings,
    with_members,
)
from tenuto.wire_kit import (
    chat_request_of as request_of,
)

_PLAIN = Dialect()
"""The dialect of an unknown provider."""

MULTIMODAL = "/multimodal-generation/generation"
PATHS = ("/services/aigc/text-generation/generation", f"/services/aigc{MULTIMODAL}")

_PARTIAL = "partial"
"""Marks the last row as the beginning of the answer."""

_SAY_WHAT_IS_NEW = re.compile(r"qwen3-(?:max|vl|\d)|qwq|qvq")
"""Models whose streams repeat only on request; streams of others repeat by default."""

MAY_NOT_THINK = re.compile(
    r"(?:qwen-(?:plus|flash|turbo)|qwen3(?:\.\d)?-(?:max|plus|flash|\d))(?!.*(?:thinking|instruct))"
)
"""Models for which the request decides whether they think. Partial mode requires thinking to be
off. https://help.aliyun.com/zh/model-studio/deep-thinking 2026-11-22"""

_NO_CHAT = re.compile(r"-(?:asr|tts|image)\b|^wan")
"""Models at the same address whose answers are no text to continue: speech, images."""

_ASIDE = frozenset({"model", "messages", "stream"})
"""Names that mean something else at the top level of Chat Completions."""


class DashScopeRequest(ChatRequest):
    """A request as bytes, with what was read from it (`wires.request.WireRequest`): an equivalent
    chat request, and the body that it stands for.

    Attributes:
        given: that body.
        lists: whether its contents are lists; then added ones are too.
    """

    given = b""
    lists = False

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """Return the bytes of the request with these edits; without any, the caller's own."""
        if not edits and not self.repairs:
            return self.given
        flat = self.edited(edits, dialect)
        members = members_of(self.given)
        asked = {"messages": flat["messages"], "prompt": None, "history": None}
        own = members_of(members.get("parameters", b"{}"))
        aside = {key: raw for key, raw in own.items() if key in _ASIDE}
        parameters = {key: raw for key, raw in flat.items() if key not in _ASIDE} | aside
        members["input"] = with_members(members["input"], asked)
        if parameters or own:
            members["parameters"] = joined(parameters)
        return joined(members)

    def rows_with(self, added: Sequence[JsonObject]) -> list[bytes]:
        ours = [row | {"content": self._content(row["content"] or "")} for row in added]
        return with_beginnings(super().rows_with(ours), _PARTIAL)

    def _content(self, text: str) -> object:
        if self.lists:
            return [{"text": text}] if text else []
        return text


def is_request(path: str) -> bool:
    """Return whether the path is that of one of the two services, below any base URL.

    >>> is_request("/api/v1/services/aigc/text-generation/generation")
    True
    """
    return path.rstrip("/").endswith(PATHS)


def parse_request(
    body: bytes, probe_max_tokens: int = 0, path: str = PATHS[0], dialect: Dialect = _PLAIN
) -> DashScopeRequest | Watched | None:
    """Return a request, or None if the bytes are none; they then pass unchanged (C7).

    >>> body = b'{"model": "m", "input": {"prompt": "Hi"}, "parameters": {"max_tokens": 9}}'
    >>> parse_request(body).facts.max_tokens
    9
    """
    try:
        if not is_utf8(body):
            return None
        members = members_of(body)
        parameters = members_of(members.get("parameters", b"{}"))
        flat = {key: raw for key, raw in parameters.items() if key not in _ASIDE}
        model, rows = members["model"], _rows(members_of(members["input"]))
    except (*UNREADABLE, KeyError):
        return None
    asked = joined({"model": model, "messages": rows, **flat})
    chat = request_of(DashScopeRequest, asked, probe_max_tokens, dialect)
    if chat is None:
        return None
    name = chat.facts.model.lower()
    if _NO_CHAT.search(name) or "asr_options" in parameters:
        return Watched(body, chat.facts.model, stream=False)
    chat.given, chat.lists = body, path.rstrip("/").endswith(MULTIMODAL)
    barred = chat.facts.prefill_barred and not begins_answer(_last(rows), _PARTIAL)
    chat.facts = chat.facts.changed(
        stream=False,
        include_usage=True,
        prefill_barred=barred,
        repeats=_repeats(value_of(parameters.get("incremental_output")), name),
    )
    return chat


def with_headers(parsed: WireRequest, headers: Mapping[str, str]) -> WireRequest:
    """Return the request with what its headers say: whether it asks for a stream."""
    wanted = headers.get("x-dashscope-sse", "").strip().lower()
    events = "text/event-stream" in headers.get("accept", "").lower()
    streams = wanted == "enable" or (events and wanted != "disable")
    if streams and isinstance(parsed, DashScopeRequest | Watched):
        parsed.facts = parsed.facts.changed(stream=True)
    return parsed


def _repeats(incremental: object, model: str) -> bool | None:
    if incremental is True:
        return False
    return None if incremental is None and _SAY_WHAT_IS_NEW.search(model) else True


def _rows(asked: Mapping[str, bytes]) -> bytes:
    """Return the messages, or those equivalent to a prompt with the turns before it."""
    if "messages" in asked:
        return asked["messages"]
    turns = value_of(asked.get("history"))
    rows = [
        {"role": role, "content": object_in(turn).get(key)}
        for turn in (turns if isinstance(turns, list) else ())
        for role, key in (("user", "user"), ("assistant", "bot"))
    ]
    prompt: JsonObject = {"role": "user", "content": value_of(asked["prompt"])}
    return encode([*rows, prompt])


def _last(rows: bytes) -> Any:
    values = value_of(rows)
    return object_in(values[-1]) if isinstance(values, list) and values else {}
