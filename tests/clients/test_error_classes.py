"""The class and the status of what is raised are those that the bare SDK raises for the same bytes
(P1c): every fault, on every SDK, body and stream, sync and async.

A status is read from the head, before anything knows how the body is read: each SDK meets each status
in one mode."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.events.by_wire import WIRES
from support.every_wire import LIMITS, MAKERS, ROWS, At, begun, made
from support.far_sides import RESET, FarSide, json_answer
from support.pairing import every_pair
from support.refusals import SHAPES

import tenuto

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:aiohttp", "ignore:.*aiohttp")
"""The bare SDK of Gemini uses something of aiohttp that is deprecated."""

SAID = "Half of it and"
STATUSES = (400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529)
EVENTS: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "server": {"error": {"message": "Failed.", "type": "server_error", "code": 500}},
        "rate": {"error": {"message": "Slow down.", "type": "rate_limit_error", "code": 429}},
        "bad": {"error": {"message": "Bad.", "type": "invalid_request_error", "code": 400}},
    },
    "gemini-generate": {
        "server": {"error": {"code": 500, "message": "Failed.", "status": "INTERNAL"}},
        "rate": {"error": {"code": 429, "message": "Slow.", "status": "RESOURCE_EXHAUSTED"}},
        "bad": {"error": {"code": 400, "message": "Bad.", "status": "INVALID_ARGUMENT"}},
        "key": {"error": {"code": 403, "message": "No.", "status": "PERMISSION_DENIED"}},
    },
    "anthropic-messages": {
        kind: {"type": "error", "error": {"type": kind, "message": "Failed."}}
        for kind in ("api_error", "rate_limit_error", "overloaded_error", "invalid_request_error")
    },
    "openai-responses": {
        "rate": {"type": "error", "error": {"code": "rate_limit_exceeded", "message": "Slow."}},
    },
    "ollama": {"server": {"error": "it failed"}, "rate": {"error": "slow", "status_code": 429}},
    "gemini-interactions": {
        "server": {"event_type": "error", "error": {"code": "api_error", "message": "Failed."}}
    },
}
"""Errors in the middle of a stream, by wire."""


class Bytes:
    """An answer that can be given again and again."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if piece is RESET:
                time.sleep(0.05)  # what came before it is read before it breaks
            yield piece


def refused(wire: str, mode: str, status: int) -> Any:
    body: Any = SHAPES.get(wire, SHAPES["openai-chat"])("It failed.")
    if wire == "gemini-generate":
        body = {"error": {"code": status, "message": "It failed.", "status": "UNKNOWN"}}
    return json_answer(json.dumps(body).encode(), status=f"{status} X")


def _head(wire: str, mode: str) -> bytes:
    kind = "application/json" if mode == "body" else WIRES[wire].content_type
    lines = ("HTTP/1.1 200 OK", f"content-type: {kind}", "transfer-encoding: chunked")
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _begun(wire: str, *more: Any) -> bytes:
    """The events of a text that is not over, and others."""
    return _chunk(b"".join(WIRES[wire].framed([*begun(wire, SAID), *more])))


def reset_before_head(wire: str, mode: str) -> Any:
    return Bytes(RESET)


def reset_behind_head(wire: str, mode: str) -> Any:
    return Bytes(_head(wire, mode), RESET)


def reset_in_the_middle(wire: str, mode: str) -> Any:
    if mode == "body":
        return Bytes(_head(wire, mode), _chunk(b'{"id": "half'), RESET)
    return Bytes(_head(wire, mode), _begun(wire), RESET)


def closed_in_the_middle(wire: str, mode: str) -> Any:
    if mode == "body":
        return Bytes(_head(wire, mode), _chunk(b'{"id": "half'))
    return Bytes(_head(wire, mode), _begun(wire))


Fault = Callable[[str, str], Any]
BREAKS: tuple[Fault, ...] = (
    reset_before_head,
    reset_behind_head,
    reset_in_the_middle,
    closed_in_the_middle,
)


def _bare(maker: Any) -> Any:
    def wrap(self: Any, policy: tenuto.Policy, *, watched: bool = True) -> None:
        self.events, self.watched = [], watched

    return type(f"Bare{maker.__name__}", (maker,), {"wrap": wrap})


def raised(maker: Any, wire: str, mode: str, way: str, *answers: Any, **policy: Any) -> Any:
    """What is raised: its class, and its status and code; and the text that came."""
    with FarSide(*answers) as far:
        alone = dict.fromkeys(maker.retries, 0)  # the SDK's own retries only take time here
        asker = maker(At(far), tenuto.Policy(**{**QUICK, "fault_retries": 1, **policy}), **alone)
        row = ROWS.get(wire, {"role": "user", "content": "Why tides?"})
        said = asker.ask([row], mode, way)
        asker.close()
    error = said.error
    told = (getattr(error, name, None) for name in ("status_code", "code"))
    return (type(error).__name__, *told), said.text


def _alike(wire: str, mode: str, way: str, *answers: Any) -> None:
    bare, _ = raised(_bare(MAKERS[wire]), wire, mode, way, *answers)
    assert bare[0] != "NoneType"
    assert raised(MAKERS[wire], wire, mode, way, *answers)[0] == bare


def _ways(wire: str, number: int) -> str:
    """One of both ways in turn: each wire and each fault comes in both."""
    return ("sync", "async")[(sorted(MAKERS).index(wire) + number) % 2]


@pytest.mark.behaviour("P1c", "P1b")
@every_pair(wire=sorted(MAKERS), status=STATUSES, mode=("body", "stream"))
def test_an_error_status_is_the_bare_ones(wire: str, status: int, mode: str) -> None:
    way = _ways(wire, STATUSES.index(status) + (mode == "body"))
    _alike(wire, mode, way, refused(wire, mode, status))


@pytest.mark.behaviour("P1c", "P1b")
@every_pair(wire=sorted(MAKERS), fault=BREAKS, mode=("body", "stream"))
def test_a_lost_connection_is_the_bare_ones(wire: str, fault: Fault, mode: str) -> None:
    way = _ways(wire, BREAKS.index(fault) + (mode == "body"))
    if (wire, mode) == ("bedrock-invoke", "body") and fault is not reset_before_head:
        # The bare SDK raises while its caller reads the body, and doesn't retry that. Tenuto has
        # read it before, where botocore would retry the same exception.
        error, _ = raised(MAKERS[wire], wire, mode, way, fault(wire, mode))
        assert error[0] in ("ProtocolError", "ClientPayloadError", "ResponseStreamingError")
        return
    _alike(wire, mode, way, fault(wire, mode))


@pytest.mark.behaviour("P1c")
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize("fault", BREAKS, ids=lambda f: f.__name__)
def test_an_sdk_that_asks_through_aiohttp_raises_its_errors(fault: Fault, mode: str) -> None:
    """google-genai does in its async client, where Tenuto asks through httpx."""
    _alike("gemini-generate", mode, "async", fault("gemini-generate", mode))


@pytest.mark.behaviour("P1c")
@pytest.mark.parametrize(("wire", "event"), [(w, e) for w, found in EVENTS.items() for e in found])
def test_an_error_in_mid_stream_is_the_bare_ones(wire: str, event: str, way: str) -> None:
    end = b"0\r\n\r\n"
    answer = Bytes(_head(wire, "stream"), _begun(wire, EVENTS[wire][event]), end)
    _alike(wire, "stream", way, answer)


FILTERS: dict[str, Any] = {
    "openai-chat": {"error": {"message": "Content violates usage guidelines.", "code": 403}},
    "gemini-generate": {"error": {"code": 400, "message": "Blocked by safety filters.", "status": "INVALID_ARGUMENT"}},
    "anthropic-messages": {"type": "error", "error": {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"}},
    "ollama": {"error": "Content Exists Risk"},
}  # fmt: skip


@pytest.mark.behaviour("P1c", "E12a")
@pytest.mark.parametrize("wire", sorted(FILTERS))
def test_a_filters_error_before_any_text_is_raised_and_behind_text_is_a_stop(
    wire: str, way: str
) -> None:
    told = _chunk(b"".join(WIRES[wire].framed([FILTERS[wire]])))
    _alike(wire, "stream", way, Bytes(_head(wire, "stream"), told, b"0\r\n\r\n"))
    cut = Bytes(_head(wire, "stream"), _begun(wire, FILTERS[wire]), b"0\r\n\r\n")
    error, text = raised(MAKERS[wire], wire, "stream", way, cut)
    assert (error[0], text) == ("NoneType", SAID)


@pytest.mark.behaviour("P1c", "C5")
@every_pair(wire=sorted(MAKERS), status=(400, 401, 429, 500, 529), mode=("body", "stream"))
def test_on_a_further_attempt_the_text_so_far_is_returned(
    wire: str, status: int, mode: str
) -> None:
    cut = made(wire, "whole" if mode == "body" else mode, SAID, LIMITS[wire])
    way = _ways(wire, status)
    error, text = raised(MAKERS[wire], wire, mode, way, cut, refused(wire, mode, status))
    assert (error[0], text) == ("NoneType", SAID)


@pytest.mark.behaviour("P1c", "C5")
@every_pair(wire=sorted(MAKERS), fault=BREAKS[:2], mode=("body", "stream"))
def test_so_it_is_if_a_further_attempt_loses_its_connection(
    wire: str, fault: Fault, mode: str
) -> None:
    cut = made(wire, "whole" if mode == "body" else mode, SAID, LIMITS[wire])
    error, text = raised(MAKERS[wire], wire, mode, "sync", cut, fault(wire, mode))
    assert (error[0], text) == ("NoneType", SAID)


@pytest.mark.behaviour("E9")
def test_an_sdk_that_tries_again_by_itself_does_not_multiply_the_requests() -> None:
    """Two requests of the first turn, and one of each of the SDK's two retries."""
    with FarSide(closed_in_the_middle("openai-chat", "body")) as far:
        asker = MAKERS["openai-chat"](At(far), tenuto.Policy(**{**QUICK, "fault_retries": 1}))
        said = asker.ask([{"role": "user", "content": "Why tides?"}], "body")
        asker.close()
        assert (type(said.error).__name__, len(far.requests)) == ("APIConnectionError", 4)
