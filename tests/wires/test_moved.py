"""APIs whose wires are in the package of examples/wires, for a program that does not have it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import cohere
import pytest
from support.far_sides import FarSide, json_answer
from support.installed import forget_routes

import tenuto
from examples.wires.tests import at_hand
from examples.wires.tests.at_hand import fixtures
from tenuto.wires import moved
from tenuto.wires.moved import MOVED, sign_of
from tenuto.wires.registry import OUTSIDE

REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "cohere-v1": ("/v1/chat", {"model": "m", "message": "Go on."}),
    "dashscope": (
        "/api/v1/services/aigc/text-generation/generation",
        {"model": "m", "input": {"messages": [{"role": "user", "content": "Go on."}]}},
    ),
    "watsonx": (
        "/ml/v1/text/chat?version=1",
        {"model_id": "m", "messages": [{"role": "user", "content": "Go on."}]},
    ),
}
CUT = {"cohere-v1": "max-tokens", "dashscope": "length", "watsonx": "length"}


@pytest.fixture
def without() -> Iterator[None]:
    """Tenuto as it is without the package."""
    before = OUTSIDE._all
    OUTSIDE._all = {}
    moved._tell.cache_clear()
    forget_routes()
    yield
    OUTSIDE._all = before
    forget_routes()


def cut(wire: str) -> bytes:
    return (fixtures(wire) / CUT[wire] / "body.json").read_bytes()


@pytest.mark.behaviour("N16")
@pytest.mark.parametrize("wire", REQUESTS)
@pytest.mark.usefixtures("without")
def test_without_its_package_a_request_passes_unchanged_and_one_line_says_what_finishes_it(
    wire: str, caplog: pytest.LogCaptureFixture
) -> None:
    path, asked = REQUESTS[wire]
    body = cut(wire)
    with FarSide(json_answer(body)) as far, tenuto.http_client("httpx") as client:
        url = far.base_url.removesuffix("/v1") + path
        assert [client.post(url, json=asked).content for _ in range(2)] == [body, body]
        assert client.get(url).content == body
    assert [json.loads(one) for _, one in far.requests[:2]] == [asked, asked]
    (said,) = [r.getMessage() for r in caplog.records if r.name == "tenuto"]
    assert said.startswith("requests of ")
    assert "install the package tenuto-wires" in said


@pytest.mark.behaviour("N16")
@pytest.mark.parametrize("wire", REQUESTS)
def test_with_its_package_the_same_request_is_finished(
    wire: str, caplog: pytest.LogCaptureFixture
) -> None:
    path, asked = REQUESTS[wire]
    policy = tenuto.Policy(backoff_s=0.0)
    with (
        FarSide(json_answer(cut(wire))) as far,
        tenuto.http_client("httpx", policy=policy) as client,
    ):
        assert client.post(far.base_url.removesuffix("/v1") + path, json=asked).status_code == 200
    assert len(far.requests) > 1
    assert [r for r in caplog.records if r.name == "tenuto"] == []


OBJECTS: dict[str, list[dict[str, Any]]] = {
    "cohere-v1": [{"text": "Hi", "generation_id": "1", "finish_reason": "COMPLETE", "meta": {}}],
    "dashscope": [
        {"output": {"text": "Hi", "finish_reason": "stop"}, "request_id": "1"},
        {"output": {"choices": [{"message": {"content": "Hi"}}]}, "request_id": "1", "usage": {}},
    ],
    "watsonx": [{"results": [{"generated_text": "Hi", "stop_reason": "max_tokens"}]}],
}


@pytest.mark.behaviour("N16")
@pytest.mark.parametrize(("wire", "value"), [(w, v) for w, vs in OBJECTS.items() for v in vs])
@pytest.mark.usefixtures("without")
def test_detect_names_the_wire_that_reads_an_object(wire: str, value: dict[str, Any]) -> None:
    stream = b"data: %s\n\n" % json.dumps(value).encode() * 2
    for source in (value, json.dumps(value), [value], stream):
        stop = tenuto.detect(source)
        assert (stop.reason, stop.detail) == ("unknown", "needs_wire"), source
        assert stop.metadata == {"wire": wire}
        assert "tenuto-wires" in stop.message


@pytest.mark.behaviour("N16")
@pytest.mark.usefixtures("without")
def test_what_a_wire_of_tenutos_can_read_too_is_read_without_the_package() -> None:
    events = sorted((fixtures("cohere-v1") / "max-tokens-stream").glob("stream.*"))
    assert tenuto.detect(events[0].read_bytes()).reason == "max_tokens"
    assert tenuto.detect(cut("watsonx")).reason == "max_tokens"


@pytest.mark.behaviour("N16")
@pytest.mark.parametrize("wire", REQUESTS)
def test_each_answer_of_a_moved_wire_is_told_from_those_of_others(wire: str) -> None:
    found = at_hand.every_wire()[wire]
    (known,) = (each for each in MOVED if each.name == wire)
    path = REQUESTS[wire][0].partition("?")[0]
    assert found.is_request(path)
    assert known.path.search(path)
    for body in sorted(fixtures(wire).glob("*/body.json")):
        value = json.loads(body.read_bytes())
        if isinstance(value, dict) and found.looks_like(value):
            assert sign_of(value) in (wire, ""), body


@pytest.mark.behaviour("N16")
@pytest.mark.usefixtures("without")
def test_wrap_says_what_finishes_the_clients_of_these_apis() -> None:
    for client in (cohere.Client("key"), cohere.AsyncClient("key")):
        with pytest.raises(
            tenuto.UnsupportedClient, match=r"use cohere\.ClientV2, or install the pack"
        ):
            tenuto.wrap(client)
    assert isinstance(tenuto.wrap(cohere.ClientV2("key")), cohere.ClientV2)
    for module in ("dashscope.aigc", "ibm_watsonx_ai.client"):
        client = type("Client", (), {"__module__": module, "chat": None})()
        with pytest.raises(tenuto.UnsupportedClient, match="install the package tenuto-wires"):
            tenuto.wrap(client)
