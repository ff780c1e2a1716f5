"""Hosts that serve more than models, and exceptions of which no provider knows (N14)."""

from __future__ import annotations

from typing import Any

import anthropic
import botocore.exceptions
import httpx
import huggingface_hub.errors as hub
import openai
import pytest
import requests

from tenuto import Confidence, Provider, Stop, StopReason, detect, register_provider
from tenuto.providers.table import ROWS

LOW, HIGH = Confidence.LOW, Confidence.HIGH


def stops_of(url: str) -> list[Stop]:
    """Return what is told of a response of a URL, of an error with it, and of two connections."""
    asked = httpx.Request("GET", url)
    answer = httpx.Response(403, json={"message": "Forbidden"}, request=asked)
    with pytest.raises(httpx.HTTPStatusError) as raised:
        answer.raise_for_status()
    prepared = requests.Request("GET", url).prepare()
    errors = (
        raised.value,
        httpx.ReadTimeout("timed out", request=asked),
        requests.ConnectTimeout("timed out", request=prepared),
    )
    return [detect(each) for each in (answer, *errors)]


NO_MODELS = (
    "https://sheets.googleapis.com/v4/spreadsheets/x",
    "https://storage.googleapis.com/storage/v1/b/x/o/y",
    "https://my-aiplatform.storage.googleapis.com/x",
    "https://www.googleapis.com/drive/v3/files/1",
    "https://oauth2.googleapis.com/token",
    "https://b.s3.us-east-1.amazonaws.com/k",
    "https://bedrock-runtime.s3.us-east-1.amazonaws.com/k",
    "https://bedrock-x.s3.amazonaws.com/k",
    "https://dynamodb.us-east-1.amazonaws.com/",
    "https://abc.execute-api.us-east-1.amazonaws.com/prod/x",
    "https://adb-1.2.azuredatabricks.net/api/2.1/jobs/get",
    "https://x.cloud.databricks.com/api/2.1/unity-catalog/tables",
    "https://x.gcp.databricks.com/api/2.0/clusters/list",
    "https://xy.snowflakecomputing.com/api/v2/statements",
    "https://x.cognitiveservices.azure.com/vision/v3.2/analyze",
    "https://x.services.ai.azure.com/language/:analyze-text",
    "https://ollama.com/library/llama3",
    "https://openrouter.ai/docs",
    "https://huggingface.co/api/models/x/y",
    # The last word of these paths is one of a model's API too.
    "https://gmail.googleapis.com/gmail/v1/users/me/messages",
    "https://graph.microsoft.com/v1.0/me/messages",
    "https://chat.example/api/v10/channels/1/messages",
    "https://forms.example/v1/forms/f/responses",
    "https://chat.example/messages",
)
MODELS = (
    "https://generativelanguage.googleapis.com/v1beta/files",
    "https://us-central1-aiplatform.googleapis.com/v1/projects/p",
    "https://aiplatform.us.rep.googleapis.com/v1/projects/p",
    "https://bedrock-runtime.eu-west-1.amazonaws.com/guardrail/g",
    "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com/x",
    "https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com/x",
    "https://abc.execute-api.us-east-1.amazonaws.com/prod/v1/chat/completions",
    "https://x.cloud.databricks.com/serving-endpoints/e",
    "https://xy.snowflakecomputing.com/api/v2/cortex/inference:complete",
    "https://x.cognitiveservices.azure.com/openai/files",
    "https://x.services.ai.azure.com/models/info",
    "https://ollama.com/api/tags",
    "https://openrouter.ai/api/v1/credits",
    "https://router.huggingface.co/v1/models",
    "https://api-inference.huggingface.co/models/x/y",
    "https://a.us-east-1.aws.endpoints.huggingface.cloud/generate",
    "https://api.openai.com/v1/files",
    "https://llm.example/v1/messages",
    "https://llm.example/openai/responses",
    "https://x.azuredatabricks.net/serving-endpoints/anthropic/v1/messages",
)


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("url", NO_MODELS)
def test_a_host_beside_that_of_a_model_is_as_any_website(url: str) -> None:
    assert {stop.confidence for stop in stops_of(url)} == {LOW}


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("url", MODELS)
def test_what_a_host_serves_of_models_is_known(url: str) -> None:
    assert {stop.confidence for stop in stops_of(url)} == {HIGH}


@pytest.mark.behaviour("N14")
def test_a_gateway_that_somebody_registered_is_known_by_its_host() -> None:
    host, before = "llm.execute-api.us-east-1.amazonaws.com", ROWS.all()
    try:
        register_provider(Provider("ours", wire="openai-chat", hosts=[host]))
        assert {stop.confidence for stop in stops_of(f"https://{host}/status")} == {HIGH}
    finally:
        ROWS._all, ROWS.changes = before, ROWS.changes + 1
    assert {stop.confidence for stop in stops_of(f"https://{host}/status")} == {LOW}


def of_hub(kind: Any, url: str) -> Any:
    asked = httpx.Request("GET", url)
    return kind("No.", response=httpx.Response(403, json={"error": "No."}, request=asked))


FILES = (
    of_hub(hub.RepositoryNotFoundError, "https://huggingface.co/api/models/x/y"),
    of_hub(hub.GatedRepoError, "https://huggingface.co/x/y/resolve/main/config.json"),
    of_hub(hub.RemoteEntryNotFoundError, "https://huggingface.co/x/y/resolve/main/a.bin"),
    of_hub(hub.HfHubHTTPError, "https://huggingface.co/api/datasets/x/y/preupload/main"),
    of_hub(hub.HfHubHTTPError, "https://cas-bridge.xethub.hf.co/x"),
    hub.LocalEntryNotFoundError("No."),
    hub.InferenceEndpointTimeoutError("It was not deployed in time."),
)


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("error", FILES, ids=range(7))
def test_an_error_about_a_file_of_the_hub_is_no_answer(error: Exception) -> None:
    assert detect(error).detail == "no_answer"


INFERENCE: tuple[tuple[Any, str | None, Confidence], ...] = (
    (of_hub(hub.HfHubHTTPError, "https://router.huggingface.co/x"), "authentication", HIGH),
    (of_hub(hub.BadRequestError, "https://api-inference.huggingface.co/models/x"),
        "authentication", HIGH),
    (of_hub(hub.HfHubHTTPError, "https://tgi.example/generate"), None, LOW),
    (hub.InferenceTimeoutError("No."), "timeout", HIGH),
)  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize(("error", "detail", "sure"), INFERENCE)
def test_an_error_of_inference_is_the_providers(
    error: Exception, detail: str | None, sure: Confidence
) -> None:
    stop = detect(error)
    assert (stop.reason, stop.detail, stop.confidence) == (StopReason.ERROR, detail, sure)


ASKED: Any = httpx.Request("POST", "https://api.openai.com/v1/chat/completions")


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


NEVER_ASKED = (
    httpx.PoolTimeout("", request=ASKED),
    httpx.LocalProtocolError("Illegal header value", request=ASKED),
    httpx.UnsupportedProtocol("no scheme", request=ASKED),
    caused(openai.APITimeoutError(ASKED), httpx.PoolTimeout("", request=ASKED)),
    caused(anthropic.APITimeoutError(ASKED), httpx.PoolTimeout("", request=ASKED)),
    caused(openai.APIConnectionError(request=ASKED), httpx.LocalProtocolError("x")),
)


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("error", NEVER_ASKED, ids=range(6))
def test_nothing_is_said_of_a_provider_that_was_never_asked(error: Exception) -> None:
    assert detect(error).detail == "no_answer"


@pytest.mark.behaviour("N14")
def test_a_timeout_of_the_provider_is_still_one() -> None:
    error = caused(openai.APITimeoutError(ASKED), httpx.ReadTimeout("", request=ASKED))
    assert (detect(error).detail, detect(error).confidence) == ("timeout", HIGH)


@pytest.mark.behaviour("N14")
def test_an_endpoint_of_aws_is_bedrocks_by_the_same_table() -> None:
    def unreached(url: str) -> Stop:
        error: Any = botocore.exceptions.EndpointConnectionError(endpoint_url=url)
        return detect(error)

    assert unreached("https://bedrock-logs.s3.us-east-1.amazonaws.com").detail == "no_answer"
    assert unreached("https://bedrock-runtime.us-east-1.amazonaws.com").confidence is HIGH
    assert unreached("https://gateway.example").confidence is LOW
