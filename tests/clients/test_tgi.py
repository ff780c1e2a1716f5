"""Text generation through huggingface_hub's own client, whose HTTP client recovers: what leaves on
the wire, what comes back, and what passes as it came."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub.errors import IncompleteGenerationError
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, json_answer, sse_answer

import tenuto

PROMPT = "The tide"


def details(stop: str, tokens: int) -> dict[str, Any]:
    return {"finish_reason": stop, "generated_tokens": tokens, "seed": 7}


def body(text: str, stop: str, tokens: int, **more: Any) -> dict[str, Any]:
    told = [{"id": n, "text": text, "logprob": -0.5, "special": False} for n in range(tokens)]
    return {
        "generated_text": text,
        "details": details(stop, tokens) | {"prefill": [], "tokens": told},
        **more,
    }


def events(*texts: str, stop: str = "", whole: str | None = None) -> bytes:
    """A stream of these tokens; its last event ends it, with details where a stop is given."""
    rows = [
        {"index": n, "token": {"id": n, "text": text, "logprob": -0.5, "special": False}}
        | {"generated_text": None, "details": None}
        for n, text in enumerate(texts, 1)
    ]
    if whole is not None:
        rows[-1]["generated_text"] = whole
    if stop:
        rows[-1]["details"] = details(stop, len(texts)) | {"input_length": 2}
    return b"".join(b"data:" + json.dumps(row).encode() + b"\n\n" for row in rows)


@pytest.fixture(autouse=True)
def heard() -> Iterator[list[tenuto.Event]]:
    """What is told of the turns of huggingface_hub's client."""
    told: list[tenuto.Event] = []
    huggingface_hub.set_client_factory(
        lambda: tenuto.http_client(
            policy=tenuto.Policy(**QUICK), on_event=told.append, verify=False
        )
    )
    yield told
    huggingface_hub.close_session()


def ask(far: FarSide, path: str = "/", **more: Any) -> Any:
    url = far.base_url.removesuffix("/v1") + path
    client = huggingface_hub.InferenceClient(model=url, provider="hf-inference", token="none")
    with client:
        made = client.text_generation(PROMPT, **more)
        return list(made) if more.get("stream") else made


def sent(far: FarSide) -> list[Any]:
    return [json.loads(raw) for _, raw in far.requests]


@pytest.mark.behaviour("C1", "C7", "C17", "C19")
@pytest.mark.parametrize(("path", "full"), [("/", PROMPT), ("/generate", "")])
def test_a_cut_body_goes_on_at_the_end_of_its_prompt(path, full):
    parts = [body(full + " turns at", "length", 2), body(" six.", "eos_token", 3)]
    as_told = [[part] for part in parts] if path == "/" else parts
    with FarSide(*(json_answer(json.dumps(part).encode()) for part in as_told)) as far:
        made = ask(far, path, details=True, max_new_tokens=50)
    assert made.generated_text == f"{full} turns at six."
    assert made.details.finish_reason == "eos_token"
    assert (made.details.generated_tokens, len(made.details.tokens)) == (5, 5)
    first, second = sent(far)
    assert first == {
        "inputs": PROMPT, "parameters": {"details": True, "max_new_tokens": 50},
        **({"stream": False} if "stream" in first else {}),
    }  # fmt: skip
    assert second["inputs"] == "The tide turns at"
    assert second["parameters"]["max_new_tokens"] == 100
    assert second["parameters"].get("return_full_text") == (False if full else None)


@pytest.mark.behaviour("C1", "S2", "C19")
@pytest.mark.parametrize(("path", "full"), [("/", PROMPT), ("/generate_stream", "")])
def test_the_last_event_of_a_stream_says_the_whole_text(path, full):
    cut = events(" turns", " at", stop="length", whole=f"{full} turns at")
    rest = events(" six", ".", stop="eos_token", whole=" six.")
    with FarSide(sse_answer(cut), sse_answer(rest)) as far:
        parts = ask(far, path, details=True, stream=True)
    assert "".join(part.token.text for part in parts) == " turns at six."
    assert [part.generated_text for part in parts if part.generated_text] == [
        f"{full} turns at six."
    ]
    assert parts[-1].details == details("eos_token", 4) | {"input_length": 2}
    assert [part.index for part in parts] == list(range(1, len(parts) + 1))


@pytest.mark.behaviour("P1a", "N3")
@pytest.mark.parametrize(("path", "full"), [("/", PROMPT), ("/generate", "")])
def test_a_stream_that_comes_instead_of_a_body_is_told_as_one_and_a_body_as_a_stream(path, full):
    whole = events(" turns", " at six.", stop="eos_token", whole=f"{full} turns at six.")
    with FarSide(sse_answer(whole)) as far:
        made = ask(far, path, details=True)
    assert made.generated_text == f"{full} turns at six."
    assert (made.details.generated_tokens, len(made.details.tokens)) == (2, 2)
    one = json.dumps(body(f"{full} turns.", "eos_token", 2)).encode()
    with FarSide(json_answer(one if path == "/generate" else b"[%b]" % one)) as far:
        path = path if full else "/generate_stream"
        parts = ask(far, path, details=True, stream=True)
    assert "".join(part.token.text for part in parts) == " turns."
    assert (parts[-1].details.finish_reason, len(far.requests)) == ("eos_token", 1)


@pytest.mark.behaviour("S1", "S3", "N1a")
def test_a_stream_without_details_ends_in_order_or_is_gone_on_with(heard):
    cut = events(" turns", " at"), events(" six.", whole=" six.")
    with FarSide(*map(sse_answer, cut)) as far:
        parts = ask(far, "/generate_stream", stream=True)
    assert "".join(parts) == " turns at six."
    assert [request["inputs"] for request in sent(far)] == [PROMPT, "The tide turns at"]
    assert [e.data["status"] for e in heard if e.name == "turn_ended"] == ["complete"]


@pytest.mark.behaviour("N1a", "P8")
def test_a_stream_without_details_that_ends_in_order_passes_and_its_end_is_inferred(heard):
    with FarSide(sse_answer(events(" turns", " at", whole=" turns at"))) as far:
        parts = ask(far, "/generate_stream", stream=True, max_new_tokens=2)
    assert (parts, len(far.requests)) == ([" turns", " at"], 1)
    (observed,) = [e.data for e in heard if e.name == "stop_reason_observed"]
    assert list(observed["anomalies"]) == ["no_stop"]
    (ended,) = [e.data for e in heard if e.name == "turn_ended"]
    assert ended["status"] == "complete"


@pytest.mark.behaviour("C5", "P1a")
def test_what_cannot_be_finished_is_an_error_of_the_sdks_own():
    with (
        FarSide(sse_answer(events(" turns", " at"))) as far,
        pytest.raises(IncompleteGenerationError, match="Tenuto could not finish this turn"),
    ):
        ask(far, "/generate_stream", stream=True, details=True)


@pytest.mark.behaviour("C18")
def test_a_limit_that_is_too_large_is_asked_for_again_with_what_the_server_allows():
    said = "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. "
    said += "Given: 96 `inputs` tokens and 8000 `max_new_tokens`"
    refused = json.dumps({"error": said, "error_type": "validation"}).encode()
    parts = [[body(f"{PROMPT} turns.", "eos_token", 2)]]
    with FarSide(
        json_answer(refused, status="422 Unprocessable Entity"),
        json_answer(json.dumps(parts[0]).encode()),
    ) as far:
        assert ask(far, max_new_tokens=8000) == "The tide turns."
    assert [request["parameters"]["max_new_tokens"] for request in sent(far)] == [8000, 4000]


@pytest.mark.behaviour("P8", "C28")
@pytest.mark.parametrize(
    ("answer", "more"),
    [
        (b'[{"generated_text": "The tide turns at",  "x": 1.0}]', {}),
        (b'[{"summary_text": "A tide."}]', {"max_new_tokens": 5}),
        (b'[[{"label": "LABEL_1", "score": 0.9}]]', {"max_new_tokens": 50}),
        (json.dumps([body(" turns", "length", 1)]).encode(), {"best_of": 2, "do_sample": True}),
    ],
    ids=["no-details", "another-task", "a-classifier", "best-of"],
)
def test_what_is_no_cut_text_passes_as_it_came(answer, more):
    with FarSide(json_answer(answer)) as far:
        url = far.base_url.removesuffix("/v1") + "/"
        asked = {"inputs": PROMPT, "parameters": {"details": True, **more}}
        made = huggingface_hub.get_session().post(url, json=asked)
        assert made.content == answer
        assert len(far.requests) == 1


@pytest.mark.behaviour("P6")
@pytest.mark.parametrize("name", ["InferenceClient", "AsyncInferenceClient"])
def test_who_wants_to_wrap_its_client_is_told_the_way(name):
    client: Any = getattr(huggingface_hub, name)(provider="hf-inference", token="none")
    with pytest.raises(tenuto.UnsupportedClient, match="set_client_factory"):
        tenuto.wrap(client)
