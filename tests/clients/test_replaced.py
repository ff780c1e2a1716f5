"""Methods that somebody has put something else in place of, before the client is wrapped."""

from __future__ import annotations

from functools import wraps
from typing import Any

import anthropic
import groq
import ollama
import openai
import pytest
import together
from cerebras.cloud import sdk as cerebras
from openai.resources.chat.completions import Completions
from support.asking.wrapping import QUICK

import tenuto
from tenuto_sim import Simulator

KEY: dict[str, Any] = {"api_key": "key"}
REPLACED = [
    (openai.OpenAI, KEY, "chat.completions.create"),
    (openai.OpenAI, KEY, "chat.completions.parse"),
    (openai.AsyncOpenAI, KEY, "responses.create"),
    (anthropic.Anthropic, KEY, "messages.create"),
    (anthropic.AsyncAnthropic, KEY, "beta.messages.stream"),
    (groq.Groq, KEY, "chat.completions.create"),
    (together.Together, KEY, "chat.completions.create"),
    (cerebras.Cerebras, KEY | {"warm_tcp_connection": False}, "chat.completions.create"),
    (ollama.Client, {}, "chat"),
]


@pytest.mark.behaviour("C25")
@pytest.mark.parametrize(("sdk", "settings", "path"), REPLACED)
def test_a_method_that_was_replaced_on_the_instance_is_refused_by_name(sdk, settings, path) -> None:
    client = sdk(**settings)
    *way, name = path.split(".")
    part = client
    for step in way:
        part = getattr(part, step)
    tenuto.wrap(client)  # a part that was looked at is no reason
    setattr(part, name, lambda **_: None)
    with pytest.raises(tenuto.UnsupportedClient, match=f"whose {path} was replaced; wrap .* first"):
        tenuto.wrap(client)


@pytest.mark.behaviour("C25")
def test_a_method_that_a_tracing_library_replaced_on_the_class_is_called_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, seen = Completions.create, []

    @wraps(before)
    def traced(self: Any, **given: Any) -> Any:
        seen.append(given["model"])
        return before(self, **given)

    monkeypatch.setattr(Completions, "create", traced)
    with Simulator() as sim:
        policy = tenuto.Policy(**QUICK)
        with openai.OpenAI(api_key="key", base_url=sim.base_url) as bare:
            client = tenuto.wrap(bare, policy=policy)
            row: Any = {"role": "user", "content": "Hi"}
            got = client.chat.completions.create(model="sim/length_twice", messages=[row])
        assert got.choices[0].finish_reason == "stop"
        assert len(sim.requests) == 3
    assert seen == ["sim/length_twice"]


@pytest.mark.behaviour("C25")
def test_a_method_may_be_replaced_on_a_wrapped_client() -> None:
    client = tenuto.wrap(openai.OpenAI(api_key="key"))
    completions: Any = client.chat.completions
    completions.create = lambda **_: "traced"
    assert tenuto.wrap(client) is client
    asked: Any = {"model": "m", "messages": []}
    assert client.chat.completions.create(**asked) == "traced"
