"""Those who speak OpenAI's Completions as well, each found where its Chat Completions are.

A prompt is the beginning of what the model writes, whoever runs it: no row says otherwise.
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.providers.chat import CHAT
from tenuto.providers.chat_elsewhere import CHAT_SERVERS
from tenuto.providers.provider import Provider
from tenuto.wires.base import Dialect

COMPLETIONS_UNKNOWN = Provider(Dialect(prefill=True), "openai-completions")
"""Who is behind a host that no row names."""

_SOURCES = {
    "openai": "https://platform.openai.com/docs/api-reference/completions 2026-11-22",
    "azure-openai": "https://learn.microsoft.com/azure/ai-foundry/openai/reference 2026-11-22",
    "together": "together 3.1.1, together/types/completion.py 2026-11-22",
    # To fill in what stands between two texts, or to go on with one.
    "deepseek-beta": "https://api-docs.deepseek.com/guides/fim_completion 2026-11-22",
    "vllm": "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html 2026-11-22",
    "llama.cpp": "https://github.com/ggml-org/llama.cpp/tree/master/tools/server 2026-11-22",
    "lm-studio": "https://lmstudio.ai/docs/developer/openai-compat 2026-11-22",
}


def _row(chat: Provider) -> Provider:
    name = chat.dialect.name
    return replace(
        chat,
        dialect=replace(COMPLETIONS_UNKNOWN.dialect, name=f"{name}-completions"),
        wire=COMPLETIONS_UNKNOWN.wire,
        usage=(),
        quirks=_QUIRKS.get(name, ()),
        source=_SOURCES[name],
    )


_QUIRKS = {
    "azure-openai": ("q18-annotations-stream",),
    "together": ("q30-eos", "text-and-delta-stream"),
    "vllm": ("q22-error-vllm-old-stream", "q30-abort-stream", "vllm-stop-string"),
}

COMPLETIONS = tuple(_row(chat) for chat in (*CHAT, *CHAT_SERVERS) if chat.dialect.name in _SOURCES)
