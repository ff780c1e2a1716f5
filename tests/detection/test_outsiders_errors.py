"""What another reader of the documentation found untrue: errors whose kind was told wrongly, and
whole answers that were called broken off, among 689 inputs (N14)."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tenuto import Confidence, StopReason, detect

ZAI = "https://api.z.ai/api/paas/v4/chat/completions"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"
CHAT = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}]}  # fmt: skip


def http(status: int, body: object, url: str = "https://api.x.ai/v1/chat/completions") -> Any:
    return httpx.Response(status, json=body, request=httpx.Request("POST", url))


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def minimax(code: int, message: str) -> dict[str, Any]:
    return {"object": "chat.completion", "choices": None,
            "base_resp": {"status_code": code, "status_msg": message}}  # fmt: skip


RECHARGE = error("Insufficient balance or no resource package. Please recharge.", code="1113")
TOKEN = error("Invalid Authentication Token", code="1002")
PREPAID = error("Your prepayment credits are depleted.", code=429, status="RESOURCE_EXHAUSTED")
CAP = error("Your project has exceeded its monthly spending cap.", code=429,
            status="RESOURCE_EXHAUSTED")  # fmt: skip
ARREARS = "Access denied, please make sure your account is in good standing."
KINDS: dict[str, tuple[Any, str | None]] = {
    # A wrong key, or no money, beside a status or a code that means something else elsewhere.
    "Zhipu, key": (http(401, TOKEN, ZAI), "authentication"),
    "Zhipu, no key": (
        http(401, error("Authentication parameter not received in Header", code="1001"), ZAI),
        "authentication",
    ),
    "Zhipu, key, in other words": (
        http(401, error("token expired or incorrect", code="1002"), ZAI), "authentication",
    ),
    "Zhipu, balance": (http(429, RECHARGE, ZAI), "payment"),
    "Zhipu, balance, body": (RECHARGE, "payment"),
    "Zhipu, plan": (
        http(429, error("Your GLM Coding Plan package has expired", code="1309"), ZAI),
        "payment",
    ),
    "Zhipu, week": (
        http(429, error("Weekly/Monthly Limit Exhausted. It will reset at 9", code="1310"), ZAI),
        "rate_limited",
    ),
    "xAI, key": (
        http(400, {"code": "Client specified an invalid argument",
                   "error": "Incorrect API key provided: xa***."}),
        "authentication",
    ),
    "xAI, credits": (
        http(429, {"code": "Some resource has been exhausted", "error": "Your team 1 has either "
                   "used all available credits or reached its monthly spending limit."}),
        "payment",
    ),
    "Moonshot": (
        http(429, error("Your account is not active, your account balance is insufficient",
                        type="exceeded_current_quota_error")),
        "payment",
    ),
    "Gemini, credits": (http(429, PREPAID, GEMINI), "payment"),
    "Gemini, credits, body": (PREPAID, "payment"),
    "Gemini, cap, body": (CAP, "payment"),
    "Gemini, a minute": (
        http(429, error("You exceeded your current quota, please check your plan and billing "
                        "details.", code=429, status="RESOURCE_EXHAUSTED"), GEMINI),
        "rate_limited",
    ),
    "DeepSeek, body": (
        error("Insufficient Balance", type="unknown_error", code="invalid_request_error"),
        "payment",
    ),
    "Anthropic": (
        {"type": "error", "error": {"type": "invalid_request_error", "message": "You have reached "
                                    "your specified API usage limits."}},
        "payment",
    ),
    "Alibaba": (http(400, error(ARREARS, code="Arrearage", type="Arrearage")), "payment"),
    "Alibaba, its own API": (
        {"code": "Arrearage", "message": ARREARS, "request_id": "r"},
        "payment",
    ),
    "Volcengine": (
        http(403, error("The request failed because your account has an overdue balance.",
                        code="AccountOverdueError", type="Forbidden")),
        "payment",
    ),
    "Novita": (
        http(403, {"code": 403, "reason": "NOT_ENOUGH_BALANCE", "message": "not enough balance"}),
        "payment",
    ),
    "OpenRouter": (
        http(403, error("Key limit exceeded (total limit). Manage it in settings.", code=403)),
        "payment",
    ),
    "LiteLLM": (
        error("Budget has been exceeded! Current cost: 10.5, Max budget: 10.0",
              type="budget_exceeded", param=None, code="400"),
        "payment",
    ),
    "MiniMax, tokens a minute": (minimax(1039, "token limit"), "rate_limited"),
    "MiniMax, plan": (minimax(2056, "usage limit exceeded"), "rate_limited"),
    "MiniMax, request": (minimax(2013, "invalid params, empty content"), "invalid_request"),
    "MiniMax, timeout": (minimax(1001, "request timeout"), "timeout"),
    # What is quoted of the request.
    "a schema's name": (
        error("Invalid schema for response_format 'content_policy_violation_report': In context="
              "(), 'additionalProperties' is required.", type="invalid_request_error",
              param="response_format", code=None),
        "invalid_request",
    ),
    "a parameter's name": (
        error("Unknown parameter: 'safety system'.", type="invalid_request_error",
              param="safety system", code="unknown_parameter"),
        "unknown_key",
    ),
    "a value": (
        error("Invalid value: 'prompt is too long'. Supported values are: 'auto', 'low'.",
              type="invalid_request_error", param="x", code="invalid_value"),
        "invalid_request",
    ),
    "an input of vLLM's": (
        {"object": "error", "type": "BadRequestError", "param": None, "code": 400,
         "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'note'), 'msg': 'Extra inputs "
                    "are not permitted', 'input': 'prompt is too long'}]"},
        "invalid_request",
    ),
    "OpenAI, overloaded": (
        http(429, error("The engine is currently overloaded, please try again later",
                        type="server_error", param=None, code=None)),
        "overloaded",
    ),
    "Ollama, memory": (
        http(500, {"error": "model requires more system memory (8.4 GiB) than is available (3 GiB)"},
             "http://localhost:11434/api/chat"),
        "server",
    ),
    "Vertex, no billing": (
        http(403, error("This API method requires billing to be enabled.", code=403,
                        status="PERMISSION_DENIED"), GEMINI),
        "payment",
    ),
    "a stream of a user": (
        error("The user stream was terminated by the upstream server", type="server_error",
              code="server_error", param=None),
        "server",
    ),
    "a user": (http(403, error("User 4711 has been suspended.")), "authentication"),
    "a user by name": (http(400, error("User alice has been suspended")), "authentication"),
    "Anthropic, workspace": (
        {"type": "error", "error": {"type": "invalid_request_error", "message": "You have reached "
                                    "your specified workspace API usage limits."}},
        "payment",
    ),
    "Vertex, no billing, body": (
        error("This API method requires billing to be enabled.", code=403,
              status="PERMISSION_DENIED"),
        "payment",
    ),
    "an input of vLLM's that is an object": (
        {"object": "error", "type": "BadRequestError", "param": None, "code": 400,
         "message": "[{'msg': 'x', 'input': {'content': 'the prompt is too long'}}]"},
        "invalid_request",
    ),
    # Words about a key or money that are none of the account.
    "a service of tokens": (
        http(503, error("authentication token service is temporarily unavailable")), "overloaded",
    ),
    "a limit of a token": (
        http(429, error("Rate limit exceeded for this authentication token")), "rate_limited",
    ),
    "a token that takes long": (
        http(504, error("Timed out while fetching authentication token")), "timeout",
    ),
    "a server's own key": (
        http(500, error("Unable to authenticate your request: connection reset by peer")),
        "server",
    ),
    "a server's own data base": (
        http(500, error("password authentication failed for user")), "server",
    ),
    "a budget of a minute": (
        http(429, error("Your token budget has been exceeded for this minute")), "rate_limited",
    ),
    "advice about money": (
        {"type": "error", "error": {"type": "rate_limit_error", "message": "This request would "
                                    "exceed the rate limit for your tier. Raise your monthly "
                                    "spend limit for a higher one."}},
        "rate_limited",
    ),
    "a bucket": (
        http(429, error("not enough credits in the token bucket, retry in 2s")), "rate_limited",
    ),
    "credits of a limit": (http(429, error("Rate limit credits are exhausted")), "rate_limited"),
    "a load balance": (
        http(503, error("Load balance exhausted: no healthy upstream")), "overloaded",
    ),
    "a server's user": (http(500, error("The user 42 terminated")), "server"),
    # Numbers of nobody.
    "a number in Anthropic's form": (
        {"type": "error", "error": {"type": "1308", "message": "x"}}, None,
    ),
    "a number in OpenAI's form": (
        error("Order not found", type="order_error", param=None, code="1220"), None,
    ),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_an_error_is_true(name: str) -> None:
    source, kind = KINDS[name]
    assert (detect(source).reason, detect(source).detail) == (StopReason.ERROR, kind)


CONTEXT = [
    minimax(2013, "invalid params, context window exceeds limit"),
    http(400, error("invalid params, context window exceeds limit (2013)")),
    http(
        400, error("Your request exceeded model token limit: 262144", type="invalid_request_error")
    ),
]


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("source", CONTEXT, ids=range(3))
def test_a_prompt_that_is_too_long_is_told_as_one(source: Any) -> None:
    assert detect(source).reason is StopReason.CONTEXT_WINDOW_EXCEEDED


def chunk(stop: str = "") -> str:
    told = {"content": {"parts": [{"text": "b"}], "role": "model"}, "index": 0}
    ended = {"finishReason": stop} if stop else {}
    return json.dumps({"candidates": [told | ended], "modelVersion": "m", "responseId": "r"})


WHOLE: dict[str, tuple[str, StopReason]] = {
    "an array of chunks without its end": (f"[{chunk()}\n,\n{chunk('STOP')}", StopReason.END_TURN),
    "the same, cut": (f"[{chunk()},\n{chunk('MAX_TOKENS')}\n", StopReason.MAX_TOKENS),
    "the same, without a stop": (f"[{chunk()},\n{chunk()}", StopReason.DROPPED),
    "the same, within an object": (f"[{chunk('STOP')[:-9]}", StopReason.DROPPED),
    "the same, with a comma": (f"[{chunk('STOP')},", StopReason.DROPPED),
    "an answer without a stop in a list": (
        f"[{json.dumps(CHAT).replace(chr(34) + 'stop' + chr(34), 'null')}",
        StopReason.DROPPED,
    ),
    "a list of one answer without its end": (f"[{json.dumps(CHAT)}", StopReason.END_TURN),
    "the end of a stream behind a body": (
        f"{json.dumps(CHAT)}\n\ndata: [DONE]\n\n",
        StopReason.END_TURN,
    ),
}


ANYBODYS: tuple[object, ...] = (
    [{"error": "not found"}, {"error": "ratelimited"}],
    """{"error": {"code": "order_not_found", "message": "No such order"}}
{"error": {"code": "card_declined", "message": "declined"}}
""",
    """{"type": "error", "message": "Rate limit reached"}
{"type": "turn.failed", "error": {"message": "Rate limit reached"}}
""",
)


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("errors", ANYBODYS)
def test_several_errors_of_anybody_are_no_several_answers(errors: object) -> None:
    stop = detect(errors)
    assert stop.reason is StopReason.ERROR
    assert stop.confidence is not Confidence.HIGH


@pytest.mark.behaviour("N14")
def test_of_several_errors_of_anybody_the_surest_is_told() -> None:
    known = error("slow", code="rate_limit_exceeded")
    assert detect([{"error": "disk full"}, known]) == detect(known)


@pytest.mark.behaviour("N14")
def test_a_candidate_with_a_stop_is_one_whatever_its_content_holds() -> None:
    told = {"candidates": [{"content": {"text": "hi"}, "finishReason": "STOP"}]}
    assert detect(told).reason is StopReason.END_TURN


def test_a_stop_as_plain_values_has_a_plain_detail() -> None:
    assert type(detect(RECHARGE).as_dict()["detail"]) is str


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", WHOLE)
def test_only_what_is_missing_is_called_missing(name: str) -> None:
    text, reason = WHOLE[name]
    assert detect(text).reason is reason
