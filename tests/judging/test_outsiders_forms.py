"""Forms of rows that somebody found who had read the guide alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenuto import Outcome, judge

CUT = "The moon pulls the sea towards itself, and the water on the far side"
DONE = "The moon pulls the sea, and the water follows it."
CITY = {"name": "weather", "args": {"city": "Bern"}, "id": "c1", "type": "tool_call"}
NATIVE = {"name": "weather", "arguments": '{"city": "Bern"}'}
OPEN = {"name": "weather", "arguments": '{"city": "Ber'}


def openai_call(function: dict[str, Any]) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": function}


def langsmith(stop: str, text: str = "", deep: int = 2, **kwargs: Any) -> dict[str, Any]:
    message = {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"],
               "kwargs": {"content": text, **kwargs}}  # fmt: skip
    told: Any = {"text": text, "generation_info": {"finish_reason": stop}, "message": message}
    for _ in range(deep):
        told = [told]
    return {"run_type": "llm", "inputs": {"messages": []}, "outputs": {"generations": told}}


def span(stop: str, *parts: Any) -> dict[str, Any]:
    said = [{"role": "assistant", "parts": list(parts), "finish_reason": stop}]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
                  "gen_ai.response.finish_reasons": [stop],
                  "gen_ai.output.messages": json.dumps(said)}  # fmt: skip
    return {"name": "chat m", "span_id": "s1", "attributes": attributes}


def inspect(call: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    choice = {"message": message, "stop_reason": "tool_calls"}
    return {"id": 1, "epoch": 1, "output": {"model": "m", "choices": [choice]}}


PARSED = {"id": "c1", "function": "weather", "arguments": {"city": "Bern"}, "parse_error": None}
NOT_PARSED = {**PARSED, "arguments": {}, "parse_error": "Error parsing the arguments: {"}


def quiz(**more: Any) -> dict[str, Any]:
    return {"choices": [{"label": "A", "text": "Paris", "finish_reason": None}], **more}


def refused(**more: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": None, "refusal": "I can't help with that."}
    return {"messages": [{"role": "user", "content": "How?"}, said], **more}


def pi(stop: str, *content: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": [*content], "model": "m", "stopReason": stop}
    return {"type": "message", "id": "m1", "message": said}


def sent(text: str, stop: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"object": "chat.completion", "choices": [{"message": message, "finish_reason": stop}]}


FORMS: tuple[tuple[str, Any], ...] = (
    # LangSmith: LangChain's generations
    ("done", langsmith("tool_calls", tool_calls=[CITY])),
    ("done", langsmith("tool_calls", "Let me see.", tool_calls=[CITY])),
    ("done", langsmith("tool_calls", deep=1, tool_calls=[CITY])),
    ("done", langsmith("tool_calls", additional_kwargs={"tool_calls": [openai_call(NATIVE)]})),
    ("arguments_cut", langsmith("length", additional_kwargs={"tool_calls": [openai_call(OPEN)]})),
    ("text_cut", langsmith("length", CUT)),
    ("calls_missing", langsmith("tool_calls")),
    # OpenTelemetry: parts of messages
    ("done", span("stop", {"type": "text", "content": DONE})),
    ("done", span("tool_calls", {"type": "tool_call", "id": "c", **NATIVE})),
    ("done", span("tool_calls", {"type": "tool_call", "name": "f", "arguments": {"a": 1}})),
    ("arguments_cut", span("length", {"type": "tool_call", **OPEN})),
    ("arguments_cut", span("tool_calls", {"type": "tool_call", **OPEN})),
    ("calls_missing", span("tool_calls")),
    ("calls_missing", span("tool_calls", {"type": "text", "content": DONE})),
    ("thinking_only", span("stop", {"type": "reasoning", "content": "Hm."})),
    ("thinking_cut", span("length", {"type": "reasoning", "content": "Hm."})),
    # inspect: calls that it could not parse
    ("done", inspect(PARSED)),
    ("arguments_malformed", inspect(NOT_PARSED)),
    # What stands beside, as JSON in a text
    ("text_cut", {"prompt": "q", "completion": DONE, "metadata": '{"finish_reason": "length"}'}),
    ("done", {"prompt": "q", "completion": DONE, "metadata": '{"finish_reason": "stop"}'}),
    ("likely_cut", {"prompt": "q", "completion": DONE, "num_generated_tokens": 9,
                    "metadata": '{"max_tokens": 9}'}),
    # Gemini's enum as Python prints it
    ("text_cut", {"candidates": [{"content": {"role": "model", "parts": [{"text": CUT}]},
                                  "finish_reason": "FinishReason.MAX_TOKENS"}]}),
    ("done", {"candidates": [{"content": {"role": "model", "parts": [{"text": DONE}]},
                              "finishReason": "FinishReason.STOP"}]}),
    # Refusals and reasoning beside an empty content
    ("refused", refused(finish_reason="stop")),
    ("refused", refused()),
    ("thinking_only", {"type": "ai", "data": {"content": "", "response_metadata": {
        "finish_reason": "stop"}, "additional_kwargs": {"reasoning_content": "Hm."}}}),
    # Servers of open models
    ("text_cut", {"generated_text": CUT, "details": {"finish_reason": "length", "generated_tokens": 20}}),
    ("done", {"generated_text": DONE, "details": {"finish_reason": "eos_token", "generated_tokens": 20}}),
    ("text_cut", {"text": CUT, "meta_info": {"finish_reason": {"type": "length", "length": 20},
                                             "completion_tokens": 20}}),
    ("text_cut", {"content": CUT, "stop": True, "stop_type": "limit", "tokens_predicted": 20,
                  "generation_settings": {"n_predict": 20}}),
    ("text_cut", {"content": CUT, "stop": True, "stopped_eos": False, "stopped_limit": True,
                  "tokens_predicted": 20}),
    ("done", {"content": DONE, "stop": True, "stop_type": "eos", "tokens_predicted": 20}),
    # A fence that was only opened
    ("likely_cut", {"prompt": "q", "completion": "Try this:\n```\n"}),
    # Sessions of pi, where an answer may be a call alone
    ("done", pi("toolUse", {"type": "toolCall", "id": "c", "name": "write", "arguments": {}})),
    ("arguments_cut", pi("length", {"type": "toolCall", "name": "w", "arguments": '{"a": "b'})),
    ("fault", pi("error")),
    ("cancelled", pi("aborted", {"type": "text", "text": DONE})),
    # Texts by other names
    ("text_cut", {"prompt_verbatim": "p", "response_verbatim": CUT, "stop_reason": "length"}),
    ("text_cut", {"question": "p", "raw_output": CUT, "finish_reason": "length", "model": "m"}),
    ("text_cut", {"question": "p", "raw_response": json.dumps(sent(CUT, "length")), "model": "m"}),
    ("text_cut", {"prompt": "p", "model": "m", "response": CUT, "raw_finish_reason": "length"}),
    ("likely_cut", {"prompt": "p", "model": "m", "response": CUT, "n_output_tokens": 64,
                    "generation_params": {"max_new_tokens": 64}}),
    ("likely_cut", {"prompt": "p", "model_id": "m", "raw_output": "```json\n{\n \"a\": \"b"}),
    # Bodies without a stop
    ("done", {"candidates": [{"content": {"parts": [{"text": '[{"title": "AMD"}]'}]}}]}),
    # Langfuse
    ("done", {"type": "GENERATION", "name": "g", "input": "Hi", "output": {"content": DONE}}),
    # No answers
    ("no_answer", {"completion_reason": "length", "result": "1-0", "white": "Ann"}),
    ("no_answer", {"prompt": True, "completion": "2026-05-01", "house": 4}),
    ("no_answer", {"prompt": "\\u@\\h$ ", "completion": ["git", "docker"]}),
    ("no_answer", {"instruction": "Bake", "input": {"flour": "200 g"}, "output": "12 pieces"}),
    ("no_answer", {"type": "error", "error": {"type": "card_error", "message": "Declined",
                   "decline_code": "do_not_honor"}, "order": 5}),
    ("no_answer", quiz(model="SAT")),
    ("no_answer", {"completion": "early", "stop_reason": "refusal", "text": "The patient left."}),
)  # fmt: skip


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize(("outcome", "row"), FORMS, ids=range(len(FORMS)))
def test_a_form_that_somebody_found_is_read_right(outcome: str, row: Any) -> None:
    for given in (row, json.dumps(row).encode()):
        verdict = judge(given)
        assert verdict.outcome is Outcome(outcome), verdict


CHUNKS = 'data: {"id":"c","model":"m-1","choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}\n\n'


@pytest.mark.parametrize(
    ("row", "model", "limit", "tokens"),
    [
        (CHUNKS, "m-1", None, None),
        ({"response": CHUNKS}, "m-1", None, None),
        ({"model": "m-2", "response": {"text": DONE, "stop_reason": "end_turn"}}, "m-2", None, None),
        ({"model": "m-2", "response": {**sent(DONE, "stop"), "model": "m-3"}}, "m-3", None, None),
        ({"request": {"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": "x"}]},
          "response": sent(DONE, "stop")}, "", 64, None),
        ({"prompt": "p", "response": DONE, "model": "m", "finish_reason": "stop",
          "request_params": {"max_tokens": 64}}, "m", 64, None),
        ({"type": "GENERATION", "output": DONE, "providedModelName": "m", "outputTokens": 7},
         "m", None, 7),
        ({"type": "GENERATION", "traceId": "t", "output": DONE, "model": "m",
          "usage": {"promptTokens": 10, "completionTokens": 5}}, "m", None, 5),
    ],
)  # fmt: skip
def test_what_stands_around_an_answer_is_told(
    row: Any, model: str, limit: int | None, tokens: int | None
) -> None:
    verdict = judge(row)
    assert verdict.outcome is Outcome.DONE
    assert (verdict.model, verdict.limit, verdict.output_tokens) == (model, limit, tokens)
