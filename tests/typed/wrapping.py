"""Each client stays what it is."""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from typing import Any, assert_type

import anthropic
import cohere
import groq
import httpx
import mistralai.client
import ollama
import openai
import together
from anthropic.lib.bedrock import AnthropicBedrock
from cerebras.cloud.sdk import Cerebras
from google import genai

import tenuto


class OwnClient(openai.OpenAI):
    def greet(self) -> str:
        return "Hello"


class UnknownClient:
    """It looks like a client of an SDK that Tenuto doesn't know."""

    with_options = None


def every_client_stays_what_it_is(boto: Any) -> None:
    assert_type(tenuto.wrap(openai.OpenAI()), openai.OpenAI)
    assert_type(tenuto.wrap(openai.AsyncOpenAI()), openai.AsyncOpenAI)
    assert_type(tenuto.wrap(openai.AsyncAzureOpenAI()), openai.AsyncAzureOpenAI)
    assert_type(tenuto.wrap(anthropic.Anthropic()), anthropic.Anthropic)
    assert_type(tenuto.wrap(anthropic.AsyncAnthropic()), anthropic.AsyncAnthropic)
    assert_type(tenuto.wrap(AnthropicBedrock()), AnthropicBedrock)
    assert_type(tenuto.wrap(groq.Groq(), policy=tenuto.Policy(), on_event=print), groq.Groq)
    assert_type(tenuto.wrap(together.Together()), together.Together)
    assert_type(tenuto.wrap(Cerebras()), Cerebras)
    assert_type(tenuto.wrap(genai.Client()), genai.Client)
    assert_type(tenuto.wrap(ollama.AsyncClient()), ollama.AsyncClient)
    assert_type(tenuto.wrap(cohere.ClientV2()), cohere.ClientV2)
    assert_type(tenuto.wrap(cohere.AsyncClient()), cohere.AsyncClient)
    assert_type(tenuto.wrap(mistralai.client.Mistral()), mistralai.client.Mistral)
    assert_type(tenuto.wrap(OwnClient()).greet(), str)
    assert_type(tenuto.wrap(UnknownClient()), UnknownClient)
    tenuto.wrap(boto).converse()


def what_is_no_client_is_refused() -> None:
    tenuto.wrap(42)  # type: ignore[type-var]
    tenuto.wrap("openai")  # type: ignore[type-var]
    tenuto.wrap(None)  # type: ignore[type-var]
    tenuto.wrap({"client": openai.OpenAI()})  # type: ignore[type-var]
    tenuto.wrap(httpx.Client())  # type: ignore[type-var]
    tenuto.wrap(openai.OpenAI(), on_event=42)  # type: ignore[arg-type]
    tenuto.wrap(openai.OpenAI(), policy={})  # type: ignore[arg-type]
    tenuto.wrap(openai.OpenAI(), tenuto.Policy())  # type: ignore[call-arg]
    tenuto.wrap(openai.OpenAI()).no_method()  # type: ignore[attr-defined]
