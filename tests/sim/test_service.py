"""Sockets: pace, compression, endings, and what happens when the client leaves."""

from __future__ import annotations

import gzip
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib

import httpx
import openai
import pytest

from tenuto_sim import Simulator, Step, Wanted, saying

ASK = {"model": "sim", "messages": [{"role": "user", "content": "pace"}], "stream": True}


def until(condition, seconds=5.0):
    """Wait until a condition of the server's thread holds."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def events(response):
    """Yield events as they arrive."""
    waiting = ""
    for text in response.iter_text():
        waiting += text
        *whole, waiting = waiting.split("\n\n")
        yield from whole


def stream(sim, **more):
    return httpx.stream("POST", sim.base_url + "/chat/completions", json=ASK | more, timeout=10)


def test_in_lockstep_each_event_waits_for_an_acknowledgement():
    with Simulator(lockstep=True, lockstep_timeout_s=2) as sim, stream(sim, max_tokens=5) as got:
        arrived = []
        for event in events(got):
            arrived.append(event)
            time.sleep(0.01)
            assert sim.open_streams == (0 if event == "data: [DONE]" else 1)
            sim.acknowledge()
        assert len(arrived) == 1 + 5 + 1 + 1
        assert not sim.stalled


def test_in_lockstep_no_event_comes_before_its_acknowledgement():
    with Simulator(lockstep=True) as sim, stream(sim) as got:
        arrived_now = []

        def read():
            for event in events(got):
                arrived_now.append(event)
                if len(arrived_now) == 4:
                    return

        reading = threading.Thread(target=read, daemon=True)
        reading.start()
        for expected in (1, 2, 3, 4):
            assert until(lambda expected=expected: len(arrived_now) == expected)
            time.sleep(0.05)
            assert len(arrived_now) == expected
            sim.acknowledge()
        reading.join()


def test_in_lockstep_a_client_that_holds_back_is_given_up():
    with Simulator(lockstep=True, lockstep_timeout_s=0.1) as sim, stream(sim) as got:
        with pytest.raises(httpx.ReadError):
            list(events(got))
        assert until(lambda: sim.stalled)
        assert until(lambda: sim.open_streams == 0)
        assert sim.disconnects == 0


def test_a_client_that_leaves_is_noticed_at_once():
    with Simulator(delay_s=60) as sim:  # the next write would notice it much later
        with stream(sim) as got:
            reading = events(got)  # kept: a generator that is dropped closes its connection
            next(reading)
            assert sim.open_streams == 1
        assert until(lambda: sim.disconnects == 1)
        assert until(lambda: sim.open_streams == 0)


def test_a_client_that_leaves_in_lockstep_is_no_stall():
    with Simulator(lockstep=True) as sim:
        with stream(sim) as got:
            next(events(got))
        assert until(lambda: sim.disconnects == 1)
        assert not sim.stalled


def test_an_answer_that_was_read_whole_is_no_disconnect():
    with Simulator() as sim, openai.OpenAI(base_url=sim.base_url, api_key="key") as client:
        for model in ("sim", "sim/double_done", "sim/tiny_writes", "sim/one_write"):
            list(client.chat.completions.create(**ASK | {"model": model}))  # type: ignore[call-overload]
            assert sim.open_streams == 0
        time.sleep(0.05)
        assert sim.disconnects == 0


def test_the_delay_stands_between_events():
    with Simulator(delay_s=0.02) as sim, stream(sim, max_tokens=5) as got:
        begun = time.monotonic()
        assert len(list(events(got))) == 8
        assert time.monotonic() - begun >= 0.14


def test_compressed_events_arrive_one_by_one():
    with Simulator(gzip=True, lockstep=True) as sim:
        with httpx.stream(
            "POST", sim.base_url + "/chat/completions", json=ASK | {"max_tokens": 3},
            headers={"accept-encoding": "gzip"},
        ) as got:  # fmt: skip
            assert got.headers["content-encoding"] == "gzip"
            squeeze = zlib.decompressobj(wbits=31)
            text = b""
            for piece in got.iter_raw():
                text += squeeze.decompress(piece)
                assert text.endswith(b"\n\n")
                sim.acknowledge()
        assert squeeze.eof
        assert text.endswith(b"data: [DONE]\n\n")
        plain = httpx.post(
            sim.base_url + "/chat/completions", json=ASK | {"stream": False},
            headers={"accept-encoding": "identity"},
        )  # fmt: skip
        assert "content-encoding" not in plain.headers


@pytest.mark.parametrize("mode", [False, True])
def test_the_sdk_reads_compressed_answers(mode):
    with Simulator(gzip=True) as sim, openai.OpenAI(base_url=sim.base_url, api_key="k") as client:
        made = client.chat.completions.create(**ASK | {"stream": mode})  # type: ignore[call-overload]
        if mode:
            text = "".join(c.choices[0].delta.content or "" for c in made)
        else:
            text = made.choices[0].message.content
        assert text == sim.answer("pace")
        assert "gzip" in sim.requests[0].headers["accept-encoding"]


def test_a_compressed_body_has_its_own_length():
    with Simulator(gzip=True) as sim:
        with httpx.stream(
            "POST", sim.base_url + "/chat/completions", json=ASK | {"stream": False}
        ) as got:
            raw = b"".join(got.iter_raw())
        assert int(got.headers["content-length"]) == len(raw)
        assert json.loads(gzip.decompress(raw))["object"] == "chat.completion"


def raw_answer(sim: Simulator, model: str, stream: bool = True) -> tuple[bytes, bytes]:
    """Return head and body exactly as they came, and fail on a reset as the socket does."""
    host, port = re.findall(r"//([^:]+):(\d+)", sim.base_url)[0]
    body = json.dumps(ASK | {"model": model, "stream": stream}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(head.encode() + body)
        connection.settimeout(0.5)
        got = b""
        try:
            while piece := connection.recv(65536):
                got += piece
        except TimeoutError:
            got += b"<open>"
    top, _, rest = got.partition(b"\r\n\r\n")
    return top, rest


def test_each_ending_is_on_the_wire_what_its_name_says(sim):
    head, body = raw_answer(sim, "sim/drop_mid_text")
    assert b"transfer-encoding: chunked" in head.lower()
    assert body.endswith(b"0\r\n\r\n<open>")
    assert b"[DONE]" not in body
    head, body = raw_answer(sim, "sim/eof_no_finish")
    assert b"connection: close" in head.lower()
    assert b"chunked" not in head.lower()
    assert body.startswith(b"data: ")
    assert body.endswith(b"\n\n")
    _, body = raw_answer(sim, "sim/cut_off_mid_text")
    assert body.endswith(b"\n\n\r\n")
    assert not body.endswith(b"0\r\n\r\n")
    with pytest.raises(ConnectionResetError):
        raw_answer(sim, "sim/reset_mid_text")
    head, body = raw_answer(sim, "sim/body_short", stream=False)
    assert int(re.findall(rb"content-length: (\d+)", head.lower())[0]) > len(body)
    head, body = raw_answer(sim, "sim/body_cut", stream=False)
    assert int(re.findall(rb"content-length: (\d+)", head.lower())[0]) == len(body) - len("<open>")


def test_a_character_may_be_split_over_two_chunks(sim):
    _, body = raw_answer(sim, "sim/multibyte_split")
    pieces = re.split(rb"\r\n[0-9a-f]+\r\n", body)
    assert any(0x80 <= piece[0] < 0xC0 for piece in pieces if piece)


def test_one_connection_serves_many_requests(sim):
    with httpx.Client() as client:
        for _ in range(3):
            assert client.get(sim.base_url.removesuffix("/v1") + "/health").json() == {
                "status": "ok"
            }
        assert client.post(sim.base_url + "/chat/completions", json=ASK).status_code == 200


def test_bytes_that_are_no_http_end_their_connection_only(sim):
    host, port = re.findall(r"//([^:]+):(\d+)", sim.base_url)[0]
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert connection.recv(100) == b""
    assert httpx.get(sim.base_url + "/models").status_code == 200


def test_a_port_that_is_taken_is_an_error_of_the_caller(sim):
    port = int(sim.base_url.rsplit(":", 1)[1].removesuffix("/v1"))
    with pytest.raises(OSError, match="address already in use"):
        Simulator(port=port).start()


def test_closing_ends_streams_that_are_open_and_may_be_repeated():
    sim = Simulator(delay_s=30)
    sim.start()
    with stream(sim) as got:
        next(events(got))
        begun = time.monotonic()
        sim.close()
        sim.close()
        assert time.monotonic() - begun < 2
    with pytest.raises(httpx.ConnectError):
        httpx.get(sim.base_url + "/models")


def test_leaving_the_block_by_an_error_ends_the_server():
    with pytest.raises(KeyError), Simulator() as sim:
        raise KeyError
    with pytest.raises(httpx.ConnectError):
        httpx.get(sim.base_url + "/models")


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
@pytest.mark.usefixtures("interrupts")
def test_in_the_foreground_a_signal_ends_it_in_order(number):
    program = "from tenuto_sim import serve\nserve(0, ready=lambda url: print(url, flush=True))"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with stream_url(url) as got:
            next(events(got))
            process.send_signal(getattr(signal, number))
            assert process.wait(timeout=10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def stream_url(url):
    return httpx.stream("POST", url + "/chat/completions", json=ASK, timeout=10)


def no_step(number: int, due: Wanted) -> Step:
    raise LookupError("no such step")


@pytest.mark.parametrize(
    "error", [LookupError("mine"), ConnectionError("mine"), SystemExit("mine")], ids=repr
)
def test_what_fails_in_a_function_that_it_was_given_is_raised_where_it_is_closed(
    error: BaseException,
):
    def fault(number: int, due: Wanted) -> Step:
        raise error

    def block(sim: Simulator) -> None:
        sim.plan([saying("Seen.")], fault)
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.post(f"{sim.base_url}/chat/completions", json=ASK)
        assert httpx.get(f"{sim.root_url}/health").status_code == 200

    def with_block() -> None:
        with Simulator() as sim:
            block(sim)

    with pytest.raises(RuntimeError, match="mine") as caught:
        with_block()
    assert caught.value.__cause__ is error
    sim = Simulator()
    sim.start()
    block(sim)
    with pytest.raises(RuntimeError, match="mine"):
        sim.close()
    sim.close()


def test_an_error_of_the_block_goes_before_one_of_the_simulator():
    def block() -> None:
        with Simulator() as sim:
            sim.plan([saying("Seen.")], no_step)
            with pytest.raises(httpx.RemoteProtocolError):
                httpx.post(f"{sim.base_url}/chat/completions", json=ASK)
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        block()
