"""The recorded responses of real services (`shared/corpus`, not part of the project), and what stands
in each: its stop, its events."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.replacing import shape
from tenuto import Confidence, Stop
from tenuto.core.answer.stop import CLEAN
from tenuto.frames.aws_messages import AwsEventDecoder
from tenuto.frames.frame import Frame
from tenuto.frames.json_lines import LineDecoder
from tenuto.frames.sse import SseDecoder

NAME = Path("shared/corpus/recorded.jsonl.gz")
LABELS = {"context_window": "context_window_exceeded"}
"""Words of the corpus that are not ours."""

STOP = {
    "ollama": re.compile(rb'"done_reason"\s*:\s*"[^"]+"'),
    "openai-chat": re.compile(rb'"finish_reason"\s*:\s*"[^"]+"'),
    "openai-completions": re.compile(rb'"finish_reason"\s*:\s*"[^"]+"'),
    "anthropic-messages": re.compile(rb'"stop_reason"\s*:\s*"[^"]+"'),
    # Other events name a status too, those of items and of a response in progress.
    "openai-responses": re.compile(
        rb'"type"\s*:\s*"response\.(?:completed|incomplete|failed)"'
        rb'|\A\s*\{.*"status"\s*:\s*"completed"',
        re.DOTALL,
    ),
    "gemini-generate": re.compile(rb'"finishReason"\s*:\s*("[^"]+"|\d)'),
    "bedrock-converse": re.compile(rb'"stopReason"\s*:\s*"[^"]+"'),
    "bedrock-invoke": re.compile(
        rb'"(?:stop_?reason|completionReason|finish_?reason|reason|amazon-bedrock-guardrailAction)"'
        rb'\s*:\s*"[^"]+"',
        re.IGNORECASE,
    ),
    "cohere": re.compile(rb'"finish_reason"\s*:\s*"[^"]+"'),
    "cohere-v1": re.compile(rb'"finish_reason"\s*:\s*"[^"]+"'),
    "mistral": re.compile(rb'"finish_reason"\s*:\s*"[^"]+"'),
}
"""The native stop, by wire."""

BINARY = (b"\0", b"\1")
"""How a stream of messages of AWS begins."""


def place() -> Path | None:
    return next((up / NAME for up in Path(__file__).parents if (up / NAME).exists()), None)


@cache
def corpus() -> dict[str, list[tuple[str, bytes, frozenset[str]]]]:
    """The id, the bytes and the acceptable reasons of each record, by wire."""
    path = place()
    if path is None:
        pytest.skip(f"no {NAME} above {Path(__file__).parent}: the corpus is kept elsewhere")
    found = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            body = row["response_body"]
            raw = base64.b64decode(body) if row["response_is_base64"] else body.encode()
            reasons = (row["label"], *row["label_alt"])
            labels = frozenset(LABELS.get(r, r) for r in reasons)
            found[spoken(row["wire"], raw)].append((row["id"], raw, labels))
    return found


OF_VERSION_1 = re.compile(rb'"(?:event_type|generation_id|generations|is_finished)"')


def spoken(wire: str, raw: bytes) -> str:
    """The wire of a record: the corpus has one name for both versions of Cohere's API."""
    return "cohere-v1" if wire == "cohere" and OF_VERSION_1.search(raw) else wire


def recorded(wire: str) -> list[tuple[str, bytes, frozenset[str]]]:
    """The records of a wire."""
    return corpus()[wire]


def shown(raw: bytes) -> bytes:
    """The bytes in which a stop can be seen: those of binary messages hold theirs encoded."""
    if raw[:1] not in BINARY:
        return raw
    events = AwsEventDecoder().feed(raw)
    return b"\n".join(event.data or b"" for event in events)


def is_false_clean_end(wire: str, raw: bytes, stop: Stop) -> bool:
    """A clean end of high confidence although the bytes hold no stop."""
    sure = stop.confidence is Confidence.HIGH and stop.reason in CLEAN
    return sure and not STOP[wire].search(shown(raw))


class Part(NamedTuple):
    """A body, or one event of a stream.

    Attributes:
    raw: the bytes.
    data: the JSON in them.
    value: what this says; None where it is no JSON.
    again: whether one with the same members came before it.
    """

    raw: bytes
    data: bytes
    value: Any
    again: bool = False


ALIKE = 2
"""How many events of the same members are kept of a stream."""


def parts(raw: bytes) -> list[Part]:
    """A body as the one part that it is, a stream as its events; of those alike the first ones, so
    that it is short."""
    if (value := _value(raw)) is not None:
        return [Part(raw, raw, value)]
    seen: Counter[str] = Counter()
    kept = []
    for event in _events(raw):
        data = event.data or b""
        value = _value(data)
        known = "" if value is None else repr(shape(value))
        seen[known] += 1
        if not known or seen[known] <= ALIKE:
            kept.append(Part(event.raw, data, value, seen[known] > 1))
    return kept


def _value(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def _events(raw: bytes) -> list[Frame]:
    if raw[:1] in BINARY:
        return AwsEventDecoder().feed(raw)
    lines = LineDecoder() if raw.lstrip()[:1] == b"{" else SseDecoder()
    return [*lines.feed(raw), *lines.flush()]
