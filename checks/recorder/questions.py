"""A request of each wire, as its reference shows one. No SDK makes them: a new version of it would
change the cases."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from checks.recorder.inside import CASES_ON, signature

try:
    from checks.recorder.inside import Simulator
except ImportError:  # that of a tree before 2026-11-28
    from tenuto.sim import Simulator

if TYPE_CHECKING:
    from checks.recorder.inside import Case

Json = dict[str, Any]
ROW_ID = "call_before"


class Request(NamedTuple):
    """A request of a caller."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Wanted(NamedTuple):
    """What is asked: `more` are members that the case needs, `result` whether the history ends in a
    tool result."""

    model: str
    prompt: str
    stream: bool
    tools: bool
    more: Mapping[str, Any]
    result: bool


class Question(NamedTuple):
    """How a wire asks. `made` gives the path and the body."""

    host: str
    made: Callable[[Wanted], tuple[str, Json]]
    rows: str = "messages"
    headers: tuple[tuple[str, str], ...] = (("authorization", "Bearer key"),)
    before: str = ""
    """What the simulator's path has in front of the provider's."""


SCHEMA: Json = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
}
NAME, TELLS = "write_file", "Write a text file."
FUNCTION: Json = {"name": NAME, "description": TELLS, "parameters": SCHEMA}
TOOLS = [{"type": "function", "function": FUNCTION}]


def of_case(wire: str, case: Case, *, stream: bool, host: str = "", real: str = "") -> Request:
    """Return the request that shows a case of the simulator; `real` is a model whose ways count."""
    model = f"{real}/sim/{case.name}" if real else f"sim/{case.name}"
    prompt = f"Tell me about {case.name}."
    after = case.after_tool_result
    wanted = Wanted(model, prompt, stream, case.wants_tools, case.request, after)
    return request(wire, wanted, host)


def plain(wire: str, *, stream: bool, host: str = "", model: str = "m") -> Request:
    """Return a request with a tool, in front of an answer that was written down."""
    return request(wire, Wanted(model, "Caf\u00e9?", stream, True, {}, False), host)


def with_rows(wire: str, rows: list[bytes], *, stream: bool) -> Request:
    """Return a request of these rows, whatever they are: their bytes stand in it as they are."""
    question = QUESTIONS[wire]
    path, body = question.made(Wanted("m", "Caf\u00e9?", stream, True, {}, False))
    outer, _, inner = question.rows.partition(".")
    (body[outer] if inner else body)[inner or outer] = _ROWS
    made = _request(question, path, body, stream, "")
    listed = b"[%s]" % b",".join(rows)
    return made._replace(body=made.body.replace(f'"{_ROWS}"'.encode(), listed))


_ROWS = "the rows stand here"


def request(wire: str, wanted: Wanted, host: str = "") -> Request:
    """Return what is sent; `host` stands for the provider's own."""
    question = QUESTIONS[wire]
    path, body = question.made(wanted)
    return _request(question, path, body, wanted.stream, host)


def _request(question: Question, path: str, body: Json, stream: bool, host: str) -> Request:
    more = (("x-dashscope-sse", "enable"),) if stream and "aigc" in path else ()
    headers = (("content-type", "application/json"), *question.headers, *more)
    data = json.dumps(body, ensure_ascii=False).encode()
    return Request((host or question.host) + path, headers, data)


def _call(prompt: str) -> str:
    """The arguments of the call before the result, as the simulator's strict history wants them."""
    return str(Simulator().expected(prompt, "tool").calls[0].arguments)


def _chat_rows(wanted: Wanted, call_id: str = ROW_ID) -> list[Json]:
    rows: list[Json] = [{"role": "user", "content": wanted.prompt}]
    if wanted.result:
        function = {"name": NAME, "arguments": _call(wanted.prompt)}
        call = {"id": call_id, "type": "function", "function": function}
        rows.append({"role": "assistant", "content": None, "tool_calls": [call]})
        rows.append({"role": "tool", "tool_call_id": call_id, "content": "written"})
    return rows


def _with_tools(wanted: Wanted, tools: Any = TOOLS, key: str = "tools") -> Json:
    return {key: tools} if wanted.tools else {}


def _chat_body(wanted: Wanted, call_id: str = ROW_ID) -> Json:
    body: Json = {"messages": _chat_rows(wanted, call_id), **_with_tools(wanted), **wanted.more}
    return body


def _chat(wanted: Wanted) -> tuple[str, Json]:
    body = {"model": wanted.model, **_chat_body(wanted), "stream": wanted.stream}
    return "/v1/chat/completions", body


def _mistral(wanted: Wanted) -> tuple[str, Json]:
    body = {"model": wanted.model, **_chat_body(wanted, "callBefor"), "stream": wanted.stream}
    return "/v1/chat/completions", body


def _watsonx(wanted: Wanted) -> tuple[str, Json]:
    way = "chat_stream" if wanted.stream else "chat"
    body = {"model_id": wanted.model, "project_id": "p", **_chat_body(wanted)}
    return f"/ml/v1/text/{way}?version=2024-05-31", body


def _completions(wanted: Wanted) -> tuple[str, Json]:
    body = {"model": wanted.model, "prompt": f"{wanted.prompt}\n", **wanted.more}
    return "/v1/completions", {**body, "stream": wanted.stream}


def _messages(wanted: Wanted) -> tuple[str, Json]:
    rows: list[Json] = [{"role": "user", "content": wanted.prompt}]
    if wanted.result:
        given = json.loads(_call(wanted.prompt))
        use = {"type": "tool_use", "id": "toolu_before", "name": NAME, "input": given}
        done = {"type": "tool_result", "tool_use_id": "toolu_before", "content": "written"}
        rows += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [done]}]
    tool = {"name": NAME, "description": TELLS, "input_schema": SCHEMA}
    body = {"model": wanted.model, "max_tokens": 4096, "messages": rows}
    body |= {**_with_tools(wanted, [tool]), **wanted.more}
    return "/v1/messages", body | ({"stream": True} if wanted.stream else {})


def _responses(wanted: Wanted) -> tuple[str, Json]:
    items: list[Json] = [{"role": "user", "content": wanted.prompt}]
    if wanted.result:
        call = {"type": "function_call", "call_id": ROW_ID, "name": NAME}
        items.append(call | {"arguments": _call(wanted.prompt)})
        items.append({"type": "function_call_output", "call_id": ROW_ID, "output": "written"})
    tools = _with_tools(wanted, [{"type": "function", **FUNCTION}])
    body = {"model": wanted.model, "input": items, **tools, **wanted.more}
    return "/v1/responses", {**body, "stream": wanted.stream}


_GEMINI_OWN = {"safety_settings": "safetySettings"}
"""Members of the SDK's config that stand beside the generation config on the wire."""


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _gemini(wanted: Wanted) -> tuple[str, Json]:
    rows: list[Json] = [{"role": "user", "parts": [{"text": wanted.prompt}]}]
    if wanted.result:
        call = {"name": NAME, "args": json.loads(_call(wanted.prompt))}
        sealed = {"functionCall": call, "thoughtSignature": signature(NAME)}
        done = {"functionResponse": {"name": NAME, "response": {"result": "ok"}}}
        rows += [{"role": "model", "parts": [sealed]}, {"role": "user", "parts": [done]}]
    config: Json = {"maxOutputTokens": 4096}
    config |= {_camel(k): v for k, v in wanted.more.items() if k not in _GEMINI_OWN}
    own = {_GEMINI_OWN[k]: v for k, v in wanted.more.items() if k in _GEMINI_OWN}
    tools = _with_tools(wanted, [{"functionDeclarations": [FUNCTION]}])
    way = "streamGenerateContent?alt=sse" if wanted.stream else "generateContent"
    path = f"/v1beta/models/{quote(wanted.model, safe='/')}:{way}"
    return path, {"contents": rows, **tools, "generationConfig": config, **own}


def _interactions(wanted: Wanted) -> tuple[str, Json]:
    text = {"type": "text", "text": wanted.prompt}
    steps: list[Json] = [{"type": "user_input", "content": [text]}]
    if wanted.result:
        call = {"type": "function_call", "id": ROW_ID, "name": NAME}
        steps.append(call | {"arguments": json.loads(_call(wanted.prompt))})
        done = {"type": "function_result", "call_id": ROW_ID, "name": NAME, "result": "written"}
        steps.append(done)
    tools = _with_tools(wanted, [{"type": "function", **FUNCTION}])
    body = {"model": wanted.model, "input": steps, "store": False, **tools, **wanted.more}
    return "/v1beta/interactions", {**body, "stream": wanted.stream}


def _converse(wanted: Wanted) -> tuple[str, Json]:
    rows: list[Json] = [{"role": "user", "content": [{"text": wanted.prompt}]}]
    if wanted.result:
        given = json.loads(_call(wanted.prompt))
        use = {"toolUse": {"toolUseId": "tooluse_before", "name": NAME, "input": given}}
        done = {"toolResult": {"toolUseId": "tooluse_before", "content": [{"text": "written"}]}}
        rows += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [done]}]
    spec = {"name": NAME, "description": TELLS, "inputSchema": {"json": SCHEMA}}
    tools = _with_tools(wanted, {"tools": [{"toolSpec": spec}]}, "toolConfig")
    way = "converse-stream" if wanted.stream else "converse"
    path = f"/model/{quote(wanted.model, safe='')}/{way}"
    return path, {"messages": rows, **tools, **wanted.more}


def _invoke(wanted: Wanted) -> tuple[str, Json]:
    way = "invoke-with-response-stream" if wanted.stream else "invoke"
    return f"/model/{quote(wanted.model, safe='')}/{way}", _chat_body(wanted)


def _nova(wanted: Wanted) -> tuple[str, Json]:
    way = "invoke-with-response-stream" if wanted.stream else "invoke"
    body = _converse(wanted)[1]
    return f"/model/amazon.nova-x/{way}", body


def _cohere(wanted: Wanted) -> tuple[str, Json]:
    return "/v2/chat", {"model": wanted.model, **_chat_body(wanted), "stream": wanted.stream}


def _cohere_v1(wanted: Wanted) -> tuple[str, Json]:
    told = {name: {"type": "str", "required": True} for name in ("path", "content")}
    tool = {"name": NAME, "description": "Write a text file.", "parameter_definitions": told}
    body: Json = {"model": wanted.model, "message": wanted.prompt, **wanted.more}
    body |= {"tools": [tool]} if _with_tools(wanted) else {}
    if wanted.result:
        call = {"name": NAME, "parameters": json.loads(_call(wanted.prompt))}
        said = {"role": "CHATBOT", "message": "", "tool_calls": [call]}
        before = [{"role": "USER", "message": wanted.prompt}, said]
        results = [{"call": call, "outputs": [{"text": "written"}]}]
        body |= {"message": "", "chat_history": before, "tool_results": results}
    return "/v1/chat", {**body, "stream": wanted.stream}


def _ollama(wanted: Wanted) -> tuple[str, Json]:
    rows: list[Json] = [{"role": "user", "content": wanted.prompt}]
    if wanted.result:
        call = {"function": {"name": NAME, "arguments": json.loads(_call(wanted.prompt))}}
        rows.append({"role": "assistant", "content": "", "tool_calls": [call]})
        rows.append({"role": "tool", "tool_name": NAME, "content": "written"})
    body = {"model": wanted.model, "messages": rows, **_with_tools(wanted), **wanted.more}
    return "/api/chat", {**body, "stream": wanted.stream}


def _dashscope(wanted: Wanted) -> tuple[str, Json]:
    rows = [{**row, "content": row.get("content") or ""} for row in _chat_rows(wanted)]
    increments = {"incremental_output": True} if wanted.stream else {}
    parameters = {"result_format": "message", **increments, **_with_tools(wanted), **wanted.more}
    body = {"model": wanted.model, "input": {"messages": rows}, "parameters": parameters}
    return "/api/v1/services/aigc/text-generation/generation", body


_OPENAI, _GOOGLE = "https://api.openai.com", "https://generativelanguage.googleapis.com"
_BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com"
_X_API_KEY = (("x-api-key", "key"), ("anthropic-version", "2023-06-01"))
_X_GOOG = (("x-goog-api-key", "key"),)

QUESTIONS: dict[str, Question] = {
    "openai-chat": Question(_OPENAI, _chat),
    "anthropic-messages": Question("https://api.anthropic.com", _messages, headers=_X_API_KEY),
    "openai-completions": Question(_OPENAI, _completions, "prompt"),
    "openai-responses": Question(_OPENAI, _responses, "input"),
    "gemini-generate": Question(_GOOGLE, _gemini, "contents", _X_GOOG),
    "gemini-interactions": Question(_GOOGLE, _interactions, "input", _X_GOOG),
    "bedrock-converse": Question(_BEDROCK, _converse),
    "bedrock-invoke": Question(_BEDROCK, _invoke),
    "cohere": Question("https://api.cohere.com", _cohere),
    "cohere-v1": Question("https://api.cohere.com", _cohere_v1, "chat_history"),
    "ollama": Question("http://localhost:11434", _ollama),
    "mistral": Question("https://api.mistral.ai", _mistral, before="/mistral"),
    "dashscope": Question("https://dashscope-intl.aliyuncs.com", _dashscope, "input.messages"),
    "watsonx": Question("https://us-south.ml.cloud.ibm.com", _watsonx),
    "bedrock-invoke-nova": Question(_BEDROCK, _nova),
}
"""A new wire adds its row."""

WIRES = [wire for wire in CASES_ON if wire in QUESTIONS]
"""What is asked here and simulated by the tree that is played, which may have other wires."""
