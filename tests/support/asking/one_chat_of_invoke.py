"""What makes the events of InvokeModel, in the shape of OpenAI's chat, one message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from support.asking.bedrock_invoke import METRICS


def assert_one_chat(told: Sequence[dict[str, Any]]) -> None:
    """One id, one stop, the metrics at the end."""
    choices = [choice for event in told for choice in event["choices"]]
    assert len({event.get("id") for event in told}) == 1
    assert len({frozenset(choice) - {"logprobs"} for choice in choices}) == 1
    stops = [choice.get("finish_reason") or choice.get("stop_reason") for choice in choices]
    assert [bool(stop) for stop in stops] == [False] * (len(stops) - 1) + [True]
    assert [METRICS in event for event in told] == [False] * (len(told) - 1) + [True]
