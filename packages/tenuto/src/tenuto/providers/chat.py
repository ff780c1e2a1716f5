"""The providers of OpenAI's Chat Completions, one row each.

They speak one wire in many dialects. What they share is read for all of them, known or not. A row
holds what an answer doesn't show, and names its oddities.
"""

from __future__ import annotations

import re
from functools import partial

from tenuto.providers.models import (
    CLAUDE_TAKES_PREFILL,
    QWEN_MAY_NOT_THINK,
)
from tenuto.providers.provider import Row, row

_row = partial(row, "openai-chat")

_GEMINI_STOPS = (
    "function_call_filter: MALFORMED_FUNCTION_CALL", "content_filter: OTHER", "MAX_TOKENS",
    "SAFETY", "RECITATION",
)  # fmt: skip
_GEMINI_QUIRKS = (
    "q06-no-index-stream",
    "q14-text-and-stop-in-one-chunk",
    "q30-function-call-filter-malformed-function-call",
)
_GENERATION = (("continue_final_message", True), ("add_generation_prompt", False))
"""Makes chat templates continue the last message instead of beginning another one."""
_NO_THINKING = ("chat_template_kwargs", {"enable_thinking": False, "thinking": False})
"""Templates use either name, and ignore names that they don't know."""
_ALL = re.compile("")
_OTHER_THAN_REASONING = re.compile(r"(?!reasoning\Z)")
"""Match names of members that a provider refuses in a history."""

CHAT: tuple[Row, ...] = (
    # --- makers of models, and gateways
    _row("openai", ("api.openai.com", ".api.openai.com"),
        "https://platform.openai.com/docs/api-reference/chat 2026-11-21",
        output_key="max_completion_tokens", most_id_chars=40, sends_stop=True,
        quirks=("q01-stop-with-calls", "q17-moderation-chunk", "q25-refusal",
                "q33-400-output-limit")),
    _row("azure-openai",
        (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"),
        "https://learn.microsoft.com/azure/ai-foundry/openai/reference 2026-11-21",
        output_key="max_completion_tokens", most_id_chars=40, authorization="api-key",
        sends_stop=True,
        quirks=("q18-azure-annotations", "q33-400-output-limit", "q34-400-azure-filter")),
    # The upstream's own value says more than the one that it is mapped to. OpenRouter accepts a
    # prefill for models that accept one at every host.
    _row("openrouter", ("openrouter.ai/api",),
        "https://openrouter.ai/docs/api/reference/streaming 2026-11-21",
        prefill_models=CLAUDE_TAKES_PREFILL,
        less_reasoning=(("reasoning", {"effort": "low"}),), sends_stop=True, stops=("error",),
        quirks=("openrouter-refusal", "q22-error-openrouter", "q22-error-overflow-openrouter",
                "q24-keep-alives", "q26-reasoning-only", "q30-native-finish-reason",
                "q30-native-finish-reason-says-more", "q32-error-in-200",
                "q41-nulls-in-the-envelope")),
    # Some models' answers have reasoning that their requests refuse (janhq/jan#8136, read
    # 2026-11-28).
    _row("groq", ("api.groq.com",),
        "groq 1.7.0, groq/types/chat/chat_completion_chunk.py; https://console.groq.com/docs/"
        "prefilling 2026-11-21",
        prefill_models=re.compile(r"^(?!.*gpt-oss)"), output_key="max_completion_tokens",
        refuses=_ALL, sends_stop=True,
        usage=("x_groq.usage.prompt_tokens", "x_groq.usage.completion_tokens"),
        quirks=("q16-usage-in-x-groq", "q22-error-groq", "q28-call-as-text")),
    # A `stop` is often a stop string of the request: a natural end is called eos.
    _row("together", ("api.together.xyz", "api.together.ai"),
        "together 3.1.1, together/types/chat/chat_completion.py 2026-11-21", sends_stop=True,
        stops=("eos",), quirks=("q27-open-think-at-length", "q30-eos")),
    # An answer that reached the end of the context ends with `length` too.
    _row("fireworks", ("api.fireworks.ai",),
        "fireworks-ai 1.2.28, fireworks/types/shared/choice.py 2026-11-21",
        refuses=re.compile("reasoning_details"), sends_stop=True, stops=("error",)),
    # Only below this path can an assistant message be the beginning of the answer.
    _row("deepseek-beta", ("api.deepseek.com/beta",),
        "https://api-docs.deepseek.com/guides/chat_prefix_completion 2026-11-21", prefill=True,
        prefill_row=(("prefix", True),), reasoning_prefill=True, reasoning_key="reasoning_content",
        less_reasoning=(("thinking", {"type": "disabled"}),), sends_stop=True,
        stops=("insufficient_system_resource",), usage=("usage.prompt_cache_hit_tokens",),
        quirks=("q24-blank-lines-before-body", "q30-insufficient-system-resource")),
    # In thinking mode every assistant row must carry its reasoning.
    _row("deepseek", ("api.deepseek.com",),
        "https://api-docs.deepseek.com/guides/thinking_mode 2026-11-22",
        reasoning_key="reasoning_content", less_reasoning=(("thinking", {"type": "disabled"}),),
        sends_stop=True, stops=("insufficient_system_resource",),
        usage=("usage.prompt_cache_hit_tokens",),
        quirks=("q13-length-in-reasoning", "q24-blank-lines-before-body",
                "q30-insufficient-system-resource")),
    _row("perplexity", ("api.perplexity.ai",),
        "perplexityai 0.46.1, perplexity/types/shared/choice.py 2026-11-21",
        quirks=("q27-think-split-over-chunks",)),
    # It takes `reasoning` back, and no other name (QwenLM/qwen-code#11045, read 2026-11-28).
    _row("cerebras", ("api.cerebras.ai",),
        "cerebras_cloud_sdk 1.91.0, cerebras/cloud/sdk/types/chat/chat_completion.py 2026-11-21",
        output_key="max_completion_tokens", refuses=_OTHER_THAN_REASONING, sends_stop=True,
        quirks=("q22-error-cerebras",)),
    _row("moonshot", ("api.moonshot.ai", "api.moonshot.cn"),
        "https://platform.kimi.ai/docs/guide/use-partial-mode-feature-of-kimi-api; https://"
        "platform.kimi.ai/docs/api/chat 2026-11-22",
        prefill_models=re.compile(r"kimi-k2\.5"), prefill_row=(("partial", True),),
        reasoning_key="reasoning_content", usage=("usage.cached_tokens",),
        sends_stop=True,
        quirks=("q13-length-in-reasoning", "q26-reasoning-only")),
    _row("zai", ("api.z.ai", "open.bigmodel.cn"),
        "https://docs.z.ai/api-reference/llm/chat-completion 2026-11-21",
        stops=("sensitive", "model_context_window_exceeded", "network_error"),
        sends_stop=True,
        quirks=("q07-arguments-object", "q30-network-error", "q30-sensitive")),
    _row("qwen",
        ("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"),
        "https://help.aliyun.com/zh/model-studio/partial-mode 2026-11-21",
        prefill_models=QWEN_MAY_NOT_THINK,
        prefill_row=(("partial", True),), prefill_members=(("enable_thinking", False),),
        sends_stop=True,
        quirks=("q06-empty-id-in-continuations-stream", "q22-error-event-dashscope",
                "q29-null-as-text", "q34-400-dashscope")),
    _row("minimax", ("api.minimax.io", "api.minimaxi.com", "api.minimax.chat"),
        "https://platform.minimax.io/docs/api-reference 2026-11-21",
        quirks=("q27-open-think-at-length", "q32-minimax-base-resp")),
    _row("writer", ("api.writer.com",),
        "https://dev.writer.com/api-reference/completion-api/chat-completion 2026-11-21"),
    _row("xai", ("api.x.ai", ".api.x.ai"),
        "https://docs.x.ai/docs/api-reference 2026-11-21", sends_stop=True, stops=("end_turn",)),
    # --- clouds
    _row("github-models", ("models.github.ai", "models.inference.ai.azure.com"),
        "azure-ai-inference 1.0.0b9, azure/ai/inference/models/_enums.py 2026-11-21"),
    _row("azure-inference", (".inference.ai.azure.com", ".models.ai.azure.com"),
        "azure-ai-inference 1.0.0b9, azure/ai/inference/models/_enums.py 2026-11-21",
        authorization="api-key"),
    _row("huggingface", ("router.huggingface.co", ".endpoints.huggingface.cloud"),
        "huggingface_hub 1.33.0, huggingface_hub/inference/_generated/types/chat_completion.py "
        "2026-11-21",
        stops=("eos_token", "stop_sequence"), quirks=("q30-eos-token", "q30-stop-sequence")),
    # Its gateway. The wire of its own API has that row (examples/wires).
    _row("watsonx-chat", (".ml.cloud.ibm.com",),
        "https://ibm.github.io/watsonx-ai-node-sdk 2026-11-21",
        stops=("time_limit", "cancelled", "error"), quirks=("q30-time-limit",)),
    _row("ai21", ("api.ai21.com",),
        "ai21 4.3.0, ai21/models/chat/chat_completion_response.py 2026-11-21"),
    _row("databricks", (".cloud.databricks.com", ".azuredatabricks.net", ".gcp.databricks.com"),
        "the registry of litellm 1.106.2 2026-11-21; https://docs.databricks.com/aws/en/"
        "machine-learning/foundation-model-apis/api-reference 2026-11-22",
        prefill_models=CLAUDE_TAKES_PREFILL,
        quirks=("databricks-reasoning-summary",)),
    # Answers of Claude come without a stop.
    _row("snowflake", (".snowflakecomputing.com",),
        "pydantic-ai-slim 2.68.0, pydantic_ai/models/snowflake.py 2026-11-21",
        prefill_models=CLAUDE_TAKES_PREFILL,
        quirks=("q19-done-without-stop", "q29-empty-text-stream")),
    _row("nvidia-nim", ("integrate.api.nvidia.com",),
        "https://github.com/earendil-works/pi/issues/6225 2026-11-21",
        quirks=("q19-calls-without-stop",)),
    _row("gemini-chat", ("generativelanguage.googleapis.com",),
        "https://ai.google.dev/gemini-api/docs/openai 2026-11-21",
        stops=_GEMINI_STOPS,
        sends_stop=True,
        quirks=_GEMINI_QUIRKS),
    _row("gemini-vertex-chat", (".googleapis.com",),
        "https://ai.google.dev/gemini-api/docs/openai 2026-11-21",
        stops=_GEMINI_STOPS,
        sends_stop=True,
        quirks=_GEMINI_QUIRKS),
    # --- self-hosted servers
    # Nothing identifies these two; `register_provider` with `like="vllm"` does.
    _row("vllm", (),
        "https://github.com/vllm-project/vllm/blob/main/vllm/v1/engine/__init__.py 2026-11-21; "
        "https://docs.vllm.ai/en/stable/features/reasoning_outputs/ 2026-11-23",
        prefill=True,
        prefill_members=_GENERATION,
        reasoning_prefill=True,
        reasoning_members=(_NO_THINKING,),
        authorization="", stops=("abort", "error", "repetition"),
        sends_stop=True,
        quirks=("q02-calls-missing", "q22-error-vllm-old", "q30-abort", "q30-repetition",
                "q45-stop-at-the-limit", "q47-stop-string-included", "vllm-stop-string")),
    # Without the first member, a trailing assistant message becomes a user message.
    _row("sglang", (),
        "sglang 0.5.23, sglang/srt/entrypoints/openai/protocol.py 2026-11-21; https://github.com/"
        "sgl-project/sglang/pull/17065 2026-11-23",
        prefill=True, prefill_members=_GENERATION[:1], reasoning_prefill=True,
        reasoning_members=(_NO_THINKING,),
        authorization="", stops=("abort",),
        sends_stop=True,
        quirks=("q06-all-index-zero-stream", "q15-text-after-stop", "q30-abort",
                "sglang-matched-token")),
    # A trailing assistant message is continued by default (`--prefill-assistant`), and always if
    # the request says so; otherwise a server with that option off begins anew. With `content`,
    # the message's thoughts are closed and the answer begins after them.
    _row("llama.cpp", (),
        "https://github.com/ggml-org/llama.cpp/tree/master/tools/server 2026-11-21; https://"
        "github.com/ggml-org/llama.cpp/pull/23089 2026-11-23",
        prefill=True,
        prefill_members=_GENERATION,
        reasoning_prefill=True,
        reasoning_members=(("continue_final_message", "content"), _NO_THINKING),
        reasoning_echoed=True, reasoning_key="reasoning_content", server="llama.cpp",
        authorization="",
        sends_stop=True,
        quirks=("q03-length-with-whole-call-stream", "q22-error-line-llama-cpp",
                "q35-400-llama-cpp-context", "q48-character-cut-at-limit")),
    _row("lm-studio", ("localhost:1234", "127.0.0.1:1234"),
        "https://lmstudio.ai/docs/developer/openai-compat 2026-11-21", authorization="",
        sends_stop=True,
        quirks=("q01-stop-with-calls",)),
    _row("ollama-chat", ("localhost:11434", "127.0.0.1:11434", "ollama.com"),
        "https://github.com/ollama/ollama/blob/main/openai/openai.go 2026-11-21", authorization="",
        sends_stop=True,
        quirks=("q19-done-without-stop", "q28-call-as-text")),
)  # fmt: skip
