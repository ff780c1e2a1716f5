"""What `detect` is given that is no answer, several answers, or an answer in somebody's object.

Each input was judged from the documentation of `detect` alone, before it was run (N14). A judgement
is a native stop value, `NONE` for no answer, the number of answers, or a word of `detail`.
"""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
import pathlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import aiohttp
import anthropic
import botocore.exceptions
import groq.types.chat as groq_chat
import httpx
import httpx2
import ollama
import openai
import pytest
import requests
from cohere.core.api_error import ApiError as CohereError
from google.genai import errors as genai_errors
from google.genai import types as genai_types
from mistralai.client.errors import SDKError
from openai.types import CreateEmbeddingResponse, Model
from openai.types.chat import ChatCompletion
from openai.types.webhooks import ResponseCompletedWebhookEvent
from openai.types.webhooks.response_completed_webhook_event import Data as WebhookData

import tenuto
from tenuto import Confidence, StopReason, StreamDetector, detect, detect_each
from tenuto.core.answer.stop import CLEAN

NONE = "no_answer"
UNREAD = "unread"
EMPTY = "nothing_came"
BROKE = "broke_off_unread"


def chat(finish: str | None = "length", text: str = "The tide comes in twi", **more: Any) -> Any:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": finish,
    }
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        **more,
    }


def gemini(finish: str = "MAX_TOKENS", **more: Any) -> Any:
    content = {"role": "model", "parts": [{"text": "The tide comes in twi"}]}
    return {"candidates": [{"content": content, "finishReason": finish}], **more}


def claude(stop: str = "max_tokens", **more: Any) -> Any:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
        "content": [{"type": "text", "text": "Hi"}], "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 2}, **more,
    }  # fmt: skip


def lines(*rows: Any) -> str:
    return "\n".join(map(json.dumps, rows))


def sse(*rows: Any, done: bool = True) -> str:
    return "".join(f"data: {json.dumps(row)}\n\n" for row in rows) + (
        "data: [DONE]\n\n" if done else ""
    )


def chunk(text: str = "", finish: str | None = None, number: int = 1) -> Any:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return {
        "id": f"c{number}",
        "object": "chat.completion.chunk",
        "model": "m",
        "choices": [choice],
    }


def claude_stream(stop: str, number: int = 1) -> list[Any]:
    begun = claude(id=f"msg_{number}", content=[]) | {"stop_reason": None}
    delta = {"stop_reason": stop, "stop_sequence": None}
    return [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]


def named_sse(*rows: Any) -> str:
    return "".join(f"event: {row['type']}\ndata: {json.dumps(row)}\n\n" for row in rows)


def responses_stream(number: int) -> list[Any]:
    response = {"id": f"resp_{number}", "object": "response", "status": "in_progress", "output": []}
    text = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}
    done = response | {"status": "completed", "output": [text]}
    return [
        {"type": "response.created", "response": response},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"},
        {"type": "response.completed", "response": done},
    ]


def cohere_stream(stop: str, number: int) -> list[Any]:
    return [
        {"id": f"c{number}", "type": "message-start", "delta": {"message": {"role": "assistant"}}},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Hi"}}}},
        {"id": f"c{number}", "type": "message-end", "delta": {"finish_reason": stop}},
    ]


def converse_stream(stop: str) -> list[Any]:
    return [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"delta": {"text": "Hi"}, "contentBlockIndex": 0}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": stop}},
    ]


def with_role(number: int, text: str = "") -> Any:
    begun = chunk(text, None, number)
    begun["choices"][0]["delta"]["role"] = "assistant"
    return begun


def without_id(finish: str) -> str:
    return sse(*({"choices": row["choices"]} for row in (chunk("Hi"), chunk("", finish))))


OLLAMA = {"model": "m", "created_at": "t", "message": {"role": "assistant", "content": "Hi"}}
ROW_OF_LANGCHAIN: dict[str, Any] = {
    "content": "The tide comes in twi", "additional_kwargs": {}, "type": "ai", "name": None, "id": "run-1",
    "response_metadata": {"finish_reason": "length", "model_name": "m", "token_usage": {"completion_tokens": 5}},
    "tool_calls": [], "invalid_tool_calls": [],
    "usage_metadata": {"input_tokens": 1, "output_tokens": 5, "total_tokens": 6},
}  # fmt: skip

NOTHING: dict[str, Any] = {
    # Text that is no answer.
    "a stop value": "length",
    "another stop value": "stop",
    "the word stop as JSON": '"stop"',
    "a path": "/var/log/answers/body.json",
    "a path of Windows": "C:\\answers\\body.json",
    "a URL": "https://api.openai.com/v1/chat/completions",
    "prose": "The tide comes in twice a day, because",
    "prose of several paragraphs": "The moon pulls.\n\nThe sea follows.\n\nSo the tides",
    "prose with a colon first": "Note: the answer follows.\nIt never came.",
    "a page": "<!DOCTYPE html><html><body>Log in</body></html>",
    "XML": '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
    "YAML": "model: m\nmessages:\n  - role: user\n",
    "CSV": "id,finish_reason\n1,length\n",
    "a traceback": 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: x\n',
    "a log": "[INFO] 12:00 ready\n[WARN] slow\n",
    "a Python repr": "{'choices': [{'finish_reason': 'length'}]}",
    "braces in prose": "{name}, your order is on its way",
    "Markdown": '# Answer\n\n```json\n{"finish_reason": "length"}\n```\n',
    "code": "def f():\n    return {}\n",
    "a number": "42",
    "a word of JSON": "null",
    "numbers": "[1, 2, 3]",
    "texts": '["length", "stop"]',
    "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "an archive": b"PK\x03\x04\x14\0\0\0",
    "gzip": gzip.compress(b"{}", mtime=0),
    "bytes of zero": b"\0" * 40,
    "an event of another kind": 'event: tick\ndata: {"price": 5}\n\n',
    "an event of words": "data: hello\n\n",
    # Objects that are no answer.
    "None": None,
    "True": True,
    "an integer": 42,
    "a float": 0.5,
    "a class": ChatCompletion,
    "a function": len,
    "a path object": pathlib.Path("/tmp/body.json"),
    "an empty object": {},
    "a request": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]},
    "a request of Gemini": {"contents": [{"parts": [{"text": "Hi"}]}], "generationConfig": {}},
    "a request of Responses": {"model": "m", "input": "Hi", "max_output_tokens": 9},
    "a conversation": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes."}],
    "a message": {"role": "assistant", "content": "The tide comes in twi"},
    "a text part": {"type": "text", "text": "Hi"},
    "a tool": {"type": "function", "function": {"name": "f", "parameters": {}}},
    "a row of Ray": {"prompt": "x", "generated_text": "The tide comes in twi", "num_generated_tokens": 512},
    "a row of training data": {"messages": [{"role": "assistant", "content": "Hi"}]},
    "a row of a questionnaire": {"question": "?", "choices": [{"text": "Paris", "label": "A"}]},
    "a game": {"choices": [{"message": {"title": "Go left"}}]},
    "a list of models": {"object": "list", "data": [{"id": "m", "object": "model"}]},
    "a deleted file": {"id": "file-1", "object": "file", "deleted": True},
    "a batch": {"id": "batch_1", "object": "batch", "status": "completed", "errors": None},
    "a CI job": {"status": "failed", "steps": [{"name": "build", "conclusion": "failure"}]},
    "a prediction of Replicate": {"id": "p", "status": "succeeded", "output": ["The ", "tide"]},
    "an output": {"output": {"text": "Hi"}, "ok": True},
    "another output": {"output": {"message": "saved"}},
    "a task": {"task": "sweep", "is_finished": True},
    "a to-do": {"done": True, "message": {"title": "sweep"}},
    "a done response": {"done": False, "response": "later"},
    "applicants": {"candidates": [{"name": "Ada", "content": "CV"}]},
    "applicants with files": {"candidates": [{"name": "Ada", "content": {"cv": "x"}, "index": 0}], "position": "cook"},
    "found pages": {"candidates": [{"id": 7, "content": {"title": "A", "body": "B"}, "score": 0.9}], "query": "x"},
    "metadata": {"metadata": {"name": "pod"}},
    "a commit": {"id": "9b4fed13", "message": "Take a cut echo"},
    "a greeting": {"message": "hello"},
    "a line of a log": {"level": "error", "error": "disk full", "ts": 1},
    "an RPC error": {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}},
    "a workflow event": {"event_type": "step.completed", "run": 5},
    "a span": {"name": "chat", "attributes": {"gen_ai.response.finish_reasons": ["length"]}},
    "a service that stopped": {"unit": "nginx", "stop_reason": "error"},
    "embeddings": CreateEmbeddingResponse.model_validate(
        {"object": "list", "model": "m", "data": [], "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    ),
    "a model": Model(id="m", created=1, object="model", owned_by="x"),
    "a token count": anthropic.types.MessageTokensCount(input_tokens=5),
    "a text block": anthropic.types.TextBlock(type="text", text="Hi"),
    "a client": openai.OpenAI(api_key="k"),
    "an exception": ValueError("length"),
    "a key error": KeyError("choices"),
    "a namespace": SimpleNamespace(choices=[]),
    "a policy": tenuto.Policy(),
    # Found by a second look, after these were judged: objects of other programs.
    "a fine-tuning job": {"id": "f", "object": "fine_tuning.job", "error": {"code": "x", "message": "bad"}},
    "a deleted response": {"id": "resp_1", "object": "response", "deleted": True},
    "a deleted completion": {"id": "c", "object": "chat.completion.deleted", "deleted": True},
    "a ping": {"type": "ping"},
    "a token of a lexer": {"token": {"text": "if", "line": 1}},
    "an answer of GraphQL": {"errors": [{"message": "bad"}], "data": None},
    "an order": {"id": "o", "status": "completed", "output": [{"type": "book"}]},
    "a row of MT-Bench": {"model_id": "gpt-4", "choices": [{"index": 0, "turns": ["Second."]}]},
    "nested spans": [[{"name": "anthropic.request", "error": 0}]],
    "an event in prose": "event: concert at noon\nid: 7\n",
    "data in prose": "data: the new oil",
    "an id": "id: 12345",
    **{
        f"a webhook of {kind}": {
            "id": "evt_9", "object": "event", "created_at": 1, "type": kind, "data": {"id": "resp_1"},
        }
        for kind in ("response.completed", "response.incomplete", "response.failed", "response.cancelled", "batch.completed")
    },
    "a webhook as an object": ResponseCompletedWebhookEvent(
        id="evt_9", created_at=1, data=WebhookData(id="resp_1"), type="response.completed"
    ),
    "a webhook as text": '{"id": "evt_9", "object": "event", "type": "response.completed", "data": {"id": "resp_1"}}',
    "webhooks": '{"object": "event", "type": "response.completed", "data": {"id": "a"}}\n' * 3,
    "a response to a quiz": {"object": "response", "user": 3, "answer": "B", "status": "completed"},
    # Errors and messages of other programs, and of people.
    "a chat of people": [{"id": 1, "speaker": "Ann", "message": "I can't come"}, {"id": 2, "speaker": "Bob", "message": "You must!"}],
    "a message of a person": {"id": "1", "message": "I can't come today"},
    "words alone": {"message": "You must not miss this"},
    "a detail": {"detail": "required reading"},
    "a comment": {"id": 3, "type": "comment", "message": "this must not happen"},
    "a click": {"event_id": 1, "type": "click", "message": "failed"},
    "a state": {"status": "error", "message": "Invalid user"},
    "a problem": {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "x"},
    "an error of GitHub": {"message": "Not Found", "documentation_url": "x", "status": "404"},
    "an error of OAuth": {"error": "invalid_grant", "error_description": "x"},
    "no error": {"error": None, "message": "saved"},
    "an error that is false": {"error": False, "message": "ok"},
    "an error that is a number": {"error": 0.03},
    "errors that are measured": {"error": {"mean": 0.1}},
    "errors that are counted": {"errors": 3, "status": "x"},
    "errors of a form": {"errors": ["too short"]},
    "an error of a socket": {"type": "error", "message": "closed"},
    "an error without anything": {"type": "error", "error": {}},
    # Other programs' lists and stops under the same names.
    "a race": {"race": 1, "candidates": [{"name": "Ann", "finishReason": "injury"}]},
    "a stop alone": {"candidates": [{"finishReason": "injury"}]},
    "a story": {"choices": [{"message": {"title": "x"}, "finish_reason": "bored"}]},
    "a click on a video": {"output": {"clip": 1}, "stopReason": "clicked"},
    "a list with a stop": {"content": [{"a": 1}], "stop_reason": "bored"},
    "a bus": {"messageStop": {"stopReason": "bus"}},
    "an interaction of people": {"object": "interaction", "id": "1", "status": "completed"},
    "lists of numbers": [[1, 2], [3]],
    "lists in lists": [[[{"choices": []}]]],
    "a request of httpx": httpx.Request("POST", "http://x", json={"messages": []}),
    "a request of httpx2": httpx2.Request("POST", "http://x", json={"messages": []}),
    "a request of a batch": {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": []}},
    "an expired line of a batch": {"custom_id": "1", "result": {"type": "expired"}},
    "a row with a key": {"key": "a", "response": "Paris"},
    "a message of a user": {"type": "human", "content": "Hi", "response_metadata": {}},
}  # fmt: skip


class Row:
    """A plain object, as vLLM's are."""

    def __init__(self, **members: Any) -> None:
        self.__dict__ |= members


@dataclasses.dataclass
class Part:
    content: str
    part_kind: str = "text"


@dataclasses.dataclass
class ModelResponse:
    """As pydantic-ai has it."""

    parts: list[Part]
    finish_reason: str | None
    model_name: str | None = None
    kind: str = "response"
    provider_details: dict[str, str] | None = None


def vllm(*finishes: str | None, finished: bool = True) -> Row:
    outputs = [
        Row(index=n, text="The tide", token_ids=[1], finish_reason=finish, stop_reason=None)
        for n, finish in enumerate(finishes)
    ]
    return Row(request_id="1", prompt="x", outputs=outputs, finished=finished)


def plain(value: Any) -> Any:
    return {k: [vars(o) for o in v] if k == "outputs" else v for k, v in vars(value).items()}


READ: dict[str, tuple[Any, str]] = {
    "a body": (chat(), "length"),
    "an object of openai": (ChatCompletion.model_validate(chat()), "length"),
    "one choice": (ChatCompletion.model_validate(chat()).choices[0], "length"),
    "one choice as a dict": (chat()["choices"][0], "length"),
    "a message of Claude": (anthropic.types.Message.model_validate(claude()), "max_tokens"),
    "an answer of Gemini": (genai_types.GenerateContentResponse.model_validate(gemini()), "MAX_TOKENS"),
    "a candidate of Gemini": (gemini()["candidates"][0], "MAX_TOKENS"),
    "an answer of Ollama": (
        ollama.ChatResponse.model_validate(OLLAMA | {"done": True, "done_reason": "length"}), "length",
    ),
    "an answer of groq": (groq_chat.ChatCompletion.model_validate(chat()), "length"),
    "vLLM": (vllm("length"), "length"),
    "vLLM as a dict": (plain(vllm("length")), "length"),
    "vLLM of two outputs": (vllm("stop", "length"), "length"),
    "a message of LangChain": (ROW_OF_LANGCHAIN, "length"),
    "its metadata": (ROW_OF_LANGCHAIN["response_metadata"], "length"),
    "LangChain's Anthropic": (
        ROW_OF_LANGCHAIN | {"response_metadata": {"stop_reason": "max_tokens", "model": "claude"}}, "max_tokens",
    ),
    "LangChain's Bedrock": (
        ROW_OF_LANGCHAIN | {"response_metadata": {"stopReason": "max_tokens", "ResponseMetadata": {}}}, "max_tokens",
    ),
    "LangChain's Ollama": (
        ROW_OF_LANGCHAIN | {"response_metadata": {"done": True, "done_reason": "length", "model": "m"}}, "length",
    ),
    "LangChain's Titan": (
        ROW_OF_LANGCHAIN | {"response_metadata": {"completionReason": "LENGTH", "model": "titan"}}, "LENGTH",
    ),
    "LangChain's Gemini": (
        {"prompt_feedback": {"block_reason": 0}, "finish_reason": "MAX_TOKENS", "model_name": "gemini"}, "MAX_TOKENS",
    ),
    "LangChain's Responses": (
        ROW_OF_LANGCHAIN
        | {"response_metadata": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}},
        "max_output_tokens",
    ),
    "a generation of LangChain": (
        {"generations": [{"text": "Hi", "generation_info": {"finish_reason": "length"}, "message": ROW_OF_LANGCHAIN}]},
        "length",
    ),
    "pydantic-ai": (ModelResponse([Part("Hi")], "length"), "length"),
    "Haystack": ({"role": "assistant", "meta": {"finish_reason": "length"}, "content": [{"text": "Hi"}]}, "length"),
    "a result of Haystack": (
        {"replies": [{"role": "assistant", "meta": {"finish_reason": "length"}, "content": [{"text": "Hi"}]}]}, "length",
    ),
    "a result of Haystack with texts": ({"replies": ["Hi"], "meta": [{"finish_reason": "length"}]}, "length"),
    "a result of a pipeline of Haystack": (
        {"llm": {"replies": ["Hi"], "meta": [{"finish_reason": "length"}]}}, "length",
    ),
    "a stored message of LangChain": (
        {"type": "ai", "data": {"content": "Hi", "response_metadata": {"finish_reason": "length"}}}, "length",
    ),
    "a serialized message of LangChain": (
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"],
         "kwargs": {"content": "Hi", "type": "ai", "response_metadata": {"finish_reason": "length"}}}, "length",
    ),
    "LlamaIndex": ({"message": {"role": "assistant"}, "raw": chat(), "delta": None}, "length"),
    "an eval log's output": ({"model": "m", "choices": [{"message": {"role": "assistant", "content": "x"}, "stop_reason": "max_tokens"}]}, "max_tokens"),
    "httpx": (httpx.Response(200, json=chat()), "length"),
    "httpx2": (httpx2.Response(200, json=chat()), "length"),
    "httpx with a stream": (httpx.Response(200, text=sse(chunk("Hi"), chunk("", "length"))), "length"),
    "an error that holds its answer": (
        openai.LengthFinishReasonError(completion=ChatCompletion.model_validate(chat())), "length",
    ),
    "a line of OpenAI's batch": ({"custom_id": "1", "response": {"status_code": 200, "body": chat()}, "error": None}, "length"),
    "a line of Anthropic's batch": ({"custom_id": "1", "result": {"type": "succeeded", "message": claude()}}, "max_tokens"),
    "a line of Gemini's batch": ({"key": "1", "response": gemini()}, "MAX_TOKENS"),
    "a line of Bedrock's batch": ({"recordId": "1", "modelInput": {}, "modelOutput": claude()}, "max_tokens"),
    "a line below a comment": ("# one\n" + lines(chat()), "length"),
    "a body below its head": ("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n" + json.dumps(chat()), "length"),
    "a body for another wire": (claude(), "max_tokens"),
    # One answer, though its beginning comes twice, or its chunks each name a role and an id.
    "the first event twice": (
        named_sse(claude_stream("max_tokens")[0], *claude_stream("max_tokens")), "max_tokens",
    ),
    "chunks of an id each": (
        sse(*(with_role(number, "Hi") for number in range(4)), chunk("", "length", 9)), "length",
    ),
    "None amid chunks": ([None, chunk("Hi"), None, chunk("", "length"), None], "length"),
    "pieces of lines": (["", sse(chunk("Hi"))[:9], sse(chunk("Hi"))[9:-14], "", sse(chunk("", "length"))], "length"),
    "pieces of a body": ([json.dumps(chat())[:40], "", json.dumps(chat())[40:]], "length"),
    "usage behind the end mark": (
        sse(chunk("Hi"), chunk("", "length")) + sse({"id": "c1", "object": "chat.completion.chunk", "choices": []}), "length",
    ),
}  # fmt: skip

CUT = json.dumps(chat())[:120]
"""A line that was cut within a string."""

SEVERAL: dict[str, tuple[Any, list[str | None]]] = {
    "two bodies": ([chat("stop"), chat("length")], ["stop", "length"]),
    "the same body twice": ([chat(), chat()], ["length", "length"]),
    "bodies as text": ([json.dumps(chat("stop")), json.dumps(chat())], ["stop", "length"]),
    "bodies as bytes": ([json.dumps(chat("stop")).encode(), json.dumps(chat()).encode()], ["stop", "length"]),
    "objects": ([ChatCompletion.model_validate(chat(f)) for f in ("stop", "length", "stop")], ["stop", "length", "stop"]),
    "an array": (json.dumps([chat("stop"), chat()]), ["stop", "length"]),
    "lines": (lines(chat("stop"), chat(), chat("stop")), ["stop", "length", "stop"]),
    "lines with a newline at their end": (lines(chat(), chat()) + "\n", ["length", "length"]),
    "joined files": (json.dumps(chat("stop"), indent=1) + "\n" + json.dumps(chat(), indent=1), ["stop", "length"]),
    "lines of several APIs": (lines(chat(), claude(), gemini()), ["length", "max_tokens", "MAX_TOKENS"]),
    "bodies of Gemini": ([gemini("STOP"), gemini()], ["STOP", "MAX_TOKENS"]),
    "bodies of Gemini with ids": ([gemini("STOP", responseId="a"), gemini(responseId="b")], ["STOP", "MAX_TOKENS"]),
    "bodies of Ollama": (
        lines(*(OLLAMA | {"done": True, "done_reason": why} for why in ("stop", "length"))), ["stop", "length"],
    ),
    "streams of Ollama": (
        lines(*[OLLAMA | {"done": False}, OLLAMA | {"done": True, "done_reason": "stop", "message": {"role": "assistant", "content": ""}}] * 2),
        ["stop", "stop"],
    ),
    "two streams": (
        sse(chunk("Hi"), chunk("", "stop")) + sse(chunk("Ho", number=2), chunk("", "length", 2)), ["stop", "length"],
    ),
    "two streams without end marks": (
        sse(chunk("Hi"), chunk("", "stop"), chunk("Ho", number=2), chunk("", "length", 2), done=False), ["stop", "length"],
    ),
    "chunks of two answers": (
        [chunk("Hi"), chunk("", "stop"), chunk("Ho", number=2), chunk("", "length", 2)], ["stop", "length"],
    ),
    "lists of chunks": (
        [[chunk("Hi"), chunk("", "stop")], [chunk("Ho", number=2), chunk("", "length", 2)]], ["stop", "length"],
    ),
    "lists of events of Claude": ([claude_stream("end_turn"), claude_stream("max_tokens", 2)], ["end_turn", "max_tokens"]),
    "a list of chunks that is cut": ([[chunk("Hi"), chunk("", "stop")], [chunk("Ho", number=2)]], ["stop", None]),
    "an array of lists": (json.dumps([[chunk("Hi"), chunk("", "stop")], [chunk("Ho"), chunk("", "length")]]), ["stop", "length"]),
    "lines of OpenAI's batch": (
        lines(*({"custom_id": f, "response": {"body": chat(f)}, "error": None} for f in ("stop", "length"))), ["stop", "length"],
    ),
    "lines of Anthropic's batch": (
        lines(
            *({"custom_id": f, "result": {"type": "succeeded", "message": claude(f)}} for f in ("end_turn", "max_tokens")),
            {"custom_id": "3", "result": {"type": "canceled"}},
        ), ["end_turn", "max_tokens", None],
    ),
    "lines of LangChain": (lines(ROW_OF_LANGCHAIN, ROW_OF_LANGCHAIN | {"id": "run-2"}), ["length", "length"]),
    "lines below a comment": ("# exported 2026\n" + lines(chat("stop"), chat()), ["stop", "length"]),
    "lines below two comments": ("// a\n// b\n\n" + lines(chat("stop"), chat()), ["stop", "length"]),
    "messages of LangChain": ([ROW_OF_LANGCHAIN, ROW_OF_LANGCHAIN | {"id": "run-2"}], ["length", "length"]),
    "a batch of LangChain": (
        {"generations": [[{"text": "a", "generation_info": {"finish_reason": f}}] for f in ("stop", "length")]}, ["stop", "length"],
    ),
    "outputs of vLLM": ([vllm("stop"), vllm("length")], ["stop", "length"]),
    "responses of httpx": ([httpx.Response(200, json=chat(f)) for f in ("stop", "length")], ["stop", "length"]),
    "streams of Claude": (named_sse(*claude_stream("max_tokens"), *claude_stream("end_turn", 2)), ["max_tokens", "end_turn"]),
    "the same without names": (sse(*claude_stream("end_turn"), *claude_stream("max_tokens", 2), done=False), ["end_turn", "max_tokens"]),
    "streams of Claude with one id": (named_sse(*claude_stream("end_turn"), *claude_stream("max_tokens")), ["end_turn", "max_tokens"]),
    "events of Claude": (claude_stream("end_turn") + claude_stream("max_tokens", 2), ["end_turn", "max_tokens"]),
    "lines of Claude's events": (lines(*claude_stream("end_turn"), *claude_stream("max_tokens", 2)), ["end_turn", "max_tokens"]),
    "a list of streams of Claude": (
        [named_sse(*claude_stream("end_turn")), named_sse(*claude_stream("max_tokens", 2))], ["end_turn", "max_tokens"],
    ),
    "streams of Claude around a ping": (
        named_sse(*claude_stream("end_turn"), {"type": "ping"}, *claude_stream("tool_use", 2)), ["end_turn", "tool_use"],
    ),
    "a cut stream of Claude and a whole one": (
        named_sse(*claude_stream("max_tokens")[:3], *claude_stream("end_turn", 2)), [None, "end_turn"],
    ),
    "a whole stream of Claude and a cut one": (
        named_sse(*claude_stream("end_turn"), *claude_stream("max_tokens", 2)[:3]), ["end_turn", None],
    ),
    "a cut stream of Responses and a whole one": (
        named_sse(*responses_stream(1)[:2], *responses_stream(2)), [None, "completed"],
    ),
    "streams of Cohere": (named_sse(*cohere_stream("COMPLETE", 1), *cohere_stream("MAX_TOKENS", 2)), ["COMPLETE", "MAX_TOKENS"]),
    "a cut stream of Cohere and a whole one": (
        named_sse(*cohere_stream("COMPLETE", 1)[:2], *cohere_stream("MAX_TOKENS", 2)), [None, "MAX_TOKENS"],
    ),
    "streams of Converse": (converse_stream("end_turn") + converse_stream("max_tokens"), ["end_turn", "max_tokens"]),
    "a cut stream of Converse and a whole one": (converse_stream("end_turn")[:2] + converse_stream("max_tokens"), [None, "max_tokens"]),
    "chat streams without ids": (without_id("stop") + without_id("length"), ["stop", "length"]),
    "chat streams with one id": (sse(chunk("Hi"), chunk("", "stop")) + sse(chunk("Ho"), chunk("", "length")), ["stop", "length"]),
    "a cut chat stream and a whole one": (
        sse(with_role(1), chunk("Hi"), done=False) + sse(with_role(2), chunk("Ho", None, 2), chunk("", "stop", 2)), [None, "stop"],
    ),
    "the same with text in the first chunk": (
        sse(with_role(1, "H"), chunk("i"), done=False) + sse(with_role(2, "H"), chunk("", "stop", 2)), [None, "stop"],
    ),
    "a stream of Claude and one of a chat": (
        named_sse(*claude_stream("max_tokens")) + sse(with_role(2, "Hi"), chunk("", "stop", 2)), ["max_tokens", "stop"],
    ),
    "lines whose last is cut": (lines(chat("stop"), chat()) + "\n" + CUT, ["stop", "length", None]),
    "a line that is cut between": (lines(chat("stop")) + "\n" + CUT + "\n" + lines(chat()) + "\n", ["stop", None, "length"]),
    "lines whose first is cut": (CUT + "\n" + lines(chat(), chat("stop")), [None, "length", "stop"]),
    "a line and one that is cut": (lines(chat("stop")) + "\n" + CUT, ["stop", None]),
    "lines with prose between": (lines(chat("stop")) + "\nand then:\n" + lines(chat()), ["stop", None, "length"]),
    "two lines that are cut between": ("\n".join([lines(chat("stop")), CUT, CUT, lines(chat())]), ["stop", None, None, "length"]),
    "lines with null between": (lines(chat("stop"), None, chat()), ["stop", None, "length"]),
    "lines with null behind": (lines(chat("stop"), chat(), None), ["stop", "length", None]),
    "joined files whose last is cut": (
        json.dumps(chat("stop"), indent=1) + "\n" + json.dumps(chat(), indent=1)[:-80], ["stop", None],
    ),
    "a body and a stream": (lines(claude()) + "\n" + named_sse(*claude_stream("end_turn", 2)), ["max_tokens", "end_turn"]),
    "a list of bytes with a cut one": (
        [json.dumps(chat("stop")).encode(), CUT.encode(), json.dumps(chat()).encode()], ["stop", None, "length"],
    ),
    "a list of bytes whose last is cut": ([json.dumps(chat("stop")).encode(), CUT.encode()], ["stop", None]),
    "a list of bytes whose first is cut": ([CUT.encode(), json.dumps(chat("stop")).encode()], [None, "stop"]),
    "None between": ([chat("stop"), None, chat()], ["stop", None, "length"]),
    "None first": ([None, chat("stop"), chat()], [None, "stop", "length"]),
    "None last": ([chat("stop"), chat(), None], ["stop", "length", None]),
    "None between objects": (
        [ChatCompletion.model_validate(chat("stop")), None, ChatCompletion.model_validate(chat())], ["stop", None, "length"],
    ),
    "a word between": ([chat("stop"), "x", chat()], ["stop", None, "length"]),
    "an empty text between": ([chat("stop"), "", chat()], ["stop", None, "length"]),
    "no bytes between": ([json.dumps(chat("stop")).encode(), b"", json.dumps(chat()).encode()], ["stop", None, "length"]),
    "a number between": ([chat("stop"), 3, chat()], ["stop", None, "length"]),
    "an object between": ([chat("stop"), object(), chat()], ["stop", None, "length"]),
    "an exception between": ([chat("stop"), ValueError("x"), chat()], ["stop", None, "length"]),
    "null in an array": (json.dumps([chat("stop"), None, chat()]), ["stop", None, "length"]),
    "a word in an array": (json.dumps([chat("stop"), "x", chat()]), ["stop", None, "length"]),
    "a webhook between": (
        lines(chat("stop"), {"object": "event", "type": "response.completed", "data": {"id": "a"}}, chat()), ["stop", None, "length"],
    ),
    "a row without an answer between": (lines(chat("stop"), {"note": "x"}, chat()), ["stop", None, "length"]),
}  # fmt: skip

FAULTS: dict[str, tuple[Any, str]] = {
    "httpx 401": (httpx.Response(401, json={"error": {"message": "no key", "code": "invalid_api_key"}}), "authentication"),
    "httpx2 429": (httpx2.Response(429, json={"error": {"message": "slow"}}), "rate_limited"),
    "httpx 502 with a page": (httpx.Response(502, text="<html>Bad Gateway</html>"), "server"),
    "httpx redirect": (httpx.Response(302, headers={"location": "/login"}), "redirected"),
    "a key of openai": (
        openai.AuthenticationError(
            "no", response=httpx2.Response(401, request=httpx2.Request("POST", "http://x/v1/chat/completions")), body=None
        ), "authentication",
    ),
    "openai's limit": (
        openai.RateLimitError(
            "no", response=httpx2.Response(429, request=httpx2.Request("POST", "http://x")), body={"message": "slow"}
        ), "rate_limited",
    ),
    "openai's timeout": (openai.APITimeoutError(httpx2.Request("POST", "http://x")), "timeout"),
    "openai's connection": (openai.APIConnectionError(request=httpx2.Request("POST", "http://x")), "connection"),
    "anthropic overloaded": (
        anthropic.APIStatusError(
            "no",
            response=httpx2.Response(
                529, json={"type": "error", "error": {"type": "overloaded_error", "message": "x"}},
                request=httpx2.Request("POST", "http://x"),
            ), body=None,
        ), "overloaded",
    ),
    "cohere": (CohereError(status_code=429, body={"message": "slow"}), "rate_limited"),
    "ollama": (ollama.ResponseError("model not found", 404), "invalid_request"),
    "mistral": (SDKError("no", httpx2.Response(401, json={"detail": "No such key."})), "authentication"),
    "genai": (
        genai_errors.ClientError(429, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "x"}}), "rate_limited",
    ),
    "botocore": (
        botocore.exceptions.ClientError(
            {"Error": {"Code": "ThrottlingException", "Message": "slow"}, "ResponseMetadata": {"HTTPStatusCode": 429}}, "Converse",
        ), "rate_limited",
    ),
    "botocore's timeout": (botocore.exceptions.ReadTimeoutError(endpoint_url="http://x"), "timeout"),
    "requests' timeout": (requests.Timeout("x"), "timeout"),
    "httpx' connection": (httpx.ConnectError("x"), "connection"),
    "aiohttp's connection": (aiohttp.ServerDisconnectedError(), "connection"),
    "a filter of openai": (openai.ContentFilterFinishReasonError(), "content_blocked"),
    "a line of a batch with an error": (
        {"custom_id": "1", "result": {"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}}},
        "overloaded",
    ),
    "an error as a body": ({"error": {"message": "no key", "code": "invalid_api_key"}}, "authentication"),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("before", [[], [chat("stop")]], ids=["first", "between"])
@pytest.mark.parametrize("name", FAULTS)
def test_an_exception_swallows_no_answer_behind_it(name: str, before: list[Any]) -> None:
    fault = FAULTS[name][0]
    stops = detect_each([*before, fault, chat()])
    assert [stop.raw for stop in stops[: len(before)]] == ["stop"] * len(before)
    assert [*stops[len(before) :]] == [detect(fault), detect(chat())]


ERRORS_ALIKE: dict[str, tuple[Any, Confidence]] = {
    "a text": ({"error": "disk full"}, Confidence.LOW),
    "a message": ({"error": {"message": "Invalid login"}}, Confidence.LOW),
    "a state beside it": ({"success": False, "error": "User not found"}, Confidence.LOW),
    "a web server's": ({"timestamp": "t", "status": 404, "error": "Not Found", "path": "/x"}, Confidence.LOW),
    "a card that was declined": (
        {"error": {"type": "card_error", "code": "card_declined", "message": "Your card was declined."}}, Confidence.MEDIUM,
    ),
    "a social network's": ({"error": {"message": "Invalid token", "type": "OAuthException", "code": 190}}, Confidence.MEDIUM),
    "a socket's": ({"type": "error", "error": {"code": 4000, "message": "bad"}}, Confidence.MEDIUM),
    "a known code": ({"error": {"message": "slow", "code": "rate_limit_exceeded"}}, Confidence.MEDIUM),
    "a known code in a known form": (
        {"error": {"message": "slow", "type": "requests", "param": None, "code": "rate_limit_exceeded"}}, Confidence.HIGH,
    ),
    "a status": ({"error": {"message": "x", "code": 502}}, Confidence.MEDIUM),
    "known words": ({"error": "server busy"}, Confidence.LOW),
    "known words that speak of models": ({"error": "model does not support tools"}, Confidence.HIGH),
    "a phrase of HTTP": ({"detail": "Too Many Requests"}, Confidence.LOW),
    "another phrase of HTTP": ({"message": "Internal Server Error"}, Confidence.LOW),
    "a known form with another code": (
        {"type": "error", "error": {"type": "ValidationError", "message": "x"}}, Confidence.MEDIUM,
    ),
    "the same without a message": ({"type": "error", "error": {"type": "ValidationError"}}, Confidence.MEDIUM),
    "a known form with a known code": ({"type": "error", "error": {"type": "overloaded_error"}}, Confidence.HIGH),
}  # fmt: skip

OF_NO_TABLE = (
    "a card that was declined", "a social network's", "a socket's", "a known form with another code", "the same without a message",
)  # fmt: skip
"""Those with a code that no table knows, so that nothing tells their kind."""


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", ERRORS_ALIKE)
@pytest.mark.parametrize("feed", [False, True], ids=["detect", "feed"])
def test_an_error_is_as_sure_as_what_only_an_api_has(name: str, feed: bool) -> None:
    source, confidence = ERRORS_ALIKE[name]
    stop = _told(source, feed)
    assert (stop.reason, stop.confidence) == (StopReason.ERROR, confidence)
    assert (stop.detail is None) == (confidence is Confidence.LOW or name in OF_NO_TABLE)
    if stop.detail is None:
        assert stop.message == "The provider reported an error."
    detector = StreamDetector()
    assert detector.feed(source).confidence is confidence


def _stream_of_openai() -> Any:
    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(
            200, text=sse(chunk("Hi")), headers={"content-type": "text/event-stream"}
        )
    )
    client = openai.OpenAI(
        api_key="k", base_url="http://x", http_client=httpx2.Client(transport=transport)
    )
    return client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "Hi"}], stream=True
    )


def _unread_of(library: Any) -> Any:
    transport = library.MockTransport(lambda _: library.Response(200, stream=_bytes_of(library)))
    client = library.Client(transport=transport)
    return client.send(client.build_request("GET", "http://x"), stream=True)


def _bytes_of(library: Any) -> Any:
    class Stream(library.SyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            raise AssertionError("detect read from the connection")

    return Stream()


def _generator() -> Iterator[Any]:
    raise AssertionError("detect advanced the iterator")
    yield


OTHERS: dict[str, tuple[Callable[[], Any], str]] = {
    "nothing": (lambda: "", EMPTY),
    "no bytes": (lambda: b"", EMPTY),
    "blanks": (lambda: " \n\t\n", EMPTY),
    "an empty list": (list, EMPTY),
    "an empty reply": (lambda: httpx.Response(200, content=b""), EMPTY),
    "half an object": (lambda: '{"name": "ada", "age": 3', BROKE),
    "half an event": (lambda: 'data: {"name": "ad', BROKE),
    "keep-alives alone": (lambda: ": ping\n\n: ping\n\n", BROKE),
    "a stream of openai": (_stream_of_openai, UNREAD),
    "a generator": (_generator, UNREAD),
    "a file": (lambda: io.BytesIO(b"{}"), UNREAD),
    "a file of text": (lambda: io.StringIO("{}"), UNREAD),
    "an unread reply": (lambda: _unread_of(httpx), UNREAD),
    "an unread reply of httpx2": (lambda: _unread_of(httpx2), UNREAD),
    "boto3's stream": (lambda: {"ResponseMetadata": {}, "stream": io.BytesIO(b"x")}, UNREAD),
}


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", NOTHING)
@pytest.mark.parametrize("feed", [False, True], ids=["detect", "feed"])
def test_what_is_no_answer_is_said_to_be_none(name: str, feed: bool) -> None:
    stop = _told(NOTHING[name], feed)
    assert (stop.detail, stop.reason) == (NONE, StopReason.UNKNOWN)
    assert (stop.confidence, stop.raw) == (Confidence.LOW, None)
    assert stop.message == "This is not an answer in the format of a known API."
    assert detect_each(NOTHING[name]) == [stop]


def _told(source: Any, feed: bool) -> tenuto.Stop:
    if not feed:
        return detect(source)
    detector = StreamDetector()
    detector.feed(source)
    return detector.finalize()


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("feed", [False, True], ids=["detect", "feed"])
def test_the_stop_that_an_object_holds_is_the_one_that_is_told(name: str, feed: bool) -> None:
    source, raw = READ[name]
    stop = _told(source, feed)
    assert (stop.raw, stop.reason) == (raw, StopReason.MAX_TOKENS)
    assert stop.confidence is Confidence.HIGH


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", SEVERAL)
def test_several_answers_are_told_one_by_one(name: str) -> None:
    source, raws = SEVERAL[name]
    each = detect_each(source)
    assert [stop.raw for stop in each] == raws
    stop = detect(source)
    assert (stop.detail, stop.reason) == ("several_answers", StopReason.UNKNOWN)
    assert stop.metadata["answers"] == str(sum(one.detail != NONE for one in each))
    assert {one.detail for one in each if one.raw is None} <= {NONE, None}
    assert {one.reason for one in each if one.raw is None and not one.detail} <= {
        StopReason.DROPPED
    }


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", [name for name in SEVERAL if "cut" in name])
def test_an_answer_among_others_that_is_cut_is_told_as_dropped(name: str) -> None:
    source, raws = SEVERAL[name]
    told = [stop for stop in detect_each(source) if stop.raw is None]
    assert len(told) == raws.count(None) > 0
    assert {stop.reason for stop in told} == {StopReason.DROPPED}
    assert {stop.detail for stop in told} == {None}


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", FAULTS)
def test_an_error_is_told_as_what_it_is(name: str) -> None:
    source, kind = FAULTS[name]
    stop = detect(source)
    assert (stop.detail, stop.field) == (kind, "error")
    assert stop.reason not in CLEAN


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", OTHERS)
def test_what_is_empty_unread_or_broken_is_said_to_be_that(name: str) -> None:
    make, detail = OTHERS[name]
    stop = detect(make())
    assert (stop.detail, stop.confidence) == (detail, Confidence.LOW)
    assert stop.reason is (StopReason.UNKNOWN if detail == UNREAD else StopReason.DROPPED)


ALTERNATING: dict[str, Any] = {
    "chunks": [chunk("A"), chunk("B", number=2), chunk("", "length"), chunk("", "stop", 2)],
    "chunks that begin alike": [
        chunk("A"), chunk("A"), chunk("B", number=2), chunk("", "length"), chunk("", "stop", 2)
    ],
    "chunks with roles": [
        with_role(1), with_role(2), chunk("A"), chunk("B", number=2), chunk("", "length"), chunk("", "stop", 2)
    ],
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", ALTERNATING)
@pytest.mark.parametrize("as_bytes", [False, True])
def test_chunks_of_several_streams_that_alternate_are_not_taken_for_one(
    name: str, as_bytes: bool
) -> None:
    rows = ALTERNATING[name]
    source = sse(*rows) if as_bytes else rows
    stop = detect(source)
    assert (stop.detail, stop.raw, stop.confidence) == ("several_answers", None, Confidence.LOW)
    assert detect_each(source) == [stop]


@pytest.mark.behaviour("N14", "S8")
@pytest.mark.parametrize("name", ["lines below a comment", "lines below two comments"])
def test_what_stands_below_a_comment_is_read_in_any_pieces(name: str) -> None:
    detector = StreamDetector()
    for byte in SEVERAL[name][0].encode():
        detector.feed(bytes([byte]))
    assert detector.finalize() == detect(SEVERAL[name][0])


@pytest.mark.behaviour("N14")
def test_a_cut_line_behind_what_is_no_answer_is_none_either() -> None:
    lines = b'{"done": false}\n{"done": tr'
    assert tenuto.detect(lines).detail == "no_answer"
    assert [one.detail for one in tenuto.detect_each(lines)] == ["no_answer"]
