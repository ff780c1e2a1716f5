"""Ollama's streams: objects of JSON, one a line, to a caller who reads just that."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, answer, json_answer, sse_answer

import tenuto
from tenuto.frames.json_lines import LineDecoder
from tenuto_sim import Simulator, Step

ASK = {"model": "m", "messages": [{"role": "user", "content": "Tell me."}]}
Value = dict[str, Any]


def line(text: str = "", stop: str | None = None, **more: Any) -> Value:
    told: Value = {"model": "m", "created_at": "2026-11-22T10:00:00Z"}
    told |= {"message": {"role": "assistant", "content": text, **more}, "done": stop is not None}
    return told | ({"done_reason": stop, "eval_count": 5, "prompt_eval_count": 3} if stop else {})


def lines(*values: Value, end: str = "\n") -> bytes:
    return "".join(json.dumps(value, ensure_ascii=False) + end for value in values).encode()


def ndjson(body: bytes, *headers: str) -> bytes:
    return answer(body, "content-type: application/x-ndjson", *headers, length=False)


def values(data: bytes) -> list[Value]:
    """As the official SDK reads: every line is decoded, blank ones too."""
    return [json.loads(told) for told in data.decode().splitlines()]


def text_of(told: list[Value]) -> str:
    return "".join(value.get("message", {}).get("content", "") for value in told)


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with tenuto.http_client("httpx", policy=tenuto.Policy(**QUICK)) as made:
        yield made


def ask(client: httpx.Client, far: FarSide, body: Value = ASK, off: bool = False) -> httpx.Response:
    url = far.base_url.removesuffix("/v1") + "/api/chat"
    headers = {"x-tenuto": "off"} if off else {}
    with client.stream("POST", url, json=body, headers=headers) as told:
        told.read()
    return told


@pytest.mark.behaviour("S2", "C1", "C19")
def test_a_cut_stream_of_lines_is_continued_and_stays_one(client: httpx.Client) -> None:
    first, rest = (
        lines(line("One "), line("two ", "length")),
        lines(line("three"), line(".", "stop")),
    )
    with FarSide(ndjson(first), ndjson(rest)) as far:
        told = ask(client, far)
        assert told.headers["content-type"] == "application/x-ndjson"
        assert text_of(values(told.content)) == "One two three."
        ends = [value for value in values(told.content) if value["done"]]
        assert [end["done_reason"] for end in ends] == ["stop"]
        assert (ends[0]["eval_count"], ends[0]["prompt_eval_count"]) == (10, 3)
        assert told.content.startswith(lines(line("One ")))


@pytest.mark.behaviour("P8", "C25")
@pytest.mark.parametrize("off", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_that_need_nothing_are_the_same_bytes(
    client: httpx.Client, off: bool, end: str
) -> None:
    whole = lines(line('One ü \\ " } '), line("two.\r\n"), line(stop="stop"), end=end)
    with FarSide(ndjson(whole)) as far:
        assert ask(client, far, off=off).content == whole


@pytest.mark.behaviour("P8")
def test_a_stream_that_is_only_watched_keeps_its_blank_lines(client: httpx.Client) -> None:
    whole = b"\n" + lines(line("One"), line(stop="stop"), end="\n\n")[:-2]
    with FarSide(ndjson(whole)) as far:
        assert ask(client, far, off=True).content == whole


@pytest.mark.behaviour("S8")
def test_blank_lines_do_not_reach_a_reader_that_decodes_them(client: httpx.Client) -> None:
    with FarSide(ndjson(lines(line("One"), line(stop="stop"), end="\n\n"))) as far:
        assert text_of(values(ask(client, far).content)) == "One"


@pytest.mark.behaviour("S1", "S3")
@pytest.mark.parametrize("cut", [1, 20, 60, 90])
def test_a_stream_that_breaks_off_inside_a_line_is_gone_on_from(
    client: httpx.Client, cut: int
) -> None:
    half = lines(line("One "), line("two ", "stop"))
    with FarSide(ndjson(half[: -60 - cut]), ndjson(lines(line("two.", "stop")))) as far:
        assert text_of(values(ask(client, far).content)) == "One two."


@pytest.mark.behaviour("P1a", "S9")
def test_a_stream_that_nobody_finishes_ends_in_an_error_line(client: httpx.Client) -> None:
    with FarSide(ndjson(lines(line("One ")) + b'{"mess')) as far:
        told = values(ask(client, far).content)
        assert told[-1]["type"] == "tenuto_incomplete"
        assert isinstance(told[-1]["error"], str)
        assert text_of(told[:-1]) == "One "


@pytest.mark.behaviour("S8a")
def test_compressed_lines_are_read_and_continued(client: httpx.Client) -> None:
    first = gzip.compress(lines(line("One "), line("two ", "length")))
    rest = lines(line("three.", "stop"))
    with FarSide(ndjson(first, "content-encoding: gzip"), ndjson(rest)) as far:
        told = ask(client, far)
        assert "content-encoding" not in told.headers
        assert text_of(values(told.content)) == "One two three."


@pytest.mark.behaviour("S8", "N6")
@pytest.mark.parametrize("name", ["json", "events", "document", "continued document"])
def test_what_comes_in_another_form_is_told_in_lines(client: httpx.Client, name: str) -> None:
    parts = [line("One "), line("two.", "stop")]
    document = json.dumps(line("One two.", "stop"), indent=2).encode()
    cut = json.dumps(line("One ", "length"), indent=2).encode()
    given = {
        "json": [json_answer(lines(*parts))],
        "events": [sse_answer(b"".join(b"data: %b\n\n" % lines(part)[:-1] for part in parts))],
        "document": [json_answer(document)],
        "continued document": [json_answer(cut), ndjson(lines(line("two.", "stop")))],
    }[name]
    with FarSide(*given) as far:
        told = values(ask(client, far).content)
        assert text_of(told) == "One two."
        assert [value["done_reason"] for value in told if value["done"]] == ["stop"]


@pytest.mark.behaviour("C1")
def test_a_request_that_streams_nothing_is_answered_by_a_body(client: httpx.Client) -> None:
    cut, rest = (json.dumps(v).encode() for v in (line("One ", "length"), line("two.", "stop")))
    with FarSide(json_answer(cut), json_answer(rest)) as far:
        told = ask(client, far, {**ASK, "stream": False})
        assert told.headers["content-type"] == "application/json"
        assert told.json() == line("One two.", "stop") | {"eval_count": 10}


@pytest.mark.behaviour("S4")
def test_each_line_is_handed_on_before_the_next_one_comes() -> None:
    with Simulator(lockstep=True) as sim, tenuto.http_client("httpx") as client:
        sim.script([Step(event_chars=200)])
        with client.stream("POST", f"{sim.root_url}/api/chat", json=ASK) as told:
            seen = 0
            for raw in told.iter_lines():
                seen += json.loads(raw)["message"]["role"] == "assistant"
                sim.acknowledge()
        assert seen > 3
        assert not sim.stalled


@pytest.mark.behaviour("S8")
def test_any_chunking_gives_the_same_lines() -> None:
    data = b"\n" + lines(line('a "} \\" \\\\'), line("[{"), line("ü\n", "stop"), end="\r\n") + b"{"
    whole = LineDecoder()
    told = [*whole.feed(data), *whole.flush()]
    assert b"".join(one.raw for one in told) == data
    assert [one.terminated for one in told] == [True] * 4 + [False]
    rng = random.Random("lines")
    for most in (1, 3, 20):
        decoder, got, at = LineDecoder(), list[Any](), 0
        while at < len(data):
            size = rng.randint(1, most)
            got += decoder.feed(data[at : at + size])
            at += size
        assert [*got, *decoder.flush()] == told


@pytest.mark.behaviour("N6")
def test_a_line_beyond_the_limit_ends_the_stream_in_an_error() -> None:
    policy = tenuto.Policy(**QUICK, event_max_bytes=400)
    with (
        tenuto.http_client("httpx", policy=policy) as client,
        FarSide(ndjson(lines(line("One "), line("x" * 500), line(stop="stop")))) as far,
    ):
        told = values(ask(client, far).content)
        assert text_of(told[:-1]) == "One "
        assert "event_max_bytes" in told[-1]["error"]
