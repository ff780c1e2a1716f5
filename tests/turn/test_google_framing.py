"""Google's two ways to stream: an array of JSON, and events that are nothing but lines of data."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, json_answer, sse_answer

import tenuto
from tenuto.frames.json_array import ArrayDecoder

ASK = {"contents": [{"role": "user", "parts": [{"text": "Tell me."}]}]}


def chunk(text: str, stop: str | None = None, **beside: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": [{"text": text}], "role": "model"}}
    candidate |= {"finishReason": stop} if stop else {}
    return {"candidates": [candidate | {"index": 0} | beside], "modelVersion": "gemini-x"}


def array(*chunks: dict[str, Any]) -> bytes:
    """As the provider writes it: each element over many lines."""
    return b"[" + b"\n,\n".join(json.dumps(c, indent=2).encode() for c in chunks) + b"\n]\n"


def text_of(told: list[Any]) -> str:
    parts = [p for c in told for p in c["candidates"][0]["content"].get("parts", [])]
    return "".join(part.get("text", "") for part in parts)


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with tenuto.http_client("httpx", policy=tenuto.Policy(**QUICK)) as made:
        yield made


def ask(client: httpx.Client, far: FarSide, query: str = "", **headers: str) -> httpx.Response:
    url = f"{far.base_url}beta/models/m:streamGenerateContent{query}"
    with client.stream("POST", url, json=ASK, headers=headers) as answer:
        answer.read()
    return answer


@pytest.mark.behaviour("S2", "C1")
def test_a_cut_array_is_continued_and_stays_one_array(client: httpx.Client) -> None:
    first = array(chunk("One "), chunk("two ", "MAX_TOKENS"))
    rest = array(chunk("three", None), chunk(".", "STOP"))
    with FarSide(json_answer(first), json_answer(rest)) as far:
        answer = ask(client, far)
        assert answer.headers["content-type"] == "application/json"
        told = answer.json()
        assert text_of(told) == "One two three."
        stops = [c["candidates"][0].get("finishReason") for c in told]
        assert [stop for stop in stops if stop] == ["STOP"]
        assert len(far.requests) == 2
        assert answer.content.startswith(array(chunk("One "))[:-3])


@pytest.mark.behaviour("P8", "C25")
@pytest.mark.parametrize("off", [False, True])
def test_an_array_that_needs_nothing_is_the_same_bytes(client: httpx.Client, off: bool) -> None:
    whole = array(chunk('One ü \\ " } '), chunk("two.", "STOP"))
    with FarSide(json_answer(whole)) as far:
        headers = {"x-tenuto": "off"} if off else {}
        assert ask(client, far, **headers).content == whole


@pytest.mark.behaviour("S1", "S3")
def test_an_array_that_breaks_off_is_gone_on_from(client: httpx.Client) -> None:
    half = array(chunk("One "), chunk("two ", "STOP"))
    with FarSide(json_answer(half[:-60]), json_answer(array(chunk("two.", "STOP")))) as far:
        assert text_of(ask(client, far).json()) == "One two."


@pytest.mark.behaviour("P1a")
def test_an_array_that_nobody_finishes_ends_in_an_error_element(client: httpx.Client) -> None:
    with FarSide(json_answer(array(chunk("One "))[:-2])) as far:
        told = ask(client, far).json()
        assert told[-1]["error"]["status"] == "TENUTO_INCOMPLETE"
        assert text_of(told[:-1]) == "One "


@pytest.mark.behaviour("S8")
def test_any_chunking_of_an_array_gives_the_same_elements() -> None:
    data = array(chunk('a "} \\" \\\\'), chunk("[{"), chunk("ü\n", "STOP"))
    whole = ArrayDecoder()
    elements = whole.feed(data)
    assert [json.loads(raw.lstrip(b"[\n,")) for raw in elements] == json.loads(data)
    rng = random.Random("array")
    for most in (1, 3, 20):
        decoder, got, at = ArrayDecoder(), list[bytes](), 0
        while at < len(data):
            size = rng.randint(1, most)
            got += decoder.feed(data[at : at + size])
            at += size
        assert (got, decoder.pending) == (elements, whole.pending)


def events(*chunks: dict[str, Any]) -> bytes:
    return b"".join(b"data: %b\r\n\r\n" % json.dumps(c).encode() for c in chunks)


@pytest.mark.behaviour("P8", "S8")
def test_events_of_data_alone_pass_as_they_came(client: httpx.Client) -> None:
    whole = events(chunk("One "), chunk("two.", "STOP"))
    with FarSide(sse_answer(whole)) as far:
        assert ask(client, far, "?alt=sse").content == whole


@pytest.mark.behaviour("S8", "C19")
def test_a_reader_of_data_lines_is_given_nothing_else(client: httpx.Client) -> None:
    odd = b"\xef\xbb\xbf: hello\n\nevent: message\nid: 1\ndata:" + events(chunk("One "))[6:]
    cut = odd + events(chunk("two ", "MAX_TOKENS"))
    rest = events(chunk("three.", "STOP")) + b"data: [DONE]\n\n"
    with FarSide(sse_answer(cut), sse_answer(rest)) as far:
        content = ask(client, far, "?alt=sse").content
        lines = [line for line in content.splitlines() if line]
        assert all(line.startswith(b"data: {") for line in lines)
        assert text_of([json.loads(line[6:]) for line in lines]) == "One two three."


def counting(text: str, asked: int, said: int, stop: str | None = None) -> bytes:
    used = {
        "promptTokenCount": asked,
        "candidatesTokenCount": said,
        "totalTokenCount": asked + said,
    }
    return b"data: %b\r\n\r\n" % json.dumps(chunk(text, stop) | {"usageMetadata": used}).encode()


@pytest.mark.behaviour("C19", "S3")
def test_what_an_attempt_that_broke_off_told_beside_its_texts_is_counted(
    client: httpx.Client,
) -> None:
    texts = enumerate(["One ", "two ", "three ", "fo"], 1)
    half = b"".join(counting(text, 10, number) for number, text in texts)
    rest = counting("ur ", 14, 1) + counting("five.", 14, 2, "STOP")
    with FarSide(sse_answer(half), sse_answer(rest)) as far:
        told = [json.loads(line[6:]) for line in ask(client, far, "?alt=sse").text.split("\n")
                if line.startswith("data: ")]  # fmt: skip
    assert text_of(told) == "One two three four five."
    used = told[-1]["usageMetadata"]
    assert (used["promptTokenCount"], used["candidatesTokenCount"]) == (10, 4 + 2)
