"""Those who speak OpenAI's Chat Completions, one row each: makers of models and gateways.

They are one wire in many dialects: what they have in common is read for all of them, known or not.
A row says what cannot be read off an answer, and names what is odd about it.
"""

from __future__ import annotations

import re

from tenuto.providers.models import CLAUDE_TAKES_PREFILL, QWEN_MAY_NOT_THINK
from tenuto.providers.provider import Provider
from tenuto.wires.base import Dialect

_WIRE = "openai-chat"

CHAT: tuple[Provider, ...] = (
    Provider(
        Dialect("openai", output_key="max_completion_tokens"),
        _WIRE,
        hosts=("api.openai.com", ".api.openai.com"),
        quirks=(
            "q01-stop-with-calls",
            "q17-moderation-chunk",
            "q25-refusal",
            "q33-400-output-limit",
        ),
        sends_stop=True,
        source="https://platform.openai.com/docs/api-reference/chat 2026-11-21",
    ),
    Provider(
        Dialect("azure-openai", output_key="max_completion_tokens"),
        _WIRE,
        hosts=(".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"),
        authorization="api-key",
        quirks=("q18-azure-annotations", "q33-400-output-limit", "q34-400-azure-filter"),
        sends_stop=True,
        source="https://learn.microsoft.com/azure/ai-foundry/openai/reference 2026-11-21",
    ),
    Provider(
        # The upstream's own value says more than the one that it is mapped to. A prefill is taken
        # where the model takes it with all who serve it.
        Dialect(
            "openrouter",
            prefill_models=CLAUDE_TAKES_PREFILL,
            less_reasoning=(("reasoning", {"effort": "low"}),),
        ),
        _WIRE,
        hosts=("openrouter.ai/api",),
        stops=("error",),
        quirks=(
            "openrouter-refusal",
            "q22-error-openrouter",
            "q22-error-overflow-openrouter",
            "q24-keep-alives",
            "q26-reasoning-only",
            "q30-native-finish-reason",
            "q30-native-finish-reason-says-more",
            "q32-error-in-200",
            "q41-nulls-in-the-envelope",
        ),
        sends_stop=True,
        source="https://openrouter.ai/docs/api/reference/streaming 2026-11-21",
    ),
    Provider(
        Dialect(
            "groq",
            prefill_models=re.compile(r"^(?!.*gpt-oss)"),
            output_key="max_completion_tokens",
        ),
        _WIRE,
        hosts=("api.groq.com",),
        usage=("x_groq.usage.prompt_tokens", "x_groq.usage.completion_tokens"),
        quirks=("q16-usage-in-x-groq", "q22-error-groq", "q28-call-as-text"),
        sends_stop=True,
        source="groq 1.7.0, groq/types/chat/chat_completion_chunk.py; "
        "https://console.groq.com/docs/prefilling 2026-11-21",
    ),
    Provider(
        # A `stop` is often a stop string of the request: a natural end is called eos.
        Dialect("together"),
        _WIRE,
        hosts=("api.together.xyz", "api.together.ai"),
        stops=("eos",),
        quirks=("q27-open-think-at-length", "q30-eos"),
        sends_stop=True,
        source="together 3.1.1, together/types/chat/chat_completion.py 2026-11-21",
    ),
    Provider(
        # An answer that met the end of the context ends with `length` as well.
        Dialect("fireworks"),
        _WIRE,
        hosts=("api.fireworks.ai",),
        stops=("error",),
        sends_stop=True,
        source="fireworks-ai 1.2.28, fireworks/types/shared/choice.py 2026-11-21",
    ),
    Provider(
        # Below this path, and only there, an assistant message may be the beginning of the answer.
        Dialect(
            "deepseek-beta",
            prefill=True,
            prefill_row=(("prefix", True),),
            reasoning_prefill=True,
            reasoning_key="reasoning_content",
            less_reasoning=(("thinking", {"type": "disabled"}),),
        ),
        _WIRE,
        hosts=("api.deepseek.com/beta",),
        stops=("insufficient_system_resource",),
        usage=("usage.prompt_cache_hit_tokens",),
        quirks=("q24-blank-lines-before-body", "q30-insufficient-system-resource"),
        sends_stop=True,
        source="https://api-docs.deepseek.com/guides/chat_prefix_completion 2026-11-21",
    ),
    Provider(
        # In thinking mode every assistant row must carry its reasoning.
        Dialect(
            "deepseek",
            reasoning_key="reasoning_content",
            less_reasoning=(("thinking", {"type": "disabled"}),),
        ),
        _WIRE,
        hosts=("api.deepseek.com",),
        stops=("insufficient_system_resource",),
        usage=("usage.prompt_cache_hit_tokens",),
        quirks=(
            "q13-length-in-reasoning",
            "q24-blank-lines-before-body",
            "q30-insufficient-system-resource",
        ),
        sends_stop=True,
        source="https://api-docs.deepseek.com/guides/thinking_mode 2026-11-22",
    ),
    Provider(
        Dialect("perplexity"),
        _WIRE,
        hosts=("api.perplexity.ai",),
        quirks=("q27-think-split-over-chunks",),
        source="perplexityai 0.46.1, perplexity/types/shared/choice.py 2026-11-21",
    ),
    Provider(
        Dialect("cerebras", output_key="max_completion_tokens"),
        _WIRE,
        hosts=("api.cerebras.ai",),
        quirks=("q22-error-cerebras",),
        sends_stop=True,
        source="cerebras_cloud_sdk 1.91.0, cerebras/cloud/sdk/types/chat/chat_completion.py "
        "2026-11-21",
    ),
    Provider(
        Dialect(
            "moonshot",
            prefill_models=re.compile(r"kimi-k2\.5"),
            prefill_row=(("partial", True),),
            reasoning_key="reasoning_content",
        ),
        _WIRE,
        hosts=("api.moonshot.ai", "api.moonshot.cn"),
        usage=("usage.cached_tokens",),
        quirks=("q13-length-in-reasoning", "q26-reasoning-only"),
        source="https://platform.kimi.ai/docs/guide/use-partial-mode-feature-of-kimi-api; "
        "https://platform.kimi.ai/docs/api/chat 2026-11-22",
    ),
    Provider(
        Dialect("zai"),
        _WIRE,
        hosts=("api.z.ai", "open.bigmodel.cn"),
        stops=("sensitive", "model_context_window_exceeded", "network_error"),
        quirks=("q07-arguments-object", "q30-network-error", "q30-sensitive"),
        source="https://docs.z.ai/api-reference/llm/chat-completion 2026-11-21",
    ),
    Provider(
        Dialect(
            "qwen",
            prefill_models=QWEN_MAY_NOT_THINK,
            prefill_row=(("partial", True),),
            prefill_members=(("enable_thinking", False),),
        ),
        _WIRE,
        hosts=(
            "dashscope.aliyuncs.com",
            "dashscope-intl.aliyuncs.com",
            "dashscope-us.aliyuncs.com",
        ),
        quirks=(
            "q06-empty-id-in-continuations-stream",
            "q22-error-event-dashscope",
            "q29-null-as-text",
            "q34-400-dashscope",
        ),
        source="https://help.aliyun.com/zh/model-studio/partial-mode 2026-11-21",
    ),
    Provider(
        Dialect("minimax"),
        _WIRE,
        hosts=("api.minimax.io", "api.minimaxi.com", "api.minimax.chat"),
        quirks=("q27-open-think-at-length", "q32-minimax-base-resp"),
        source="https://platform.minimax.io/docs/api-reference 2026-11-21",
    ),
    Provider(
        Dialect("writer"),
        _WIRE,
        hosts=("api.writer.com",),
        source="https://dev.writer.com/api-reference/completion-api/chat-completion 2026-11-21",
    ),
    Provider(
        Dialect("xai"),
        _WIRE,
        hosts=("api.x.ai", ".api.x.ai"),
        stops=("end_turn",),
        sends_stop=True,
        source="https://docs.x.ai/docs/api-reference 2026-11-21",
    ),
)
