"""The rows of those who are known: how each is recognized, and that what it says is so."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tenuto import Provider, detect, register_provider
from tenuto.core.answer.stop import StopReason
from tenuto.core.deciding.actions import AppendAssistant, LowerReasoning
from tenuto.core.settings.policy import Policy
from tenuto.providers.provider import Row
from tenuto.providers.registry import route
from tenuto.providers.table import PROVIDERS, ROWS, by_server
from tenuto.telemetry.redaction import is_named_secret
from tenuto.turn.drivers.commands import Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine
from tenuto.wires.registry import wires

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
CHAT = [row for row in PROVIDERS if row.wire == "openai-chat"]
BY_NAME = {row.dialect.name: row for row in PROVIDERS}

BASE_URLS = {
    "openai": "https://api.openai.com/v1",
    "azure-openai": "https://res.openai.azure.com/openai/deployments/gpt-4o",
    "openrouter": "https://openrouter.ai/api/v1",
    "groq": "https://api.groq.com/openai/v1",
    "together": "https://api.together.xyz/v1",
    "fireworks": "https://api.fireworks.ai/inference/v1",
    "deepseek-beta": "https://api.deepseek.com/beta",
    "deepseek": "https://api.deepseek.com",
    "perplexity": "https://api.perplexity.ai",
    "cerebras": "https://api.cerebras.ai/v1",
    "moonshot": "https://api.moonshot.ai/v1",
    "zai": "https://api.z.ai/api/paas/v4",
    "qwen": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    "minimax": "https://api.minimax.io/v1",
    "writer": "https://api.writer.com/v1",
    "xai": "https://api.x.ai/v1",
    "azure-inference": "https://res.eastus.models.ai.azure.com/v1",
    "github-models": "https://models.github.ai/inference",
    "huggingface": "https://router.huggingface.co/v1",
    "watsonx-chat": "https://us-south.ml.cloud.ibm.com/ml/gateway/v1",
    "ai21": "https://api.ai21.com/studio/v1",
    "databricks": "https://dbc-1.cloud.databricks.com/serving-endpoints",
    "snowflake": "https://org-account.snowflakecomputing.com/api/v2/cortex/v1",
    "nvidia-nim": "https://integrate.api.nvidia.com/v1",
    "gemini-chat": "https://generativelanguage.googleapis.com/v1beta/openai",
    "gemini-vertex-chat": "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/endpoints/openapi",
    "lm-studio": "http://localhost:1234/v1",
    "ollama-chat": "http://localhost:11434/v1",
}
"""Base URLs as the documentation of each one shows them."""

NAMED_ONLY = {"vllm", "sglang"}
"""Of these neither a URL nor an answer tells that they are behind it."""

BY_SERVER = {"llama.cpp": "llama.cpp"}


def named(row: Row) -> str:
    return row.dialect.name


@pytest.mark.behaviour("N8")
def test_every_row_of_chat_completions_is_recognized_by_its_url_its_server_or_its_name():
    assert set(BASE_URLS) | set(BY_SERVER) | NAMED_ONLY == {named(row) for row in CHAT}
    found = {
        name: route(f"{url}/chat/completions")[1].dialect.name for name, url in BASE_URLS.items()
    }
    assert found == {name: name for name in BASE_URLS}
    assert {named(by_server(word)) for word in BY_SERVER.values()} == set(BY_SERVER)
    assert all(not BY_NAME[name].hosts for name in NAMED_ONLY)


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize("row", PROVIDERS, ids=named)
def test_the_first_row_that_fits_a_place_is_its_own(row):
    for place in row.hosts:
        host, _, path = place.partition("/")
        host = f"eu{host}" if host.startswith(".") else host
        url = urlsplit(f"https://{host}/{path}/v1")
        fits = [other for other in PROVIDERS if other.wire == row.wire and other.serves(url)]
        assert fits[0] is row, f"{place} is {named(fits[0])}"


@pytest.mark.parametrize("row", PROVIDERS, ids=named)
def test_a_row_says_from_where_it_is_and_its_key_is_never_written_down(row):
    assert re.search(r" 2026-\d\d-\d\d$", row.source)
    assert not row.authorization or is_named_secret(row.authorization)
    assert len(set(row.quirks)) == len(row.quirks)
    for quirk in row.quirks:
        assert (FIXTURES / row.wire / quirk / "expect.json").exists(), quirk


@pytest.mark.behaviour("N1", "N2")
@pytest.mark.parametrize("row", [row for row in PROVIDERS if row.stops], ids=named)
def test_every_stop_value_of_a_row_is_read_in_a_body_and_in_a_stream(row):
    own = wires()[row.wire].stops
    for native in row.stops:
        assert native.lower() != native or native not in own, "the wire has it already"
        choice: dict[str, Any] = {"index": 0, "finish_reason": native}
        whole = {"choices": [choice | {"message": {"role": "assistant", "content": "Hi"}}]}
        chunk = {"choices": [choice | {"delta": {"content": "Hi"}}]}
        stream = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
        for source in (json.dumps(whole).encode(), stream):
            stop = detect(source, wire=named(row))
            assert (stop.raw, stop.confidence.value) == (native, "high")
            assert stop.reason is not StopReason.UNKNOWN


@pytest.mark.behaviour("C19")
@pytest.mark.parametrize("row", [row for row in PROVIDERS if row.usage], ids=named)
def test_tokens_are_read_where_a_row_says_that_they_are_counted(row):
    for path in row.usage:
        *way, last = path.split(".")
        value: dict[str, Any] = {last: 7, "prompt_tokens": 7, "completion_tokens": 7}
        for step in reversed(way):
            value = {step: value}
        signals = wires()[row.wire].parse_object({"choices": [], **value}, event=True)
        (usage,) = (signal.usage for signal in signals if hasattr(signal, "usage"))
        field = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
        assert getattr(usage, field.get(last, "cached_tokens")) == 7


# --- what leaves on the wire ---------------------------------------------------------------------

HALF = "The first half of the answer goes"
PREFILLED: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("deepseek-beta", "deepseek-v4-pro", {"prefix": True}, {}),
    ("moonshot", "kimi-k2.5", {"partial": True}, {}),
    ("qwen", "qwen-plus", {"partial": True}, {"enable_thinking": False}),
    ("groq", "llama-3.3-70b-versatile", {}, {}),
    ("openrouter", "anthropic/claude-sonnet-4.5", {}, {}),
    ("databricks", "databricks-claude-sonnet-4-5", {}, {}),
    ("snowflake", "claude-3-7-sonnet", {}, {}),
]
HINTED = [
    ("openai", "gpt-5"),
    ("azure-openai", "gpt-4o"),
    ("deepseek", "deepseek-v4-pro"),
    ("moonshot", "kimi-k3"),
    ("qwen", "qwen3-235b-a22b-thinking-2507"),
    ("qwen", "qwq-plus"),
    ("groq", "openai/gpt-oss-120b"),
    ("openrouter", "anthropic/claude-sonnet-4.6"),
    ("openrouter", "openai/gpt-5"),
    ("databricks", "databricks-claude-opus-4-6"),
    ("together", "meta-llama/Llama-3.3-70B"),
    ("perplexity", "sonar"),
    ("xai", "grok-4"),
]


def body(text: str, finish: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    return json.dumps({"choices": [choice | {"finish_reason": finish}]}).encode()


def asked(url: str, model: str, *answers: bytes, **more: Any) -> list[dict[str, Any]]:
    """The bodies of the requests that leave for a turn."""
    request = {"model": model, "messages": [{"role": "user", "content": "Tell me."}], **more}
    script = Script(*map(Scripted.body, answers))
    sent = Request("POST", f"{url}/chat/completions", (), json.dumps(request).encode())
    run = Engine(Policy(backoff_s=0)).begin(sent)
    assert run is not None
    assert list(Drive(run, script.connect).pieces())
    return [json.loads(one.body) for one in script.transmitted]


@pytest.mark.behaviour("C8")
@pytest.mark.parametrize(("name", "model", "row", "members"), PREFILLED)
def test_cut_text_is_sent_back_in_the_providers_own_form_of_a_prefill(name, model, row, members):
    first, second = asked(BASE_URLS[name], model, body(HALF, "length"), body(" on.", "stop"))
    assert second["messages"] == [
        *first["messages"],
        {"role": "assistant", "content": HALF, **row},
    ]
    known = {key: second[key] for key in second.keys() - first.keys()}
    assert known.pop(BY_NAME[name].dialect.output_key) > 0
    assert known == members


@pytest.mark.behaviour("C8", "H5")
@pytest.mark.parametrize(("name", "model"), HINTED)
def test_where_a_prefill_is_not_known_to_be_taken_a_hint_follows(name, model):
    first, second = asked(BASE_URLS[name], model, body(HALF, "length"), body(" on.", "stop"))
    *own, row, hint = second["messages"]
    assert own == first["messages"]
    assert row == {"role": "assistant", "content": HALF}, "no key that a dialect could reject"
    assert (hint["role"], set(hint)) == ("user", {"role", "content"})
    assert second.keys() - first.keys() == {"messages", BY_NAME[name].dialect.output_key} - {
        "messages"
    }


CUT_THINKING = json.dumps(
    {
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "", "reasoning_content": "Hm, "},
                "finish_reason": "length",
            }
        ]
    }
).encode()
KNOBS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("deepseek", {}, {"thinking": {"type": "disabled"}}),
    ("deepseek", {"reasoning_effort": "max"}, {"reasoning_effort": "low"}),
    ("openrouter", {}, {"reasoning": {"effort": "low"}}),
    ("openrouter", {"reasoning": {"max_tokens": 9000}}, {"reasoning": {"effort": "low"}}),
    ("moonshot", {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
    ("qwen", {"enable_thinking": True}, {"enable_thinking": False}),
    ("openai", {"reasoning_effort": "high"}, {"reasoning_effort": "low"}),
    ("qwen", {}, {}),
    ("deepseek", {"thinking": {"type": "disabled"}}, {"thinking": {"type": "disabled"}}),
]


@pytest.mark.behaviour("C11")
@pytest.mark.parametrize(("name", "given", "less"), KNOBS)
def test_reasoning_is_lowered_by_the_knob_that_the_request_or_the_row_has(name, given, less):
    first, second = asked(BASE_URLS[name], "m", CUT_THINKING, body("Hi.", "stop"), **given)
    knobs = {"reasoning_effort", "reasoning", "thinking", "enable_thinking"}
    assert {key: second[key] for key in second.keys() & knobs} == less
    assert first | {"messages": 0} == {"model": "m", "messages": 0, **given}


@pytest.mark.behaviour("C8")
def test_a_registered_provider_may_speak_like_one_that_is_known():
    before = ROWS.all()
    try:
        register_provider(Provider("lab", wire="openai-chat", like="vllm", hosts=["gpu.lab:8000"]))
        lab = route("http://gpu.lab:8000/v1/chat/completions")[1].dialect
        assert lab == replace(BY_NAME["vllm"].dialect, name="lab")
        register_provider(
            Provider("lab", wire="openai-chat", like="vllm", hosts=["gpu.lab"], prefill=False)
        )
        assert route("http://gpu.lab/v1/chat/completions")[1].dialect.prefill is False
        register_provider(Provider("lab", wire="openai-chat", prefill_models=re.compile("qwen")))
    finally:
        ROWS._all, ROWS.changes = before, ROWS.changes + 1


def test_an_edit_is_applied_in_a_dialect_and_without_one_alike_where_it_has_no_form_of_its_own():
    raw = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'
    for row in CHAT:
        request = wires()[row.wire].request(raw, 0, "/chat/completions", row.dialect)
        assert request is not None
        hinted = json.loads(request.apply([AppendAssistant("Half")], row.dialect))
        assert hinted["messages"][-1] == {"role": "assistant", "content": "Half"}
        lowered = json.loads(request.apply([LowerReasoning()], row.dialect))
        assert lowered.keys() > {"model", "messages"}
