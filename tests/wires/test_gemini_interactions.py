"""Reading Gemini's Interactions: what the installed SDK knows, the tables know; the quick readings
agree. Nothing is recorded of this API: what the fixtures hold is held against the SDK's own types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.genai._gaos.types.interactions import interactionsseevent, step, stepdeltadata
from google.genai.interactions import (
    Interaction,
    InteractionCompletedEvent,
    InteractionSSEStreamEvent,
    StepDelta,
)
from support.paths import wire_for_path

from tenuto import StreamDetector, detect
from tenuto.core.answer.parts import Message
from tenuto.core.answer.signals import (
    CallDelta,
    FaultSeen,
    OtherSeen,
    ReasoningDelta,
    TextDelta,
    UsageSeen,
)
from tenuto.frames.sse import SseDecoder
from tenuto.wires.gemini_interactions import wire
from tenuto.wires.gemini_interactions.errors import ERRORS, read_fault
from tenuto.wires.gemini_interactions.steps import CALL, INPUT, OUTPUT, THOUGHT, kind_of
from tenuto.wires.registry import wires
from tenuto.wires.stream import plain_delta_in

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "gemini-interactions"
VALID = [
    folder
    for folder in sorted(FIXTURES.iterdir())
    if not folder.name.startswith(
        ("n6", "n1a", "q05", "q06", "q07", "q20", "garbage", "error", "q12")
    )
    and folder.name not in ("failed-with-null-errors", "q22-error-named-only-stream")
]
"""Those that hold what the SDK's types allow."""


def events_of(folder: Path) -> list[bytes]:
    """The data of the events of a fixture, [] where it is a body."""
    found = folder / "stream.sse"
    decoder = SseDecoder()
    given = [*decoder.feed(found.read_bytes()), *decoder.flush()] if found.exists() else []
    return [event.data for event in given if event.data and event.data != b"[DONE]"]


EVENTS = [data for folder in sorted(FIXTURES.iterdir()) for data in events_of(folder)]


@pytest.mark.behaviour("N13")
def test_no_event_of_the_installed_sdk_is_missing_from_the_table():
    named = set(interactionsseevent._INTERACTION_SSE_EVENT_VARIANTS)
    assert "interaction.completed" in named
    assert named == set(wire._EVENTS)


@pytest.mark.behaviour("N13")
def test_every_step_of_the_installed_sdk_is_read_as_what_it_is():
    kinds = set(step._STEP_VARIANTS)
    ours = {OUTPUT: TextDelta, THOUGHT: ReasoningDelta, INPUT: None, CALL: CallDelta}
    assert set(ours) < kinds
    for kind in kinds:
        (seen,) = Message().take(wire._read_step({"type": kind}, 0)) or (None,)
        expected = ours.get(kind, OtherSeen)
        assert seen is None if expected is None else isinstance(seen, expected), kind


@pytest.mark.behaviour("N13")
def test_every_piece_of_a_step_that_the_installed_sdk_knows_is_read_as_what_it_is():
    kinds = set(stepdeltadata._STEP_DELTA_DATA_VARIANTS)
    ours: dict[str, Any] = {
        "text": TextDelta,
        "text_annotation_delta": TextDelta,
        "thought_summary": ReasoningDelta,
        "thought_signature": ReasoningDelta,
        "arguments_delta": CallDelta,
    }
    assert set(ours) < kinds
    for kind in kinds:
        event = {"event_type": "step.delta", "index": 0, "delta": {"type": kind, "text": "x"}}
        (seen,) = wire.WIRE.parse_object(event, event=True)
        assert isinstance(seen, ours.get(kind, OtherSeen)), kind


CODES = [
    "invalid_request",
    "failed_precondition",
    "out_of_range",
    "parameter_unknown",
    "authentication",
    "payment_required",
    "permission_denied",
    "not_found",
    "model_not_found",
    "already_exists",
    "aborted",
    "rate_limit_exceeded",
    "quota_exceeded",
    "too_many_requests",
    "api_error",
    "unimplemented",
    "service_unavailable",
    "deadline_exceeded",
    "safety",
    "recitation",
    "language",
    "prohibited_content",
    "spii",
    "blocklist",
    "image_safety",
    "image_prohibited_content",
    "image_recitation",
    "image_other",
    "content_blocked",
    "malformed_function_call",
    "malformed_tool_call",
    "unexpected_tool_call",
    "too_many_tool_calls",
    "missing_thought_signature",
]
"""https://ai.google.dev/gemini-api/docs/api-errors, read 2026-11-22, without `no_image` and
`cancelled`, which the last row is about."""


@pytest.mark.behaviour("N13", "P5")
def test_every_code_of_the_documentation_is_in_the_error_table():
    known = {code for row in ERRORS for code in row.codes}
    assert [code for code in CODES if code not in known] == []


@pytest.mark.behaviour("C18")
def test_the_output_limit_that_is_named_is_the_largest_that_is_allowed():
    said = "it has a maxOutputTokens value of 9 but the supported range is from 1 (inclusive) to"
    assert read_fault({"code": "invalid_request", "message": f"{said} 9."}).allowed_tokens == 9
    exclusive = read_fault({"code": "invalid_request", "message": f"{said} 9 (exclusive)."})
    assert exclusive.allowed_tokens == 8
    for none in (
        f"{said} 0 (exclusive).",
        f"{said} 1 (exclusive).",
        f"{said} 0.",
        f"{said} {10**13}.",
    ):
        assert read_fault({"code": "invalid_request", "message": none}).allowed_tokens is None
    half = "maxOutputTokens 9, but the supported range is from 93040 (exclusive)."
    assert read_fault({"code": "invalid_request", "message": half}).allowed_tokens is None


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize("folder", VALID, ids=lambda folder: folder.name)
def test_what_the_fixtures_hold_is_what_the_types_of_the_sdk_allow(folder: Path) -> None:
    for data in events_of(folder):
        InteractionSSEStreamEvent.model_validate({"data": json.loads(data)})
    body = folder / "body.json"
    value = json.loads(body.read_bytes()) if body.exists() else {"error": {}}
    if "error" not in value and value.get("status"):
        Interaction.model_validate(value)


@pytest.mark.behaviour("P9", "N6")
@pytest.mark.parametrize("data", EVENTS, ids=range(len(EVENTS)))
def test_the_quick_reading_of_an_event_is_the_whole_one_or_none(data: bytes) -> None:
    quick = plain_delta_in(wire.WIRE, data)
    try:
        whole = wire.WIRE.parse_object(json.loads(data), event=True)
    except ValueError:
        whole = []
    assert quick is None or whole == [quick]
    # Thoughts are not: their summary is kept part by part.
    if b'"type":"text"' in data and len(whole) == 1 and isinstance(whole[0], TextDelta):
        assert quick is not None or b"step.start" in data


PATHS = {
    "/v1beta/interactions": True,
    "/v1beta/interactions/": True,
    "/v1beta1/projects/p/locations/global/interactions": True,
    "/proxy/v1/interactions": True,
    "/v1beta/interactions/v1_1": False,
    "/v1beta/interactions/v1_1/cancel": False,
    "/v1beta/models/g:generateContent": False,
    "/v1/responses": False,
}


@pytest.mark.behaviour("N8", "P8")
@pytest.mark.parametrize("path", PATHS)
def test_the_path_of_a_request_tells_whether_it_speaks_this_wire(path: str) -> None:
    assert (wire_for_path(path) is wires()["gemini-interactions"]) is PATHS[path]


@pytest.mark.behaviour("N8")
def test_only_this_wire_knows_its_own_shapes() -> None:
    others = [other for name, other in wires().items() if name != "gemini-interactions"]
    bodies = [p.read_bytes() for p in FIXTURES.glob("*/body.json") if "q20" not in str(p)]
    events = [data for data in EVENTS if data.startswith(b'{"') and data.endswith(b"}")]
    shapes: list[dict[str, Any]] = [json.loads(data) for data in (*bodies, *events)]
    told = [s for s in shapes if "error" not in s and ("status" in s or "event_type" in s)]
    assert len(told) > 300
    for value in told:
        assert wire.WIRE.looks_like(value)
        assert not any(other.looks_like(value) for other in others), value


@pytest.mark.behaviour("N8")
def test_this_wire_knows_no_shapes_of_the_other_wires() -> None:
    for folder in sorted(FIXTURES.parent.glob("*/*")):
        if folder.parent == FIXTURES:
            continue
        for file in folder.glob("body.json"):
            try:
                value = json.loads(file.read_bytes())
            except ValueError:
                continue
            assert not isinstance(value, dict) or not wire.WIRE.looks_like(value), folder


@pytest.mark.behaviour("N7")
def test_objects_of_the_sdk_are_read_as_the_bytes_are():
    raw = (FIXTURES / "incomplete" / "body.json").read_bytes()
    parsed = detect(Interaction.model_validate(json.loads(raw)))
    assert parsed == detect(raw)
    detector = StreamDetector()
    piece = {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "Half"}}
    assert not detector.feed(StepDelta.model_validate(piece)).terminal
    told = {"interaction": {"id": "v1_1", "status": "incomplete"}}
    last = InteractionCompletedEvent.model_validate({**told, "event_type": "interaction.completed"})
    assert detector.feed(last).reason.value == "max_tokens"


@pytest.mark.behaviour("S9")
def test_the_errors_of_an_interaction_that_did_not_fail_stopped_nothing():
    errors = [{"code": "safety", "message": "A tool's page was blocked."}]
    for status, faults in (("completed", 0), ("incomplete", 0), ("failed", 1)):
        for event in (False, True):
            told: dict[str, Any] = {"id": "v1_1", "status": status, "steps": [], "errors": errors}
            if event:
                told = {"event_type": "interaction.completed", "interaction": told}
            seen = wire.WIRE.parse_object(told, event=event)
            assert sum(isinstance(signal, FaultSeen) for signal in seen) == faults


def test_what_is_no_step_has_no_kind():
    odd: list[Any] = [None, 3, [], {"type": None}]
    assert [kind_of(value) for value in odd] == ["", "", "", ""]


@pytest.mark.behaviour("C19")
@pytest.mark.parametrize("within", [{"usage": {}}, {}])
def test_the_usage_beside_an_interaction_counts_where_that_has_none(within):
    usage = {"total_input_tokens": 5, "total_output_tokens": 3}
    told = {"id": "i", "status": "completed"} | within
    event = {"event_type": "interaction.completed", "interaction": told, "usage": usage}
    (seen,) = [s for s in wire.read(event, event=True) if isinstance(s, UsageSeen)]
    assert (seen.usage.input_tokens, seen.usage.output_tokens) == (5, 3)
    assert wire.usage_object(event) == usage
