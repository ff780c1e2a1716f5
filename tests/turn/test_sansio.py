"""`tenuto.sansio.Turn` in the hands of somebody who gives it the wrong things."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tenuto
from tenuto.core.settings.rule import shown
from tenuto.turn.drivers.scripted import Script, Scripted

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
        ({"headers": {"te": "trailers"}}, "headers must be pairs of Latin-1 text"),
        ({"headers": None}, "headers must be pairs of Latin-1 text"),
        (
            {"headers": [("ok", "1"), ("x-odd", 1)]},
            "Latin-1 text or of bytes, as dict.items() returns; that is not so for 'x-odd'",
        ),
        ({"headers": [(b"x-odd", "1")]}, "; that is not so for b'x-odd'"),
        ({"url": "/v1/chat/completions"}, "url is '/v1/chat/completions', which names no host"),
        ({"url": "https:///v1/chat/completions"}, "which names no host"),
        ({"url": "https://host/\ud800/chat/completions"}, "which is not a URL"),
        ({"body": b"not json"}, "as a turn: the body is not JSON; send the request unchanged"),
        ({"body": b"[]"}, "as a turn: the body is not a JSON object; send the request unchanged"),
        ({"body": b'{"model": "m\xff"}'}, "the body is not UTF-8 at byte 12; send the request"),
        (
            {"body": b"{}"},
            "the body is no request of openai-chat: a member is missing or of the wrong type; send",
        ),
        ({"method": "GET"}, f"GET {URL} as a turn: its method is not POST; send the request un"),
        (
            {"url": "https://host/v1/models"},
            "its path is that of no known wire (anthropic-messages, ",
        ),
    ],
)
def test_what_is_no_request_is_named(given: dict[str, Any], said: str) -> None:
    asked: dict[str, Any] = {"method": "POST", "url": URL, "headers": [], "body": BODY}
    with pytest.raises(tenuto.TurnError) as caught:
        tenuto.sansio.Turn(**(asked | given), policy=POLICY)
    assert said in str(caught.value)


@pytest.mark.parametrize("wrong", ["x", b"5", -1, 0, True, float("nan"), float("inf"), 10**400])
def test_a_timeout_that_is_no_time_is_named_with_what_is_allowed(wrong: Any) -> None:
    with pytest.raises(tenuto.TurnError) as caught:
        tenuto.sansio.Turn("POST", URL, [], BODY, policy=POLICY, timeout_s=wrong)
    assert str(caught.value) == (
        f"timeout_s is {shown(wrong)}, but it must be a finite number of "
        "seconds, more than 0, or None"
    )
    for right in (None, 5, 0.25):
        tenuto.sansio.Turn("POST", URL, [], BODY, policy=POLICY, timeout_s=right)


HALF_PAIR = r"a\ud83d"


@pytest.mark.parametrize(
    ("url", "body", "place"),
    [
        (URL, {"messages": [{"role": "user", "content": "X"}]}, "messages[0].content"),
        (URL, {"messages": [], "tools": [{"X": 1}]}, "the name of a member of tools[0]"),
        ("https://api.openai.com/v1/responses", {"input": "X"}, "input"),
        (
            "https://api.anthropic.com/v1/messages",
            {"max_tokens": 9, "messages": [{"role": "user", "content": "X"}]},
            "messages[0].content",
        ),
        (
            "https://generativelanguage.googleapis.com/v1beta/models/g:generateContent",
            {"contents": [{"role": "user", "parts": [{"text": "X"}]}]},
            "contents[0].parts[0].text",
        ),
    ],
    ids=["chat", "a key", "responses", "anthropic", "gemini"],
)
def test_half_a_surrogate_pair_in_a_request_is_named_with_its_place(
    url: str, body: dict[str, Any], place: str
) -> None:
    half = json.dumps({"model": "m", **body}).replace('"X"', f'"{HALF_PAIR}"').encode()
    with pytest.raises(tenuto.TurnError) as caught:
        tenuto.sansio.Turn("POST", url, [], half, policy=POLICY)
    assert str(caught.value) == (
        f"Tenuto cannot read POST {url} as a turn: {place} in the body holds half a surrogate "
        "pair, which is no text; send the request unchanged"
    )


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


def test_a_loss_without_its_kind_is_named_by_its_class() -> None:
    turn = tenuto.sansio.Turn("POST", URL, [], BODY, policy=POLICY)
    turn.next()
    with pytest.raises(tenuto.TurnError, match=r"^a ConnectionLost needs a FaultKind"):
        turn.next(tenuto.sansio.ConnectionLost("timeout", OSError()))  # type: ignore[arg-type]


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
