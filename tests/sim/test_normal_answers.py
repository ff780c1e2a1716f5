"""Without a fault the answer is whole, the budget is honoured, and a cut text can be continued."""

from __future__ import annotations

import json
import math
from typing import Any

import openai
import pytest
from pydantic import BaseModel
from support.asking.openai_chat import TOKEN_CHARS

from tenuto_sim import NORMAL, Simulator

MODES = ("body", "stream")
PROMPT: Any = "Tell me about the harbour."
USER: Any = {"role": "user", "content": PROMPT}
HINT = {"role": "user", "content": "Continue."}


def says(text):
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize("mode", MODES)
def test_a_normal_answer_is_whole_and_the_same_each_time(bare, mode, way):
    for _ in range(2):
        got = bare.ask([USER], mode, way)
        assert (got.text, got.finish) == (bare.sim.answer(PROMPT), "stop")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["tool", "tools", "tool_with_text"])
def test_a_tool_case_calls_the_first_tool_and_answers_its_result_in_text(
    bare, tools, name, mode, way
):
    got = bare.ask_case(NORMAL[name], mode, way)
    assert (got.text, got.raw_arguments) == bare.wanted(got, NORMAL[name])
    assert got.finish == "tool_calls"
    results = [{"role": "tool", "tool_call_id": c["id"], "content": "ok"} for c in got.calls]
    after = bare.ask([*got.history, got.message, *results], mode, way, tools=tools)
    assert (after.text, after.calls) == (bare.sim.answer(got.prompt), [])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("budget", [1, 7, 50])
def test_the_output_budget_is_honoured_truly_and_counted_exactly(bare, mode, budget):
    more = {"stream_options": {"include_usage": True}} if mode == "stream" else {}
    got = bare.ask([USER], mode, max_tokens=budget, **more)
    assert got.finish == "length"
    assert got.text == bare.sim.answer(PROMPT)[: TOKEN_CHARS * budget]
    assert got.usage.completion_tokens == budget
    whole = bare.ask([USER], mode, max_completion_tokens=4000, **more)
    assert whole.finish == "stop"
    assert whole.usage.completion_tokens == math.ceil(len(whole.text) / TOKEN_CHARS)


def test_the_budget_cuts_a_call_too(bare, tools):
    history = [{"role": "user", "content": "budgeted call"}]
    got = bare.ask(history, model="sim/tool", tools=tools, max_tokens=10)
    assert got.finish == "length"
    assert [len(raw) for raw in got.raw_arguments] == [10 * TOKEN_CHARS]


def test_a_stream_gives_usage_only_where_it_is_asked_for(bare):
    assert bare.ask([USER], "stream").usage is None
    assert bare.ask([USER], "stream", stream_options={"include_usage": True}).usage is not None


@pytest.mark.parametrize("mode", MODES)
def test_a_cut_text_goes_on_after_its_last_visible_character(bare, mode):
    whole = bare.sim.answer(PROMPT)
    for at in range(1, len(whole), 7 if mode == "body" else 31):
        said = whole[:at].rstrip()
        got = bare.ask([USER, says(said), HINT], mode)
        assert said + got.text == whole


def test_white_space_that_the_client_kept_comes_again(bare):
    whole = bare.sim.answer(PROMPT)
    said = whole[: whole.index("\n\n") + 2]
    assert bare.ask([USER, says(said), HINT]).text == "\n\n" + whole[len(said) :]


def test_a_text_that_was_cut_after_a_tool_result_goes_on_as_text(bare, tools):
    got = bare.ask_case(NORMAL["tool"], "body")
    result = {"role": "tool", "tool_call_id": got.calls[0]["id"], "content": "ok"}
    whole = bare.sim.answer(got.prompt)
    begun = whole[:100].rstrip()
    rest = bare.ask(
        [*got.history, got.message, result, says(begun), HINT], model="sim/tool", tools=tools
    )
    assert begun + rest.text == whole


def test_a_failed_result_for_a_broken_call_is_answered_with_the_whole_call(bare, tools):
    history = [{"role": "user", "content": "write it, whatever comes"}]
    ask = {"model": "sim/call_cut_length", "tools": tools}
    cut = bare.ask(history, **ask)
    valid = {"id": cut.calls[0]["id"], "type": "function"}
    valid["function"] = {"name": "write_file", "arguments": "{}"}
    failed = {"role": "tool", "tool_call_id": valid["id"], "content": "not run: arguments cut"}
    row = {"role": "assistant", "content": None, "tool_calls": [valid]}
    again = bare.ask([*history, row, failed], **ask)
    whole = bare.sim.expected(history[0]["content"], "tool").calls[0]
    assert again.raw_arguments == [whole.arguments]
    result = {"role": "tool", "tool_call_id": again.calls[0]["id"], "content": "ok"}
    after = bare.ask([*history, row, failed, again.message, result], **ask)
    assert after.text == bare.sim.answer(history[0]["content"])


def test_a_forced_tool_choice_gives_a_call(bare, tools):
    forced = {"type": "function", "function": {"name": "write_file"}}
    for choice in ("required", forced):
        got = bare.ask([{"role": "user", "content": str(choice)}], tools=tools, tool_choice=choice)
        assert len(got.calls) == 1
    assert bare.ask([USER | {"content": "free"}], tools=tools).calls == []


def test_several_choices_say_the_same(bare):
    made = bare.client.chat.completions.create(model="sim", messages=[USER], n=2)
    assert [c.index for c in made.choices] == [0, 1]
    assert len({c.message.content for c in made.choices}) == 1


class Part(BaseModel):
    name: str
    sizes: list[int]


class Whole(BaseModel):
    title: str
    parts: list[Part]
    price: float
    sold: bool


def test_a_structured_answer_fits_its_schema(bare):
    made = bare.client.chat.completions.parse(
        model="sim", messages=[USER | {"content": "structured"}], response_format=Whole
    )
    assert len(made.choices[0].message.parsed.parts) == 2


def test_a_cut_document_goes_on_also_without_the_constraint(bare):
    ask = [{"role": "user", "content": "a document"}]
    more = {"model": "sim/length_json"}
    cut = bare.ask(ask, response_format={"type": "json_object"}, **more)
    rest = bare.ask([*ask, says(cut.text.rstrip()), HINT], **more)
    assert sorted(json.loads(cut.text.rstrip() + rest.text)) == ["items", "title"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("echo", [True, False])
def test_a_prefill_is_continued_exactly_and_bodies_may_repeat_it(mode, echo):
    with (
        Simulator(prefill="continue", prefill_echo=echo) as sim,
        openai.OpenAI(base_url=sim.base_url, api_key="key", max_retries=0) as client,
    ):
        whole = sim.answer(PROMPT)
        said = whole[: whole.index("\n") + 1]
        made: Any = client.chat.completions.create(
            model="sim", messages=[USER, says(said)], stream=mode == "stream"
        )
        if mode == "body":
            text = made.choices[0].message.content
        else:
            text = "".join(c.choices[0].delta.content or "" for c in made)
    assert text == (whole if echo and mode == "body" else whole[len(said) :])


def test_a_prefill_starts_again_where_the_model_does_not_go_on(bare):
    whole = bare.sim.answer(PROMPT)
    assert bare.ask([USER, says(whole[:50])]).text == whole


def test_the_size_of_a_token_can_be_chosen():
    with Simulator(token_chars=10) as sim:
        with openai.OpenAI(base_url=sim.base_url, api_key="key") as client:
            made = client.chat.completions.create(model="sim", messages=[USER], max_tokens=3)
        assert made.choices[0].message.content == sim.answer(PROMPT)[:30]


def test_an_unknown_way_with_prefills_is_refused():
    with pytest.raises(ValueError, match="prefill must be restart, continue or reject"):
        Simulator(prefill="later")  # type: ignore[arg-type]
