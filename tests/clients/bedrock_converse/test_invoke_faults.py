"""Every fault that the simulator knows of InvokeModel in the shape of OpenAI's chat, through wrapped
boto3 and aiobotocore, for two makers: nothing silent, nothing harmful, bounded, and the next turn is
accepted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from asking import Got, broken_call, in_every_mode, next_turn_is_refused
from asking_bedrock import OWN
from asking_invoke import CASES, METRICS, WrappedInvoke
from wrapping import facing_faults

from tenuto.sim import Case

MOST_REQUESTS = 8
"""What a ladder of the default policy can send, and the retries of botocore."""

MAKERS = {"sync": "openai.gpt-oss-120b-1:0/", "async": "mistral.mistral-large-2407-v1:0/"}

TRUTHFUL_STOPS = {
    "unknown_stop": "weird_new_reason",
    "unknown_stop_control": "weird\x1b[31m\nreason",
    "abort": "abort",
    "length_then_filter": "content_filter",
    "content_filter": "content_filter",
    "empty_after_tool_result_always": "stop",
    "guardrail": "stop",
}
"""What an unfinished turn may show instead of `length`: the provider's own words (P1a)."""

Askers = dict[str, WrappedInvoke]


@pytest.fixture(scope="module")
def askers() -> Iterator[Askers]:
    with facing_faults(WrappedInvoke) as made:
        yield made


def is_right(asker: WrappedInvoke, got: Got, case: Case) -> bool:
    text, arguments = asker.wanted(got, case)
    said = re.sub(r"<think>.*?</think>", "", got.text, flags=re.DOTALL).strip()
    given = [json.loads(raw) for raw in got.raw_arguments]
    return said == text.strip() and given == [json.loads(raw) for raw in arguments]


def is_truthful(asker: WrappedInvoke, got: Got, case: Case) -> bool:
    if case.name == "refusal":
        return bool(got.message.get("refusal"))
    return got.finish == TRUTHFUL_STOPS.get(case.name, "length")


def is_one_message(asker: WrappedInvoke) -> bool:
    """Whether the events of a stream are one message: one id, one stop, the metrics at its end."""
    told = asker.told
    names = {frozenset(choice) - {"logprobs"} for event in told for choice in event["choices"]}
    assert len({event.get("id") for event in told}) == 1
    assert len(names) == 1
    stops = [
        choice.get("finish_reason") or choice.get("stop_reason")
        for event in told
        for choice in event["choices"]
    ]
    assert [bool(stop) for stop in stops] == [False] * (len(stops) - 1) + [True]
    return [METRICS in event for event in told] == [False] * (len(told) - 1) + [True]


@pytest.mark.behaviour("P1a", "T1", "T8", "T16", "S1", "S2", "S9")
@in_every_mode(CASES.values())
def test_a_wrapped_client_recovers_or_ends_truthfully(
    askers: Askers, case: Case, mode: str, way: str
) -> None:
    asker = askers[way]
    asker.maker = MAKERS[way]
    before = len(asker.sim.requests)
    got = asker.ask_case(case, mode, way)
    requests = len(asker.sim.requests) - before
    assert requests <= MOST_REQUESTS
    if got.error is not None:
        assert isinstance(got.error, OWN), f"a foreign exception is harmful: {got.error!r}"
        assert not case.recoverable, got.error
        return
    assert not broken_call(got)
    ended = asker.ending["status"] if asker.watched else None
    if mode == "stream" and requests > 1:
        assert is_one_message(asker)
    if is_right(asker, got, case):
        assert ended in ("complete", None)
    else:
        assert not case.recoverable
        assert case.name == "suspected_truncation" or is_truthful(asker, got, case)
    assert not next_turn_is_refused(asker, got)


@pytest.mark.behaviour("P1a")
@in_every_mode(CASES.values())
def test_on_incomplete_error_raises_for_every_unfinished_turn(
    askers: Askers, case: Case, mode: str, way: str
) -> None:
    asker = askers["strict"]
    asker.maker = MAKERS[way]
    got = asker.ask_case(case, mode, way)
    ending = dict(asker.ending)
    if ending["status"] == "complete":
        assert got.error is None
        assert case.name == "suspected_truncation" or is_right(asker, got, case)
    else:
        assert isinstance(got.error, OWN)
