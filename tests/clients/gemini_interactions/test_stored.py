"""Histories that the provider keeps, pauses, and what is left alone: what leaves on the wire."""

from __future__ import annotations

import json

import pytest
from support.asking.gemini_interactions import TOOLS, asks

from tenuto.core import hints
from tenuto.wires.members import members_of, rows_of
from tenuto_sim import Step
from tenuto_sim.case import Say

MODES = pytest.mark.parametrize("mode", ["body", "stream"])
PAUSE = Step(keep=0.3, finish="pause_turn")


@pytest.mark.behaviour("C7", "C22", "P8")
@MODES
def test_the_next_turn_goes_on_from_the_whole_answer(sim, wrapped, mode, way):
    asker = wrapped()
    got = asker.ask("Tell me.", mode, way, model="sim/length_twice", store=True)
    assert (got.text, got.stop) == (sim.answer("Tell me."), "completed")
    then = asker.ask("Thanks.", mode, way, previous_interaction_id=got.id, store=True)
    assert then.error is None
    kept = sim.memory[sim.requests[-1].json["previous_interaction_id"]]
    said = [p["text"] for s in kept if s["type"] == "model_output" for p in s["content"]]
    assert "".join(said).replace("\n", "") == got.text.replace("\n", "")
    assert len(sim.requests) == 4


@pytest.mark.behaviour("C7", "C9", "H5")
@MODES
def test_a_continuation_goes_on_from_what_the_request_went_on_from(sim, wrapped, mode, way):
    asker = wrapped()
    before = asker.ask("Tell me.", mode, way, model="sim/normal", store=True).id
    given = {"model": "sim/length_once", "previous_interaction_id": before, "store": True}
    got = asker.ask("More.", mode, way, **given)
    first, second = (request.json for request in sim.requests[-2:])
    assert first["previous_interaction_id"] == second["previous_interaction_id"] == before
    assert first["input"] == "More."
    assert [step["type"] for step in second["input"]] == [
        "user_input",
        "model_output",
        "user_input",
    ]
    assert (second["input"][0], second["input"][-1]) == (asks("More."), asks(hints.CONTINUE))
    assert got.stop == "completed"


@pytest.mark.behaviour("C7", "C8", "C17")
def test_the_callers_own_steps_keep_their_bytes(sim, wrapped):
    asker = wrapped()
    odd = [{"type": "text", "text": 'Say "1.0" \u00e9'}]
    asker.ask([{"type": "user_input", "content": odd}], model="sim/length_once")
    first, second = (request.body for request in sim.requests)
    (row,) = rows_of(members_of(first)["input"])
    assert rows_of(members_of(second)["input"])[0] == row
    budget = json.loads(second)["generation_config"]["max_output_tokens"]
    assert budget > 0
    assert "generation_config" not in json.loads(first)


@pytest.mark.behaviour("C26", "C19")
@MODES
@pytest.mark.parametrize("store", [True, False])
def test_a_pause_is_gone_on_from_with_its_token_once_and_not_by_the_sdk_as_well(
    sim, wrapped, mode, way, store
):
    asker = wrapped()
    sim.script([PAUSE, PAUSE])
    got = asker.ask("Tell me.", mode, way, store=store)
    assert (got.error, got.text, got.stop) == (None, sim.answer("Tell me."), "completed")
    assert len(sim.requests) == 3
    first, *rest = (request.json for request in sim.requests)
    assert "continuation_token" not in first
    for request in rest:
        assert request["continuation_token"]
        assert ("input" in request) == ("previous_interaction_id" not in request) == (not store)
    assert asker.ending["attempts"] == 3
    assert len(asker.of("turn_ended")) == 1


@pytest.mark.behaviour("C26", "E9")
@MODES
def test_what_pauses_for_ever_ends_at_the_cap_and_the_sdk_does_not_go_on(sim, wrapped, mode, way):
    asker = wrapped()
    sim.script([Step(keep=0.1, finish="pause_turn")] * 40)
    got = asker.ask("Tell me.", mode, way)
    assert got.stop == "requires_continuation"
    assert len(sim.requests) == 11
    assert asker.ending["status"] == "partial"
    assert sim.answer("Tell me.").startswith(got.text[:40])


@pytest.mark.behaviour("C26", "C28", "P8")
@pytest.mark.parametrize(
    "more", [{"background": True, "store": True}, {"continuation_token": "WyJIYSIsICJ2MSJd"}]
)
def test_what_runs_in_the_background_or_goes_on_from_a_token_is_left_alone(sim, wrapped, way, more):
    asker = wrapped()
    sim.script([Step(keep=0.5, finish="length")])
    got = asker.ask("Tell me.", "body", way, **more)
    assert (got.error, got.stop) == (None, "incomplete")
    assert len(sim.requests) == 1
    assert len(asker.of("left_alone")) == 1


@pytest.mark.behaviour("C28", "C26", "P8")
@MODES
@pytest.mark.parametrize("status", ["in_progress", "queued"])
def test_an_answer_that_is_still_made_is_told_and_is_not_asked_for_again(
    sim, wrapped, mode, way, status
):
    asker = wrapped()
    sim.script([Step(say=Say.NOTHING, finish=status)] * 12)
    got = asker.ask("Tell me.", mode, way)
    assert (got.error, got.stop) == (None, status)
    assert len(sim.requests) == 1
    assert (asker.ending["status"], asker.ending["reason"]) == ("partial", "background")


@pytest.mark.behaviour("T5", "T8", "T16")
@MODES
def test_the_result_of_a_call_that_was_made_again_finds_its_call(sim, wrapped, mode, way):
    asker = wrapped()
    got = asker.ask("Tell me.", mode, way, model="sim/call_cut_length", tools=TOOLS, store=True)
    (call,) = got.calls
    result = {"type": "function_result", "call_id": call["id"], "name": call["name"]}
    result["result"] = "written"
    more = {"previous_interaction_id": got.id, "tools": TOOLS, "store": True}
    then = asker.ask([result], mode, way, **more)
    assert then.error is None
    assert then.text == sim.answer("Tell me.")
