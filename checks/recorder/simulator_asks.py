"""What the simulator is asked: how a conversation goes on, and requests that ask for more.

In a history an answer stands as it came, but for members that no history may have.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from checks.recorder.inside import CASES_ON
from checks.recorder.questions import QUESTIONS, WIRES, Wanted, request

Json = Any
Rows = list[Json] | str
PROMPT = "Tell me about the harbour."
HINT = "Go on where you stopped."


def _message(said: Json) -> list[Json]:
    return [{key: said[key] for key in ("role", "content", "tool_calls") if said.get(key)}]


def _of_cohere_v1(document: Json) -> list[Json]:
    calls = {"tool_calls": document["tool_calls"]} if document.get("tool_calls") else {}
    return [{"role": "CHATBOT", "message": document["text"], **calls}]


def _of_choice(document: Json) -> list[Json]:
    return _message(document["choices"][0]["message"])


def _of_dashscope(document: Json) -> list[Json]:
    said = document["output"]
    if "text" in said:
        return [{"role": "assistant", "content": said["text"]}]
    return _of_choice(said)


class Place(NamedTuple):
    """Where is asked. `question` makes the requests, `path` is another than its own, and `changed`
    gives their bodies a form that the question has not."""

    question: str
    dialect: str = ""
    path: str = ""
    changed: Callable[[Json], Json] = lambda body: body

    @property
    def wire(self) -> str:
        """The wire whose cases exist there."""
        return _CASES_OF.get(self.question, self.question)


def _with(**more: Json) -> Callable[[Json], Json]:
    return lambda body: {**body, **more}


def _without(name: str) -> Callable[[Json], Json]:
    return lambda body: {key: item for key, item in body.items() if key != name}


_OPEN = {"add_generation_prompt": False}
_MULTIMODAL = "/api/v1/services/aigc/multimodal-generation/generation"
_DATABRICKS = "/serving-endpoints/sim/invocations"
PLACES = {
    **{wire: Place(wire) for wire in WIRES},
    "groq": Place("openai-chat", "groq", "/openai/v1/chat/completions"),
    "together": Place("openai-chat", "together"),
    "cerebras": Place("openai-chat", "cerebras"),
    "gemini": Place("openai-chat", "gemini", "/v1beta/openai/chat/completions"),
    "llama.cpp": Place("openai-chat", "llama.cpp", "", _with(**_OPEN)),
    "vllm": Place("openai-chat", "vllm", "", _with(**_OPEN, continue_final_message=True)),
    "deepseek": Place("openai-chat", "deepseek", "/beta/chat/completions"),
    "databricks": Place("openai-chat", "databricks", _DATABRICKS, _without("model")),
    "watsonx": Place("watsonx", "watsonx"),
    "nova": Place("bedrock-invoke-nova", "", "", _with(schemaVersion="messages-v1")),
    "ollama-prompt": Place("ollama", "", "/api/generate", _with(messages=[], prompt=PROMPT)),
    "dashscope-text": Place("dashscope", "", "", _with(parameters={})),
    "dashscope-lists": Place("dashscope", "", _MULTIMODAL),
}
_CASES_OF = {"watsonx": "openai-chat", "bedrock-invoke-nova": "bedrock-converse"}


def ask(place: Place, case: str, *, stream: bool = False, model: str = "sim") -> list[Json]:
    """Return path, headers and body of a first request."""
    wire = place.wire
    more = CASES_ON[wire][case].request if case in CASES_ON[wire] else {}
    question = QUESTIONS[place.question]
    url, headers, body = request(place.question, Wanted(model, PROMPT, stream, True, more, False))
    parts = urlsplit(url)
    path = f"{question.before}{place.path or parts.path}?{parts.query}"
    said = {name.lower(): value for name, value in headers} | {"x-sim-fault": case}
    return [path, said, place.changed(json.loads(body))]


ANSWERS: dict[str, Callable[[Json], Rows]] = {
    "openai-chat": _of_choice,
    "watsonx": _of_choice,
    "mistral": _of_choice,
    "bedrock-invoke": _of_choice,
    "cohere": lambda document: _message(document["message"]),
    "cohere-v1": _of_cohere_v1,
    "ollama": lambda document: _message(document["message"]),
    "dashscope": _of_dashscope,
    "anthropic-messages": lambda document: [{"role": "assistant", "content": document["content"]}],
    "bedrock-converse": lambda document: [document["output"]["message"]],
    "bedrock-invoke-nova": lambda document: [document["output"]["message"]],
    "gemini-generate": lambda document: [document["candidates"][0]["content"]],
    "openai-responses": lambda document: document["output"],
    "gemini-interactions": lambda document: document["steps"],
    "openai-completions": lambda document: document["choices"][0]["text"],
}
"""What a history holds of the document of an answer."""

MARKS = {"mistral": "prefix", "dashscope": "partial"}
"""What says of a last row that it is to be gone on with, where something must."""


def gone_on(question: str, body: Json, document: Json, *, hint: bool) -> Rows:
    """Return the rows of the next request: behind an answer its results, else a hint where one is
    asked for. Behind what is no answer, the same rows again."""
    rows = rows_of(question, body)
    if not rows:
        return rows
    try:
        said = ANSWERS[question](document)
    except (LookupError, TypeError, AttributeError):
        return rows
    if isinstance(rows, str):
        return rows + str(said)
    results = list(_results(list(said)))
    asks = [json.loads(json.dumps(rows[0]).replace(_text(rows[0]), HINT))] if hint else []
    told = list(said)
    if not hint and not results and told and question in MARKS:
        told[-1] = {**told[-1], MARKS[question]: True}
    return [*rows, *told, *(results or asks)]


def rows_of(question: str, body: Json) -> Rows:
    """Return the rows of a request, or its prompt."""
    if question == "cohere-v1":
        asked = [{"role": "USER", "message": body["message"]}] if body["message"] else []
        return [*body.get("chat_history", ()), *asked]
    found: Rows = reduce(lambda inner, name: inner[name], QUESTIONS[question].rows.split("."), body)
    return found


def with_rows_of(question: str, body: Json, rows: Rows) -> Json:
    """Return a request with other rows."""
    if question == "cohere-v1" and isinstance(rows, list):
        # What is asked now stands beside the history; behind results nothing is asked.
        asks = rows[-1]["role"] == "USER"
        before, message = (rows[:-1], rows[-1]["message"]) if asks else (rows, "")
        return {**body, "chat_history": before, "message": message}
    outer, _, inner = QUESTIONS[question].rows.partition(".")
    return {**body, outer: {**body[outer], inner: rows} if inner else rows}


def _results(rows: list[Json]) -> Iterator[Json]:
    """What answers the calls of rows, in the same form."""
    for row in rows:
        if row.get("role") == "CHATBOT" and row.get("tool_calls"):
            outputs = [{"text": "written"}]
            results = [{"call": call, "outputs": outputs} for call in row["tool_calls"]]
            yield {"role": "TOOL", "tool_results": results}
            continue
        for call in row.get("tool_calls") or ():
            yield {"role": "tool", "tool_call_id": call.get("id"), "content": "written"}
        if row.get("type") == "function_call" and "call_id" in row:
            yield {"type": "function_call_output", "call_id": row["call_id"], "output": "written"}
        elif row.get("type") == "function_call":
            named = {"call_id": row.get("id"), "name": row["name"]}
            yield {"type": "function_result", **named, "result": "written"}
        key = "parts" if "parts" in row else "content"
        parts = row.get(key)
        found = (
            [_result(part) for part in parts if isinstance(part, dict)]
            if isinstance(parts, list)
            else []
        )
        if any(found):
            yield {"role": "user", key: [part for part in found if part]}


def _result(part: Json) -> Json:
    if part.get("type") == "tool_use":
        return {"type": "tool_result", "tool_use_id": part.get("id"), "content": "written"}
    if "toolUse" in part:
        told = {"toolUseId": part["toolUse"].get("toolUseId"), "content": [{"text": "written"}]}
        return {"toolResult": told}
    if "functionCall" in part:
        return {
            "functionResponse": {"name": part["functionCall"]["name"], "response": {"result": "ok"}}
        }
    return None


def _text(row: Json) -> str:
    """The words of a row of the user."""
    if isinstance(row, str):
        return row
    inner = row.get("content") or row.get("parts") or row.get("text") or row.get("message")
    return _text(inner[0] if isinstance(inner, list) else inner)


_ENABLED = {"type": "enabled", "budget_tokens": 1024}
_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
_RESULT = {"call": {"name": "write_file", "parameters": {}}, "outputs": [{"text": "written"}]}
_BUDGETS = (-1, 0, 1, 20, 60, 20_000, "x")
MORE: dict[str, list[Json]] = {
    "openai-chat": [
        *({"max_tokens": tokens} for tokens in _BUDGETS),
        {"max_tokens": 5, "max_completion_tokens": 5},
        {"tools": None, "tool_choice": "auto"},
        {"n": 3, "stream_options": {"include_usage": True}},
        {"response_format": {"type": "json_schema", "json_schema": {"schema": _SCHEMA}}},
        {"tool_choice": "required"},
    ],
    "anthropic-messages": [
        *({"max_tokens": tokens} for tokens in _BUDGETS),
        *({"thinking": _ENABLED | {"budget_tokens": tokens}} for tokens in (5, 1024, 5000, "x")),
        {"thinking": _ENABLED, "tool_choice": {"type": "any"}},
        {"thinking": {"type": "adaptive"}, "stop_sequences": ["###"]},
        {"stop_sequences": [" "]},
        {"tools": [], "tool_choice": {"type": "any"}},
        {"tool_choice": {"type": "any"}},
    ],
    "gemini-generate": [
        *({"generationConfig": {"maxOutputTokens": tokens}} for tokens in _BUDGETS),
        {"generationConfig": {"responseMimeType": "application/json"}},
        {"generationConfig": {"thinkingConfig": {"includeThoughts": True}, "x": 1}},
        {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
        {"toolConfig": {"functionCallingConfig": {"allowedFunctionNames": ["f"]}}},
    ],
    "gemini-interactions": [
        *({"generation_config": {"max_output_tokens": tokens}} for tokens in _BUDGETS),
        *({"generation_config": {"temperature": value}} for value in (5, "x", 1)),
        *({"generation_config": {name: "x"}} for name in ("thinking_level", "tool_choice", "x")),
        {"generation_config": {"tool_choice": "any"}, "tools": []},
        {"generation_config": {"tool_choice": {"allowed_tools": {"mode": "any"}}}},
        {"response_format": {"type": "text", "mime_type": "application/json", "schema": _SCHEMA}},
        {"store": False, "background": True},
        {"system_instruction": "Be brief.", "response_format": [{"type": "x"}]},
    ],
    "openai-responses": [
        *({"max_output_tokens": tokens} for tokens in (*_BUDGETS, 16)),
        {"text": {"format": {"type": "json_schema", "name": "a", "schema": _SCHEMA}}},
        {"tools": [], "tool_choice": "required"},
        {"tool_choice": "required"},
        {"previous_response_id": "r", "conversation": "c"},
        {"conversation": {"id": "c"}},
    ],
    "bedrock-converse": [
        *({"inferenceConfig": {"maxTokens": tokens}} for tokens in _BUDGETS),
        *(
            {"additionalModelRequestFields": {"thinking": _ENABLED | {"budget_tokens": tokens}}}
            for tokens in (5, 1024, "x")
        ),
        {
            "additionalModelRequestFields": {"thinking": _ENABLED},
            "inferenceConfig": {"maxTokens": 100},
        },
    ],
    "cohere": [
        *({"max_tokens": tokens} for tokens in _BUDGETS),
        {"tools": [], "tool_choice": "REQUIRED"},
        {"tools": [], "response_format": {"type": "json_object", "json_schema": _SCHEMA}},
        {"thinking": {"type": "enabled"}, "tool_choice": "REQUIRED"},
    ],
    "cohere-v1": [
        *({"max_tokens": tokens} for tokens in _BUDGETS),
        {"response_format": {"type": "json_object", "schema": _SCHEMA}},
        {"tools": [], "tool_results": [_RESULT]},
        {"tool_results": [_RESULT]},
        {"message": "", "tool_results": [_RESULT]},
        {"conversation_id": "c", "chat_history": [{"role": "USER", "message": "Hi."}]},
        {"chat_history": [{"role": "USER", "message": "Hi."}, {"role": "SYSTEM", "message": " "}]},
        {"stop_sequences": [" "]},
    ],
    "ollama": [
        *({"options": {"num_predict": tokens}} for tokens in _BUDGETS),
        {"format": "json"},
        {"format": _SCHEMA},
        {"think": True},
    ],
    "dashscope": [
        *({"parameters": {"max_tokens": t, "result_format": "message"}} for t in _BUDGETS),
        {"parameters": {"enable_thinking": True}},
        {"parameters": {"enable_thinking": True, "incremental_output": True}},
        {"input": {"prompt": "Hi.", "messages": [{"role": "user", "content": "Hi."}]}},
        {"input": {"prompt": "Hi.", "history": [{"user": "a", "bot": "b"}]}},
        {"input": {"messages": [{"role": "user", "content": "Hi.", "partial": True}]}},
    ],
    "watsonx": [{"tool_choice_option": "required"}, {"tool_choice": {"type": "x"}}],
    "deepseek": [{"thinking": {"type": "disabled"}, "reasoning_effort": "low"}],
}
"""Members of requests that ask for more or for what may not be, a request each."""
for _name in ("mistral", "bedrock-invoke", "openai-completions"):
    MORE[_name] = MORE["openai-chat"]
MORE["nova"] = MORE["bedrock-converse"]

KEPT = {
    "openai-responses": "previous_response_id",
    "gemini-interactions": "previous_interaction_id",
}
"""By what a request goes on from an answer that the provider keeps."""
