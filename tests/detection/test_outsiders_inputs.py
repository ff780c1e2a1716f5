"""What somebody who had read only the documentation found untrue, among 872 inputs (N14)."""

from __future__ import annotations

from typing import Any

import httpx
import openai
import pytest

from tenuto import Confidence, StopReason, detect

R = StopReason
ASKED = httpx.Request("POST", "https://api.openai.com/v1/chat/completions")
TOO_LARGE = "The request is larger than the model's context window or the API allows."
INCOMPLETE = "The provider calls the answer incomplete, and does not say why."


def limited(message: str = "Slow down.", status: int = 429) -> openai.RateLimitError:
    response: Any = httpx.Response(status, request=ASKED, json={"error": {"message": message}})
    return openai.RateLimitError(message, response=response, body=None)


def of_litellm(name: str, base: type[Exception], message: str) -> Exception:
    """An exception as LiteLLM makes it: a class of its own below one of OpenAI's SDK, with a
    status, whoever failed. (Read in litellm 1.110.)"""
    made: Any = type(name, (base,), {"__module__": "litellm.exceptions", "__init__": _init})
    error: Exception = made(message)
    return error


def _init(self: Any, message: str) -> None:
    Exception.__init__(self, message)
    self.status_code = 500
    self.message = message
    self.response = httpx.Response(500, request=httpx.Request("POST", "https://litellm.ai"))


def raised(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def response(**item: Any) -> dict[str, Any]:
    held = {"id": "i", "status": "incomplete", **item}
    return {"id": "resp_1", "object": "response", "status": "completed", "model": "m",
            "created_at": 1, "output": [held]}  # fmt: skip


def langchain(**told: Any) -> dict[str, Any]:
    return {"type": "ai", "content": "", "response_metadata": told}


SERVER: Any = openai.InternalServerError
LARGE = {"error": {"code": 400, "type": "BadRequestError", "param": None, "message": "'max_tokens' or "
         "'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 "
         "tokens and your request has 12 input tokens (9000 > 8192 - 12)."}}  # fmt: skip
NO_ANSWER = (R.UNKNOWN, "no_answer", "This is not an answer in the format of a known API.")
NO_CONNECTION = (R.ERROR, "connection", "The connection to the provider failed.")
INPUTS: dict[str, tuple[Any, tuple[StopReason, str | None, str]]] = {
    "a blocked prompt in LangChain": (
        langchain(prompt_feedback={"block_reason": "PROHIBITED_CONTENT", "safety_ratings": []}),
        (R.SAFETY_BLOCKED, "prompt_prohibited_content", ""),
    ),
    "the number of a block in LangChain": (
        langchain(prompt_feedback={"block_reason": 4}),
        (R.SAFETY_BLOCKED, "prompt_prohibited_content", ""),
    ),
    "no block in LangChain": (
        {**langchain(prompt_feedback={"block_reason": 0}, finish_reason="STOP"), "content": "Hi"},
        (R.END_TURN, None, ""),
    ),
    "a connection of LiteLLM's": (
        of_litellm("InternalServerError", SERVER, "OpenAIException - Connection error."),
        NO_CONNECTION,
    ),
    "anything of LiteLLM's": (
        of_litellm("APIConnectionError", SERVER, "OllamaException - list index out of range"),
        NO_ANSWER,
    ),
    "no key for LiteLLM": (
        of_litellm("InternalServerError", SERVER, "OpenAIException - Missing credentials."),
        NO_ANSWER,
    ),
    "no provider for LiteLLM": (
        of_litellm("BadRequestError", SERVER, "LLM Provider NOT provided. You passed model=x"),
        NO_ANSWER,
    ),
    "what LiteLLM does not send": (
        of_litellm("UnsupportedParamsError", SERVER, "gpt-x does not support parameters: ['n']"),
        NO_ANSWER,
    ),
    "an answer that LiteLLM rejects": (
        of_litellm("JSONSchemaValidationError", SERVER, "model=x, returned invalid response"),
        NO_ANSWER,
    ),
    "a cancelled request": (
        {"error": {"code": 499, "message": "The operation was cancelled.", "status": "CANCELLED"}},
        (R.ERROR, "cancelled", "The provider reported an error (cancelled)."),
    ),
    "too many bytes": (
        {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the "
                                    "maximum allowed number of bytes."}},
        (R.CONTEXT_WINDOW_EXCEEDED, "context_overflow", TOO_LARGE),
    ),
    "an output limit beside a short prompt": (
        LARGE,
        (R.ERROR, "output_budget_too_large", ""),
    ),
    "no money": (
        {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit "
                                    "balance is too low to access the Anthropic API."}},
        (R.ERROR, "payment", "The provider reported an error (payment)."),
    ),
    "an incomplete message": (
        response(type="message", role="assistant", content=[{"type": "output_text", "text": "The"}]),
        (R.MAX_TOKENS, None, INCOMPLETE),
    ),
    "an incomplete call": (
        response(type="function_call", call_id="c", name="t", arguments="{}"),
        (R.MAX_TOKENS, None, INCOMPLETE),
    ),
    "a program's own exception": (
        raised(RuntimeError("step 3 failed"), limited()),
        (R.ERROR, "rate_limited", ""),
    ),
    "a group of one": (
        ExceptionGroup("unhandled errors", [limited()]),
        (R.ERROR, "rate_limited", ""),
    ),
    "a group of two": (ExceptionGroup("unhandled errors", [limited(), limited()]), NO_ANSWER),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", INPUTS)
def test_what_is_said_of_it_is_true(name: str) -> None:
    source, (reason, detail, message) = INPUTS[name]
    stop = detect(source)
    assert (stop.reason, stop.detail) == (reason, detail)
    assert stop.message == (message or stop.message)
    if stop.detail != "no_answer":
        assert stop.confidence is not Confidence.LOW


@pytest.mark.behaviour("N14")
def test_exceptions_that_were_raised_from_each_other_end() -> None:
    first, second = RuntimeError("a"), RuntimeError("b")
    first.__cause__, second.__cause__ = second, first
    assert detect(first).detail == "no_answer"
