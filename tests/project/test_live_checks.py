"""The checks of `make live` against the simulator: what agrees, and disagreements that are planted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from checks.live.asking import Budget, Session
from checks.live.checks import CHECKS, Check, Found, Verdict, run
from checks.live.providers import Target
from checks.live.rehearsal import SIMULATED, rehearsing
from tenuto import Provider, register_provider
from tenuto.cli.model_server import missing_wheels
from tenuto.providers.table import ROWS
from tenuto_sim import STEPS, Simulator, Step
from tenuto_sim.case import Arguments, Kind, Odd

NAMES = [check.name for check in CHECKS]
FOUR = ("openai", "anthropic", "gemini", "openai-responses")
NOT_ON = {
    # The wire has none; no request can force a call, so the simulator answers with a text.
    ("openai-responses", "stop sequence"): Verdict.NOT_ASKED,
    ("ollama", "call cut"): Verdict.OPEN,
    ("ollama", "call cut, streamed"): Verdict.OPEN,
}


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """What a run registers is gone after it."""
    before = ROWS.all()
    yield
    ROWS._all = before
    ROWS.changes += 1


def target(sim: Simulator, name: str) -> Target:
    model, path = SIMULATED[name]
    return Target(name, model, sim.root_url + path, "secret-key", elsewhere=True)


def only(*names: str) -> list[Check]:
    return [check for check in CHECKS if check.name in names]


def checked(sim: Simulator, name: str, *checks: str) -> dict[str, Found]:
    session = Session(target(sim, name), Budget(1_000))
    return {check.name: found for check, found in run(session, only(*checks or NAMES))}


@pytest.mark.parametrize("name", SIMULATED)
def test_each_check_agrees_with_a_service_that_does_what_its_row_says(name: str) -> None:
    with Simulator() as sim:
        found = checked(sim, name)
        used = sum(request.output_tokens for request in sim.requests)
    verdicts = {check: one.verdict for check, one in found.items()}
    assert verdicts == {check: NOT_ON.get((name, check), Verdict.AGREES) for check in NAMES}, found
    assert sum(one.tokens for one in found.values()) == used


ODD_CALL = Step(kind=Kind.CALL, arguments=Arguments.CUT, finish="odd")
PLANTED: dict[str, tuple[tuple[str, ...], Step, str]] = {
    "an end that no row knows": (("whole",), Step(finish="odd"), "no row knows"),
    "a cut that is called an end": (
        ("cut",),
        Step(keep=0.1, finish="stop"),
        "Tenuto reads end_turn",
    ),
    "a cut that no row knows": (("cut",), Step(keep=0.1, finish="odd"), "no row knows"),
    "a stream without a stop": (("cut, streamed",), STEPS["drop"], ""),
    "a body without usage": (("cut", "usage"), Step(usage=False), "does not count"),
    "a cut call that no row knows": (("call cut",), ODD_CALL, "no row knows"),
    "the same, streamed": (("call cut, streamed",), ODD_CALL, "no row knows"),
    "a limit that is refused": (("cut",), Step(ceiling_tokens=8), "refuses the output limit"),
}
"""Which checks run, what the first request of the first or the only one is answered with, and what is
told of the last."""


@pytest.mark.parametrize("planted", PLANTED)
@pytest.mark.parametrize("name", FOUR)
def test_what_a_service_does_otherwise_than_its_row_says_shows(name: str, planted: str) -> None:
    names, step, said = PLANTED[planted]
    with Simulator() as sim:
        sim.script([step])
        found = checked(sim, name, *names)[names[-1]]
    assert found.verdict is Verdict.DIFFERS, found
    assert said in found.seen


@pytest.mark.parametrize("name", FOUR)
def test_a_stream_that_does_not_count_shows(name: str) -> None:
    # Messages count at both ends of a stream.
    step = Step(odd=Odd.USAGE_MISSING) if name == "anthropic" else Step(usage=False)
    with Simulator() as sim:
        sim.script([step])
        found = checked(sim, name, "cut, streamed", "usage")["usage"]
    assert found.verdict is Verdict.DIFFERS, found
    assert "the stream does not count" in found.seen


@pytest.mark.parametrize("name", FOUR)
def test_a_text_that_does_not_fit_behind_the_cut_shows(name: str) -> None:
    with Simulator() as sim:
        sim.script([*[Step()] * 3, Step(kind=Kind.CJK)])  # whole, cut, the turn, its continuation
        found = checked(sim, name, "whole", "cut", "seam")["seam"]
    assert found.verdict is Verdict.DIFFERS, found
    assert "another text from character" in found.seen


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini", "cohere"])
def test_a_stop_sequence_that_is_overlooked_shows(name: str) -> None:
    with Simulator() as sim:
        sim.script([Step(), Step(keep=0.8, finish="stop")])
        found = checked(sim, name, "whole", "stop sequence")["stop sequence"]
    assert found.verdict is Verdict.DIFFERS, found
    assert "goes on behind the sequence" in found.seen


EAGER = {
    "openai-chat": ("m", "/v1", "begins again"),
    "openai-responses": ("m", "/v1", "begins again"),
    "anthropic-messages": ("claude-opus-4-8", "", "refuses it"),
    "gemini-generate": ("gemini-3.6-flash", "", "refuses it"),
}


@pytest.mark.parametrize("wire", EAGER)
def test_a_model_that_does_not_take_the_prefill_of_its_row_shows(wire: str) -> None:
    model, path, said = EAGER[wire]
    register_provider(Provider("eager", wire=wire, prefill=True))
    with Simulator() as sim:
        asked = Target("eager", model, sim.root_url + path, "key", elsewhere=True)
        found = dict(run(Session(asked, Budget(1_000)), only("cut", "prefill")))
    (_, prefill) = found.values()
    assert prefill.verdict is Verdict.DIFFERS, prefill
    assert said in prefill.seen


@pytest.mark.parametrize("name", FOUR)
def test_a_prefill_that_no_row_relies_on_is_left_open_where_it_works(name: str) -> None:
    wire = ROWS.all()[name].wire
    register_provider(Provider("shy", wire=wire, prefill=False))
    model, path = SIMULATED[name]
    with Simulator(prefill="continue") as sim:
        asked = Target("shy", model, sim.root_url + path, "key", elsewhere=True)
        found = [
            each for _, each in run(Session(asked, Budget(1_000)), only("whole", "cut", "prefill"))
        ]
    never = wire == "openai-responses"  # which has no beginning of an answer
    assert found[-1].verdict is (Verdict.AGREES if never else Verdict.OPEN), found


# --- refusals and the budget --------------------------------------------------------------------


@pytest.mark.parametrize("step", ["429", "500", "503"])
@pytest.mark.parametrize("name", FOUR)
def test_what_a_service_refuses_is_told_as_such_and_is_no_difference(name: str, step: str) -> None:
    with Simulator() as sim:
        sim.script([Step(), STEPS[step]])
        found = checked(sim, name, "whole", "cut", "prefill")
    assert found["cut"].verdict is Verdict.REFUSED
    assert found["cut"].seen.startswith(step[0])
    assert found["cut"].tokens == 0
    assert found["prefill"].verdict is Verdict.NOT_ASKED


@pytest.mark.parametrize("name", FOUR)
def test_where_the_first_request_is_refused_no_other_is_sent(name: str) -> None:
    with Simulator() as sim:
        sim.script([STEPS["429"]])
        found = checked(sim, name)
        assert len(sim.requests) == 1
    assert found.pop("whole").verdict is Verdict.REFUSED
    assert {one.verdict for one in found.values()} == {Verdict.NOT_ASKED}


def test_a_key_that_is_refused_is_told_without_the_words_of_the_service() -> None:
    with Simulator() as sim:
        asked = Target("anthropic", "m", sim.root_url, "", elsewhere=True)
        (_, found), *_ = run(Session(asked, Budget(1_000)), CHECKS)
    assert (found.verdict, found.seen) == (Verdict.REFUSED, "401")


def test_a_server_that_is_not_there_costs_nothing() -> None:
    with Simulator() as sim:
        asked = target(sim, "openai")
    budget = Budget(1_000)
    (_, found), *_ = run(Session(asked, budget), CHECKS)
    assert (found.verdict, found.seen) == (Verdict.REFUSED, "no answer: ConnectError")
    assert budget.used_tokens == 0


@pytest.mark.parametrize("tokens", [10, 200, 250, 400])
def test_no_request_is_sent_that_could_exceed_the_budget(tokens: int) -> None:
    budget = Budget(tokens)
    with Simulator() as sim:
        found = run(Session(target(sim, "anthropic"), budget), CHECKS)
        used = sum(request.output_tokens for request in sim.requests)
    assert used == budget.used_tokens <= tokens
    assert Verdict.NOT_ASKED in {one.verdict for _, one in found}


def test_a_service_that_does_not_count_costs_the_whole_limit() -> None:
    budget = Budget(1_000)
    with Simulator() as sim:
        sim.script([Step(usage=False)])
        run(Session(target(sim, "openai"), budget), only("cut"))
    assert budget.used_tokens == 24


# --- the small model ----------------------------------------------------------------------------


@pytest.mark.real_model
@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.timeout(300)
def test_the_small_model_does_what_the_row_of_its_server_says() -> None:
    if missing := missing_wheels():
        pytest.skip(f"the small model is not installed ({', '.join(missing)}); try: make model")
    with rehearsing("llama.cpp") as (asked,):
        found = {check.name: one for check, one in run(Session(asked, Budget(1_000)), CHECKS)}
    agreed = {name for name, one in found.items() if one.verdict is Verdict.AGREES}
    assert agreed >= {"cut", "cut, streamed", "usage", "prefill", "seam"}, found
    assert Verdict.DIFFERS not in {one.verdict for one in found.values()}, found
