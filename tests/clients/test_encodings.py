"""Compressed transfers, and far sides that send anything but what was asked for: nothing hangs,
nothing is silent, and no exception comes that is not the SDK's own."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import time
import zlib
from typing import Any

import brotli  # type: ignore[import-untyped]
import openai
import pytest
import zstandard
from support.asking.wrapping import QUICK
from support.far_sides import BODY, STREAM, FarSide, answer, event, json_answer, sse_answer

import tenuto

CODINGS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
CUT_STREAM = event(b"The first ") + event(b"half, ") + event(b"", b'"length"') + b"data: [DONE]\n\n"
REST_STREAM = event(b"and the ") + event(b"second.") + event(b"", b'"stop"') + b"data: [DONE]\n\n"
CUT = BODY % (b"The first half, ", b"length")
REST = BODY % (b"and the second.", b"stop")
WHOLE = "The first half, and the second."


class Asked:
    """One call through a wrapped client: what came, as text or as the SDK's error."""

    def __init__(self, far: FarSide, way: str, mode: str, **settings: Any) -> None:
        self.events: list[tenuto.Event] = []
        self.text = ""
        self.finish: str | None = None
        self.error: Exception | None = None
        self.headers: Any = None
        streaming = mode == "stream"
        kind: Any = openai.OpenAI if way == "sync" else openai.AsyncOpenAI
        bare = kind(base_url=far.base_url, api_key="key", max_retries=0, timeout=5)
        self.client: Any = tenuto.wrap(
            bare, policy=tenuto.Policy(**(QUICK | settings)), on_event=self.events.append
        )
        try:
            if way == "sync":
                with self.client:
                    self._sync(streaming)
            else:
                asyncio.run(self._async(streaming))
        except openai.OpenAIError as error:
            self.error = error

    def _sync(self, streaming: bool) -> None:
        raw = self.client.chat.completions.with_raw_response.create(stream=streaming, **ASK)
        self.headers = raw.headers
        made = raw.parse()
        for chunk in made if streaming else ():
            self._add(chunk)
        if not streaming:
            self._whole(made)

    async def _async(self, streaming: bool) -> None:
        async with self.client as client:
            made = client.chat.completions.with_raw_response
            raw = await made.create(stream=streaming, **ASK)
            self.headers = raw.headers
            parsed = raw.parse()
            if streaming:
                async for chunk in parsed:
                    self._add(chunk)
            else:
                self._whole(parsed)

    def _add(self, chunk: Any) -> None:
        for choice in chunk.choices:
            self.text += choice.delta.content or ""
            self.finish = choice.finish_reason or self.finish

    def _whole(self, made: Any) -> None:
        self.text = made.choices[0].message.content
        self.finish = made.choices[0].finish_reason

    def of(self, name: str) -> list[dict[str, Any]]:
        return [e.data for e in self.events if e.name == name]


MODES = pytest.mark.parametrize("mode", ["body", "stream"])


@pytest.mark.behaviour("S8a", "P8")
@MODES
# The SDK asks for zstd only where it can read it; here it cannot, and what is whole is as it came.
@pytest.mark.parametrize("coding", [coding for coding in CODINGS if coding != "zstd"])
def test_a_compressed_answer_that_is_whole_is_read_and_handed_on(coding, mode, way):
    plain = STREAM if mode == "stream" else BODY % (b"All said.", b"stop")
    make = sse_answer if mode == "stream" else json_answer
    with FarSide(make(CODINGS[coding](plain), f"content-encoding: {coding}")) as far:
        asked = Asked(far, way, mode)
        assert (asked.text, asked.finish, asked.error) == ("All said.", "stop", None)
        assert len(far.requests) == 1
        assert asked.of("turn_ended")[0]["status"] == "complete"


@pytest.mark.behaviour("S8a")
@MODES
@pytest.mark.parametrize("coding", CODINGS)
def test_a_compressed_answer_that_was_cut_is_continued_and_its_headers_fit(coding, mode, way):
    cut, rest = (CUT_STREAM, REST_STREAM) if mode == "stream" else (CUT, REST)
    make = sse_answer if mode == "stream" else json_answer
    squeeze = CODINGS[coding]
    answers = [make(squeeze(part), f"content-encoding: {coding}") for part in (cut, rest)]
    with FarSide(*answers) as far:
        asked = Asked(far, way, mode)
        assert (asked.text, asked.finish, asked.error) == (WHOLE, "stop", None)
        assert "content-encoding" not in asked.headers
        if mode == "stream":
            assert "content-length" not in asked.headers
        else:
            assert int(asked.headers["content-length"]) > len(CUT)


@pytest.mark.behaviour("S8a", "C28")
@MODES
def test_an_encoding_that_nobody_knows_passes_untouched_and_is_told_of(mode, way):
    plain = STREAM if mode == "stream" else BODY % (b"All said.", b"stop")
    make = sse_answer if mode == "stream" else json_answer
    with FarSide(make(plain, "content-encoding: x-own")) as far:
        asked = Asked(far, way, mode)
        # The SDK's transport takes an encoding that it does not know for none.
        assert (asked.text, asked.error) == ("All said.", None)
        assert asked.headers["content-encoding"] == "x-own"
        assert [e["why"] for e in asked.of("left_alone")] == ["unreadable"]


TWICE = [("gzip", "br"), ("br", "gzip"), ("gzip", "gzip"), ("gzip", "identity"), ("identity", "br")]


@pytest.mark.behaviour("S8a", "P8")
@MODES
@pytest.mark.parametrize("lines", [1, 2], ids=["one line", "two lines"])
@pytest.mark.parametrize("codings", TWICE, ids="-".join)
def test_an_answer_that_is_coded_twice_is_read_as_any_other(codings, lines, mode, way):
    make = sse_answer if mode == "stream" else json_answer
    names = [", ".join(codings)] if lines == 1 else codings

    def coded(plain: bytes) -> bytes:
        for coding in codings:
            plain = CODINGS.get(coding, bytes)(plain)
        return make(plain, *(f"content-encoding: {name}" for name in names))

    whole, cut, rest = (
        (STREAM, CUT_STREAM, REST_STREAM)
        if mode == "stream"
        else (BODY % (b"All said.", b"stop"), CUT, REST)
    )
    with FarSide(coded(whole)) as far:
        asked = Asked(far, way, mode)
        assert (asked.text, asked.finish, asked.error) == ("All said.", "stop", None)
        assert (len(far.requests), asked.of("left_alone")) == (1, [])
    with FarSide(coded(cut), coded(rest)) as far:
        asked = Asked(far, way, mode)
        assert (asked.text, asked.finish, asked.error) == (WHOLE, "stop", None)


@pytest.mark.behaviour("S8a")
@MODES
@pytest.mark.parametrize("coding", CODINGS)
def test_bytes_that_are_not_coded_as_their_header_says_are_a_fault(coding, mode, way):
    plain = STREAM if mode == "stream" else BODY % (b"All said.", b"stop")
    make = sse_answer if mode == "stream" else json_answer
    wrong = make(plain, f"content-encoding: {coding}")
    right = make(plain)
    with FarSide(wrong, right) as far:
        asked = Asked(far, way, mode)
        assert (asked.text, asked.error) == ("All said.", None)
        assert [e["kind"] for e in asked.of("fault")] == ["garbage"]
    with FarSide(wrong) as far:
        asked = Asked(far, way, mode)
        assert isinstance(asked.error, openai.APIError)
        assert asked.of("turn_ended")[0]["status"] == "failed"


HTML = answer(b"<html><body>Bad day</body></html>", "content-type: text/html")
BROKEN = {
    "garbage": answer(b"\x00\xff\xfe garbage", "content-type: application/json"),
    "html": HTML,
    "not_http": b"\x16\x03\x01garbage\r\n\r\n",
    "nothing_at_all": b"",
    "status_204": answer(b"", status="204 No Content"),
    "half_body": json_answer((BODY % (b"All", b"stop"))[:40]),
    "list": json_answer(b"[1,2,3]"),
    "null": json_answer(b"null"),
    "no_choices": json_answer(b'{"id":"c1","object":"chat.completion","choices":[]}'),
    "half_event": sse_answer(event(b"All ")[:30]),
    "event_of_garbage": sse_answer(b"data: {nonsense\n\ndata: [DONE]\n\n"),
    "only_done": sse_answer(b"data: [DONE]\n\n"),
    "only_comments": sse_answer(b": ping\n\n" * 5),
    "nothing_in_it": sse_answer(b""),
}


# To a body request an event stream is handed on as one, and the SDK gives its text out as a str.
PAIRS = [
    (name, mode)
    for name, raw in BROKEN.items()
    for mode in ("body", "stream")
    if mode == "stream" or b"event-stream" not in raw
]
BROKEN_PAIRS = pytest.mark.parametrize(("name", "mode"), PAIRS)


@pytest.mark.behaviour("N6", "P1a", "S1")
@BROKEN_PAIRS
def test_an_answer_that_is_none_raises_the_sdks_own_error(name, mode, way):
    with FarSide(BROKEN[name]) as far:
        asked = Asked(far, way, mode)
        assert isinstance(asked.error, openai.APIError), asked.text
        assert asked.text == ""
        assert len(far.requests) <= 4


@pytest.mark.behaviour("S3", "N6")
@pytest.mark.parametrize(
    ("name", "mode"), [pair for pair in PAIRS if pair[0] not in ("not_http", "nothing_at_all")]
)
def test_an_answer_that_is_none_is_asked_for_again(name, mode, way):
    right = sse_answer(STREAM) if mode == "stream" else json_answer(BODY % (b"All said.", b"stop"))
    with FarSide(BROKEN[name], right) as far:
        asked = Asked(far, way, mode)
        assert (asked.text, asked.error) == ("All said.", None)
        assert len(far.requests) == 2


@pytest.mark.behaviour("P5", "P1a")
@MODES
def test_the_error_for_a_page_says_what_to_check(mode, way):
    with FarSide(HTML) as far:
        asked = Asked(far, way, mode)
        assert "The provider said" not in str(asked.error)
        assert "What came: the answer is text/html" in str(asked.error)
        assert "Check the base URL" in str(asked.error)
        assert {e["kind"] for e in asked.of("fault")} == {"not_this_api"}


@pytest.mark.behaviour("N6", "C5")
@BROKEN_PAIRS
def test_a_continuation_that_is_none_costs_nothing_of_what_was_received(name, mode, way):
    first = sse_answer(CUT_STREAM) if mode == "stream" else json_answer(CUT)
    with FarSide(first, BROKEN[name]) as far:
        asked = Asked(far, way, mode)
        assert asked.error is None
        assert asked.text.startswith("The first half,")
        assert asked.finish == "length"
        assert asked.of("turn_ended")[0]["status"] == "partial"
        assert len(asked.of("continuation_terminated")) == 1


@pytest.mark.behaviour("N6")
def test_text_that_is_no_utf8_arrives_with_replacement_characters(way):
    with FarSide(sse_answer(event(b"All \xff said.") + STREAM[len(event(b"All ")) :])) as far:
        asked = Asked(far, way, "stream")
        assert (asked.text, asked.error) == ("All \ufffd said.said.", None)


@pytest.mark.behaviour("S8a", "N6")
@pytest.mark.parametrize("content_type", ["text/plain", "application/octet-stream"])
def test_an_event_stream_under_another_name_is_still_read(content_type, way):
    answers = [
        answer(part, f"content-type: {content_type}", length=False)
        for part in (CUT_STREAM, REST_STREAM)
    ]
    with FarSide(*answers) as far:
        asked = Asked(far, way, "stream")
        assert (asked.text, asked.finish, asked.error) == (WHOLE, "stop", None)


@pytest.mark.behaviour("N6")
def test_a_body_that_answers_a_stream_request_is_not_lost(way):
    with FarSide(json_answer(CUT), json_answer(REST)) as far:
        asked = Asked(far, way, "stream")
        assert (asked.text, asked.finish, asked.error) == (WHOLE, "stop", None)
    with FarSide(json_answer(BODY % (b"All said.", b"stop"))) as far:
        asked = Asked(far, way, "stream")
        assert (asked.text, asked.finish, asked.error) == ("All said.", "stop", None)


def endless(head: bytes, piece: bytes) -> Any:
    return itertools.chain([head], itertools.repeat(piece))


SSE_HEAD = sse_answer(b"")
JSON_HEAD = answer(b"", "content-type: application/json", length=False)


@pytest.mark.behaviour("S4", "N6")
def test_an_event_beyond_the_limit_is_a_fault_and_is_not_read_on(way):
    huge = itertools.chain(
        [SSE_HEAD, event(b"All "), b'data: {"choices":[{"index":0,"delta":{"content":"'],
        itertools.repeat(b"x" * 65536, 320),
        [b'"}}]}\n\n'],
    )
    with FarSide(huge, sse_answer(b"")) as far:
        began = time.monotonic()
        asked = Asked(far, way, "stream", event_max_bytes=1_000_000)
        assert isinstance(asked.error, openai.APIError)
        assert asked.text.strip() == "All"
        assert asked.of("fault")[0]["kind"] == "limit"
        assert time.monotonic() - began < 5
        assert len(far.requests) == 1, "a limit is not retried"


@pytest.mark.behaviour("S4", "N6")
def test_what_is_held_back_is_bounded(way):
    call = (
        b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{'
        b'"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":'
        b'{"name":"f","arguments":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}]},"finish_reason":null}]}\n\n'
    )
    for piece in (call, event(b"\\n" * 100)):
        with FarSide(endless(SSE_HEAD, piece)) as far:
            asked = Asked(far, way, "stream", hold_max_bytes=20_000)
            assert isinstance(asked.error, openai.APIError)
            assert asked.of("fault")[0]["code"] == "hold_back_exceeded"
            assert len(far.requests) == 1


@pytest.mark.behaviour("N6")
def test_a_body_beyond_the_limit_passes_unread_and_is_told_of(way):
    body = BODY % (b"x" * 300_000, b"length")
    with FarSide(json_answer(body)) as far:
        asked = Asked(far, way, "body", body_max_bytes=100_000)
        assert (len(asked.text), asked.finish) == (300_000, "length")
        assert [e["why"] for e in asked.of("left_alone")] == ["body_too_large"]
        assert len(far.requests) == 1


@pytest.mark.behaviour("S4", "N6")
def test_an_endless_stream_flows_and_is_left_when_its_reader_leaves():
    with FarSide(endless(SSE_HEAD, event(b"on and "))) as far:
        client = tenuto.wrap(openai.OpenAI(base_url=far.base_url, api_key="key"))
        with client, client.chat.completions.create(stream=True, **ASK) as stream:
            for _, _ in zip(range(100), stream, strict=False):
                pass
        deadline = time.monotonic() + 3
        while not far.gone and time.monotonic() < deadline:
            time.sleep(0.01)
        assert far.gone == 1


@pytest.mark.behaviour("N6", "C28")
@MODES
def test_statuses_that_are_no_answer_are_what_the_bare_sdk_makes_of_them(mode, way):
    with FarSide(answer(b"", status="304 Not Modified")) as far:
        asked = Asked(far, way, mode)
        assert isinstance(asked.error, openai.APIStatusError)
        assert asked.error.status_code == 304
        assert [e["why"] for e in asked.of("left_alone")] == ["unreadable"]
    with FarSide(answer(b"", "location: /nowhere", status="301 Moved"), HTML) as far:
        asked = Asked(far, way, mode)
        assert isinstance(asked.error, openai.APIError)


@pytest.mark.behaviour("P1b")
@MODES
def test_a_long_error_page_reaches_the_caller_whole(mode, way):
    page = b'{"error":{"message":"' + b"y" * 3_000_000 + b'"}}'
    with FarSide(json_answer(page, status="400 Bad Request")) as far:
        asked = Asked(far, way, mode)
        assert isinstance(asked.error, openai.BadRequestError)
        assert len(asked.error.response.content) == len(page)
        assert len(far.requests) == 1
