"""Whole bodies in another encoding than plain UTF-8: what the bare SDK reads is read, and what it
would fall over is made readable, as it is in streams."""

from __future__ import annotations

import asyncio
import codecs
import gzip
import json
from typing import Any

import anthropic
import openai
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, json_answer, sse_answer

import tenuto

ENCODINGS = {
    "a byte order mark": "utf-8-sig",
    "utf-16": "utf-16",
    "utf-16 without a mark": "utf-16-le",
    "utf-32": "utf-32",
}
WHOLE = "Größe one, and size two."
HALVES = ("Größe one, ", "and size two.")
ROWS: list[Any] = [{"role": "user", "content": "Hi"}]


class Chat:
    """Chat Completions."""

    sdk = openai
    end, cut = "stop", "length"

    def value(self, text: str, stop: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": text}
        choices = [{"index": 0, "message": message, "finish_reason": stop}]
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m",
                "choices": choices}  # fmt: skip

    def ask(self, client: Any) -> Any:
        return client.chat.completions.create(model="m", messages=ROWS)

    def said(self, made: Any) -> tuple[str, str]:
        return made.choices[0].message.content, made.choices[0].finish_reason


class Messages:
    """The Messages API."""

    sdk = anthropic
    end, cut = "end_turn", "max_tokens"

    def value(self, text: str, stop: str) -> dict[str, Any]:
        return {"id": "m", "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "text", "text": text}], "stop_reason": stop,
                "stop_sequence": None,
                "usage": {"input_tokens": 3, "output_tokens": 5}}  # fmt: skip

    def ask(self, client: Any) -> Any:
        return client.messages.create(model="m", messages=ROWS, max_tokens=100)

    def said(self, made: Any) -> tuple[str, str]:
        return "".join(block.text for block in made.content), made.stop_reason


class Responses:
    """OpenAI Responses."""

    sdk = openai
    end, cut = "completed", "incomplete"

    def value(self, text: str, stop: str) -> dict[str, Any]:
        part = {"type": "output_text", "text": text, "annotations": []}
        item = {"type": "message", "id": "i", "role": "assistant", "status": stop,
                "content": [part]}  # fmt: skip
        usage = {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8}
        why = {"reason": "max_output_tokens"} if stop == self.cut else None
        return {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": stop,
                "output": [item], "incomplete_details": why, "error": None,
                "usage": usage}  # fmt: skip

    def ask(self, client: Any) -> Any:
        return client.responses.create(model="m", input=ROWS, max_output_tokens=100)

    def said(self, made: Any) -> tuple[str, str]:
        return made.output_text, made.status


def encoded(api: Any, encoding: str, text: str, stop: str) -> bytes:
    return json.dumps(api.value(text, stop), ensure_ascii=False).encode(encoding)


def asked(api: Any, far: FarSide, way: str, *, watched: bool = True, bare: bool = False) -> Any:
    """What the API's SDK makes of an answer."""
    module = api.sdk
    name = module.__name__.capitalize().replace("Openai", "OpenAI")
    kind = getattr(module, name if way == "sync" else f"Async{name}")
    root = far.base_url if module is openai else far.base_url.removesuffix("/v1")
    client: Any = kind(base_url=root, api_key="key", max_retries=0, timeout=5)
    if not bare:
        events: list[tenuto.Event] = []
        watch = events.append if watched else None
        client = tenuto.wrap(client, policy=tenuto.Policy(**QUICK), on_event=watch)
    if way == "sync":
        with client:
            return api.said(api.ask(client))

    async def run() -> Any:
        async with client:
            return api.said(await api.ask(client))

    return asyncio.run(run())


apis = pytest.mark.parametrize("api", [Chat(), Messages(), Responses()], ids=lambda a: a.__doc__)
encodings = pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS)


@pytest.mark.behaviour("P8", "C25")
@apis
@encodings
@pytest.mark.parametrize("watched", [True, False])
def test_a_whole_body_in_an_encoding_that_the_sdk_reads_is_left_alone(api, encoding, watched, way):
    with FarSide(json_answer(encoded(api, encoding, WHOLE, api.end))) as far:
        assert asked(api, far, way, bare=True) == (WHOLE, api.end)
        assert asked(api, far, way, watched=watched) == (WHOLE, api.end)
        assert len(far.requests) == 2


@pytest.mark.behaviour("P8", "C25")
@encodings
def test_a_whole_body_in_another_encoding_leaves_as_the_bytes_that_came(encoding):
    body = encoded(Chat(), encoding, WHOLE, "stop")
    with FarSide(json_answer(body)) as far:
        bare = openai.OpenAI(base_url=far.base_url, api_key="key", max_retries=0)
        with tenuto.wrap(bare, policy=tenuto.Policy(**QUICK)) as client:
            raw = client.chat.completions.with_raw_response.create(model="m", messages=ROWS)
            assert raw.content == body


@pytest.mark.behaviour("C1", "C5")
@apis
@encodings
def test_a_cut_body_in_such_an_encoding_is_continued(api, encoding, way):
    stops = (api.cut, api.end)
    parts = [encoded(api, encoding, *part) for part in zip(HALVES, stops, strict=True)]
    with FarSide(*map(json_answer, parts)) as far:
        assert asked(api, far, way) == (WHOLE, api.end)
        assert len(far.requests) == 2
        assert "Größe one" in json.dumps(json.loads(far.requests[1][1]), ensure_ascii=False)


@pytest.mark.behaviour("S1")
@pytest.mark.parametrize("make", [sse_answer, json_answer])
def test_a_body_behind_a_mark_where_a_stream_was_asked_for_becomes_one(make):
    body = codecs.BOM_UTF8 + json.dumps(Chat().value(WHOLE, "stop")).encode()
    with FarSide(make(body)) as far:
        bare = openai.OpenAI(base_url=far.base_url, api_key="key", max_retries=0)
        with tenuto.wrap(bare, policy=tenuto.Policy(**QUICK)) as client:
            chunks = list(client.chat.completions.create(model="m", messages=ROWS, stream=True))
        said = [c.choices[0].delta.content or "" for c in chunks if c.choices]
        assert "".join(said) == WHOLE
        assert len(far.requests) == 1


@pytest.mark.behaviour("N6")
@apis
@pytest.mark.parametrize("watched", [True, False])
@pytest.mark.parametrize("squeeze", [None, gzip.compress])
def test_a_byte_that_is_no_character_costs_no_answer(api, watched, squeeze, way):
    body = encoded(api, "utf-8", "One ~ two.", api.end).replace(b"~", b"\xff")
    answer = json_answer(squeeze(body), "content-encoding: gzip") if squeeze else json_answer(body)
    with FarSide(answer) as far:
        with pytest.raises(UnicodeDecodeError):
            asked(api, far, way, bare=True)
        assert asked(api, far, way, watched=watched) == ("One \ufffd two.", api.end)
        assert len(far.requests) == 2
