"""Every fault that the simulator knows of what openai-python asks for in rows or in a prompt, through
the wrapped SDK, four ways: nothing silent, nothing harmful, no broken call, bounded, and the next turn
is accepted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import openai
import pytest
from asking import Asker, Got, broken_call, next_turn_is_refused
from wrapping import Wrapped, facing_faults
from wrapping_completions import WrappedCompletions

from tenuto.sim import CASES, CASES_ON, HTTP_FAULTS, Case

MOST_REQUESTS = 8
"""More than any ladder of the default policy can send for one turn."""

TRUTHFUL_STOPS = {
    "unknown_stop": "weird_new_reason",
    "unknown_stop_control": "weird\x1b[31m\nreason",
    "abort": "abort",
    "length_then_filter": "content_filter",
    "content_filter": "content_filter",
    "empty_after_tool_result_always": "stop",
}
"""What an unfinished turn may show instead of `length`: the provider's own words (P1a)."""

LEFT_TO_THE_SDK = ("http_429_once", "http_500_once")
"""Whose waits are shown once, on Chat: those who ask with a prompt here repeat nothing."""
OF_EACH_WIRE = [
    pytest.param(wire, case, mode, id=f"{wire}-{case.name}-{mode}")
    for wire in ("openai-chat", "openai-completions")
    for case in CASES_ON[wire].values()
    for mode in sorted(case.modes)
    if wire == "openai-chat" or case.name not in LEFT_TO_THE_SDK
]

Askers = dict[str, Wrapped]


@pytest.fixture(scope="module")
def askers() -> Iterator[Askers]:
    with facing_faults(Wrapped) as made:
        yield made


@pytest.fixture(scope="module")
def askers_on(askers: Askers) -> Iterator[dict[str, Askers]]:
    """Those of each wire."""
    with facing_faults(WrappedCompletions, max_retries=0) as made:
        yield {"openai-chat": askers, "openai-completions": made}


def is_right(asker: Asker, got: Got, case: Case) -> bool:
    """Whether the answer is the full right one: think blocks aside, arguments as JSON."""
    text, arguments = asker.wanted(got, case)
    said = re.sub(r"<think>.*?</think>", "", got.text, flags=re.DOTALL).strip()
    given = [json.loads(raw) for raw in got.raw_arguments]
    return said == text.strip() and given == [json.loads(raw) for raw in arguments]


def is_truthful(got: Got, case: Case) -> bool:
    """Whether the answer says of itself that it is not whole."""
    if case.name == "refusal":
        return bool(got.message.get("refusal"))
    return got.finish == TRUTHFUL_STOPS.get(case.name, "length")


@pytest.mark.behaviour("P1a", "T1", "T8", "T16", "S1", "S9")
@pytest.mark.parametrize(("wire", "case", "mode"), OF_EACH_WIRE)
def test_a_wrapped_client_recovers_or_ends_truthfully(askers_on, wire, case, mode, way):
    asker = askers_on[wire][way]
    before = len(asker.sim.requests)
    got = asker.ask_case(case, mode, way)
    assert len(asker.sim.requests) - before <= MOST_REQUESTS
    if got.error is not None:
        assert isinstance(got.error, openai.APIError), "a foreign exception is harmful"
        assert not case.recoverable
        return
    assert not broken_call(got)
    ended = asker.ending["status"] if asker.watched else None
    if is_right(asker, got, case):
        assert ended in ("complete", None)
    else:
        assert not case.recoverable
        assert case.name == "suspected_truncation" or is_truthful(got, case)
    assert not next_turn_is_refused(asker, got)


@pytest.mark.behaviour("P1a")
@pytest.mark.parametrize(("wire", "case", "mode"), OF_EACH_WIRE)
def test_on_incomplete_error_raises_for_every_unfinished_turn(askers_on, wire, case, mode):
    asker = askers_on[wire]["strict"]
    got = asker.ask_case(case, mode)
    ending = dict(asker.ending)
    if ending["status"] == "complete":
        assert got.error is None
        assert case.name == "suspected_truncation" or is_right(asker, got, case)
    else:
        assert isinstance(got.error, openai.APIError)


@pytest.mark.behaviour("P1a", "P1b")
def test_an_error_after_recovery_is_not_retried_by_the_sdk(askers):
    asker = askers["async"]
    before = len(asker.sim.requests)
    got = asker.ask_case(CASES["empty_always"], "body")
    assert isinstance(got.error, openai.InternalServerError)
    assert got.error.response.headers["x-should-retry"] == "false"
    turns = {event.turn for event in asker.events}
    assert len(turns) == 1
    assert len(asker.sim.requests) - before == asker.ending["attempts"]


@pytest.mark.behaviour("P1b")
@pytest.mark.parametrize("name", ["http_429_once", "http_500_once", "http_503_always"])
def test_a_status_of_the_first_attempt_is_left_to_the_sdk(askers, name):
    asker = askers["async"]
    before = len(asker.sim.requests)
    got = asker.ask_case(HTTP_FAULTS[name], "body")
    sent = len(asker.sim.requests) - before
    assert sent == (3 if name == "http_503_always" else 2), "the SDK's own retries, and no others"
    assert (got.error is None) == (name != "http_503_always")
