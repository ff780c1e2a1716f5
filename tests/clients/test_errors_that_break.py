"""`on_incomplete="error"` where an SDK raises on no event of a stream: the stream breaks (P1a)."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from google.genai._gaos.lib import compat_errors
from support.asking.cohere import ErrorSeen
from support.asking.gemini_interactions import ErrorEventSeen
from support.asking.wrapping import QUICK
from support.every_wire import LIMITS, MAKERS, At, ask, made
from support.far_sides import FarSide

import tenuto
from tenuto.providers.table import ROWS

HALF = "The moon pulls the se"
BROKEN: dict[str, type[Exception]] = {
    "cohere": httpx.ReadError,
    "cohere-v1": httpx.ReadError,
    "gemini-interactions": compat_errors.APIConnectionError,
}
"""What the SDKs raise of a stream that breaks, on the wires whose events they only hand out."""


def asked(wire: str, way: str, stop: str, on_incomplete: Any = "error") -> tuple[Any, Any]:
    """Half a text under a stop, and a further answer that adds nothing to it."""
    with FarSide(made(wire, "stream", HALF, stop), made(wire, "stream", "")) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK, on_incomplete=on_incomplete))
        try:
            return ask(asker, wire, "stream", way), asker
        finally:
            asker.close()


@pytest.mark.behaviour("P1a")
@pytest.mark.parametrize("wire", LIMITS)
def test_every_sdk_raises_by_itself(wire: str, way: str) -> None:
    said, asker = asked(wire, way, LIMITS[wire])
    assert asker.ending["status"] == "partial"
    assert said.error is not None
    assert not isinstance(said.error, ErrorSeen | ErrorEventSeen), "a program had to look"


@pytest.mark.behaviour("P1a")
@pytest.mark.parametrize("wire", BROKEN)
def test_the_exception_is_that_of_a_broken_stream_with_words_of_ours(wire: str, way: str) -> None:
    said, _ = asked(wire, way, LIMITS[wire])
    assert isinstance(said.error, BROKEN[wire])
    assert str(said.error).startswith("Tenuto could not finish this turn: ")


@pytest.mark.behaviour("P1a", "P10")
@pytest.mark.parametrize("stop", ["MAX_TOKENS", "ERROR", "ERROR_TOXIC", "TIMEOUT", "COMPLETE"])
@pytest.mark.parametrize("wire", ["cohere", "cohere-v1"])
def test_the_last_event_has_the_providers_stop_and_the_usage(
    wire: str, stop: str, way: str
) -> None:
    half = HALF if stop != "COMPLETE" else ""
    with FarSide(made(wire, "stream", half, stop), made(wire, "stream", "")) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK, on_incomplete="error"))
        try:
            said = ask(asker, wire, "stream", way)
        finally:
            asker.close()
    assert isinstance(said.error, httpx.ReadError)
    last = asker.told[-1]
    ending = last.delta if wire == "cohere" else last
    assert ending.finish_reason == ("ERROR" if stop == "COMPLETE" else stop)
    used = ending.usage if wire == "cohere" else ending.response.meta
    assert used.tokens.output_tokens == 5 * len(far.requests)


@pytest.fixture
def mistral() -> Iterator[FarSide]:
    """A host of Mistral's API, which answers with half a text, and then with nothing."""
    known = ROWS.all()
    parts = made("mistral", "stream", HALF, "length"), made("mistral", "stream", "")
    with FarSide(*parts) as far:
        host = far.base_url.removeprefix("http://").removesuffix("/v1")
        tenuto.register_provider(tenuto.Provider("mine", wire="mistral", hosts=[host]))
        yield far
    ROWS._all = known
    ROWS.changes += 1


@pytest.mark.behaviour("P1a")
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_a_reader_that_skips_mistrals_errors_finds_a_broken_stream(
    library: Any, mistral: FarSide
) -> None:
    """langchain-mistralai reads the events itself, and skips each that has no choice."""
    policy = tenuto.Policy(**QUICK, on_incomplete="error")
    rows = [{"role": "user", "content": "Tell."}]
    body = {"model": "m", "messages": rows, "max_tokens": 100, "stream": True}
    broken = importlib.import_module(library).ReadError
    lines = []
    url = f"{mistral.base_url}/chat/completions"
    with (
        tenuto.http_client(library, policy=policy) as client,
        client.stream("POST", url, json=body) as told,
        pytest.raises(broken, match="Tenuto could not finish this turn"),
    ):
        lines.extend(told.iter_lines())
    assert "data: [DONE]" not in lines  # where such a reader leaves


@pytest.mark.behaviour("P1a")
@pytest.mark.parametrize("wire", BROKEN)
def test_nothing_breaks_under_another_policy(wire: str) -> None:
    said, _ = asked(wire, "sync", LIMITS[wire], "stop")
    assert said.error is None
    assert said.text == HALF
