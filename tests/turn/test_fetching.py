"""A driver of one's own fetches the rest of a stream only if it says that it can (C30)."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from support.events import gemini_interactions as interactions
from support.events.framing import sse

import tenuto
from tenuto.turn.drivers.scripted import Script, Scripted, lost

URL = "https://host/v1beta/interactions?key=k"
BODY = json.dumps({"model": "m", "input": "Say it.", "stream": True}).encode()
EVENTS = sse([
    event | {"event_id": f"e{number}"}
    for number, event in enumerate(interactions.events("All said."))
])  # fmt: skip
HEADERS = [("x-goog-api-key", "k"), ("content-type", "application/json"), ("x-tenuto", "on")]


def driven(turn: tenuto.sansio.Turn, far: Script) -> bytes:
    """Carry out a turn; return what its caller gets."""
    out, reply, upstream = b"", cast("Any", None), cast("Any", None)
    while (command := turn.next(reply)) is not None:
        reply = None
        match command:
            case tenuto.sansio.SendRequest():
                upstream = cast("Any", far.connect(command))
                reply = upstream.head
            case tenuto.sansio.ReadMore():
                reply = upstream.read()
            case tenuto.sansio.SendData(data):
                out += data
    return out


def far_side() -> Script:
    return Script(Scripted.stream(*EVENTS[:3], EVENTS[3][:9], lost()), Scripted.stream(*EVENTS[3:]))


@pytest.mark.behaviour("C30")
def test_a_driver_that_fetches_gets_a_url_and_the_caller_the_whole_stream() -> None:
    far = far_side()
    policy = tenuto.Policy(backoff_s=0)
    turn = tenuto.sansio.Turn("POST", URL, HEADERS, BODY, policy=policy, fetches=True)
    assert driven(turn, far) == b"".join(EVENTS)
    sent = far.transmitted[1]
    assert sent.url == "https://host/v1beta/interactions/v1_1?key=k&stream=true&last_event_id=e2"
    assert (sent.body, sent.headers) == (b"", ((b"x-goog-api-key", b"k"),))
    assert turn.report is not None
    assert (turn.report.status, turn.report.attempts) == ("complete", 1)


@pytest.mark.behaviour("C30")
def test_any_other_driver_is_never_given_one() -> None:
    far = far_side()
    turn = tenuto.sansio.Turn("POST", URL, HEADERS, BODY, policy=tenuto.Policy(backoff_s=0))
    driven(turn, far)
    assert [sent.url for sent in far.transmitted] == [None] * len(far.transmitted)
    assert len(far.transmitted) > 1


@pytest.mark.behaviour("C30", "C29")
def test_what_is_switched_off_fetches_nothing() -> None:
    far = far_side()
    off: Any = [("x-tenuto", "off")]
    turn = tenuto.sansio.Turn("POST", URL, off, BODY, policy=tenuto.Policy(), fetches=True)
    driven(turn, far)
    assert len(far.transmitted) == 1
