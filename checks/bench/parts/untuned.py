"""Streams that nothing was fitted to: the official SDKs with and without `tenuto.wrap`.

Each wire says one text, a word a delta, in JSON with and without spaces, in pieces of 16 kB and of
2 kB that end anywhere. The text has what real answers have: Markdown, code with quotes and line
ends, letters beyond ASCII, deltas of white space. The bytes come from memory, so that what the
network takes does not make the ratio look smaller.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import anthropic
import httpx
import httpx2
import openai
from google import genai
from parts import recorded_responses
from parts.figures import Figure, ratio

import tenuto

_TEXT = '''\
## Why the harbour clock runs late

Fog, salt — and a **worn pawl**: the keeper says it "loses four minutes a tide". Møller measured it
twice, once in März and once in août, and wrote 12.5 s/h into the log.

```python
def drift(log: dict[str, float]) -> float:
    """Seconds a day."""
    return sum(log["hourly"]) * 24  # not \\u00b5s
```

1. Oil the pawl; 潮が引いたら、もう一度測る。
2. Compare it with the tower's clock, and don't touch the weights.

'''
_TIMES = 12
_PIECES = (16_000, 2_000)
_ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Why is it late?"}]}
_USAGE = {"input_tokens": 14, "output_tokens": 1}

Write = Callable[[object], bytes]
"""Writes JSON."""


def _words() -> list[str]:
    """The text in deltas: a word and what stands before it; every tenth line end for itself."""
    found, delta = [], ""
    for letter in _TEXT * _TIMES:
        if letter in " \n" and delta.strip():
            found.append(delta)
            delta = ""
        delta += letter
    return [*found, delta]


TEXTS = _words()


def _chat(write: Write) -> Iterator[bytes]:
    def chunk(delta: dict[str, Any], stop: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": stop}
        shared = {"id": "gen-81f0", "object": "chat.completion.chunk", "created": 1790000000}
        return b"data: " + write({**shared, "model": "m", "choices": [choice]}) + b"\n\n"

    yield chunk({"role": "assistant", "content": ""})
    yield from (chunk({"content": text}) for text in TEXTS)
    yield chunk({}, "stop")
    yield b"data: [DONE]\n\n"


def _named(write: Write, values: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    for value in values:
        yield b"event: " + value["type"].encode() + b"\ndata: " + write(value) + b"\n\n"


def _messages(write: Write) -> Iterator[bytes]:
    message: dict[str, Any] = {"id": "msg_07", "type": "message", "role": "assistant", "model": "m"}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": _USAGE}
    block = {"type": "text", "text": ""}
    deltas = [{"type": "text_delta", "text": text} for text in TEXTS]
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    return _named(
        write,
        [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": {"output_tokens": len(TEXTS)}},
            {"type": "message_stop"},
        ],
    )


def _responses(write: Write) -> Iterator[bytes]:
    events = recorded_responses.events(TEXTS)
    datas = [json.loads(event.partition(b"\ndata: ")[2]) for event in events]
    return _named(write, datas)


def _gemini(write: Write) -> Iterator[bytes]:
    for number, text in enumerate([*TEXTS, ""], 1):
        candidate: dict[str, Any] = {"content": {"parts": [{"text": text}], "role": "model"}}
        candidate |= {"finishReason": "STOP"} if not text else {}
        used = {"promptTokenCount": 9, "candidatesTokenCount": number}
        value = {"candidates": [{**candidate, "index": 0}], "usageMetadata": used}
        yield b"data: " + write(value) + b"\r\n\r\n"


def _transport(library: Any, pieces: list[bytes]) -> Any:
    """A transport of httpx or httpx2 that answers every request with these pieces."""

    class Stream(library.SyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            return iter(pieces)

    class Transport(library.BaseTransport):  # type: ignore[misc]
        def handle_request(self, _request: Any) -> Any:
            headers = {"content-type": "text/event-stream"}
            return library.Response(200, headers=headers, stream=Stream())

    return Transport()


def _openai(pieces: list[bytes]) -> Any:
    client = httpx2.Client(transport=_transport(httpx2, pieces))
    return openai.OpenAI(api_key="none", max_retries=0, http_client=client)


def _anthropic(pieces: list[bytes]) -> Any:
    client = httpx2.Client(transport=_transport(httpx2, pieces))
    return anthropic.Anthropic(api_key="none", max_retries=0, http_client=client)


def _google(pieces: list[bytes]) -> Any:
    client = httpx.Client(transport=_transport(httpx, pieces))
    options = genai.types.HttpOptions(httpx_client=client)
    return genai.Client(api_key="none", http_options=options)


def _asked(client: Any) -> Any:
    return client.chat.completions.create(**_ASK, stream=True)


def _asked_messages(client: Any) -> Any:
    return client.messages.create(**_ASK, max_tokens=4096, stream=True)


def _asked_responses(client: Any) -> Any:
    return client.responses.create(model="m", input="Why is it late?", stream=True)


def _asked_gemini(client: Any) -> Any:
    return client.models.generate_content_stream(model="m", contents="Why is it late?")


@dataclass(frozen=True, slots=True)
class Sdk:
    """One wire: its SDK, how it is asked, what it answers, and the bound of the issue."""

    name: str
    client: Callable[[list[bytes]], Any]
    ask: Callable[[Any], Any]
    events: Callable[[Write], Iterable[bytes]]
    bound: float


SDKS = (
    Sdk("openai", _openai, _asked, _chat, 1.08),
    Sdk("openai-responses", _openai, _asked_responses, _responses, 1.10),
    Sdk("gemini-generate", _google, _asked_gemini, _gemini, 1.10),
    Sdk("anthropic", _anthropic, _asked_messages, _messages, 1.15),
)


def _write(separators: tuple[str, str], value: object) -> bytes:
    return json.dumps(value, separators=separators, ensure_ascii=False).encode()


def _read(sdk: Sdk, client: Any) -> int:
    return sum(1 for _ in sdk.ask(client))


def figures() -> Iterator[Figure]:
    """Each wire, written both ways, in pieces of both sizes."""
    for sdk in SDKS:
        for how, separators in (("tight", (",", ":")), ("spaced", (", ", ": "))):
            stream = b"".join(sdk.events(partial(_write, separators)))
            for size in _PIECES:
                pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
                client = sdk.client(pieces)
                bare = partial(_read, sdk, client)
                with_us = partial(_read, sdk, tenuto.wrap(client, policy=tenuto.Policy()))
                seen = bare()
                assert with_us() == seen >= len(TEXTS), sdk.name
                title = f"{sdk.name}: a stream of others, {how} JSON, {size // 1000} kB at a time"
                yield ratio(title, bare, with_us, seen, sdk.bound)
