"""Histories that the provider keeps: what the next turn goes on from, and what is never written to."""

from __future__ import annotations

import json

import openai
import pytest
from support.asking.openai_responses import CASES, TOOLS, WrappedResponses
from support.every_wire import At
from support.far_sides import FarSide, json_answer

import tenuto
from tenuto.core import hints
from tenuto_sim import Step
from tenuto_sim.case import Say

MODES = pytest.mark.parametrize("mode", ["body", "stream"])
_QUEUED = Step(say=Say.NOTHING, finish="queued")
ASK = [{"role": "user", "content": "Tell me."}]


@pytest.mark.behaviour("C7", "C22", "P8")
@MODES
def test_the_next_turn_goes_on_from_the_whole_answer(sim, wrapped, mode, way):
    asker = wrapped()
    got = asker.ask(ASK, mode, way, model="sim/length_twice")
    assert got.text == sim.answer("Tell me.")
    then = asker.ask("Thanks.", mode, way, previous_response_id=got.response.id)
    assert then.error is None
    kept = sim.memory[sim.requests[-1].json["previous_response_id"]]
    said = [item["content"] for item in kept if item.get("role") == "assistant"]
    words = "".join(c if isinstance(c, str) else c[0]["text"] for c in said)
    assert words.replace("\n", "") == got.text.replace("\n", "")
    assert len(sim.requests) == 4


@pytest.mark.behaviour("T5", "T8", "T16")
@MODES
def test_the_result_of_a_call_that_was_made_again_finds_its_call(sim, wrapped, mode, way):
    asker = wrapped()
    got = asker.ask(ASK, mode, way, model="sim/call_cut_length", tools=TOOLS)
    (call,) = got.calls
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "written"}
    then = asker.ask([result], mode, way, previous_response_id=got.response.id, tools=TOOLS)
    assert then.error is None
    assert then.text == sim.answer("Tell me.")


@pytest.mark.behaviour("C7")
@MODES
def test_a_continuation_goes_on_from_the_response_that_the_request_went_on_from(
    sim, wrapped, mode, way
):
    asker = wrapped()
    before = asker.ask(ASK, mode, way, model="sim/normal").response.id
    got = asker.ask("More.", mode, way, model="sim/length_once", previous_response_id=before)
    first, second = (request.json for request in sim.requests[-2:])
    assert first["previous_response_id"] == second["previous_response_id"] == before
    assert [row.get("role") for row in second["input"]] == ["user", "assistant", "user"]
    assert second["input"][0] == {"role": "user", "content": "More."}
    assert second["input"][-1] == {"role": "user", "content": hints.CONTINUE}
    assert got.stop == "completed"


@pytest.mark.behaviour("C7", "C28", "P1a")
@pytest.mark.parametrize("name", ["length_once", "call_cut_stop", "think_then_call_cut"])
@MODES
def test_nothing_of_ours_is_written_into_a_conversation(sim, wrapped, name, mode, way):
    asker = wrapped()
    more = {"tools": TOOLS} if CASES[name].wants_tools else {}
    got = asker.ask(ASK, mode, way, model=f"sim/{name}", conversation="conv_1", **more)
    assert len(sim.requests) == 1
    assert not got.calls
    assert got.stop == "max_output_tokens"
    assert asker.ending["status"] == "partial"
    told = asker.of("left_alone")
    assert told == [{"why": "conversation", "outcome": told[0]["outcome"]}]


@pytest.mark.behaviour("P1a", "S1")
def test_a_stream_of_a_conversation_that_breaks_off_is_an_error(sim, wrapped, way):
    asker = wrapped()
    got = asker.ask(ASK, "stream", way, model="sim/drop_mid_text", conversation="conv_1")
    assert isinstance(got.error, openai.APIError)
    assert len(sim.requests) == 1


@pytest.mark.behaviour("C28", "P8")
def test_an_answer_in_the_background_is_handed_on_as_it_came(sim, wrapped, way):
    asker = wrapped()
    sim.script([_QUEUED])
    got = asker.ask(ASK, "body", way, background=True)
    assert (got.stop, got.items) == ("queued", [])
    assert len(sim.requests) == 1


@pytest.mark.behaviour("C26", "C29", "P1a", "S2")
@MODES
@pytest.mark.parametrize("status", ["in_progress", "queued"])
@pytest.mark.parametrize("say", [Say.ANSWER, Say.NOTHING])
def test_an_answer_that_is_still_made_is_unfinished_and_is_not_asked_for_again(
    sim, wrapped, mode, status, say, way
):
    """Nobody asked for the background, and a paused turn it is not: to send it back has it made
    anew, and its text said once more."""
    step = Step(say=say, keep=0.5, finish=status)
    sim.script([step] * 12)
    asker = wrapped()
    got = asker.ask(ASK, mode, way)
    assert len(sim.requests) == 1
    assert (got.error, got.stop) == (None, status)
    assert sim.answer("Tell me.").startswith(got.text)
    assert bool(got.text) == (say is Say.ANSWER and mode == "stream")
    assert (asker.ending["status"], asker.ending["reason"]) == ("partial", "background")
    strict = wrapped(on_incomplete="error")
    assert "background" in str(strict.ask(ASK, mode, way).error)
    assert len(sim.requests) == 2


@pytest.mark.behaviour("C26", "S2")
@pytest.mark.parametrize("status", ["in_progress", "queued"])
def test_the_text_of_a_body_that_is_still_made_is_there_once(status):
    part = {"type": "output_text", "text": "Half a sentence", "annotations": []}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "content": [part]}
    body = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [item]}
    with FarSide(json_answer(json.dumps(body | {"status": status}).encode())) as far:
        asker = WrappedResponses(At(far), tenuto.Policy())
        got = asker.ask(ASK, "body")
        asker.close()
        assert (got.text, got.stop, len(far.requests)) == ("Half a sentence", status, 1)


@pytest.mark.behaviour("C7", "P8c")
def test_other_clients_ids_are_left_alone(sim, wrapped, way):
    asker, other = wrapped(), wrapped()
    got = asker.ask(ASK, "stream", way, model="sim/length_once")
    other.ask("Thanks.", "body", way, previous_response_id=got.response.id)
    assert sim.requests[-1].json["previous_response_id"] == got.response.id
