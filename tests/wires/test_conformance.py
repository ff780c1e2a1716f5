"""Walks the fixtures: whole, byte by byte, and in random pieces, each gives what the fixture says."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tenuto import Confidence, StreamDetector, detect
from tenuto.core.answer.response import Response
from tenuto.core.deciding.outcome import classify
from tenuto.detection import read
from tenuto.detection.reader import Reader
from tenuto.wires.registry import WIRES

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
FOLDERS = sorted(p.parent for p in FIXTURES.glob("*/*/expect.json"))


OF_ANY_PROGRAM = frozenset(
    {
        f"gemini-generate/{name}"
        for name in (
            "error-400-api-key", "error-400-unknown-name", "error-403-permission-denied",
            "error-429-resource-exhausted", "error-500-internal", "error-504-deadline-exceeded",
            "q32-error-in-a-200",
        )
    }
    | {
        f"gemini-interactions/{name}"
        for name in (
            "error-400-invalid-request", "error-400-parameter-unknown", "error-400-safety", "error-401-authentication",
            "error-402-payment-required", "error-429-quota-exceeded", "error-429-rate-limit-exceeded",
            "error-500-api-error", "error-503-of-the-front", "error-503-service-unavailable",
            "error-504-deadline-exceeded",
        )
    }
    | {"cohere-v1/error-400-history", "mistral/error-401-detail", "ollama/error-503-busy"}
    | {"openai-chat/q32-error-in-200"}
)  # fmt: skip
"""Errors that speak of no model, in forms that other programs write too."""


def content(folder: Path) -> bytes:
    (found,) = [p for p in folder.iterdir() if p.stem in ("body", "stream")]
    return found.read_bytes()


def shown(response: Response) -> dict[str, Any]:
    """All that a fixture may name."""
    stop, fault, usage = response.stop, response.fault, response.usage
    return {
        "stop": {
            "reason": stop.reason.value,
            "raw": stop.raw,
            "field": stop.field,
            "detail": stop.detail,
            "confidence": stop.confidence.value,
            "anomalies": list(stop.anomalies),
            "terminal": stop.terminal,
        },
        "outcome": classify(response).value,
        "text": response.text,
        "reasoning": response.reasoning,
        "refusal": response.refusal,
        "fault": fault.kind.value if fault else None,
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        if usage
        else None,
        "calls": [
            {"id": c.id, "name": c.name, "arguments": c.arguments, "finding": c.finding.value}
            for c in response.calls
        ],
    }


def named(found: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """What was found, as far as the fixture speaks of it."""
    return {
        key: named(found[key], value) if isinstance(value, dict) else found[key]
        for key, value in expected.items()
    }


def in_pieces(data: bytes, sizes: Any, wire: str | None) -> Response:
    reader, at = Reader(wire), 0
    while at < len(data):
        size = sizes()
        reader.feed(data[at : at + size])
        at += size
    (reading,) = reader.finish()
    return reading.response


@pytest.mark.behaviour("N1", "N1a", "N2", "N3", "N4", "S1", "S6", "S8", "S9")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f"{f.parent.name}-{f.name}")
def test_a_fixture_reads_as_it_says_whole_byte_by_byte_and_in_random_pieces(folder):
    assert_reads(folder)


def assert_reads(folder: Path) -> None:
    """A fixture reads as it says in whatever pieces it comes."""
    data, wire = content(folder), folder.parent.name
    expected = json.loads((folder / "expect.json").read_text("utf-8"))
    expected["stop"].setdefault("terminal", True)
    status = expected.pop("status", None)
    whole = read(data, wire=wire)
    assert named(shown(whole), expected) == expected
    if status:
        found = WIRES.find(wire)
        assert found is not None
        fault = found.parse_fault(status, {}, data)
        assert (fault.kind.value, fault.status) == (expected["fault"], status)
    rng = random.Random(folder.name)
    shape = detect(data)
    if f"{wire}/{folder.name}" in OF_ANY_PROGRAM:
        assert shape.confidence is not Confidence.HIGH
        told = replace(whole.stop, confidence=shape.confidence, detail=shape.detail)
        assert shape == told, "it is an error, and no wire was named"
    else:
        assert shape == whole.stop, "the shape tells the wire"
    assert in_pieces(data, lambda: 1, wire) == whole
    assert in_pieces(data, lambda: 1, None) == replace(whole, stop=shape)
    for most in (3, 17, 200):
        assert in_pieces(data, lambda most=most: rng.randint(1, most), wire) == whole
    detector = StreamDetector(wire)
    for byte in data:
        detector.feed(bytes([byte]))
    assert detector.finalize() == whole.stop
    assert (folder / "origin.txt").read_text("utf-8").startswith(("Made up", "Recorded"))


@pytest.mark.behaviour("N7")
def test_the_same_event_in_other_spellings_is_the_same_stop():
    alike: dict[tuple[str, str], set[tuple[object, ...]]] = {}
    spellings = {
        "end_turn": ("stop", "STOP", "eos", "eos_token", "end_turn", "COMPLETE", " Stop "),
        "max_tokens": ("length", "max_tokens", "MAX_TOKENS", "Length"),
        "safety_blocked": ("content_filter", "SAFETY", "content_filtered", "content_filter: x"),
        "malformed_tool_call": (
            "malformed_tool_use",
            "MALFORMED_FUNCTION_CALL",
            "function_call_filter: MALFORMED_FUNCTION_CALL",
        ),
        "context_window_exceeded": ("model_length", "model_context_window_exceeded"),
        "cancelled": ("abort", "cancelled"),
    }
    for reason, natives in spellings.items():
        for native in natives:
            body = {"choices": [{"index": 0, "message": {"content": "x"}, "finish_reason": native}]}
            chunk = {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": native}]}
            stream = b"data: " + json.dumps(chunk).encode() + b"\n\ndata: [DONE]\n\n"
            for source in (body, chunk, stream, json.dumps(body)):
                stop = detect(source)
                found = (stop.terminal, stop.reason.value, stop.confidence.value)
                alike.setdefault((reason, ""), set()).add(found)
    assert alike == {(reason, ""): {(True, reason, "high")} for reason in spellings}
