"""`detect_conversation`: why each answer ended, which calls wait, and whether it may end."""

from __future__ import annotations

import json
from enum import Enum
from types import SimpleNamespace
from typing import Any

import anthropic
import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionMessage

from tenuto import detect_conversation
from tenuto.core.answer.stop import StopReason

ASK: dict[str, dict[str, Any]] = {
    "chat": {"role": "user", "content": "When is high tide?"},
    "messages": {"role": "user", "content": [{"type": "text", "text": "When?"}]},
    "gemini": {"role": "user", "parts": [{"text": "When?"}]},
    "bedrock": {"role": "user", "content": [{"text": "When?"}]},
    "responses": {"role": "user", "content": "When?"},
    "ollama": {"role": "user", "content": "When?"},
    "langchain": {"type": "human", "content": "When?"},
}

CALLS: dict[str, list[dict[str, Any]]] = {
    "chat": [{"role": "assistant", "content": None, "tool_calls": [
        {"id": i, "type": "function", "function": {"name": n, "arguments": '{"at": 1}'}} for i, n in (("a", "tide"), ("b", "wind"))]}],
    "messages": [{"role": "assistant", "content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "a", "name": "tide", "input": {"at": 1}}, {"type": "tool_use", "id": "b", "name": "wind", "input": {}}]}],
    "gemini": [{"role": "model", "parts": [
        {"functionCall": {"name": "tide", "args": {"at": 1}}}, {"functionCall": {"name": "wind", "args": {"at": 1}}}]}],
    "bedrock": [{"role": "assistant", "content": [
        {"toolUse": {"toolUseId": "a", "name": "tide", "input": {"at": 1}}}, {"toolUse": {"toolUseId": "b", "name": "wind", "input": {}}}]}],
    "responses": [
        {"type": "reasoning", "id": "rs", "summary": []},
        {"type": "function_call", "call_id": "a", "name": "tide", "arguments": '{"at": 1}'},
        {"type": "function_call", "call_id": "b", "name": "wind", "arguments": "{}"}],
    "ollama": [{"role": "assistant", "content": "", "tool_calls": [
        {"function": {"name": "tide", "arguments": {"at": 1}}}, {"function": {"name": "wind", "arguments": {"at": 1}}}]}],
    "langchain": [{"type": "ai", "content": "", "response_metadata": {}, "tool_calls": [
        {"id": "a", "name": "tide", "args": {"at": 1}}, {"id": "b", "name": "wind", "args": {}}]}],
}  # fmt: skip

RESULTS: dict[str, list[dict[str, Any]]] = {
    "chat": [{"role": "tool", "tool_call_id": i, "content": "x"} for i in "ab"],
    "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": i, "content": "x"}]} for i in "ab"],
    "gemini": [{"role": "user", "parts": [{"functionResponse": {"name": n, "response": {}}}]} for n in ("tide", "wind")],
    "bedrock": [{"role": "user", "content": [{"toolResult": {"toolUseId": i, "content": []}}]} for i in "ab"],
    "responses": [{"type": "function_call_output", "call_id": i, "output": "x"} for i in "ab"],
    "ollama": [{"role": "tool", "tool_name": n, "content": "x"} for n in ("tide", "wind")],
    "langchain": [{"type": "tool", "tool_call_id": i, "content": "x"} for i in "ab"],
}  # fmt: skip

ANSWER: dict[str, dict[str, Any]] = {
    "chat": {"role": "assistant", "content": "At noon."},
    "messages": {"role": "assistant", "content": [{"type": "text", "text": "At noon."}]},
    "gemini": {"role": "model", "parts": [{"text": "At noon."}]},
    "bedrock": {"role": "assistant", "content": [{"text": "At noon."}]},
    "responses": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "At noon."}]},
    "ollama": {"role": "assistant", "content": "At noon."},
    "langchain": {"type": "ai", "content": "At noon.", "response_metadata": {"finish_reason": "stop"}},
}  # fmt: skip

FORMS = pytest.mark.parametrize("form", ASK)


@pytest.mark.behaviour("N14")
@FORMS
def test_calls_wait_until_each_has_its_result(form: str) -> None:
    rows = [ASK[form], *CALLS[form]]
    told = detect_conversation(rows)
    assert [call.name for call in told.waiting] == ["tide", "wind"]
    named = form not in ("gemini", "ollama")  # which give their calls no ids
    assert [call.id for call in told.waiting] == (["a", "b"] if named else ["", ""])
    assert told.turns[0].calls == (("a", "b") if named else ("tide", "wind"))
    assert (told.may_end, told.why) == (False, "Tool calls wait for their results: tide, wind.")
    assert [turn.stop.reason for turn in told.turns] == [StopReason.TOOL_CALL]
    assert (told.messages, told.attempts) == (len(rows), 1)
    one = detect_conversation([*rows, RESULTS[form][1]])
    assert [call.name for call in one.waiting] == ["tide"]
    both = detect_conversation([*rows, *RESULTS[form]])
    assert both.waiting == ()
    assert (both.may_end, both.why) == (False, "The last message is not the model's.")
    assert both.roles["tool"] == 2


@pytest.mark.behaviour("N14")
@FORMS
def test_a_conversation_may_end_behind_a_whole_answer(form: str) -> None:
    rows = [ASK[form], *CALLS[form], *RESULTS[form], ANSWER[form]]
    told = detect_conversation(rows)
    assert (told.may_end, told.waiting) == (True, ())
    assert [turn.stop.reason for turn in told.turns] == [StopReason.TOOL_CALL, StopReason.END_TURN]
    assert told.turns[-1].message == len(rows) - 1
    assert (told.messages, told.attempts) == (len(rows), 2)
    assert sum(told.roles.values()) == told.messages
    assert "other" not in told.roles
    for source in ({"messages": rows}, json.dumps(rows), json.dumps({"input": rows})):
        assert detect_conversation(source) == told
    assert json.loads(json.dumps(told.as_dict()))["may_end"] is True


def chat(finish: str, **message: Any) -> Any:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}  # fmt: skip


@pytest.mark.behaviour("N14")
def test_whole_answers_tell_their_stop_and_their_tokens() -> None:
    cut = ChatCompletion.model_validate(chat("length", content="At no"))
    rows: list[Any] = [ASK["chat"], cut, ASK["chat"], chat("stop", content="on.")]
    told = detect_conversation(rows)
    assert [turn.stop.raw for turn in told.turns] == ["length", "stop"]
    assert (told.input_tokens, told.output_tokens, told.attempts) == (20, 8, 2)
    assert told.may_end
    half = detect_conversation(rows[:2])
    assert (half.may_end, half.why) == (False, "The output limit cut the answer.")


@pytest.mark.behaviour("N14", "T1")
def test_a_cut_call_is_told_and_an_objects_calls_wait() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "tide", "arguments": '{"at'}}
    row = ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "tool_calls": [call]}
    )
    told = detect_conversation([row])
    assert (told.turns[0].stop.broken, told.turns[0].calls) == ("truncated", ("a",))
    message = anthropic.types.Message.model_validate(
        {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None,
         "content": CALLS["messages"][0]["content"], "stop_reason": "tool_use",
         "usage": {"input_tokens": 3, "output_tokens": 2}}
    )  # fmt: skip
    assert [waits.id for waits in detect_conversation([message]).waiting] == ["a", "b"]


@pytest.mark.behaviour("N14", "N6")
@pytest.mark.parametrize(
    "source", [None, 5, "prose", b"\xff", {}, [], [None], [[]], {"messages": 5}]
)
def test_what_is_no_conversation_may_not_end(source: Any) -> None:
    told = detect_conversation(source)
    assert not told.may_end
    assert (told.turns, told.waiting, told.attempts) == ((), (), 0)


@pytest.mark.behaviour("N6")
@settings(max_examples=60)
@given(
    st.recursive(
        st.none() | st.integers() | st.text() | st.sampled_from(["assistant", "tool", "user"]),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["role", "content", "type", "tool_calls", "parts", "id", "function", "text",
                     "name", "arguments", "tool_call_id", "output", "choices", "message"]
                ),
                inner,
            )
        ),
    )
)  # fmt: skip
def test_nothing_at_all_makes_it_raise(source: Any) -> None:
    told = detect_conversation(source)
    assert told.why.isprintable()
    json.dumps(told.as_dict())


HALVES: dict[str, dict[str, Any]] = {
    "Anthropic's name": {"role": "assistant", "content": "half", "stop_reason": "max_tokens"},
    "OpenAI's name": {"role": "assistant", "content": "half", "finish_reason": "length"},
    "a name in camel case": {"role": "assistant", "content": [{"type": "text", "text": "half"}], "stopReason": "length"},
    "Bedrock": {"role": "assistant", "content": [{"text": "half"}], "stopReason": "max_tokens"},
    "Gemini": {"role": "model", "parts": [{"text": "half"}], "finishReason": "MAX_TOKENS"},
    "Gemini's SDK": {"role": "model", "parts": [{"text": "half"}], "finish_reason": "MAX_TOKENS"},
    "Ollama": {"role": "assistant", "content": "half", "done_reason": "length"},
    "an item": {
        "id": "m", "type": "message", "role": "assistant", "status": "incomplete", "content": [{"type": "output_text", "text": "half"}],
    },
    "an item of one text": {"type": "message", "role": "assistant", "status": "incomplete", "content": "half"},
    "LangChain, as it is stored": {
        "type": "ai", "data": {"content": "half", "response_metadata": {"finish_reason": "length"}},
    },
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", HALVES)
def test_a_stop_in_a_history_is_believed_by_whatever_name(name: str) -> None:
    for rows in ([ASK["chat"], HALVES[name]], json.dumps([ASK["chat"], HALVES[name]])):
        told = detect_conversation(rows)
        said = {
            "incomplete": "The provider calls the answer incomplete, and does not say why.",
        }.get(str(told.turns[0].stop.raw), "The output limit cut the answer.")
        assert (told.may_end, told.why) == (False, said)
        assert told.turns[0].stop.raw is not None


@pytest.mark.behaviour("N14")
def test_an_item_that_is_still_in_progress_is_not_finished() -> None:
    item = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "h"}],
    }
    assert not detect_conversation([ASK["chat"], item | {"status": "in_progress"}]).may_end
    assert detect_conversation([ASK["chat"], item | {"status": "completed"}]).may_end


def stored(row: dict[str, Any]) -> dict[str, Any]:
    """As `messages_to_dict` of LangChain writes a message."""
    return {"type": row["type"], "data": row}


def dumped(row: dict[str, Any]) -> dict[str, Any]:
    """As `dumpd` of LangChain writes it."""
    name = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}[row["type"]]
    path = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": row}


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("store", [stored, dumped])
def test_a_stored_conversation_of_langchain_is_read(store: Any) -> None:
    rows = [ASK["langchain"], *CALLS["langchain"], RESULTS["langchain"][0]]
    told = detect_conversation([store(row) for row in rows])
    assert [call.id for call in told.waiting] == ["b"]
    assert told == detect_conversation(rows)


RUN_BY_CLIENTS: dict[str, dict[str, Any]] = {
    "computer_call": {"action": {"type": "click"}, "status": "completed"},
    "local_shell_call": {"action": {"type": "exec", "command": ["ls"]}},
    "shell_call": {"action": {"commands": ["ls"]}},
    "apply_patch_call": {"operation": {"type": "create_file", "path": "x", "diff": ""}},
    "custom_tool_call": {"name": "tide", "input": "x"},
}


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("kind", RUN_BY_CLIENTS)
def test_a_call_of_a_tool_that_responses_knows_waits_for_its_result(kind: str) -> None:
    rows = [ASK["responses"], {"type": kind, "id": "i1", "call_id": "c1", **RUN_BY_CLIENTS[kind]}]
    told = detect_conversation(rows)
    assert [call.id for call in told.waiting] == ["c1"]
    assert (told.attempts, dict(told.roles)) == (1, {"user": 1, "assistant": 1})
    assert told.turns[0].stop.reason is StopReason.TOOL_CALL
    told = detect_conversation([*rows, {"type": f"{kind}_output", "call_id": "c1", "output": "x"}])
    assert (told.waiting, told.why) == ((), "The last message is not the model's.")


@pytest.mark.behaviour("N14")
def test_a_request_for_an_approval_waits_for_it() -> None:
    ask = {
        "type": "mcp_approval_request",
        "id": "ap",
        "name": "x",
        "arguments": "{}",
        "server_label": "s",
    }
    told = detect_conversation([ASK["responses"], ask])
    assert [call.id for call in told.waiting] == ["ap"]
    assert told.attempts == 1
    answer = {"type": "mcp_approval_response", "approval_request_id": "ap", "approve": True}
    told = detect_conversation([ASK["responses"], ask, answer])
    assert told.waiting == ()
    assert told.roles["tool"] == 1


@pytest.mark.behaviour("N14")
def test_what_the_provider_ran_itself_waits_for_nothing() -> None:
    hosted = {"type": "web_search_call", "id": "ws", "status": "completed"}
    told = detect_conversation([ASK["responses"], hosted, ANSWER["responses"]])
    assert (told.waiting, told.may_end, told.attempts) == ((), True, 1)


@pytest.mark.behaviour("N14")
def test_an_input_of_one_text_is_a_users_message() -> None:
    told = detect_conversation({"model": "m", "input": "Hello"})
    assert (told.why, dict(told.roles)) == ("The last message is not the model's.", {"user": 1})


class Role(Enum):
    MODEL = "assistant"


class Word(str, Enum):  # noqa: UP042 - as many programs have it
    MODEL = "assistant"


SAID = {"content": "At noon."}
OF_MODELS: dict[str, Any] = {
    **{word: {"role": word, **SAID} for word in ("Assistant", "gpt", "agent", "bot", "chatgpt", "CHATBOT")},
    "an enum": {"role": Role.MODEL, **SAID},
    "an enum of words": {"role": Word.MODEL, **SAID},
    "a pair": ("assistant", "At noon."),
    "a pair of LangChain": ("ai", "At noon."),
    "AutoGen": {"source": "assistant", "type": "TextMessage", **SAID},
    "ShareGPT": {"from": "gpt", "value": "At noon."},
    "Cohere": {"role": "CHATBOT", "message": "At noon."},
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", OF_MODELS)
def test_a_message_of_the_model_is_one_by_whatever_word(name: str) -> None:
    told = detect_conversation([ASK["chat"], OF_MODELS[name]])
    assert told == detect_conversation([ASK["chat"], ANSWER["chat"]])


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize(
    "last", [{"role": "narrator", **SAID}, {"source": "writer", **SAID}, SAID, None, 5]
)
def test_a_role_that_nobody_knows_is_not_said_to_be_another_ones(last: Any) -> None:
    told = detect_conversation([ASK["chat"], last])
    assert (told.may_end, told.why) == (False, "The role of the last message is not known.")
    assert dict(told.roles) == {"user": 1, "other": 1}


ROWS = [ASK["chat"], ANSWER["chat"]]
HELD: dict[str, tuple[Any, dict[str, int], str]] = {
    "lines": ("\n".join(map(json.dumps, ROWS)), {"user": 1, "assistant": 1}, ""),
    "ShareGPT": (
        {"conversations": [{"from": "human", "value": "When?"}, {"from": "gpt", "value": "At noon."}]},
        {"user": 1, "assistant": 1}, "",
    ),
    "Cohere": (
        {"model": "m", "message": "And then?", "chat_history": [
            {"role": "USER", "message": "When?"}, {"role": "CHATBOT", "message": "At noon."}]},
        {"user": 2, "assistant": 1}, "The last message is not the model's.",
    ),
    "Cohere's first": ({"model": "m", "message": "When?"}, {"user": 1}, "The last message is not the model's."),
    "an answer": (chat("length", content="At"), {"assistant": 1}, "The output limit cut the answer."),
    "an answer as JSON": (json.dumps(chat("length", content="At")), {"assistant": 1}, "The output limit cut the answer."),
    "an answer of an SDK": (
        ChatCompletion.model_validate(chat("length", content="At")), {"assistant": 1}, "The output limit cut the answer.",
    ),
    "a response": (httpx.Response(200, json=chat("length", content="At")), {"assistant": 1}, "The output limit cut the answer."),
    "a message": (ANSWER["chat"], {"assistant": 1}, ""),
    "a list of one request": ([{"model": "m", "messages": ROWS}], {"user": 1, "assistant": 1}, ""),
    "a request of a batch": (
        {"custom_id": "1", "url": "/v1/chat/completions", "body": {"model": "m", "messages": ROWS}},
        {"user": 1, "assistant": 1}, "",
    ),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", HELD)
def test_whatever_holds_a_conversation_is_read(name: str) -> None:
    source, roles, why = HELD[name]
    told = detect_conversation(source)
    assert dict(told.roles) == roles
    assert (told.may_end, told.why) == (not why, why or told.why)


NOTHING: dict[str, tuple[Any, ...]] = {
    "There is no message.": ([], (), {"messages": []}, "[]"),
    "No messages were found in this: give a list of messages, or a request or an answer.": (
        None, 5, "prose", "", {}, {"name": "x"}, "{}", {"message": "Too many requests"}, SimpleNamespace(x=1),
    ),
    "These are several conversations: give one of them.": tuple(
        form([{name: ROWS}, {name: ROWS}])
        for name in ("messages", "contents", "conversations")
        for form in (list, json.dumps, lambda rows: "\n".join(map(json.dumps, rows)))
    ),
    "This has not been read: give the messages of a stream or an iterator as a list.": (
        (row for row in ROWS), iter(ROWS), httpx.Response(200, stream=httpx.ByteStream(b"[]")),
    ),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("why", NOTHING)
def test_what_holds_no_message_is_said_to_be_that(why: str) -> None:
    for source in NOTHING[why]:
        told = detect_conversation(source)
        assert (told.may_end, told.why, told.messages) == (False, why, 0)


def of_pydantic_ai(kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"parts": list(parts), "kind": kind, **more}


CALL = {"part_kind": "tool-call", "tool_name": "tide", "args": {}, "tool_call_id": "c1"}
ASKED = of_pydantic_ai("request", {"part_kind": "user-prompt", "content": "When?"})
CALLED = of_pydantic_ai("response", CALL, finish_reason="tool_call")
SAID = of_pydantic_ai("response", {"part_kind": "text", "content": "Noon."}, finish_reason="stop")
OF_TOOLS = {
    "a result": {
        "part_kind": "tool-return",
        "tool_name": "tide",
        "content": "12",
        "tool_call_id": "c1",
    },
    "a request to try again": {
        "part_kind": "retry-prompt",
        "tool_name": "tide",
        "content": "No.",
        "tool_call_id": "c1",
    },
}


def as_objects(rows: list[dict[str, Any]]) -> list[Any]:
    return [
        SimpleNamespace(**{**row, "parts": [SimpleNamespace(**p) for p in row["parts"]]})
        for row in rows
    ]


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", OF_TOOLS)
@pytest.mark.parametrize("form", [list, json.dumps, as_objects], ids=["dicts", "JSON", "objects"])
def test_the_messages_of_pydantic_ai_hold_results_of_calls(name: str, form: Any) -> None:
    told = detect_conversation(
        form([ASKED, CALLED, of_pydantic_ai("request", OF_TOOLS[name]), SAID])
    )
    assert (told.may_end, told.waiting) == (True, ())
    assert dict(told.roles) == {"user": 1, "assistant": 2, "tool": 1}
    told = detect_conversation(form([ASKED, CALLED]))
    assert (told.may_end, [call.id for call in told.waiting]) == (False, ["c1"])


@pytest.mark.behaviour("N14")
def test_nothing_is_taken_from_an_iterator_of_messages() -> None:
    messages = iter(ROWS)
    detect_conversation(messages)
    assert list(messages) == ROWS
