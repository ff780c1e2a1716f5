"""Every fault that the simulator knows, through every wrapped SDK: nothing silent, nothing harmful, no
broken call, bounded, and the next turn is accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import openai
import pytest
from support.asking.wrapping import is_right
from support.facing import Facing, facing_faults
from support.facing_rows import CHAT, FACING
from support.telling import check_each_turn

from tenuto_sim import CASES, HTTP_FAULTS, Case

pytestmark = pytest.mark.filterwarnings("ignore:[\\s\\S]* is not a valid FinishReason")
"""What Gemini's SDK says of a stop that it does not know; it hands it on all the same."""

Askers = Callable[[Facing], dict[str, Any]]


@pytest.fixture(scope="module")
def askers() -> Iterator[Askers]:
    """The askers of an SDK. Those of the one before are closed: its tests are over."""
    with ExitStack() as stack:
        made: dict[str, dict[str, Any]] = {}

        def of(row: Facing) -> dict[str, Any]:
            if row.name not in made:
                stack.close()
                made.clear()
                made[row.name] = stack.enter_context(facing_faults(row))
            return made[row.name]

        yield of


def meeting(*, strict: bool = False) -> Any:
    """Every run of every SDK."""
    runs = [
        pytest.param(row, *run, id=f"{row.name}-{run[0].name}-{run[1]}-{run[2]}")
        for row in FACING
        for run in row.runs(strict=strict)
    ]
    return pytest.mark.parametrize(("row", "case", "mode", "through"), runs)


in_all_ways = pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in FACING])


def is_truthful(row: Facing, got: Any, case: Case) -> bool:
    """Whether the answer says of itself that it is not whole."""
    if case.name in row.elsewhere:
        return bool(row.elsewhere[case.name](got))
    stop = got.finish if hasattr(got, "finish") else got.stop
    return case.name == "suspected_truncation" or stop == row.stops.get(case.name, row.limit)


def as_known(row: Facing, case: Case) -> str:
    """What the turn of a right answer is told to be."""
    return "partial" if case.name in row.end_unknown else "complete"


def judge(askers: Askers, row: Facing, case: Case, mode: str, through: str) -> None:
    asker = askers(row)[through]
    before = len(asker.sim.requests)
    got = asker.ask_case(case, mode, through)
    requests = len(asker.sim.requests) - before
    assert requests <= row.most_requests
    if got.error is not None:
        assert isinstance(got.error, row.raises), f"a foreign exception is harmful: {got.error!r}"
        left = f"{case.name}-{mode}" in row.left_to_the_caller
        assert left or not case.recoverable
        return
    assert not row.broken_call(asker, got, case)
    if mode == "stream" and requests > 1:
        row.is_one(asker)
    check_each_turn(asker.events)
    ended = asker.ending["status"] if asker.watched else None
    if right := is_right(asker, got, case):
        assert ended in (as_known(row, case), None)
    else:
        assert not case.recoverable
        assert is_truthful(row, got, case)
    assert not row.refused(asker, got, case)
    if row.bare is not None and (right or ended == "complete"):
        assert not row.refused(askers(row)[f"bare-{through}"], got, case), "nor without Tenuto"


def judge_strict(askers: Askers, row: Facing, case: Case, mode: str, through: str) -> None:
    asker = askers(row)["strict"]
    got = asker.ask_case(case, mode, through)
    if asker.ending["status"] == "complete":
        assert got.error is None
        # A model that never marked an end is shown as it came where nothing more is to be had (S3a).
        stop = got.finish if hasattr(got, "finish") else got.stop
        as_it_came = case.name == "drop_mid_text_always" and stop is None
        assert case.name == "suspected_truncation" or as_it_came or is_right(asker, got, case)
    else:
        assert isinstance(got.error, row.raises)
        left = f"{case.name}-{mode}" in row.left_to_the_caller
        unknown = case.name in row.end_unknown and asker.ending["reason"] == "end_unknown"
        assert left or unknown or not case.recoverable


_PROVED = pytest.mark.behaviour(
    "P1a", "T1", "T8", "T14", "T16", "S1", "S2", "S9", "C26", "P6", "H9"
)


@_PROVED
@meeting()
def test_a_wrapped_client_recovers_or_ends_truthfully(
    askers: Askers, row: Facing, case: Case, mode: str, through: str
) -> None:
    judge(askers, row, case, mode, through)


@pytest.mark.behaviour("P1a")
@meeting(strict=True)
def test_on_incomplete_error_tells_of_every_unfinished_turn(
    askers: Askers, row: Facing, case: Case, mode: str, through: str
) -> None:
    judge_strict(askers, row, case, mode, through)


@pytest.mark.heavy
@pytest.mark.timeout(300)
@_PROVED
@in_all_ways
def test_a_wrapped_client_recovers_or_ends_truthfully_in_every_mode_and_way(
    askers: Askers, row: Facing
) -> None:
    for case, mode, through in row.runs(every=True):
        judge(askers, row, case, mode, through)
    for case, mode, through in row.runs(strict=True, every=True):
        judge_strict(askers, row, case, mode, through)


@pytest.mark.behaviour("P1a", "P1b")
def test_an_error_after_recovery_is_not_retried_by_the_sdk(askers: Askers) -> None:
    asker = askers(CHAT)["async"]
    before = len(asker.sim.requests)
    got = asker.ask_case(CASES["empty_always"], "body")
    assert isinstance(got.error, openai.APIStatusError)
    assert got.error.status_code == 424  # frameworks retry every 5xx, 408, 409 and 429
    assert got.error.response.headers["x-should-retry"] == "false"
    turns = {event.turn for event in asker.events}
    assert len(turns) == 1
    assert len(asker.sim.requests) - before == asker.ending["attempts"]


@pytest.mark.behaviour("P1b")
@pytest.mark.parametrize("name", ["http_429_once", "http_500_once", "http_503_always"])
def test_a_status_of_the_first_attempt_is_left_to_the_sdk(askers: Askers, name: str) -> None:
    asker = askers(CHAT)["async"]
    before = len(asker.sim.requests)
    got = asker.ask_case(HTTP_FAULTS[name], "body")
    sent = len(asker.sim.requests) - before
    assert sent == (3 if name == "http_503_always" else 2), "the SDK's own retries, and no others"
    assert (got.error is None) == (name != "http_503_always")
