"""What a provider and a model can do is asked for by name or by URL."""

from __future__ import annotations

import json

import pytest

import tenuto
from tenuto.core.deciding.actions import SetOutputLimit
from tenuto.providers.table import ROWS
from tenuto.wires.form import Opening
from tenuto.wires.members import value_at
from tenuto.wires.registry import WIRES

pytestmark = pytest.mark.behaviour("N8")


@pytest.mark.parametrize("name", [*ROWS.all()])
def test_every_provider_tells_what_it_can_do(name: str):
    told = tenuto.capabilities(name, "a-model")
    assert told.wire == ROWS.all()[name].wire
    assert told.finishes is not WIRES.all()[told.wire].only_read
    assert told.stops
    json.dumps(told.as_dict())


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("anthropic", "claude-sonnet-4-5", "prefill"),
        ("anthropic", "claude-opus-4-7", "hint"),
        ("gemini", "gemini-2.5-pro", "prefill"),
        ("mistral", "", "prefill"),
        ("openai", "gpt-4o", "hint"),
        ("https://nobody.example/v1", "", "hint"),
    ],
)
def test_how_text_is_continued_depends_on_the_model(provider: str, model: str, expected: str):
    assert tenuto.capabilities(provider, model).continues_by == expected


def test_limits_are_those_of_the_model_unless_the_provider_has_its_own():
    assert tenuto.capabilities("openai", "gpt-4o-2024-08-06").output_tokens == 16_384
    assert tenuto.capabilities("openai", "who-knows").output_tokens is None
    lab = tenuto.Provider("lab", "openai-chat", output_tokens=13_000, window_tokens=32_000)
    before = ROWS.all()
    tenuto.register_provider(lab)
    try:
        told = tenuto.capabilities("lab", "gpt-4o")
        assert (told.output_tokens, told.window_tokens) == (13_000, 32_000)
    finally:
        ROWS._all = before


def test_a_url_that_serves_several_wires_is_asked_about_by_wire():
    url = "https://api.openai.com/v1"
    assert tenuto.capabilities(url).wire == "openai-chat"
    assert tenuto.capabilities(url, wire="openai-responses").wire == "openai-responses"
    assert tenuto.capabilities(f"{url}/responses").wire == "openai-responses"
    with pytest.raises(
        tenuto.RegistrationError, match=r"speaks openai-chat, .* not the wire 'ollama'"
    ):
        tenuto.capabilities(url, wire="ollama")


@pytest.mark.parametrize("given", ["", "  ", None, 3])
def test_what_is_no_name_is_refused(given):
    with pytest.raises(tenuto.RegistrationError, match="must be a name or a URL"):
        tenuto.capabilities(given)


def test_what_is_no_model_or_no_url_is_refused():
    with pytest.raises(tenuto.RegistrationError, match="model is 3, but it must be a text"):
        tenuto.capabilities("openai", 3)  # type: ignore[arg-type]
    with pytest.raises(tenuto.RegistrationError, match=r"'http://\[::1' is not a URL: Invalid"):
        tenuto.capabilities("http://[::1")


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize(
    ("provider", "wire", "beside"),
    [
        ("openai", "openai-responses", "openai-responses"),
        ("https://api.openai.com/v1/chat/completions", "openai-responses", "openai-responses"),
        ("openrouter", "anthropic-messages", "openrouter-anthropic"),
        ("azure-openai", "anthropic-messages", "azure-foundry"),
    ],
)
def test_who_asks_for_the_wire_of_another_row_is_led_there(provider, wire, beside):
    with pytest.raises(tenuto.RegistrationError) as raised:
        tenuto.capabilities(provider, wire=wire)
    assert str(raised.value).endswith(f"; for that wire at the same host, ask about {beside!r}")
    assert tenuto.capabilities(beside, wire=wire).wire == wire


HI = {"role": "user", "content": "Hi"}
BARE = {
    "openai-completions": {"model": "m", "prompt": "Hi"},
    "dashscope": {"model": "m", "input": {"messages": [HI]}},
    "watsonx": {"model_id": "m", "project_id": "p", "messages": [HI]},
}
"""Requests on the wires that have no form."""
PATHS = {"dashscope": "/api/v1/services/aigc/text-generation/generation"}


@pytest.mark.parametrize("name", [n for n in ROWS.all() if tenuto.capabilities(n).finishes])
def test_the_output_key_is_the_path_that_tenuto_writes(name: str):
    row = ROWS.all()[name]
    form = WIRES.all()[row.wire].form
    if form is None:
        body, path = BARE[row.wire], PATHS.get(row.wire, "/v1")
    else:
        model = "amazon.nova-pro-v1:0"
        body = {**form.members(Opening(model, stream=False)), form.rows: [form.user("Hi")]}
        path = form.path(model, False)
    asked = WIRES.all()[row.wire].request(json.dumps(body).encode(), 0, path, row.dialect)
    assert asked is not None
    written = json.loads(asked.apply([SetOutputLimit(77)], row.dialect))
    assert value_at(written, tenuto.capabilities(name).output_key.split(".")) == 77


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("amazon.nova-lite-v1:0", "inferenceConfig.maxTokens"),
        ("openai.gpt-oss-20b-1:0", "max_completion_tokens"),
        ("qwen.qwen3-32b-v1:0", "max_tokens"),
    ],
)
def test_invoke_has_the_key_of_nova_and_writes_that_of_the_request(model: str, key: str):
    content = [{"text": "Hi"}] if "nova" in model else "Hi"
    body = json.dumps({"messages": [{"role": "user", "content": content}]}).encode()
    row = ROWS.all()["aws-invoke"]
    asked = WIRES.all()[row.wire].request(body, 0, f"/model/{model}/invoke", row.dialect)
    assert asked is not None
    written = json.loads(asked.apply([SetOutputLimit(77)], row.dialect))
    assert value_at(written, key.split(".")) == 77
    assert tenuto.capabilities("aws-invoke", model).output_key == "inferenceConfig.maxTokens"


def test_a_host_alone_shows_no_wire():
    told = tenuto.capabilities("https://llm.acme.example")
    assert told == tenuto.capabilities("https://llm.acme.example/v1")
    assert (told.wire, told.output_key) == ("openai-chat", "max_tokens")


@pytest.mark.parametrize("given", ["https://", "https:///v1", "://", "http://:80/v1"])
def test_a_url_without_a_host_is_refused(given: str):
    with pytest.raises(tenuto.RegistrationError, match="is not a URL: it has no host"):
        tenuto.capabilities(given)
