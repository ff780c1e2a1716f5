"""Exceptions and HTTP responses: which of them are of an API that is known, and how surely."""

from __future__ import annotations

import asyncio
import builtins
import concurrent.futures
from typing import Any

import aiohttp
import botocore.exceptions
import httpx
import pytest
import requests

from tenuto import Confidence, StopReason, detect, detect_each

LOW, HIGH = Confidence.LOW, Confidence.HIGH


def of_aws(operation: str, code: str = "ThrottlingException") -> Any:
    told = {"Error": {"Code": code, "Message": "Rate exceeded"}}
    return botocore.exceptions.ClientError(
        {**told, "ResponseMetadata": {"HTTPStatusCode": 429}}, operation
    )


def unreached(endpoint: str) -> Any:
    return botocore.exceptions.EndpointConnectionError(endpoint_url=endpoint)


OF_NOBODY: tuple[BaseException, ...] = (
    TimeoutError("timed out"),
    ConnectionResetError(104, "Connection reset by peer"),
    ConnectionRefusedError(111, "refused"),
    BrokenPipeError(32, "Broken pipe"),
    concurrent.futures.TimeoutError(),
    asyncio.IncompleteReadError(b"", 4),
    *(of_aws(operation) for operation in ("GetObject", "PutItem", "SendMessage", "ListBuckets")),
    unreached("https://s3.amazonaws.com"),
    unreached("https://dynamodb.eu-west-1.amazonaws.com"),
)  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("error", OF_NOBODY, ids=repr)
def test_an_exception_that_may_be_of_anything_is_no_answer(error: BaseException) -> None:
    stop = detect(error)
    assert (stop.reason, stop.detail) == (StopReason.UNKNOWN, "no_answer")


@pytest.mark.behaviour("N14")
def test_no_exception_of_python_itself_is_an_answer() -> None:
    kinds = [kind for kind in vars(builtins).values() if isinstance(kind, type)]
    errors = [kind() for kind in kinds if issubclass(kind, OSError)]
    assert {detect(error).detail for error in errors} == {"no_answer"}


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("operation", ["Converse", "ConverseStream", "InvokeModel"])
def test_an_exception_of_bedrock_is_the_providers(operation: str) -> None:
    stop = detect(of_aws(operation))
    assert (stop.reason, stop.detail, stop.confidence) == (StopReason.ERROR, "rate_limited", HIGH)
    stop = detect(unreached("https://bedrock-runtime.eu-west-1.amazonaws.com"))
    assert (stop.detail, stop.confidence) == ("connection", HIGH)
    stop = detect(unreached("https://gateway.example"))
    assert (stop.detail, stop.confidence) == ("connection", LOW)


def response(url: str, status: int = 404, **body: Any) -> httpx.Response:
    return httpx.Response(status, request=httpx.Request("POST", url), **body)


def raised(answer: httpx.Response) -> Exception:
    with pytest.raises(httpx.HTTPStatusError) as found:
        answer.raise_for_status()
    return found.value


SITES = (
    response("https://news.example/a", content=b"<html>404</html>"),
    response("https://shop.example/cart", 500, json={"ok": False, "trace": "x"}),
    response("https://shop.example/", 400, json={"email": ["This field is required."]}),
)


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("answer", SITES, ids=lambda answer: str(answer.status_code))
def test_an_error_of_any_website_is_a_guess(answer: httpx.Response) -> None:
    stop = detect(answer)
    assert (stop.reason, stop.detail, stop.confidence) == (StopReason.ERROR, None, LOW)
    assert detect(raised(answer)) == stop


@pytest.mark.behaviour("N14")
def test_an_error_of_an_url_that_is_not_known_is_what_its_status_says() -> None:
    stop = detect(httpx.Response(503))
    assert (stop.detail, stop.confidence) == ("overloaded", Confidence.MEDIUM)


@pytest.mark.behaviour("N14")
def test_a_failed_connection_to_anything_is_a_guess() -> None:
    asked = httpx.Request("POST", "https://shop.example/cart")
    errors = (
        httpx.ReadTimeout("timed out", request=asked),
        httpx.ConnectError("refused"),
        requests.ConnectionError("Max retries exceeded"),
        aiohttp.ServerDisconnectedError(),
    )
    stops = [detect(error) for error in errors]
    assert [stop.detail for stop in stops] == ["timeout", "connection", "connection", "connection"]
    assert {stop.confidence for stop in stops} == {LOW}


KNOWN = {"error": {"message": "No.", "type": "invalid_request_error", "code": "invalid_api_key"}}
APIS = (
    response("https://llm.example/v1/chat/completions", content=b"<html>404</html>"),
    response("https://api.anthropic.com/v1/messages/batches", content=b"<html>404</html>"),
    response("https://shop.example/ask", 401, json=KNOWN),
    httpx.Response(401, json=KNOWN),
)


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("number", range(len(APIS)))
def test_an_error_of_a_known_api_is_certain_by_its_url_or_its_code(number: int) -> None:
    stop = detect(APIS[number])
    assert (stop.reason, stop.confidence) == (StopReason.ERROR, HIGH)
    assert detect(SITES[0], wire="openai").confidence is HIGH  # whoever gives it says so


@pytest.mark.behaviour("N14")
def test_a_connection_to_a_known_api_that_fails_is_the_providers() -> None:
    asked = httpx.Request("POST", "https://api.openai.com/v1/responses")
    assert detect(httpx.ReadTimeout("timed out", request=asked)).confidence is HIGH
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}]}
    (stop,) = detect_each([chunk, httpx.ReadTimeout("timed out")])
    assert (stop.detail, stop.confidence) == ("timeout", HIGH)  # it broke the answer off


@pytest.mark.behaviour("N14")
def test_what_is_not_modified_is_no_redirect() -> None:
    assert detect(response("https://x", 304)).detail == "nothing_came"
    assert detect(response("https://x", 307)).detail == "redirected"
