"""Calls that a model writes as text, read only where that was asked for (T4)."""

import json

import pytest
from agent.simulated import QUICK, WIRES, agent, model
from support.replay.openai_chat import END, MAX, Call, R, Replay

from tenuto.core import hints
from tenuto.core.answer.arguments import Finding
from tenuto_agent import Agent, Model, tool
from tenuto_agent.text_calls import read
from tenuto_agent.transcript import Results
from tenuto_sim import Simulator

ONE = '{"name": "add", "arguments": {"a": 1, "b": 2}}'
BARE = '{"a": 1, "b": 2}'
FORMS = [
    f"<tool_call>\n{ONE}\n</tool_call>",
    f"<tool_call>{ONE}",
    f"```json\n{ONE}\n```",
    f"```\n[{ONE}]\n```",
    f"<function=add>{BARE}</function>",
    f"[TOOL_CALLS] [{ONE}]",
    f"[TOOL_CALLS]add[ARGS]{BARE}",
    ONE.replace("arguments", "parameters").join(("<tool_call>", "</tool_call>")),
    f"<tool_call>{json.dumps({'name': 'add', 'arguments': BARE})}</tool_call>",
    f"<think>Shall I write <tool_call>{ONE}</tool_call>?</think><tool_call>{ONE}</tool_call>",
    f"I shall write {ONE}.</think><tool_call>{ONE}</tool_call>",
]


@pytest.mark.behaviour("T4")
@pytest.mark.parametrize("said", FORMS)
def test_a_call_is_read_in_each_common_form_and_only_of_a_known_tool(said: str) -> None:
    found = read(f"{said}" if "think" in said else f"Let me see.\n{said}", {"add": {}}, 7)
    assert [(c.name, json.loads(c.arguments), c.finding) for c in found.calls] == [
        ("add", {"a": 1, "b": 2}, Finding.WHOLE)
    ]
    assert found.text in ("Let me see.", "")
    assert read(said, {"subtract": {}}, 7).calls == ()


@pytest.mark.behaviour("T1", "T4", "S8")
@pytest.mark.parametrize("said", FORMS[:8])
def test_a_call_that_is_cut_anywhere_is_never_whole(said: str) -> None:
    end = max(said.rfind("}"), said.rfind("]") if "[" in said and "[ARGS]" not in said else 0)
    for cut in range(end):
        for call in read(said[:cut], {"add": {}}, 1).calls:
            assert call.finding is not Finding.WHOLE, said[:cut]


@pytest.mark.behaviour("T4")
def test_text_that_only_looks_like_a_call_stays_as_it_is() -> None:
    for said in ('```json\n{"name": "add"}\n```', "Use <tool_call> for it.", "```\ncode\n```"):
        assert read(said, {"add": {}}, 1).text == said
        assert read(said, {"add": {}}, 1).calls == ()


class Adding:
    """An agent that adds, with a model that says what a test wrote down."""

    def __init__(self, replay: Replay, *said: R, text_calls: bool = True) -> None:
        self.ran: list[tuple[int, int]] = []
        replay.say(*said)

        @tool(truncated_call_hint="Error: add less at once.")
        def add(a: int, b: int) -> int:
            """Add two numbers."""
            self.ran.append((a, b))
            return a + b

        model = Model("openai-chat:m", base_url=replay.base_url, text_calls=text_calls)
        with Agent(model, tools=[add], system="Be brief.", policy=QUICK) as agent:
            self.chat = agent.conversation()
            self.result = self.chat.run("What is 1 + 2?")
        self.came = [r for row in self.chat.rows if isinstance(row, Results) for r in row.results]


@pytest.mark.behaviour("T4")
def test_a_call_as_text_runs_and_its_result_goes_back_as_text() -> None:
    with Replay() as replay:
        done = Adding(replay, R(f"Let me see.\n{FORMS[0]}", END), R("Three.", END))
        first, second = (asked.json for asked in replay.requests)
    assert (done.result.status, done.result.text, done.ran) == ("complete", "Three.", [(1, 2)])
    assert "tools" not in first
    assert first["messages"][0]["content"].startswith("Be brief.\n\nYou can call tools.")
    assert '"Add two numbers."' in first["messages"][0]["content"]
    assert [row["role"] for row in second["messages"]] == ["system", "user", "assistant", "user"]
    assert second["messages"][2]["content"].startswith("Let me see.\n<tool_call>")
    assert second["messages"][3]["content"] == '<tool_response name="add">\n3\n</tool_response>'


@pytest.mark.behaviour("T4", "T6")
def test_a_cut_call_is_answered_with_the_tools_hint_and_its_neighbour_does_not_run() -> None:
    cut = f"{FORMS[0]}<tool_call>{ONE[:-4]}"
    with Replay() as replay:
        done = Adding(replay, R(cut, END), R("I cannot.", END))
        told = replay.requests[1].json["messages"]
    assert done.ran == []
    texts = [result.text for result in done.came]
    assert texts == [hints.CALL_SKIPPED_RESULT, "Error: add less at once."]
    assert ONE[:-4] + "\n" not in told[2]["content"]  # what was cut is not sent back (H4)
    assert done.result.text == "I cannot."


@pytest.mark.behaviour("T4", "C1")
def test_a_call_that_the_limit_cut_is_finished_and_runs_once() -> None:
    with Replay() as replay:
        said = R(FORMS[0][:40], MAX), R(FORMS[0][40:], END), R("Three.", END)
        done = Adding(replay, *said)
    assert (done.result.status, done.ran) == ("complete", [(1, 2)])


@pytest.mark.behaviour("T3", "T4")
def test_of_an_answer_that_stays_cut_nothing_runs() -> None:
    with Replay() as replay:
        done = Adding(replay, *[R(f"{FORMS[0]} and", MAX)] * 4)
    assert (done.result.status, done.ran) == ("partial", [])


BESIDE = [
    pytest.param(Call("add", '{"a": 3, "b"'), id="a cut call"),
    pytest.param(Call("add", '{"a": 3, "b": 4}'), id="a call that looks whole"),
]


@pytest.mark.behaviour("T3", "T4")
@pytest.mark.parametrize("beside", BESIDE)
def test_a_call_as_text_of_an_answer_that_the_limit_cut_beside_a_native_call_does_not_run(
    beside: Call,
) -> None:
    again = R("", END, [Call("add", '{"a": 3, "b": 4}')])
    with Replay() as replay:
        done = Adding(replay, R(FORMS[0], MAX, [beside]), again, R("Seven.", END))
    assert (done.result.status, done.result.text, done.ran) == ("complete", "Seven.", [(3, 4)])


@pytest.mark.behaviour("T3", "T4")
@pytest.mark.parametrize("beside", BESIDE)
def test_where_the_call_is_asked_for_again_only_the_text_that_answers_calls(beside: Call) -> None:
    other = '<function=add>{"a": 3, "b": 4}</function>'
    for again, ran in ((other, (3, 4)), (FORMS[0], (1, 2))):
        with Replay() as replay:
            done = Adding(replay, R(FORMS[0], MAX, [beside]), R(again, END), R("Seven.", END))
        assert (done.result.status, done.result.text) == ("complete", "Seven.")
        assert done.ran == [ran]
    with Replay() as replay:
        done = Adding(replay, R(FORMS[0], MAX, [beside]), R("I would rather not.", END))
    assert done.ran == []


@pytest.mark.behaviour("T12a")
@pytest.mark.parametrize("given", ['""', "null"])
def test_no_empty_object_is_made_for_a_call_as_text_that_requires_arguments(given: str) -> None:
    with Replay() as replay:
        empty = f'<tool_call>{{"name": "add", "arguments": {given}}}</tool_call>'
        done = Adding(replay, R(empty, END), R("I cannot.", END))
    assert done.ran == []
    assert [result.text for result in done.came] == ["Error: add less at once."]


@pytest.mark.behaviour("T4")
def test_without_being_asked_for_no_text_is_a_call() -> None:
    with Replay() as replay:
        done = Adding(replay, R(FORMS[0], END), text_calls=False)
    assert (done.result.text, done.ran) == (FORMS[0], [])


@pytest.mark.behaviour("T4", "P4", "H9")
def test_a_conversation_with_calls_as_text_goes_on_with_a_model_that_knows_calls() -> None:
    with Replay() as replay:
        cut = f"{FORMS[0]}<tool_call>{ONE[:-4]}"
        rows = Adding(replay, R(FORMS[0], END), R(cut, END), R("Done.", END)).chat.rows
    with Simulator() as sim:
        for wire in WIRES:
            with agent(model(sim, wire, "tool")) as asked:
                result = asked.conversation(rows).run("And again?")
            assert result.ok, (wire, result.fault)
        assert {request.status for request in sim.requests} == {200}
