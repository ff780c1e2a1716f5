"""Every path by which LiteLLM asks a model: each gives out a whole answer after `install()`."""

import asyncio
import contextlib
import operator
from collections.abc import Iterator
from typing import Any

import httpx
import litellm
import openai
from litellm.llms.custom_httpx import http_handler
from litellm.llms.openai import common_utils

import tenuto.litellm
from tenuto_sim import Simulator

MODEL = "sim/length_twice"
QUESTION = "Why do tides come twice a day, take {}?"
PROVIDERS = {
    "openai": "/v1", "custom_openai": "/v1", "openrouter": "/v1", "groq": "/v1", "deepseek": "/v1",
    "mistral": "/v1", "hosted_vllm": "/v1", "huggingface": "/v1", "anthropic": "", "ollama_chat": "",
    "gemini": "/v1beta", "cohere_chat": "/v2/chat", "bedrock/converse": "",
}  # fmt: skip
"""Providers, and what their base URL ends with."""

BODIES_ALONE = {"cohere_chat"}
"""LiteLLM 1.110.2 cannot read their streams, with or without Tenuto."""


def fails(sim: Simulator) -> list[str]:
    """Ask in each way; what did not come back whole, or is not as it was after `uninstall()`."""
    return [name for name, is_whole in [*_asked(sim), *_uninstalled(sim)] if not is_whole]


def _uninstalled(sim: Simulator) -> Iterator[tuple[str, bool]]:
    """Whether LiteLLM is its own again, and `install()` works once more."""
    tenuto.litellm.uninstall()
    before = _members()
    yield (
        "uninstall() leaves no member of ours",
        not any("tenuto" in m for m in map(_origin, before)),
    )
    with httpx.Client() as session:
        litellm.client_session = session
        tenuto.litellm.install()
        yield "install() takes a session up", litellm.client_session is not session
        yield "installed again", _is_whole(sim, "again")
        tenuto.litellm.uninstall()
        tenuto.litellm.uninstall()
        yield "uninstall() gives the session back", litellm.client_session is session
        litellm.client_session = None
    after = _members()
    yield "uninstall() restores every member", all(map(operator.is_, before, after))
    for provider in ("openai", "anthropic", "ollama_chat"):
        yield f"{provider} is cut after uninstall()", not _is_whole(sim, "uninstalled", provider)
    tenuto.litellm.install()
    for provider in ("openai", "anthropic", "ollama_chat"):
        yield f"{provider} after a second install()", _is_whole(sim, "second", provider)


def _members() -> list[object]:
    owners = [
        http_handler.HTTPHandler,
        http_handler.AsyncHTTPHandler,
        common_utils.BaseOpenAILLM,
        common_utils.OpenAIHTTPClient,
        common_utils.OpenAIAsyncHTTPClient,
    ]
    return [vars(owner)[name] for owner in owners for name in sorted(vars(owner))]


def _origin(member: object) -> str:
    member = getattr(member, "fget", None) or getattr(member, "__func__", member)
    return str(getattr(member, "__module__", ""))


def _is_whole(sim: Simulator, take: str, provider: str = "openai") -> bool:
    prompt = QUESTION.format(f"{take} {provider}")
    given = {
        "model": f"{provider}/{MODEL}",
        "api_base": sim.root_url + PROVIDERS[provider],
        "api_key": "key",
        "messages": [{"role": "user", "content": prompt}],
        "stream": False,
        "max_tokens": 1_000,
    }
    return _chat(given) == sim.answer(prompt)


def _asked(sim: Simulator) -> Iterator[tuple[str, bool]]:
    count = 0
    ways = [(stream, sync) for stream in (False, True) for sync in (True, False)]
    for provider, path in PROVIDERS.items():
        for stream, sync in ways:
            if stream and provider in BODIES_ALONE:
                continue
            count += 1
            prompt = QUESTION.format(count)
            given: dict[str, Any] = {
                "model": f"{provider}/{MODEL}",
                "api_base": sim.root_url + path,
                "api_key": "key",
                "messages": [{"role": "user", "content": prompt}],
                "stream": stream,
                "max_tokens": 1_000,
            }
            if provider.startswith("bedrock"):
                given["aws_region_name"] = "us-east-1"
            said = _chat(given) if sync else asyncio.run(_chat_async(given))
            yield f"{provider}, stream {stream}, sync {sync}", said == sim.answer(prompt)
    for sync in (True, False):
        prompt = QUESTION.format(f"{sync}")
        base = {"model": f"openai/{MODEL}", "api_base": sim.base_url, "api_key": "key"}
        made: Any = (
            litellm.responses(input=prompt, **base)
            if sync
            else asyncio.run(litellm.aresponses(input=prompt, **base))
        )
        texts = [
            part.text for item in made.output if item.type == "message" for part in item.content
        ]
        yield f"responses, sync {sync}", "".join(texts) == sim.answer(prompt)
    yield from _prompts(sim, ways)
    prompt = QUESTION.format("messages")
    messages: Any = asyncio.run(
        litellm.anthropic.messages.acreate(
            model=f"anthropic/{MODEL}",
            api_base=sim.root_url,
            api_key="key",
            max_tokens=1_000,
            messages=[{"role": "user", "content": prompt}],
        )
    )
    text = "".join(part["text"] for part in messages["content"] if part["type"] == "text")
    yield "anthropic.messages", text == sim.answer(prompt)


def _prompts(sim: Simulator, ways: list[tuple[bool, bool]]) -> Iterator[tuple[str, bool]]:
    """A raw prompt goes on at its end, which the simulator takes for another conversation: that it
    was gone on with is what shows."""
    for stream, sync in ways:
        given: dict[str, Any] = {
            "model": f"text-completion-openai/{MODEL}",
            "api_base": sim.base_url,
            "api_key": "key",
            "prompt": QUESTION.format(f"{stream} {sync}"),
            "stream": stream,
        }
        before = len(sim.requests)

        async def ask(given: dict[str, Any] = given) -> None:
            made: Any = await litellm.atext_completion(**given)
            if given["stream"]:
                _ = [chunk async for chunk in made]

        # It never ends there, so the policy may say that in an error.
        with contextlib.suppress(openai.OpenAIError):
            if not sync:
                asyncio.run(ask())
            elif stream:
                list(litellm.text_completion(**given))
            else:
                litellm.text_completion(**given)
        yield f"text_completion, stream {stream}, sync {sync}", len(sim.requests) - before > 1


def _chat(given: dict[str, Any]) -> str:
    made: Any = litellm.completion(**given)
    return _joined(list(made)) if given["stream"] else str(made.choices[0].message.content)


async def _chat_async(given: dict[str, Any]) -> str:
    made: Any = await litellm.acompletion(**given)
    if given["stream"]:
        return _joined([chunk async for chunk in made])
    return str(made.choices[0].message.content)


def _joined(chunks: list[Any]) -> str:
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
