"""A cut text is continued at its end: after a prefill, after a hint, and after a pause."""

from __future__ import annotations

from typing import Any

import pytest
from support.asking.anthropic_messages import CASES, TOOLS, AnthropicAsker, results_for
from support.asking.openai_chat import TOKEN_CHARS

from tenuto_sim import Simulator, Step

MODES = ("body", "stream")
HINT = {"role": "user", "content": "Continue."}
THINKING: dict[str, Any] = {"thinking": {"type": "enabled", "budget_tokens": 1024}}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def says(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


@pytest.mark.parametrize("mode", MODES)
def test_a_normal_answer_is_whole_and_the_same_on_both_wires(bare, mode, way):
    said = bare.ask([user("the harbour")], mode, way)
    assert (said.text, said.stop) == (bare.sim.answer("the harbour"), "end_turn")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cut_chars", [1, 57, 130, 400])
def test_a_prefill_is_continued_exactly_at_its_end(mode, cut_chars):
    with Simulator(prefill="continue") as sim:
        asker = AnthropicAsker(sim)
        whole = sim.answer("prefill")
        begun = whole[:cut_chars].rstrip()
        said = asker.ask([user("prefill"), says(begun)], mode)
        asker.close()
    assert begun + said.text == whole


@pytest.mark.parametrize("mode", MODES)
def test_a_hint_is_followed_by_the_rest(bare, mode):
    said = bare.ask_case(CASES["length_once"], mode)
    assert said.stop == "max_tokens"
    more = bare.ask([*said.history, said.message, HINT], mode, model="sim/length_once")
    assert said.text.rstrip() + more.text == bare.sim.answer(said.prompt)


@pytest.mark.parametrize("mode", MODES)
def test_a_paused_turn_goes_on_when_its_content_comes_back(bare, mode):
    said = bare.ask_case(CASES["pause_turn"], mode)
    assert said.stop == "pause_turn"
    kinds = [block["type"] for block in said.message["content"]]
    assert kinds == ["text", "server_tool_use", "web_search_tool_result"]
    more = bare.ask([*said.history, said.message], mode, model="sim/pause_turn")
    assert (said.text + more.text, more.stop) == (bare.sim.answer(said.prompt), "end_turn")


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # a block of the beta alone
def test_a_compacted_conversation_goes_on_with_and_without_what_was_before(bare):
    said = bare.ask_case(CASES["compaction"], "body")
    assert (said.text, said.stop) == ("", "compaction")
    for history in ([*said.history, said.message], [said.message]):
        more = bare.ask(history, model="sim/compaction")
        assert (more.text, more.stop) == (bare.sim.answer(said.prompt), "end_turn")


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_is_called_and_its_result_answered_in_text(bare, mode):
    for name in ("tool", "tools", "tool_with_text", "call_stop"):
        said = bare.ask_case(CASES[name], mode)
        assert (said.text, said.inputs) == bare.wanted(said, CASES[name])
        after = [*said.history, said.message, *results_for(said)]
        more = bare.ask(after, mode, model=f"sim/{name}", tools=TOOLS)
        assert (more.text, more.stop) == (bare.sim.answer(said.prompt), "end_turn")


@pytest.mark.parametrize("mode", MODES)
def test_a_failed_result_for_a_broken_call_brings_the_call_again(bare, mode):
    case = CASES["call_cut_length"]
    said = bare.ask_case(case, mode)
    kept = [call | {"input": {}} for call in said.calls]
    after = [*said.history, says(kept), *results_for(said)]
    more = bare.ask(after, mode, model="sim/call_cut_length", tools=TOOLS)
    assert more.inputs == bare.wanted(said, case)[1]


@pytest.mark.parametrize("mode", MODES)
def test_a_request_with_thinking_gets_a_signed_thought_first(bare, mode):
    said = bare.ask([user("think first")], mode, **THINKING)
    assert [block["type"] for block in said.message["content"]] == ["thinking", "text"]
    assert said.message["content"][0]["signature"]
    assert said.usage.output_tokens_details.thinking_tokens > 0


def test_thoughts_count_into_the_output_limit(bare):
    adaptive: dict[str, Any] = {"thinking": {"type": "adaptive"}}
    said = bare.ask([user("think long")], max_tokens=9, **adaptive)
    assert (said.text, said.stop, said.usage.output_tokens) == ("", "max_tokens", 9)
    (thought,) = said.message["content"]
    assert not thought.get("signature")


@pytest.mark.parametrize("mode", MODES)
def test_the_output_limit_of_the_request_is_kept(bare, mode):
    said = bare.ask([user("limited")], mode, max_tokens=20)
    assert (said.stop, said.usage.output_tokens) == ("max_tokens", 20)
    assert said.text == bare.sim.answer("limited")[: 20 * TOKEN_CHARS]


def test_a_forced_tool_is_called(bare):
    for choice in ({"type": "any"}, {"type": "tool", "name": "write_file"}):
        said = bare.ask([user("forced")], tools=TOOLS, tool_choice=choice)
        assert [call["name"] for call in said.calls] == ["write_file"]
    assert not bare.ask([user("free")], tools=TOOLS, tool_choice={"type": "auto"}).calls


def test_a_step_whose_error_this_wire_lacks_is_refused(bare):
    bare.sim.script([Step(error="mid_groq")])
    said = bare.ask([user("wrong wire")])
    assert "does not exist on this wire" in str(said.error)
