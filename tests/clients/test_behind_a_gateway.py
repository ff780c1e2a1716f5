"""A wrapped client in front of a gateway that finishes turns too: one layer does, and its answer is
handed on with what it tells (E9a)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from support.every_wire import LIMITS, MAKERS, ROWS, At, ask, made, streamed, whole
from support.far_sides import FarSide, answer, json_answer
from support.gateway import gateway

import tenuto

PLAIN = {"role": "user", "content": "Write it."}
WIRES = [wire for wire in MAKERS if not wire.startswith("bedrock")]
"""Those whose host is no part of a signature."""
MARK = re.compile(r"[0-9a-f]{40}; v=1; status=(complete|partial|failed|open)(; end=marked)?")


def parts_of(wire: str, mode: str) -> list[bytes]:
    """Answers that are cut again and again, each with words of its own."""
    texts = ("The tide turned at four,", " and boats came", " home one by one", " under a moon")
    stop = LIMITS[wire]
    return [made(wire, mode, text, stop) for text in texts] + [made(wire, mode, " end.", stop)]


def asked_through(
    far: FarSide, wire: str, mode: str, layers: str, **policy: Any
) -> tuple[Any, Any, list[dict[str, str]]]:
    """One question through a gateway, a wrapped client, or both: what came, who asked, and the
    heads that the gateway gave."""
    settings = tenuto.Policy(backoff_s=0.0, **policy)
    off = tenuto.Policy(backoff_s=0.0, continuation_max_attempts=0, empty_recovery=False)
    with gateway(far.base_url) as front:
        at = far if layers == "client" else front
        asker = MAKERS[wire](At(at), off if layers == "gateway" else settings)
        try:
            return asker.ask([ROWS.get(wire, PLAIN)], mode), asker, front.heads
        finally:
            asker.close()


@pytest.mark.behaviour("E9a", "E9")
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_two_layers_ask_no_oftener_than_one_for_a_text_that_is_always_cut(wire, mode):
    counts, said = {}, {}
    for layers in ("client", "both"):
        with FarSide(*parts_of(wire, mode)) as far:
            said[layers], asker, heads = asked_through(far, wire, mode, layers)
            counts[layers] = len(far.requests)
    assert counts == {"client": 4, "both": 4}
    assert said["both"].text == said["client"].text
    assert len(heads) == 1
    assert MARK.fullmatch(heads[0]["x-tenuto-turn"])
    assert asker.of("left_alone")[-1]["why"] == "finished_upstream"
    assert asker.ending["status"] == "partial"


@pytest.mark.behaviour("E9a")
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_two_layers_ask_no_oftener_than_one_for_an_empty_answer(wire, mode):
    counts = {}
    for layers in ("client", "both"):
        with FarSide(made(wire, mode, "")) as far:
            asked_through(far, wire, mode, layers)
            counts[layers] = len(far.requests)
    assert counts["both"] <= counts["client"] + 2, counts  # the SDK's own, for an error


@pytest.mark.behaviour("E9a", "C4a")
@pytest.mark.parametrize("told", [None, 0, 5])
def test_two_layers_ask_for_no_more_tokens_than_one_whatever_the_usage_says(told):
    _, _, body = made("openai-chat", "whole", "word " * 90, "length").partition(b"\r\n\r\n")
    value = json.loads(body)
    value["usage"]["completion_tokens"] = told
    cut = json_answer(json.dumps(value if told is not None else value | {"usage": None}).encode())
    asked = {}
    for layers in ("client", "both"):
        with FarSide(cut) as far, gateway(far.base_url) as front:
            at = far if layers == "client" else front
            asker = MAKERS["openai-chat"](At(at), tenuto.Policy(backoff_s=0.0))
            asker.ask([PLAIN], "whole", max_tokens=100)
            asker.close()
        asked[layers] = [json.loads(body)["max_tokens"] for _, body in far.requests]
    assert asked["client"] == asked["both"]
    assert asked["both"][:2] == [100, 200]
    assert sum(asked["both"]) <= 450, "what came counts, not what was told of it"


@pytest.mark.behaviour("E9a")
@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_a_whole_answer_passes_both_layers_as_it_came(mode):
    came = made("openai-chat", mode, "All was said.")
    with FarSide(came) as far:
        said, asker, heads = asked_through(far, "openai-chat", mode, "both")
        assert len(far.requests) == 1
    assert said.text == "All was said."
    status = "complete" if mode == "whole" else "open"
    assert f"status={status}" in heads[0]["x-tenuto-turn"]
    assert asker.ending["status"] == "complete"


SAID = "The tide turned at four, and the boats came home one by one"
REST = " under a low moon."


def after_text(wire: str) -> int:
    """How many bytes a stream of `SAID` has up to the end of the event with the text."""
    raw = made(wire, "stream", SAID).partition(b"\r\n\r\n")[2]
    return raw.index(b"\n\n", raw.index(SAID[-9:].encode())) + 2


@pytest.mark.behaviour("E9a", "S3")
@pytest.mark.parametrize("wire", ["openai-chat", "anthropic-messages", "openai-responses"])
@pytest.mark.parametrize("inside", [True, False], ids=["in an event", "between events"])
def test_a_break_on_the_way_from_a_gateway_is_resumed_once(wire, inside):
    """A gateway that has seen the end mark of its upstream promises one: a stream that ends in
    order without it is cut."""
    at = after_text(wire)
    cuts = [at + 30] if inside else [at]
    for drops, status in ((cuts, "complete"), ([*cuts, 60, 60], "partial")):
        first, rest = made(wire, "stream", SAID), made(wire, "stream", REST)
        with FarSide(first, first, rest) as far, gateway(far.base_url) as front:
            asker = MAKERS[wire](At(front), tenuto.Policy(backoff_s=0.0))
            assert asker.ask([PLAIN], "stream").text == SAID
            front.drops = list(drops)
            said = asker.ask([PLAIN], "stream")
            asker.close()
        if status == "complete":
            assert (said.text, said.error) == (SAID + REST, None)
        assert len(far.requests) == 3, "the resumption is the last request"
        assert asker.ending["status"] == status
        assert all(MARK.fullmatch(head["x-tenuto-turn"]) for head in front.heads)


@pytest.mark.behaviour("E9a")
def test_a_body_that_breaks_on_the_way_from_a_gateway_is_asked_for_once_more():
    first, rest = (made("openai-chat", "whole", text) for text in (SAID, SAID + REST))
    with FarSide(first, rest) as far, gateway(far.base_url) as front:
        front.drops = [100]
        asker = MAKERS["openai-chat"](At(front), tenuto.Policy(backoff_s=0.0))
        assert asker.ask([PLAIN], "whole").text == SAID + REST
        assert len(far.requests) == 2
        asker.close()


@pytest.mark.behaviour("E9a")
@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_a_call_that_lacks_its_arguments_is_asked_for_by_one_layer(mode):
    build = streamed if mode == "stream" else whole
    broken = build("openai-chat", "{")
    counts = {}
    for layers in ("client", "both"):
        with FarSide(broken) as far, gateway(far.base_url) as front:
            at = far if layers == "client" else front
            asker = MAKERS["openai-chat"](At(at), tenuto.Policy(backoff_s=0.0))
            ask(asker, "openai-chat", mode)
            asker.close()
            counts[layers] = len(far.requests)
    assert counts["both"] <= counts["client"] + 2, counts  # the SDK's own, for an error


@pytest.mark.behaviour("E9a", "P1b")
@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_an_error_from_a_gateway_is_retried_by_the_sdk_as_without_it(mode):
    busy = b'{"error": {"message": "busy", "type": "overloaded_error"}}'
    failed = answer(busy, "content-type: application/json", status="503 Service Unavailable")
    errors, counts = {}, {}
    for layers in ("client", "both"):
        with FarSide(failed) as far:
            said, _, _ = asked_through(far, "openai-chat", mode, layers)
            errors[layers], counts[layers] = said.error, len(far.requests)
    assert counts == {"client": 3, "both": 3}
    assert type(errors["both"]) is type(errors["client"])
    assert errors["both"].status_code == 503


# --- what an upstream makes up --------------------------------------------------------------------

WELL_FORMED = f"{'ab' * 20}; v=1; status=complete"
FORGED = (
    "1",
    "complete",
    "ab" * 20,
    f"{WELL_FORMED}, {WELL_FORMED}",
    f"{WELL_FORMED}; status=partial",
    WELL_FORMED.replace("v=1", "v=0"),
    WELL_FORMED.upper(),
)


def through(far: FarSide, *, error: bool = False) -> tuple[Any, Any]:
    policy = tenuto.Policy(backoff_s=0.0, on_incomplete="error" if error else "stop")
    client = tenuto.http_client("httpx", policy=policy)
    with client:
        asked = {"model": "m", "messages": [PLAIN]}
        got = client.post(f"{far.base_url}/chat/completions", json=asked)
    return got, [name for name in got.headers if name.startswith("x-tenuto")]


def cut_with(*headers: str) -> bytes:
    body = made("openai-chat", "whole", "The tide turned", "length").partition(b"\r\n\r\n")[2]
    return json_answer(body, *headers)


@pytest.mark.behaviour("E9a")
@pytest.mark.parametrize("value", FORGED)
def test_a_mark_that_is_not_well_formed_switches_nothing_off_and_is_removed(value):
    rest = made("openai-chat", "whole", " at four.")
    with FarSide(cut_with(f"x-tenuto-turn: {value}", "x-tenuto-usage: {}"), rest) as far:
        got, ours = through(far)
    assert got.json()["choices"][0]["message"]["content"] == "The tide turned at four."
    assert got.headers.get("x-tenuto-turn") != value
    assert got.headers["x-tenuto-usage"] != "{}"
    whole_one = made("openai-chat", "whole", "All was said.").partition(b"\r\n\r\n")[2]
    forged = json_answer(whole_one, f"x-tenuto-turn: {value}", "X-Tenuto-Usage: {}")
    with FarSide(forged) as far:
        got, ours = through(far)
    assert (got.content, ours) == (whole_one, [])


@pytest.mark.behaviour("E9a")
def test_a_mark_never_makes_an_unfinished_answer_a_complete_one():
    with FarSide(cut_with(f"x-tenuto-turn: {WELL_FORMED}", "x-tenuto-usage: {}")) as far:
        got, ours = through(far)
        assert got.json()["choices"][0]["finish_reason"] == "length"
        assert sorted(ours) == ["x-tenuto-turn", "x-tenuto-usage"], "they are handed on"
        assert len(far.requests) == 1
        got, _ = through(far, error=True)
        assert got.status_code >= 400, "who asks for errors gets one"
        assert len(far.requests) == 2


@pytest.mark.behaviour("E9a")
@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_a_gateway_removes_what_its_upstream_made_up(mode):
    body = made("openai-chat", mode, "All was said.").partition(b"\r\n\r\n")[2]
    kind = "application/json" if mode == "whole" else "text/event-stream"
    forged = ("x-tenuto-turn: " + WELL_FORMED, "x-tenuto-usage: {}", "x-tenuto-other: 1")
    came = answer(body, f"content-type: {kind}", *forged, length=mode == "whole")
    with FarSide(came) as far, gateway(far.base_url) as front:
        client = tenuto.http_client("httpx", policy=tenuto.Policy(backoff_s=0.0))
        with client:
            asked = {"model": "m", "messages": [PLAIN], "stream": mode == "stream"}
            client.post(f"{front.base_url}/chat/completions", json=asked)
    assert [name for name in front.heads[0] if name.startswith("x-tenuto")] == ["x-tenuto-turn"]
    assert front.heads[0]["x-tenuto-turn"] != WELL_FORMED


@pytest.mark.behaviour("E9a")
@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_a_transport_marks_the_answers_that_it_hands_on(mode):
    import httpx

    with (
        FarSide(made("openai-chat", mode, "All was said.")) as far,
        httpx.Client(transport=tenuto.HTTPTransport()) as client,
    ):
        asked = {"model": "m", "messages": [PLAIN], "stream": mode == "stream"}
        got = client.post(f"{far.base_url}/chat/completions", json=asked)
    status = "complete" if mode == "whole" else "open"
    assert MARK.fullmatch(got.headers["x-tenuto-turn"])
    assert f"status={status}" in got.headers["x-tenuto-turn"]
