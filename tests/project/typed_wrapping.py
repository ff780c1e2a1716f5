"""What a type checker says of `wrap`. mypy reads this file with all others: a line that it should
refuse and does not is an unused `type: ignore`, which is an error too."""

from __future__ import annotations

from typing import Any

import anthropic
import cohere
import groq
import httpx
import mistralai.client
import ollama
import openai
import together
from cerebras.cloud.sdk import Cerebras
from google import genai

import tenuto


def every_client_stays_what_it_is(boto: Any) -> None:
    _openai: openai.OpenAI = tenuto.wrap(openai.OpenAI())
    _async: openai.AsyncAzureOpenAI = tenuto.wrap(openai.AsyncAzureOpenAI())
    _anthropic: anthropic.AsyncAnthropic = tenuto.wrap(anthropic.AsyncAnthropic())
    _bedrock: anthropic.AnthropicBedrock = tenuto.wrap(anthropic.AnthropicBedrock())
    _groq: groq.Groq = tenuto.wrap(groq.Groq(), policy=tenuto.Policy(), on_event=print)
    _together: together.Together = tenuto.wrap(together.Together())
    _cerebras: Cerebras = tenuto.wrap(Cerebras())
    _google: genai.Client = tenuto.wrap(genai.Client())
    _ollama: ollama.AsyncClient = tenuto.wrap(ollama.AsyncClient())
    _cohere: cohere.ClientV2 = tenuto.wrap(cohere.ClientV2())
    _older: cohere.AsyncClient = tenuto.wrap(cohere.AsyncClient())
    _mistral: mistralai.client.Mistral = tenuto.wrap(mistralai.client.Mistral())
    _boto = tenuto.wrap(boto)
    _boto.converse()


def what_is_no_client_is_refused() -> None:
    tenuto.wrap(42)  # type: ignore[type-var]
    tenuto.wrap("openai")  # type: ignore[type-var]
    tenuto.wrap(None)  # type: ignore[type-var]
    tenuto.wrap({"client": openai.OpenAI()})  # type: ignore[type-var]
    tenuto.wrap(httpx.Client())  # type: ignore[type-var]
    tenuto.wrap(openai.OpenAI(), on_event=42)  # type: ignore[arg-type]
