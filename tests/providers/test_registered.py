"""A provider that nobody has heard of, on a wire that is known: one call of `register_provider()` is enough."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.asking.wrapping import QUICK, is_right
from support.facing import Facing
from support.facing_rows import FACING

import tenuto
from tenuto.providers.table import ROWS, UNKNOWN_OF
from tenuto_sim import CASES_ON, Simulator

ONE_OF_EACH_WIRE = {row.wire: row for row in reversed(FACING) if not row.dialect}


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = ROWS.all()
    yield
    ROWS._all = before
    ROWS.changes += 1


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize("facing", ONE_OF_EACH_WIRE.values(), ids=ONE_OF_EACH_WIRE)
def test_a_cut_answer_of_a_registered_provider_is_finished_through_each_sdk(facing: Facing) -> None:
    with Simulator(token_chars=20) as sim:
        host = sim.root_url.removeprefix("http://")
        tenuto.register_provider(tenuto.Provider("acme", wire=facing.wire, hosts=[host]))
        asker = facing.kind(sim, tenuto.Policy(**QUICK), **facing.options)
        try:
            case = CASES_ON[facing.wire]["length_twice"]
            for mode in sorted(case.modes):
                for way in facing.ways:
                    got = asker.ask_case(case, mode, way)
                    assert got.error is None, (mode, way)
                    assert is_right(asker, got, case), (mode, way)
                    assert {event.provider for event in asker.events} == {"acme"}, (mode, way)
                    assert asker.ending["status"] == "complete", (mode, way)
        finally:
            asker.close()


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize("wire", UNKNOWN_OF)
def test_what_a_registration_does_not_say_is_as_for_an_unknown_provider_of_its_wire(wire) -> None:
    tenuto.register_provider(tenuto.Provider("acme", wire=wire, hosts=["llm.acme.example"]))
    made, unknown = ROWS.all()["acme"], UNKNOWN_OF[wire]
    for column in ("prefill", "prefill_models", "prefill_row", "prefill_members", "output_key"):
        assert getattr(made.dialect, column) == getattr(unknown.dialect, column), column
    assert made.sends_stop == unknown.sends_stop


@pytest.mark.behaviour("N8", "S3c")
@pytest.mark.parametrize(
    ("like", "sends"), [("vllm", True), ("openai", True), ("perplexity", None)]
)
def test_a_registration_takes_over_whether_streams_end_with_a_mark(like, sends) -> None:
    for said in (None, True, False):
        tenuto.register_provider(
            tenuto.Provider("acme", wire="openai-chat", like=like, sends_stop=said)
        )
        assert ROWS.all()["acme"].sends_stop is (sends if said is None else said)


@pytest.mark.behaviour("S3c")
@pytest.mark.parametrize(
    "name",
    ["vllm", "sglang", "llama.cpp", "ollama", "ollama-chat", "lm-studio", "moonshot", "zai", "qwen",
     "gemini-chat", "gemini-vertex-chat"],
)  # fmt: skip
def test_servers_that_are_known_to_mark_their_ends_have_it_in_their_rows(name: str) -> None:
    assert ROWS.all()[name].sends_stop is True


@pytest.mark.behaviour("N8")
def test_a_prefill_that_a_registration_says_holds_for_all_models() -> None:
    for prefill in (True, False):
        tenuto.register_provider(
            tenuto.Provider("acme", wire="anthropic-messages", hosts=["a.example"], prefill=prefill)
        )
        dialect = ROWS.all()["acme"].dialect
        assert dialect.takes_prefill("claude-sonnet-4-5") is prefill
        assert dialect.takes_prefill("of-our-own") is prefill
