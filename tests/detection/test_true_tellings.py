"""What is told is true: of other programs' errors, of what is no answer, of what broke off, and of
how many answers there are (N14)."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import botocore.exceptions
import httpx
import pytest
from openai.types.chat import ChatCompletion

from tenuto import (
    Confidence,
    StopReason,
    StreamDetector,
    decide,
    detect,
    detect_conversation,
    detect_each,
)
from tenuto.cli.app import main

LOW, MEDIUM, HIGH = Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH


def chat(finish: str = "length", number: int = 1) -> dict[str, Any]:
    message = {"role": "assistant", "content": "The tide comes in twi"}
    return {
        "id": f"c{number}", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }  # fmt: skip


# --- errors of other programs

OF_OTHERS: dict[str, tuple[Any, Confidence]] = {
    "words alone": ({"error": "invalid request"}, LOW),
    "words of a time": ({"error": "The printer timed out"}, LOW),
    "words of a rate": ({"error": "Rate limit of the door lock reached"}, LOW),
    "words of a forum": ({"error": "Your post was blocked by moderation"}, LOW),
    "words of a bank": ({"error": "Your account has been suspended"}, LOW),
    "words of a form": ({"error": {"message": "Input is too long: at most 20 characters"}}, LOW),
    "a status beside words": ({"code": 429, "message": "Too many requests"}, LOW),
    "a message": ({"message": "Too many requests"}, LOW),
    "a message of a token": ({"message": "The security token included in the request is expired."}, LOW),
    "a form with a code": (
        {"error": {"message": "Input is too long: name", "code": "username_length"}}, MEDIUM,
    ),
    "a forum with a code": ({"error": {"code": "E1", "message": "rejected by moderation"}}, MEDIUM),
    "a field": ({"error": {"message": "Unknown parameter: 'page'", "type": "validation"}}, MEDIUM),
    "a cache": ({"error": {"code": "timeout", "message": "Redis timeout"}}, MEDIUM),
    "a login": ({"error": {"code": "rate_limit_exceeded", "message": "Too many logins"}}, MEDIUM),
    "a weather service": ({"error": {"code": "invalid_api_key", "message": "Bad key"}}, MEDIUM),
    "a shop": ({"error": {"code": 503, "message": "Closed"}}, MEDIUM),
    "a payment": (
        {"error": {"type": "invalid_request_error", "code": "resource_missing", "message": "No such customer",
                   "param": "customer", "doc_url": "https://x/y"}}, MEDIUM,
    ),
    "a payment that is limited": ({"error": {"type": "rate_limit_error", "message": "Slow down"}}, MEDIUM),
    "a sheet": (
        {"error": {"code": 403, "message": "The caller does not have permission", "status": "PERMISSION_DENIED"}}, MEDIUM,
    ),
    "a shop with users": ({"error": {"code": 404, "message": "No such cart"}, "user_id": "u17"}, MEDIUM),
    "a shop with more": ({"error": {"code": 503, "message": "Closed", "metadata": {"shop": 3}}}, MEDIUM),
    "a queue": ({"error": {"code": "timeout", "message": "Worker"}, "sequence_number": 3}, MEDIUM),
    "a map": ({"error": {"code": 404, "message": "Vertex 17 not found"}}, MEDIUM),
    "a game": ({"error": {"code": 429, "message": "Rate limit reached while thinking"}}, MEDIUM),
    "a cart with OpenAI's members": ({"error": {"message": "No such cart", "type": "not_found", "code": "404"}}, MEDIUM),
    "a shop with OpenAI's members": ({"error": {"message": "Closed", "type": "shop", "code": 503}}, MEDIUM),
    "a lock with OpenAI's members": (
        {"error": {"message": "Too many tries", "type": "limit", "code": "rate_limit_exceeded"}}, MEDIUM,
    ),
    "a login with OpenAI's members": ({"error": {"message": "No.", "type": "auth", "code": "invalid_api_key"}}, MEDIUM),
    "any server with OpenAI's members": (
        {"error": {"message": "x", "type": "server_error", "code": "internal_server_error"}}, MEDIUM,
    ),
    "digits without an end": ({"error": {"code": "4" * 5_000, "message": "No."}}, MEDIUM),
    "a job": ({"id": "j", "status": "failed", "error": {"code": "timeout", "message": "Disk"}}, MEDIUM),
}  # fmt: skip

ONLY_WORDS = ("a form with a code", "a forum with a code", "a field")
"""Errors with a code that no table knows, whose words would tell a kind."""


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", OF_OTHERS)
def test_an_error_of_any_program_is_never_certain(name: str) -> None:
    source, sure = OF_OTHERS[name]
    for stop in (detect(source), detect(json.dumps(source)), detect_each([source, source])[0]):
        assert (stop.reason, stop.confidence) == (StopReason.ERROR, sure)
        if sure is LOW or name in ONLY_WORDS:
            assert (stop.detail, stop.message) == (None, "The provider reported an error.")


OF_PROVIDERS: dict[str, tuple[Any, str]] = {
    "OpenAI": (
        {"error": {"message": "Slow", "type": "requests", "param": None, "code": "rate_limit_exceeded"}}, "rate_limited",
    ),
    "OpenAI, by its type": (
        {"error": {"message": "No such thing", "type": "invalid_request_error", "param": None, "code": None}}, "invalid_request",
    ),
    "Groq": ({"error": {"message": "x", "type": "tokens", "code": "rate_limit_exceeded"}}, "rate_limited"),
    "Groq's requests": ({"error": {"message": "x", "type": "requests", "code": "rate_limit_exceeded"}}, "rate_limited"),
    "Groq's model": ({"error": {"message": "x", "type": "invalid_request_error", "code": "model_not_found"}}, "invalid_request"),
    "Groq's call": (
        {"error": {"message": "x", "type": "invalid_request_error", "code": "tool_use_failed", "failed_generation": "y"}}, "malformed_call",
    ),
    "Azure": (
        {"error": {"code": "429", "message": "You have exceeded the token rate limit of your Azure OpenAI tier."}}, "rate_limited",
    ),
    "Anthropic": ({"type": "error", "error": {"type": "rate_limit_error", "message": "x"}}, "rate_limited"),
    "Gemini": (
        {"error": {"code": 503, "message": "This model is overloaded.", "status": "UNAVAILABLE"}}, "overloaded",
    ),
    "Gemini, by its details": (
        {"error": {"code": 429, "message": "Quota.", "status": "RESOURCE_EXHAUSTED",
                   "details": [{"@type": "x", "metadata": {"service": "generativelanguage.googleapis.com"}}]}}, "rate_limited",
    ),
    "OpenRouter": ({"error": {"code": 429, "message": "x", "metadata": {"provider_name": "y"}}}, "rate_limited"),
    "Mistral": (
        {"object": "error", "message": "x", "type": "rate_limited", "param": None, "code": "1300"}, "rate_limited",
    ),
    "a window": ({"error": {"message": "This model's maximum context length is 10 tokens", "code": "x"}}, "context_overflow"),
    "Bedrock": ({"message": "Input is too long for requested model."}, "context_overflow"),
    "Ollama": ({"error": "the input exceeds the maximum context length"}, "context_overflow"),
    "Responses": (
        {"type": "error", "code": "rate_limit_exceeded", "message": "x", "param": None, "sequence_number": 0}, "rate_limited",
    ),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", OF_PROVIDERS)
def test_an_error_in_the_form_or_in_the_words_of_a_provider_is_certain(name: str) -> None:
    source, detail = OF_PROVIDERS[name]
    stop = detect(source)
    assert (stop.detail, stop.confidence) == (detail, HIGH)


KINDS: dict[str, tuple[Any, str | None, Confidence]] = {
    # Words.
    "a limit of tokens in a time": (
        {"message": "Too many tokens, please wait before trying again."}, "rate_limited", HIGH,
    ),
    "the same in a day": (
        {"message": "Too many tokens per day, please wait before trying again."}, "rate_limited", HIGH,
    ),
    "the same in a minute": ({"error": "too many tokens per minute, please slow down"}, "rate_limited", HIGH),
    "a prompt that is too long": (
        {"error": {"message": "too many tokens: total number of tokens in the prompt cannot exceed 4081"}}, "context_overflow", HIGH,
    ),
    "a fun fair": ({"error": {"code": "T1", "message": "Too many tokens: at most 5 ride tokens per visit"}}, None, MEDIUM),
    "an excavator": ({"error": {"code": "E77", "message": "engine overloaded"}}, None, MEDIUM),
    "an excavator's words": ({"error": "engine overloaded"}, None, LOW),
    "a lexer": ({"error": {"code": "E77", "message": "max_tokens: 5 > 4"}}, None, MEDIUM),
    "a diff": ({"error": {"code": "E77", "message": "Maximum context length of diff hunks is 10"}}, None, MEDIUM),
    "a workshop": ({"error": {"code": "tool_use_failed", "message": "Drill jammed"}}, "malformed_call", MEDIUM),
    "a type that names the prompt": (
        {"error": {"message": "Too long.", "type": "too_many_prompt_tokens", "code": 400}}, "invalid_request", HIGH,
    ),
    # Words beside a type that says otherwise.
    "a server": ({"error": {"message": "The engine is overloaded", "type": "server_error"}}, "server", MEDIUM),
    "a server in OpenAI's form": (
        {"error": {"message": "The server is overloaded", "type": "server_error", "param": None, "code": None}}, "server", HIGH,
    ),
    "a server's limit": ({"error": {"message": "Rate limit reached", "type": "server_error"}}, "server", MEDIUM),
    "a server's filter": ({"error": {"message": "Blocked by moderation", "code": "internal_error"}}, "server", MEDIUM),
    "an API's": ({"error": {"message": "Overloaded", "type": "api_error"}}, "server", MEDIUM),
    "a request": ({"error": {"message": "Server overloaded", "type": "invalid_request_error"}}, "invalid_request", MEDIUM),
    "a key that was blocked": (
        {"error": {"message": "Blocked by moderation", "code": "invalid_api_key"}}, "authentication", MEDIUM,
    ),
    "a field of a request": (
        {"error": {"message": "Unknown parameter: 'page'", "type": "invalid_request_error"}}, "unknown_key", MEDIUM,
    ),
    # An error that calls itself one.
    "Notion's limit": (
        {"object": "error", "status": 429, "code": "rate_limited", "message": "x", "request_id": "r"}, "rate_limited", MEDIUM,
    ),
    "Notion's page": (
        {"object": "error", "status": 404, "code": "object_not_found", "message": "x"}, "invalid_request", MEDIUM,
    ),
    "a key": ({"object": "error", "code": "unauthorized", "message": "x"}, "authentication", MEDIUM),
    "no access": ({"object": "error", "code": "forbidden", "message": "x"}, "authentication", MEDIUM),
    "a gateway": ({"object": "error", "code": "gateway_timeout", "message": "x"}, "timeout", MEDIUM),
    "a bad request": ({"object": "error", "code": "bad_request", "message": "x"}, "invalid_request", MEDIUM),
    "Omise": (
        {"object": "error", "location": "https://x/y", "code": "not_found", "message": "x"}, "invalid_request", MEDIUM,
    ),
    "Omise's key": (
        {"object": "error", "location": "https://x/y", "code": "authentication_failure", "message": "x"}, None, MEDIUM,
    ),
    "vLLM": (
        {"object": "error", "message": "x", "type": "BadRequestError", "param": None, "code": 400}, "invalid_request", HIGH,
    ),
    # OpenAI's form with a code of another's.
    "Stripe's address": (
        {"error": {"message": "x", "type": "invalid_request_error", "param": "url", "code": "url_invalid"}}, "invalid_request", MEDIUM,
    ),
    "Stripe's parameter": (
        {"error": {"message": "x", "type": "invalid_request_error", "param": "color", "code": "parameter_unknown"}},
        "unknown_key", MEDIUM,
    ),
    "a booking": (
        {"error": {"message": "No such booking", "type": "not_found", "param": None, "code": None}}, "invalid_request", MEDIUM,
    ),
    # Numbers.
    "a weather service's key": ({"error": {"code": 1002, "message": "API key is invalid."}}, None, MEDIUM),
    "a parameter": ({"error": {"code": 1001, "message": "Required param missing"}}, None, MEDIUM),
    "a table": ({"error": {"code": 1039, "message": "The table doesn't exist"}}, None, MEDIUM),
    "an upload": ({"error": {"code": 413, "message": "Upload larger than 2 MB"}}, "invalid_request", MEDIUM),
    "an upload with a code": ({"error": {"code": "PayloadTooLarge", "message": "x", "status": 413}}, "invalid_request", MEDIUM),
    "a gate": ({"error": {"code": 446, "message": "Door open"}}, "invalid_request", MEDIUM),
    "MiniMax": ({"base_resp": {"status_code": 1039, "status_msg": "x"}}, "rate_limited", HIGH),
    "Zhipu's filter": (
        {"contentFilter": [{"level": 1, "role": "user"}], "error": {"code": "1301", "message": "x"}}, "content_blocked", HIGH,
    ),
    "a number with words that say the same": (
        {"error": {"code": "1302", "message": "您当前使用该API的并发数过高，请降低并发"}}, "rate_limited", MEDIUM,
    ),
    # Codes.
    "Azure's access": ({"error": {"code": "PermissionDenied", "message": "x"}}, "authentication", MEDIUM),
    "Azure's deployment": (
        {"error": {"code": "DeploymentNotFound", "message": "The API deployment for this resource does not exist."}},
        "invalid_request", HIGH,
    ),
    "OpenAI's country": (
        {"error": {"message": "x", "type": "request_forbidden", "param": None, "code": "unsupported_country_region_territory"}},
        "authentication", HIGH,
    ),
    "GitHub's model": ({"error": {"code": "unknown_model", "message": "x", "details": "x"}}, "invalid_request", MEDIUM),
    "GitHub's limit": (
        {"error": {"code": "tokens_limit_reached", "message": "Request body too large for gpt-4o model. Max size: 8000 tokens."}},
        "context_overflow", HIGH,
    ),
    "Copilot's limit": (
        {"error": {"message": "prompt token count of 9 exceeds the limit of 8", "code": "model_max_prompt_tokens_exceeded"}},
        "context_overflow", HIGH,
    ),
    "Copilot's limit without a code": (
        {"error": {"message": "prompt token count of 9 exceeds the limit of 8", "param": "", "code": "", "type": ""}},
        "context_overflow", HIGH,
    ),
    "Moonshot": (
        {"error": {"message": "The engine is currently overloaded", "type": "engine_overloaded_error"}}, "overloaded", HIGH,
    ),
    "Cerebras": (
        {"message": "Wrong API Key", "type": "invalid_request_error", "param": "api_key", "code": "wrong_api_key"}, "authentication", HIGH,
    ),
    "a code of nobody's": ({"error": {"code": "no_such_code", "message": "x"}}, None, MEDIUM),
    # Errors with the members of an answer.
    "OpenRouter, as the SDK of OpenAI holds it": (
        {"id": None, "choices": None, "created": None, "model": None, "object": None, "error": {"message": "x", "code": 429}},
        "rate_limited", MEDIUM,
    ),
    "a line of a batch of Bedrock": (
        {"recordId": "1", "modelInput": {}, "error": {"errorCode": 429, "errorMessage": "x"}}, "rate_limited", MEDIUM,
    ),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_an_error_is_told_by_what_means_it_to_all(name: str) -> None:
    source, detail, sure = KINDS[name]
    for stop in (detect(source), detect(json.dumps(source))):
        assert (stop.detail, stop.confidence) == (detail, sure)
        assert stop.reason is not StopReason.UNKNOWN
        if detail is None:
            assert stop.reason is StopReason.ERROR
        if (detail, sure) == (None, MEDIUM):
            assert decide(stop).suggestion == "stop"


@pytest.mark.behaviour("N14")
def test_a_number_tells_its_kind_where_the_wire_is_named() -> None:
    error = {"error": {"code": 1002, "message": "x"}}
    assert detect(error, wire="openai-chat").detail == "rate_limited"
    assert detect(error).detail is None


@pytest.mark.behaviour("N14")
def test_a_number_in_a_response_of_an_http_client_tells_no_more_than_its_status() -> None:
    error = {"error": {"code": 1002, "message": "API key is invalid."}}
    stop = detect(httpx.Response(401, json=error))
    assert (stop.detail, stop.confidence) == ("authentication", MEDIUM)
    words = {"error": {"code": 403, "message": "Your post was blocked by moderation"}}
    assert detect(httpx.Response(403, json=words)).detail == "content_blocked"


@pytest.mark.behaviour("N14")
def test_an_error_that_the_sdk_of_openai_holds_as_a_completion_is_one() -> None:
    held = ChatCompletion.construct(
        id=None, choices=None, created=None, model=None, object=None, error={"message": "x", "code": 429}
    )  # fmt: skip
    assert (detect(held).reason, detect(held).detail) == (StopReason.ERROR, "rate_limited")


CODES: dict[str, tuple[Any, str]] = {
    "Gemini": ({"error": {"code": 503, "message": "x", "status": "UNAVAILABLE"}}, "UNAVAILABLE"),
    "Azure": ({"error": {"code": "DeploymentNotFound", "message": "x"}}, "DeploymentNotFound"),
    "DashScope": ({"code": "InvalidApiKey", "message": "x", "request_id": "r"}, "InvalidApiKey"),
    "Bedrock": (
        botocore.exceptions.ClientError(
            {"Error": {"Code": "ThrottlingException", "Message": "x"}, "ResponseMetadata": {"HTTPStatusCode": 429}}, "Converse",
        ), "ThrottlingException",
    ),
    "a number": ({"error": {"code": 429, "message": "x", "metadata": {}}}, "429"),
}  # fmt: skip


@pytest.mark.behaviour("N4")
@pytest.mark.parametrize("name", CODES)
def test_the_code_of_an_error_is_told_as_it_came(name: str) -> None:
    source, raw = CODES[name]
    assert detect(source).raw == raw


# --- what is no answer

TEXT = [{"type": "text", "text": "x"}]

NONE: dict[str, Any] = {
    "a user of Ollama": {"message": {"role": "user", "content": "x"}, "done": True},
    "a tool of Ollama": {"message": {"role": "tool", "content": "x"}, "done": False},
    "an admin": {"message": {"role": "admin", "content": "x"}, "done": True},
    "a user of a chat": {"choices": [{"index": 0, "message": {"role": "user", "content": "x"}, "finish_reason": "stop"}]},
    "a user of Claude": {"role": "user", "content": TEXT, "stop_reason": None},
    "a user of Claude that stopped": {"role": "user", "content": TEXT, "stop_reason": "end_turn"},
    "a user of Gemini": {"candidates": [{"content": {"role": "user", "parts": [{"text": "x"}]}, "finishReason": "STOP"}]},
    "a user of Converse": {"output": {"message": {"role": "user", "content": [{"text": "x"}]}}, "stopReason": "end_turn"},
    "a user of Cohere": {"message": {"role": "user", "content": TEXT}, "finish_reason": "COMPLETE"},
    "an event's name": {"type": "response.completed"},
    "a survey": {"type": "response.completed", "survey": 7},
    "a survey that holds one": {"type": "response.incomplete", "response": {"survey": 7}},
    "another event's name": {"type": "response.output_text.delta", "x": 1},
    "a bus": {"type": "message_stop", "message": "bus stops here"},
    "a bus that starts": {"type": "message_start", "message": "bus starts here"},
    "an end of a mail": {"type": "message-end", "mail": 3},
    "an interaction of people": {"event_type": "interaction.completed", "who": "Ann"},
    "progress": {"completion": 0.4, "stop_reason": "paused", "id": 3},
    "a share that has an id": {"completion": "90%", "stop_reason": "paused", "id": 3},
    "a task": {"completion": "Done", "stop_reason": "user", "task": 4},
    "a share": {"completion": "50%", "stop_reason": None, "task": 4},
    "a family": {"generation": "third", "stop_reason": "retired"},
    "a search": {"results": [{"title": "x", "tokenCount": 3, "outputText": None}]},
    "a result": {"results": [{"outputText": "a", "name": "x"}]},
    "a car": {"candidates": [{"content": {"parts": ["wheel"]}, "name": "car"}]},
    "a poll": {"choices": [{"index": 0, "message": {"content": "A"}}], "poll": True},
    "a quiz": {"choices": [{"text": "Red", "finish_reason": "picked"}]},
    "a job that draws": {"id": "g", "model": "flux", "input": {"prompt": "a"}, "output": [], "error": None, "status": "canceled"},
    "a job that trains": {"id": "j", "status": "queued", "model": "resnet", "output": []},
    "a job that is done": {"id": "a", "status": "completed", "model": "yolo", "output": []},
    "a job that failed": {"id": "a", "status": "failed", "model": "x", "output": []},
    "a form": {
        "id": "f", "object": "form.response", "status": "completed",
        "output": [{"type": "message", "content": [{"type": "text", "text": "hi"}]}],
    },
    "a process": {"output": {"message": "done"}, "stopReason": "timeout", "usage": {"cpu": 3}},
    "a printer": {"output": {"text": "printed"}, "stopReason": "end_turn", "printer": "P1"},
    "a candidate of one text": {"candidates": [{"index": 0, "content": "x", "finishReason": "STOP"}]},
    "a worker": {"id": "x", "finish_reason": "ERROR", "message": {"role": "worker"}},
    "a genetic algorithm": {"generation": "12", "stop_reason": "length", "best": 0.3},
    "a bus stop": {"messageStop": {"at": "Main St"}},
    "a job with outputs": {
        "id": "j", "status": "completed", "model": "yolo", "error": None, "outputs": [{"type": "text", "text": "x"}],
    },
    "a note on chunks": {"object": "chat.completion.chunk", "note": "docs"},
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", NONE)
def test_what_has_the_names_of_an_answer_and_not_its_members_is_none(name: str) -> None:
    source = NONE[name]
    for stop in (
        detect(source),
        detect(json.dumps(source)),
        detect(f"data: {json.dumps(source)}\n\n"),
    ):
        assert (stop.reason, stop.detail, stop.raw) == (StopReason.UNKNOWN, "no_answer", None)
    told = [stop.raw for stop in detect_each([chat("stop", 1), source, chat("length", 2)])]
    assert told == ["stop", None, "length"]


ANSWERS: dict[str, tuple[Any, str | None]] = {
    "Ollama": ({"message": {"role": "assistant", "content": "x"}, "done": True, "done_reason": "length"}, "length"),
    "a role of a server's own": (
        {"model": "m", "choices": [{"message": {"role": "Llama", "content": "x"}, "finish_reason": "length"}]}, "length",
    ),
    "Claude without a type": ({"role": "assistant", "content": TEXT, "stop_reason": "max_tokens"}, "max_tokens"),
    "Claude's oldest": ({"completion": " Hi", "stop_reason": "max_tokens", "stop": None, "x": 1}, "max_tokens"),
    "Llama": ({"generation": "Hi", "prompt_token_count": 3, "generation_token_count": 1, "stop_reason": "length"}, "length"),
    "Llama with a new stop": ({"generation": "Hi", "generation_token_count": 1, "stop_reason": "new"}, "new"),
    "Titan": ({"inputTextTokenCount": 3, "results": [{"outputText": "x", "completionReason": "LENGTH"}]}, "LENGTH"),
    "Mistral on Bedrock": ({"outputs": [{"text": "x", "stop_reason": "length"}]}, "length"),
    "Gemini": ({"candidates": [{"content": {"role": "model", "parts": [{"text": "x"}]}, "finishReason": "MAX_TOKENS"}]}, "MAX_TOKENS"),
    "Cohere": ({"message": {"role": "assistant", "content": TEXT}, "finish_reason": "MAX_TOKENS"}, "MAX_TOKENS"),
    "an event of Responses": ({"type": "response.completed", "response": {"id": "resp_1", "status": "completed"}}, "completed"),
    "a completion of Writer": ({"choices": [{"text": "Hi", "log_probs": None}], "model": "palmyra-x4"}, None),
    "a completion": ({"choices": [{"text": "Hi", "finish_reason": "length"}]}, "length"),
    "a response without its name": (
        {"id": "r", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []}, "max_output_tokens",
    ),
    "a response with its tokens": (
        {"id": "r", "status": "completed", "model": "m", "output": [], "usage": {"input_tokens": 1, "output_tokens": 0}}, "completed",
    ),
    "a response with an item": (
        {"status": "completed", "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}]},
        "completed",
    ),
    "Converse without a message": (
        {"output": {}, "stopReason": "max_tokens", "usage": {"inputTokens": 1, "outputTokens": 0}}, "max_tokens",
    ),
    "an end of Converse": ({"messageStop": {"stopReason": "max_tokens"}}, "max_tokens"),
    "Llama alone": ({"generation": "Hi", "stop_reason": "length"}, "length"),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_with_few_members_is_still_one(name: str) -> None:
    source, raw = ANSWERS[name]
    stop = detect(source)
    assert (stop.raw, stop.detail) == (raw, None)


# --- what broke off

BROKEN = "This broke off before it showed whether it is an answer."


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("left_bytes", [2, 3, 10, 18, 25])
@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress], ids=["gzip", "zlib"])
def test_packed_bytes_that_broke_off_are_not_empty(
    pack: Any, left_bytes: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = pack(json.dumps(chat()).encode())[:left_bytes]
    stop = detect(data)
    assert (stop.reason, stop.message) == (StopReason.DROPPED, BROKEN)
    assert detect_each([chat(), data])[0].reason is StopReason.MAX_TOKENS
    assert detect(data, wire="openai-chat").detail is None
    (tmp_path / "cut.gz").write_bytes(data)
    assert main(["detect", str(tmp_path / "cut.gz")]) == 0
    assert BROKEN in capsys.readouterr().out


@pytest.mark.behaviour("N14")
def test_a_packed_file_without_content_is_empty() -> None:
    assert detect(gzip.compress(b"")).detail == "nothing_came"


# --- how many there are

BODY, CUT = json.dumps(chat("stop", 1)), json.dumps(chat("length", 2))
HALF = '{"name": "x", "ver'

COUNTED: dict[str, tuple[str, int]] = {
    "half of something behind one": (f"{BODY}\n{HALF}", 1),
    "half of something behind two": (f"{BODY}\n{CUT}\n{HALF}", 2),
    "words between two": (f"{BODY}\nhello\n{CUT}", 2),
    "something else between two": (f'{BODY}\n{{"a": 1}}\n{CUT}', 2),
    "half an answer behind one": (f"{BODY}\n{CUT[:80]}", 2),
    "two in an array with others": (f'[{{"a": 1}}, {BODY}, {CUT}, {{"b": 2}}]', 2),
}


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", COUNTED)
def test_answers_alone_are_counted_and_everywhere_alike(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, count = COUNTED[name]
    stop = detect(source)
    if count == 1:
        assert (stop.raw, stop.detail) == ("stop", None)
    else:
        assert (stop.detail, stop.metadata["answers"]) == ("several_answers", str(count))
    file = tmp_path / "answers"
    file.write_text(source)
    main(["detect", "--json", str(file)])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["answers"] for row in rows} == {count}
    assert [row["answer"] for row in rows if row["answer"]] == [*range(1, count + 1)]
    assert len(rows) == len(detect_each(source))
    if count > 1:
        main(["explain", str(file)])
        assert f"it holds {count} answers" in capsys.readouterr().err


# --- what stands amid a text

AMID: dict[str, str] = {
    "below prose": f"Here is the answer:\n{CUT}",
    "behind prose": f"Here is the answer: {CUT} That was all.",
    "fenced": f"```json\n{CUT}\n```",
    "fenced and indented, below prose": f"See below.\n\n```json\n{json.dumps(chat(), indent=2)}\n```\n",
    "behind a comment": f"/* recorded */\n{CUT}",
    "behind a comment on its line": f"/* recorded */ {CUT}",
    "a line of a log": f"2026-11-01 12:00:00 DEBUG body: {CUT}\n",
    "a line of a log in brackets": f"[INFO] 12:00 body={CUT}\n",
    "behind a guard": f")]}}'\n{CUT}",
    "behind braces that are none": f"f{{x}} gives {{y}}: {CUT}",
    "behind another object": f'Asked {{"model": "m"}}, got {CUT}',
}


@pytest.mark.behaviour("N14", "S8")
@pytest.mark.parametrize("name", AMID)
def test_prose_around_an_answer_does_not_matter(name: str) -> None:
    source = AMID[name]
    assert [stop.raw for stop in detect_each(source)] == ["length"]
    assert detect(source.encode()).reason is StopReason.MAX_TOKENS
    detector = StreamDetector()
    for at in range(0, len(source), 7):
        detector.feed(source[at : at + 7])
    assert detector.finalize() == detect(source)


@pytest.mark.behaviour("N14")
def test_several_answers_amid_prose_are_told_one_by_one() -> None:
    log = f"12:00 sent\n12:01 got {BODY}\n12:02 got {CUT}\n"
    assert [stop.raw for stop in detect_each(log)] == ["stop", "length"]
    assert [stop.raw for stop in detect_each(f"Both:\n{BODY}\n{CUT}")] == ["stop", "length"]
    half = f"Here it is: {CUT[:90]}"
    assert (detect(half).reason, detect(half).detail) == (StopReason.DROPPED, None)


PROSE = (
    "The model stopped because finish_reason was 'length'.",
    'if r["choices"][0]["finish_reason"] == "length": {x}',
    'curl -d \'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}\' x',
    'It answered {"error": "not found"}, so we gave up.',
    'Later it said {"error": {"code": 404, "message": "x"}}, so we gave up.',
    'saved {"name": "x", "ver',
    f"{'x' * 2_100} {CUT}",
    "f{" * 500,
    "PK\x03\x04\x00\x00 " + CUT,
)


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("text", PROSE, ids=lambda text: text[:20].replace("\0", ""))
def test_prose_without_an_answer_near_its_beginning_is_none(text: str) -> None:
    assert detect(text).detail == "no_answer"


# --- conversations

HALVES = (
    "The tide comes in twi", "```python\ndef f(:\n", '{"name": "tide", "por', "The answer is (", "Done.",
)  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("said", HALVES)
def test_a_message_without_a_reason_is_not_said_to_be_finished(said: str) -> None:
    ask = {"role": "user", "content": "When?"}
    told = detect_conversation([ask, {"role": "assistant", "content": said}])
    assert told.may_end
    assert told.why == (
        "The last message is the model's, without a reason why it ended, and no tool call waits."
    )
    assert told.turns[-1].stop.raw is None
    whole = detect_conversation([ask, chat("stop")])
    assert whole.why == "The model finished its answer, and no tool call waits."


@pytest.mark.behaviour("N14")
def test_calls_that_share_an_id_are_told_by_it() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": "{}"}}
    other = {"type": "function", "function": {"name": "wind", "arguments": "{}"}}
    rows = [
        {"role": "assistant", "content": None, "tool_calls": [call, call, other]},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
    ]
    told = detect_conversation(rows)
    assert [waits.id for waits in told.waiting] == ["c1", ""]
    assert told.turns[0].calls == ("c1", "c1", "wind")
    told = detect_conversation([*rows, rows[1]])
    assert [waits.name for waits in told.waiting] == ["wind"]
