"""`tenuto.sansio.Turn` in the hands of somebody who gives it the wrong things."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tenuto
from tenuto.turn.scripted import Script, Scripted

URL = "https://host/v1/chat/completions"
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Say it."}]}).encode()
HALF = b'{"choices":[{"message":{"content":"Half of it"},"finish_reason":"length"}]}'
POLICY = tenuto.Policy()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"body": BODY.decode()}, "body is of type str, but it must be bytes"),
        ({"url": None}, "url is of type NoneType, but it must be str"),
        ({"url": "http://[::1"}, "url is 'http://[::1', which is not a URL"),
        (
            {"url": "http://h:99999/v1"},
            "the port of url must be a number up to 65535: 'http://h:99999",
        ),
        ({"url": "http://h:x/v1"}, "the port of url must be a number up to 65535: 'http://h:x"),
        ({"headers": {"a": "b"}}, "headers must be pairs of Latin-1 text"),
        ({"headers": [("a", "\u20ac")]}, "headers must be pairs of Latin-1 text"),
        ({"headers": [("a", 1)]}, "headers must be pairs of Latin-1 text"),
        ({"body": b"not json"}, "send the request unchanged"),
        ({"url": "https://host/v1/models"}, "send the request unchanged"),
    ],
)
def test_what_is_no_request_is_named(given: dict[str, Any], said: str) -> None:
    asked: dict[str, Any] = {"method": "POST", "url": URL, "headers": [], "body": BODY}
    with pytest.raises(tenuto.TurnError) as caught:
        tenuto.sansio.Turn(**(asked | given), policy=POLICY)
    assert said in str(caught.value)


@pytest.mark.parametrize("given", [{"policy": {}}, {"policy": POLICY, "on_event": 3}])
def test_settings_of_another_type_are_named(given: dict[str, Any]) -> None:
    with pytest.raises(tenuto.PolicyError, match="but it must be"):
        tenuto.sansio.Turn("POST", URL, [], BODY, **given)


@pytest.mark.parametrize(
    "reply",
    [
        b"bytes",
        None,
        tenuto.sansio.Head("200", ()),  # type: ignore[arg-type]
        tenuto.sansio.Head(200, None),  # type: ignore[arg-type]
        tenuto.sansio.Head(200, ((1, 2),)),  # type: ignore[arg-type]
        tenuto.sansio.Head(200, ((b"a", b"b", b"c"),)),  # type: ignore[arg-type]
        tenuto.sansio.ConnectionLost("timeout", OSError()),  # type: ignore[arg-type]
        tenuto.sansio.ConnectionLost(tenuto.FaultKind.TIMEOUT, "late"),  # type: ignore[arg-type]
    ],
)
def test_a_reply_that_a_command_has_not_is_refused_and_the_turn_goes_on(reply: Any) -> None:
    turn = tenuto.sansio.Turn("POST", URL, [], BODY, policy=POLICY)
    assert isinstance(turn.next(), tenuto.sansio.SendRequest)
    with pytest.raises(tenuto.TurnError):
        turn.next(reply)
    assert isinstance(turn.next(tenuto.sansio.Head(200, ())), tenuto.sansio.ReadMore)


@pytest.mark.behaviour("C23")
def test_closing_a_turn_from_an_event_sends_nothing_more() -> None:
    events: list[str] = []

    def hear(event: tenuto.Event) -> None:
        events.append(event.name)
        if event.name == "stop_reason_observed":
            turn.close()

    turn = tenuto.sansio.Turn("POST", URL, [], BODY, policy=POLICY, on_event=hear)
    script = Script(Scripted.body(HALF))
    reply: Any = None
    while (command := turn.next(reply)) is not None:
        reply = None
        if isinstance(command, tenuto.sansio.SendRequest):
            upstream: Any = script.connect(command)
            reply = upstream.head
        elif isinstance(command, tenuto.sansio.ReadMore):
            reply = bytearray(upstream.read())
    assert len(script.transmitted) == 1
    assert events.count("turn_ended") == 1
    assert turn.report is not None
    assert turn.report.reason == "cancelled"
