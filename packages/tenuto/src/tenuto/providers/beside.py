"""Providers with another API beside their Chat Completions.

On OpenAI's Completions, every server continues the prompt, so no row says so. Makers of other
models offer Anthropic's Messages so that agents made for Claude can use them. They sign no
thinking, and want it back unchanged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tenuto.providers.chat import CHAT
from tenuto.providers.provider import Row, row
from tenuto.wires.dialect import Dialect

_CHAT = {chat.dialect.name: chat for chat in CHAT}


def _completions(name: str, source: str, *quirks: str) -> Row:
    dialect = Dialect(f"{name}-completions", prefill=True)
    wire = "openai-completions"
    return replace(_CHAT[name], dialect=dialect, wire=wire, usage=(), quirks=quirks, source=source)


def _messages(name: str, chat: str, source: str, **columns: Any) -> Row:
    columns = {"authorization": "x-api-key", **columns}
    columns |= {"prefill_models": None, "signed_thinking": False}
    columns.setdefault("hosts", _CHAT[chat].hosts)
    return row("anthropic-messages", name, source=source, **columns)


COMPLETIONS: tuple[Row, ...] = (
    _completions("openai",
        "https://platform.openai.com/docs/api-reference/completions 2026-11-22"),
    _completions("azure-openai",
        "https://learn.microsoft.com/azure/ai-foundry/openai/reference 2026-11-22",
        "q18-annotations-stream"),
    _completions("together", "together 3.1.1, together/types/completion.py 2026-11-22",
        "q30-eos", "text-and-delta-stream"),
    # To fill in text between two others, or to continue one.
    _completions("deepseek-beta",
        "https://api-docs.deepseek.com/guides/fim_completion 2026-11-22"),
    _completions("vllm",
        "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html 2026-11-22",
        "q22-error-vllm-old-stream", "q30-abort-stream", "vllm-stop-string"),
    _completions("llama.cpp",
        "https://github.com/ggml-org/llama.cpp/tree/master/tools/server 2026-11-22"),
    _completions("lm-studio", "https://lmstudio.ai/docs/developer/openai-compat 2026-11-22"),
)  # fmt: skip

MESSAGES: tuple[Row, ...] = (
    _messages("deepseek-anthropic", "deepseek",
        "https://api-docs.deepseek.com/guides/anthropic_api 2026-11-22"),
    _messages("moonshot-anthropic", "moonshot", "https://platform.kimi.ai/docs 2026-11-21"),
    _messages("minimax-anthropic", "minimax",
        "https://platform.minimax.io/docs/api-reference/text-anthropic-api 2026-11-22",
        hosts=("api.minimax.io", "api.minimaxi.com")),
    _messages("zai-anthropic", "zai",
        "https://docs.rs/rig-core/0.40.0/src/rig_core/providers/zai.rs.html 2026-11-22"),
    _messages("fireworks-anthropic", "fireworks",
        "https://docs.fireworks.ai/tools-sdks/anthropic-compatibility 2026-11-22"),
    _messages("ollama-anthropic", "ollama-chat",
        "https://github.com/ollama/ollama/blob/main/anthropic/anthropic.go 2026-11-22",
        authorization="", quirks=("q04-ollama-cut-call-called-tool-use-stream",)),
    # These two serve Claude, and other models in its format.
    row("anthropic-messages", "openrouter-anthropic", ("openrouter.ai",),
        "https://openrouter.ai/docs/api/reference 2026-11-22"),
    row("anthropic-messages", "databricks-anthropic", _CHAT["databricks"].hosts,
        "https://docs.databricks.com/gcp/ja/machine-learning/model-serving/"
        "query-anthropic-messages 2026-11-22"),
)  # fmt: skip
