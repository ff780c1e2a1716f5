"""Far sides that break off, drip, lie about their length or never stop, through the official SDK: its
own errors, nothing received is lost, and nothing is left over."""

from __future__ import annotations

import asyncio
import gc
import itertools
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from support.asking.wrapping import QUICK
from support.events import anthropic_messages as messages
from support.events.framing import sse
from support.far_sides import BODY, RESET, STREAM, FarSide, answer, event, json_answer, sse_answer

import tenuto

ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
HEAD = sse_answer(b"")
GOOD = {"body": json_answer(BODY % (b"All said.", b"stop")), "stream": sse_answer(STREAM)}
MODES = pytest.mark.parametrize("mode", ["body", "stream"])


@pytest.fixture(autouse=True)
def nothing_is_left_over() -> Iterator[None]:
    gc.collect()
    before, threads = open_sockets(), set(threading.enumerate())
    yield
    gc.collect()
    assert open_sockets() - before == set()
    left = set(threading.enumerate()) - threads
    assert [t.name for t in left if "tenuto" in t.name] == []


def open_sockets() -> set[int]:
    """Those that this process dialled; a far side's own end with its threads."""
    found = [o for o in gc.get_objects() if type(o) is socket.socket and o.fileno() >= 0]
    return {id(s) for s in found if _dialled(s)}


def _dialled(sock: socket.socket) -> bool:
    if sock.family not in (socket.AF_INET, socket.AF_INET6):
        return False
    try:
        return sock.getpeername()[1] in _PORTS
    except OSError:
        return False


_PORTS: set[int] = set()


class Heard:
    """One call through a wrapped client: text, finish, or the SDK's error."""

    def __init__(self, far: FarSide, way: str, mode: str, **settings: Any) -> None:
        _PORTS.add(int(far.base_url.split(":")[2].split("/")[0]))
        self.events: list[tenuto.Event] = []
        self.text = ""
        self.finish: str | None = None
        self.error: Exception | None = None
        kind: Any = openai.OpenAI if way == "sync" else openai.AsyncOpenAI
        bare = kind(base_url=far.base_url, api_key="key", max_retries=0, timeout=10)
        policy = tenuto.Policy(**(QUICK | settings))
        client: Any = tenuto.wrap(bare, policy=policy, on_event=self.events.append)
        try:
            if way == "sync":
                with client:
                    self._sync(client, mode == "stream")
            else:
                asyncio.run(self._async(client, mode == "stream"))
        except openai.OpenAIError as error:
            self.error = error

    def _sync(self, client: Any, stream: bool) -> None:
        made = client.chat.completions.create(stream=stream, **ASK)
        for chunk in made if stream else ():
            self._add(chunk.choices, "delta")
        if not stream:
            self._add(made.choices, "message")

    async def _async(self, client: Any, stream: bool) -> None:
        async with client:
            made = await client.chat.completions.create(stream=stream, **ASK)
            if not stream:
                self._add(made.choices, "message")
                return
            async for chunk in made:
                self._add(chunk.choices, "delta")

    def _add(self, choices: Any, part: str) -> None:
        for choice in choices:
            self.text += getattr(choice, part).content or ""
            self.finish = choice.finish_reason or self.finish


STAGES = {
    "before the head": 0,
    "in the head": 20,
    "behind the head": len(HEAD),
    "in the first event": len(HEAD) + 40,
}


@pytest.mark.behaviour("P1b", "N6", "P1a")
@MODES
@pytest.mark.parametrize("stage", STAGES)
def test_a_reset_before_any_text_is_the_sdks_own_error(stage, mode, way):
    with FarSide((GOOD[mode][: STAGES[stage]], RESET)) as far:
        heard = Heard(far, way, mode)
        assert isinstance(heard.error, openai.APIError)
        assert heard.text == ""
        assert len(far.requests) <= 3


@pytest.mark.behaviour("C5", "S3", "S1")
@pytest.mark.parametrize("at", [0, 40])
def test_a_reset_behind_text_loses_none_of_it(at, way):
    said = HEAD + event(b"All ")
    broken = (said + event(b"said.")[:at], RESET)
    rest = sse_answer(event(b"said.") + event(b"", b'"stop"') + b"data: [DONE]\n\n")
    with FarSide(broken, rest) as far:
        heard = Heard(far, way, "stream")
        assert (heard.text, heard.finish, heard.error) == ("All said.", "stop", None)
    with FarSide(broken) as far:
        heard = Heard(far, way, "stream")
        assert isinstance(heard.error, openai.APIError)
        assert heard.text.startswith("All")
        assert heard.events[-1].data["status"] == "partial"


@pytest.mark.behaviour("S4", "S8")
def test_a_stream_that_drips_byte_by_byte_flows_in_lockstep(way):
    heard_so_far = threading.Semaphore(0)
    words = [b"One ", b"two ", b"three ", b"four."]

    def dripping() -> Iterator[bytes]:
        yield HEAD
        for number, word in enumerate(words):
            # The next word is not sent before the last one has come out at the other end.
            assert number == 0 or heard_so_far.acquire(timeout=10)
            yield from (bytes([byte]) for byte in event(word))
        yield from (bytes([byte]) for byte in event(b"", b'"stop"') + b"data: [DONE]\n\n")

    class Acknowledging(Heard):
        def _add(self, choices: Any, part: str) -> None:
            super()._add(choices, part)
            heard_so_far.release()

    with FarSide(dripping()) as far:
        heard = Acknowledging(far, way, "stream")
        assert (heard.text, heard.finish, heard.error) == ("One two three four.", "stop", None)
        assert len(far.requests) == 1


@pytest.mark.behaviour("S8a", "N6")
def test_a_stream_that_is_a_compressed_bomb_is_an_error_of_the_sdk(way):
    packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    bomb = packer.compress(HEAD[:0] + event(b"All ")) + packer.flush(zlib.Z_SYNC_FLUSH)
    bomb += packer.compress(bytes(30_000_000)) + packer.flush()
    with FarSide(sse_answer(bomb, "content-encoding: gzip")) as far:
        heard = Heard(far, way, "stream", body_max_bytes=1_000_000, event_max_bytes=1_000_000)
        assert isinstance(heard.error, openai.APIError)
        assert len(far.requests) <= 4


@pytest.mark.behaviour("N6", "P1b")
@MODES
def test_headers_without_end_are_an_error_of_the_sdk(mode, way):
    lines = itertools.chain(
        [b"HTTP/1.1 200 OK\r\n"], itertools.repeat(b"x-more: yes\r\n" * 100, 500)
    )
    with FarSide(lines) as far:
        heard = Heard(far, way, mode)
        assert isinstance(heard.error, openai.APIConnectionError)
        assert len(far.requests) == 1


@pytest.mark.behaviour("S4", "N6")
def test_white_space_without_end_is_a_fault_within_the_limit(way):
    with FarSide(
        itertools.chain([HEAD, event(b"All ")], itertools.repeat(b" " * 8_192, 500))
    ) as far:
        heard = Heard(far, way, "stream", event_max_bytes=100_000)
        assert isinstance(heard.error, openai.APIError)
        assert heard.text.strip() == "All"
        assert [e.data["kind"] for e in heard.events if e.name == "fault"] == ["limit"]
        assert len(far.requests) == 1


@pytest.mark.behaviour("P8", "C25")
@MODES
def test_informational_answers_and_redirects_before_the_answer_are_no_news(mode, way):
    early = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
    moved = answer(b"", "location: /v2/chat/completions", status="307 Temporary Redirect")
    for answers in ((early + GOOD[mode],), (moved, GOOD[mode])):
        with FarSide(*answers) as far:
            heard = Heard(far, way, mode)
            assert (heard.text, heard.finish, heard.error) == ("All said.", "stop", None)
            assert len(far.requests) == len(answers)


@pytest.mark.behaviour("N6", "S3")
@pytest.mark.parametrize("length", [40, 100_000])
def test_a_body_of_another_length_than_its_head_says_is_no_answer(length, way):
    body = BODY % (b"All said.", b"stop")
    lying = answer(
        body, "content-type: application/json", f"content-length: {length}", length=False
    )
    with FarSide(lying, GOOD["body"]) as far:
        heard = Heard(far, way, "body")
        right = (heard.text, heard.error) == ("All said.", None)
        assert right or isinstance(heard.error, openai.APIError)
        assert len(far.requests) <= 2


@pytest.mark.behaviour("N6", "C5", "C7")
def test_halves_of_a_surrogate_pair_at_the_seam_raise_nothing(way):
    cut = sse_answer(event(b"A \\ud83d") + event(b"", b'"length"') + b"data: [DONE]\n\n")
    rest = sse_answer(event(b"\\ude00 face.\\u0000") + STREAM[len(event(b"All ")) :])
    with FarSide(cut, rest) as far:
        heard = Heard(far, way, "stream")
        assert heard.error is None
        assert heard.text.startswith("A ")
        assert "face." in heard.text
        assert len(far.requests) == 2


@pytest.mark.behaviour("C14", "C7")
@pytest.mark.parametrize("beside_stop", [False, True])
def test_half_of_a_character_at_a_cut_is_neither_said_nor_sent(way, beside_stop):
    half = b"A \\ud83d"
    cut = event(half, b'"length"') if beside_stop else event(half) + event(b"", b'"length"')
    rest = event(b"\\ud83d\\ude00 face.") + event(b"", b'"stop"')
    for mode, answers in {
        "stream": (sse_answer(cut), sse_answer(rest)),
        "body": (
            json_answer(BODY % (half, b"length")),
            json_answer(BODY % (b"\\ud83d\\ude00 face.", b"stop")),
        ),
    }.items():
        with FarSide(*answers) as far:
            heard = Heard(far, way, mode)
            assert (heard.text, heard.finish, heard.error) == ("A \U0001f600 face.", "stop", None)
            assert b"ud83d" not in far.requests[1][1]


BAD = b": \xff\xfe\n\n"


@pytest.mark.behaviour("N6", "S2")
def test_bytes_that_are_no_utf8_where_nobody_reads_them_never_reach_the_sdk(way):
    odd = event(b"All ").replace(b'"c1"', b'"c1","odd":"\xff"')
    cut = sse_answer(odd + odd + BAD + event(b"", b'"length"') + b"data: [DONE]\n\n")
    rest = sse_answer(BAD + event(b"said.") + BAD + event(b"", b'"stop"') + b"data: [DONE]\n\n")
    with FarSide(cut, rest) as far:
        heard = Heard(far, way, "stream")
        assert (heard.text, heard.finish, heard.error) == ("All All said.", "stop", None)


@pytest.mark.behaviour("C19", "S2")
def test_the_usage_comment_is_no_event_behind_events_with_an_id(way):
    cut = sse_answer(b"id: 1\n" + event(b"All ") + event(b"", b'"length"') + b"data: [DONE]\n\n")
    with FarSide(cut, sse_answer(event(b"said.") + event(b"", b'"stop"'))) as far:
        heard = Heard(far, way, "stream")
        assert (heard.text, heard.finish, heard.error) == ("All said.", "stop", None)


@pytest.mark.behaviour("N6", "C25")
def test_bytes_behind_the_end_of_a_stream_are_handed_on_as_text():
    stream = b"".join(sse(messages.stream([messages.said("All said.")], "end_turn")))
    euro = "€".encode()

    def pieces() -> Iterator[bytes]:
        for piece in (
            HEAD,
            BAD + stream + BAD + b": " + euro[:1],
            euro[1:] + b"\n\n",
            BAD,
            b": \xe2",
        ):
            yield piece
            time.sleep(0.02)

    with FarSide(pieces()) as far:
        client = tenuto.wrap(anthropic.Anthropic(base_url=far.base_url[:-3], api_key="none"))
        ask: dict[str, Any] = ASK | {"max_tokens": 100, "stream": True}
        with client.messages.with_streaming_response.create(**ask) as response:
            came = b"".join(response.iter_bytes())
        client.close()
    assert came.decode().endswith(": \ufffd\ufffd\n\n: €\n\n: \ufffd\ufffd\n\n: \ufffd")
