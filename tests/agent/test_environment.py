"""An agent's requests go where the environment sends those of the provider's SDK: what left, beside
what the official SDK sent with the same variables."""

from __future__ import annotations

import http.server
import importlib
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anthropic
import boto3
import cerebras.cloud.sdk
import cohere
import google.genai
import groq
import ollama
import openai
import pytest
import together

from tenuto.cli import main
from tenuto.core.errors import AgentError
from tenuto.providers.addresses import ADDRESSES
from tenuto_agent import Agent, Model

pytestmark = pytest.mark.behaviour("A1")

ASK: Any = [{"role": "user", "content": "Hello."}]
CHAT: Any = {"model": "m", "messages": ASK}
REFUSAL = b'{"error": {"message": "No.", "type": "authentication_error"}, "message": "No."}'
NEVER_SENT = "sk-of-the-provider"


class Sent(NamedTuple):
    """A request that left."""

    path: str
    headers: dict[str, str]


class Gateway(http.server.BaseHTTPRequestHandler):
    """A company's gateway, which notes what reaches it and lets nobody in."""

    sent: list[Sent]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"] or 0))
        self.sent.append(Sent(self.path, {k.lower(): v for k, v in self.headers.items()}))
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(REFUSAL)))
        self.end_headers()
        self.wfile.write(REFUSAL)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Place(NamedTuple):
    url: str
    sent: list[Sent]


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Place]:
    for name in list(os.environ):
        if name.startswith(OF_SDKS) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.chdir(tmp_path)
    handler: type[Gateway] = type("Handler", (Gateway,), {"sent": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Place(f"http://127.0.0.1:{server.server_address[1]}/gate", handler.sent)
        server.shutdown()


OF_SDKS = (
    *("OPENAI", "AZURE", "ANTHROPIC", "GOOGLE", "GEMINI", "AWS", "MISTRAL", "CO_", "COHERE"),
    *("GROQ", "TOGETHER", "CEREBRAS", "OLLAMA"),
)


def by_chat(cls: Callable[[], Any], **more: Any) -> Callable[[], object]:
    return lambda: cls(**more).chat.completions.create(**CHAT)


def by_cohere() -> object:
    # It reads its address when it is imported.
    return cohere.ClientV2(base_url=os.environ["CO_API_URL"]).chat(**CHAT)


def by_converse() -> object:
    return boto3.client("bedrock-runtime").converse(
        modelId="m", messages=[{"role": "user", "content": [{"text": "Hello."}]}]
    )


def by_invoke() -> object:
    return boto3.client("bedrock-runtime").invoke_model(modelId="amazon.nova-lite-v1:0", body=b"{}")


def by_google() -> object:
    client = google.genai.Client()  # it closes itself once nobody has it
    return client.models.generate_content(model="m", contents="Hello.")


def by_interactions() -> object:
    client = google.genai.Client()
    return client.interactions.create(model="m", input="Hello.")


SDKS: dict[str, tuple[Callable[[], object], dict[str, str]]] = {
    "openai": (
        by_chat(openai.OpenAI),
        {
            "OPENAI_BASE_URL": "{gateway}",
            "OPENAI_API_KEY": "key",
            "OPENAI_ORG_ID": "org",
            "OPENAI_PROJECT_ID": "project",
            "OPENAI_CUSTOM_HEADERS": "X-Gate: open\nX-Team: tides",
        },
    ),
    "openai-responses": (
        lambda: openai.OpenAI().responses.create(model="m", input="Hello."),
        {"OPENAI_BASE_URL": "{gateway}/", "OPENAI_API_KEY": "key"},
    ),
    "anthropic": (
        lambda: anthropic.Anthropic().messages.create(**CHAT, max_tokens=9),
        {
            "ANTHROPIC_BASE_URL": "{gateway}",
            "ANTHROPIC_API_KEY": "key",
            "ANTHROPIC_AUTH_TOKEN": "unused",
            "ANTHROPIC_CUSTOM_HEADERS": "X-Gate: open",
        },
    ),
    "anthropic, by a token": (
        lambda: anthropic.Anthropic().messages.create(**CHAT, max_tokens=9),
        {"ANTHROPIC_BASE_URL": "{gateway}", "ANTHROPIC_AUTH_TOKEN": "token"},
    ),
    "azure-foundry": (
        lambda: anthropic.AnthropicFoundry().messages.create(**CHAT, max_tokens=9),
        {"ANTHROPIC_FOUNDRY_BASE_URL": "{gateway}", "ANTHROPIC_FOUNDRY_API_KEY": "key"},
    ),
    "azure-openai": (
        by_chat(openai.AzureOpenAI),
        {
            "AZURE_OPENAI_ENDPOINT": "{gateway}",
            "AZURE_OPENAI_API_KEY": "key",
            "OPENAI_API_VERSION": "v",
        },
    ),
    "azure-openai-responses": (
        lambda: openai.AzureOpenAI().responses.create(model="m", input="Hello."),
        {
            "AZURE_OPENAI_ENDPOINT": "{gateway}",
            "AZURE_OPENAI_AD_TOKEN": "token",
            "AZURE_OPENAI_API_KEY": "unused",
            "OPENAI_API_VERSION": "v",
        },
    ),
    "gemini": (
        by_google,
        {
            "GOOGLE_GEMINI_BASE_URL": "{gateway}",
            "GOOGLE_API_KEY": "key",
            "GEMINI_API_KEY": "unused",
        },
    ),
    "gemini, by its other key": (
        by_google,
        {
            "GOOGLE_GEMINI_BASE_URL": "{gateway}",
            "GEMINI_API_KEY": "key",
            "GOOGLE_GENAI_USE_VERTEXAI": "false",
        },
    ),
    "gemini-interactions": (
        by_interactions,
        {"GOOGLE_GEMINI_BASE_URL": "{gateway}", "GOOGLE_API_KEY": "key"},
    ),
    "aws-converse": (
        by_converse,
        {
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "{gateway}",
            "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
            "AWS_BEARER_TOKEN_BEDROCK": "key",
            "AWS_DEFAULT_REGION": "eu-west-1",
        },
    ),
    "aws-invoke": (
        by_invoke,
        {
            "AWS_ENDPOINT_URL": "{gateway}",
            "AWS_BEARER_TOKEN_BEDROCK": "key",
            "AWS_DEFAULT_REGION": "eu-west-1",
        },
    ),
    "cohere": (by_cohere, {"CO_API_URL": "{gateway}", "CO_API_KEY": "key"}),
    "cohere, by its other key": (by_cohere, {"CO_API_URL": "{gateway}", "COHERE_API_KEY": "key"}),
    "groq": (
        by_chat(groq.Groq),
        {
            "GROQ_BASE_URL": "{gateway}",
            "GROQ_API_KEY": "key",
            "GROQ_CUSTOM_HEADERS": "X-Gate: open\nAuthorization: Bearer gate",
        },
    ),
    "together": (
        by_chat(together.Together),
        {
            "TOGETHER_BASE_URL": "{gateway}",
            "TOGETHER_API_KEY": "key",
            "TOGETHER_CUSTOM_HEADERS": "X-Gate: open",
        },
    ),
    "cerebras": (
        by_chat(cerebras.cloud.sdk.Cerebras, warm_tcp_connection=False),
        {
            "CEREBRAS_BASE_URL": "{gateway}",
            "CEREBRAS_API_KEY": "key",
            "CEREBRAS_CUSTOM_HEADERS": "X-Gate: open",
        },
    ),
    "ollama": (
        lambda: ollama.Client().chat(**CHAT),
        {"OLLAMA_HOST": "{gateway}", "OLLAMA_API_KEY": "key"},
    ),
    "ollama, without a scheme or a key": (
        lambda: ollama.Client().chat(**CHAT),
        {"OLLAMA_HOST": "{bare}"},
    ),
}
MODEL = {"aws-invoke": "amazon.nova-lite-v1:0"}
"""The model that a wire needs, if "m" is none."""
OTHER_PATH = ("azure-openai", "azure-openai-responses", "gemini", "gemini-interactions")
"""Their SDKs ask another version of the API at the same host."""
TOLD = (
    *("authorization", "x-api-key", "api-key", "x-goog-api-key"),
    *("openai-organization", "openai-project", "x-gate", "x-team"),
)


def told(sent: Sent) -> dict[str, str]:
    headers = {name: sent.headers[name] for name in TOLD if name in sent.headers}
    if "x-api-key" in headers:
        headers.pop("api-key", None)  # Foundry's SDK sends its key twice
        # Anthropic's sends a key as a token since version 2; the API takes it in either header.
        headers["authorization"] = f"Bearer {headers.pop('x-api-key')}"
    return headers


@pytest.mark.parametrize("case", SDKS)
@pytest.mark.filterwarnings("ignore")
def test_what_leaves_goes_where_the_sdk_s_goes_with_its_key_and_headers(
    case: str, gateway: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, variables = SDKS[case]
    for name, value in variables.items():
        bare = gateway.url.removeprefix("http://")
        monkeypatch.setenv(name, value.format(gateway=gateway.url, bare=bare))
    with pytest.raises(Exception, match=r"(?i)no\.|401|unauthorized|token"):
        ask()
    by_sdk = gateway.sent[:]
    gateway.sent.clear()
    provider = case.partition(",")[0]
    with Agent(f"{provider}:{MODEL.get(provider, 'm')}", stream=False) as agent:
        result = agent.run("Hello.")
    assert result.fault is not None
    assert result.fault.kind == "authentication"
    [ours], sdks = gateway.sent, by_sdk[0]
    assert told(ours) == told(sdks)
    assert ours.path == sdks.path or provider in OTHER_PATH
    assert ours.path.startswith("/gate/")


def test_tenuto_run_goes_there_too(
    gateway: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", gateway.url)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gate: open")
    assert main(["run", "Hello.", "--model", "openai:gpt-5-mini"]) == 1
    assert [sent.path for sent in gateway.sent] == ["/gate/chat/completions"]
    assert told(gateway.sent[0]) == {"authorization": "Bearer key", "x-gate": "open"}
    capsys.readouterr()


def test_a_base_url_in_code_gets_nothing_of_the_environment(
    gateway: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_KEY", NEVER_SENT)
    monkeypatch.setenv("OPENAI_ORG_ID", NEVER_SENT)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Gate: {NEVER_SENT}")
    with Agent(Model("openai:m", base_url=gateway.url)) as agent:
        agent.run("Hello.")
    assert [told(sent) for sent in gateway.sent] == [{}]


def test_a_header_in_code_outweighs_one_of_the_environment(
    gateway: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", gateway.url)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gate: closed\nnot a header\nX-Team: tides")
    with Agent(Model("openai:m", api_key="own", headers={"X-Gate": "open"})) as agent:
        agent.run("Hello.")
    assert told(gateway.sent[0]) == {
        "authorization": "Bearer own",
        "x-gate": "open",
        "x-team": "tides",
    }


@pytest.mark.usefixtures("gateway")
@pytest.mark.parametrize(
    ("provider", "variables", "said"),
    [
        ("openai", {}, r"no key for openai: set OPENAI_API_KEY, or give Model\(…, api_key=…\)"),
        ("gemini", {}, "no key for gemini: set GOOGLE_API_KEY or GEMINI_API_KEY, or give"),
        ("anthropic", {}, "set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or give"),
        (
            "openai",
            {"OPENAI_BASE_URL": "gateway.example"},
            r"OPENAI_BASE_URL is 'gateway.example', but it must be http\(s\)://host\[:port\]\[/path\]",
        ),
        ("ollama", {"OLLAMA_HOST": "127.0.0.1:x"}, "OLLAMA_HOST is '127.0.0.1:x', but it must be"),
        ("azure-openai", {}, "set AZURE_OPENAI_ENDPOINT, or give Model"),
        ("azure-foundry", {}, "set ANTHROPIC_FOUNDRY_BASE_URL, or give Model"),
        (
            "gemini",
            {"GOOGLE_GENAI_USE_VERTEXAI": "True", "GOOGLE_API_KEY": NEVER_SENT},
            "GOOGLE_GENAI_USE_VERTEXAI leads requests for gemini to another API, which the agent cannot",
        ),
        (
            "aws-converse",
            {"AWS_USE_FIPS_ENDPOINT": "true", "AWS_BEARER_TOKEN_BEDROCK": NEVER_SENT},
            "AWS_USE_FIPS_ENDPOINT leads requests for aws-converse to another API",
        ),
        (
            "openai",
            {"OPENAI_API_KEY": NEVER_SENT, "OPENAI_CUSTOM_HEADERS": "Host: x"},
            "the header 'host' is invalid, or Tenuto sets it itself",
        ),
    ],
)
def test_what_cannot_be_followed_is_an_error_that_names_the_variable(
    provider: str, variables: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(AgentError, match=said):
        Model(f"{provider}:m")


@pytest.mark.usefixtures("gateway")
def test_variables_within_an_address_make_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_FOUNDRY_API_KEY"):
        monkeypatch.setenv(name, "key")
    monkeypatch.setenv("ANTHROPIC_FOUNDRY_RESOURCE", "acme")
    url = "https://acme.services.ai.azure.com/anthropic/v1/messages"
    assert Model("azure-foundry:m").url(stream=False) == url
    for region, set_ in (
        ("us-east-1", ""),
        ("eu-west-1", "AWS_REGION"),
        ("eu-west-3", "AWS_DEFAULT_REGION"),
    ):
        if set_:
            monkeypatch.setenv(set_, region)
        began = Model("aws-converse:m").url(stream=False).partition("/model")[0]
        assert began == f"https://bedrock-runtime.{region}.amazonaws.com"
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert Model("aws-converse:m").url(stream=False).startswith("http://127.0.0.1:9/model")
    monkeypatch.setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")
    assert Model("aws-converse:m").url(stream=False).startswith("https://bedrock-runtime.eu-west-3")


@pytest.mark.parametrize(
    "host",
    [
        *("", "1.2.3.4", ":56789", "1.2.3.4:56789", "http://1.2.3.4", "https://1.2.3.4"),
        *("example.com/", "example.com:56789/path", "https://example.com:56789/path/"),
        *("[0001:002:003:0004::1]", "https://[0001:002:003:0004::1]:56789/path"),
    ],
)
def test_the_host_of_ollama_is_read_as_its_sdk_reads_it(host: str) -> None:
    address = ADDRESSES["ollama"]
    url, _ = address.url_in({"OLLAMA_HOST": host})
    assert url.replace("localhost", "127.0.0.1") == importlib.import_module(
        "ollama._client"
    )._parse_host(host)


# --- every variable of the SDKs


NOT_OURS = {
    "of other APIs of theirs, which no provider of the agent speaks": {
        *("ANTHROPIC_AWS_API_KEY", "ANTHROPIC_AWS_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL"),
        *("ANTHROPIC_BEDROCK_MANTLE_BASE_URL", "ANTHROPIC_GOOGLE_CLOUD_BASE_URL"),
        *("ANTHROPIC_VERTEX_BASE_URL", "AWS_BEDROCK_BASE_URL", "GOOGLE_VERTEX_BASE_URL"),
    },
    "for requests that are no turns": {
        *("OPENAI_ADMIN_KEY", "ANTHROPIC_ENVIRONMENT_KEY", "ANTHROPIC_WEBHOOK_SIGNING_KEY"),
        *("MISTRAL_AUDIO_BASE_URL", "MISTRAL_OTLP_TRACES_ENDPOINT", "TOGETHER_API_BASE_URL"),
        *(
            "AWS_CSM_HOST",
            "AWS_EC2_METADATA_SERVICE_ENDPOINT",
            "AWS_S3_US_EAST_1_REGIONAL_ENDPOINT",
        ),
    },
    "of credentials that have to be exchanged or signed with": {
        *("ANTHROPIC_IDENTITY_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_SECRET_ACCESS_KEY"),
        *("AWS_SECURITY_TOKEN", "AWS_SESSION_TOKEN", "CREDENTIALS_ENV_VARS_STS_WEB_ID_TOKEN"),
        "CREDENTIALS_PROFILE_STS_WEB_ID_TOKEN",
    },
    "read by a part of google-genai that its client doesn't use": {
        *("GOOGLE_GENAI_ACCESS_TOKEN", "GOOGLE_GENAI_API_KEY", "GOOGLE_GENAI_DEFAULT_HEADERS"),
    },
    "examples in docstrings": {"YOUR_TOKEN"},
}
PACKAGES = (
    *("openai", "anthropic", "google.genai", "mistralai", "cohere", "groq", "together"),
    *("cerebras.cloud.sdk", "ollama", "boto3", "botocore", "aiobotocore"),
)
_names = re.compile(
    r"""["']([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:BASE_URL|API_URL|HOST|ENDPOINT|ENDPOINT_URL|"""
    r"""ENDPOINT_URLS|KEY|TOKEN|BEDROCK|HEADERS|ORG_ID))["']"""
).findall


def test_every_variable_of_the_sdks_for_a_url_a_key_or_headers_is_read_or_known() -> None:
    found: set[str] = set()
    for package in PACKAGES:
        for folder in importlib.import_module(package).__path__:
            files = (file for file in Path(folder).rglob("*.py") if "tests" not in file.parts)
            for text in (file.read_text("utf-8", "replace") for file in files):
                if "environ" in text or "getenv" in text or "AWS_" in text or "ENV" in text:
                    found |= set(_names(text))
    read: set[str] = set()
    for address in ADDRESSES.values():
        read |= {key.variable for key in address.keys} | {*address.url_variables}
        read |= {address.url_switch, address.headers_variable, *address.headers.values()}
        read |= set(address.elsewhere)
    known = set().union(*NOT_OURS.values())
    assert found - read - known == set()
    assert known - found == set()
    assert known & read == set()
