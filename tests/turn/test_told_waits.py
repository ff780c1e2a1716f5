"""How long is waited where a provider says how long (P5)."""

from __future__ import annotations

from email.utils import formatdate
from time import time
from typing import Any

import pytest

from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import Head, Request, SendRequest, Sleep, StartResponse
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine

ASK = b'{"model":"m","messages":[{"role":"user","content":"Hi"}]}'
CUT = b'{"choices":[{"message":{"content":"Half of it"},"finish_reason":"length"}]}'
REST = b'{"choices":[{"message":{"content":" and the rest."},"finish_reason":"stop"}]}'
BUSY = b'{"error":{"message":"Slow down.","type":"requests","code":"rate_limit_exceeded"}}'


def waits(*headers: tuple[bytes, bytes], **policy: Any) -> tuple[list[float], Head]:
    """The seconds of each wait, and the head that the caller gets."""
    script = Script(
        Scripted.body(CUT), Scripted.body(BUSY, status=429, headers=headers), Scripted.body(REST)
    )
    run = Engine(Policy(**policy)).begin(
        Request("POST", "https://host/v1/chat/completions", (), ASK)
    )
    assert run is not None
    seconds, head, reply = [], None, None
    upstream: Any = None
    while True:
        try:
            command = run.send(reply)
        except StopIteration:
            assert head is not None
            return seconds, head
        reply = None
        match command:
            case SendRequest():
                upstream = script.connect(command)
                reply = upstream.head
            case Sleep(for_s):
                seconds += [for_s] if for_s else []
            case StartResponse(given):
                head = given
            case _ if type(command).__name__ == "ReadMore":
                reply = upstream.read()


@pytest.mark.behaviour("P5")
@pytest.mark.parametrize("told", [3.0, 119.0, 120.0, 0.25])
def test_a_told_wait_is_kept_to_the_second(told: float) -> None:
    for _ in range(20):
        assert waits((b"retry-after", b"%g" % told))[0] == [told]
        assert waits((b"retry-after-ms", b"%d" % (told * 1_000)))[0] == [told]


@pytest.mark.behaviour("P5")
def test_a_date_is_waited_for_where_the_answer_has_none_of_its_own() -> None:
    until = formatdate(time() + 30, usegmt=True).encode()
    (seconds,), _ = waits((b"retry-after", until))
    assert 25 < seconds <= 30


@pytest.mark.behaviour("P5")
def test_a_back_off_of_our_own_is_spread() -> None:
    assert len({waits(backoff_s=1.0)[0][0] for _ in range(20)}) > 10


@pytest.mark.behaviour("P5")
@pytest.mark.parametrize("told", [b"121", b"100000", b"1e300"])
def test_what_is_told_beyond_the_cap_is_not_waited_for_and_goes_out(told: bytes) -> None:
    seconds, head = waits((b"retry-after", told), on_incomplete="error")
    assert seconds == []
    assert head.get(b"retry-after") == told.decode()
    assert head.get(b"x-should-retry") == "false"
