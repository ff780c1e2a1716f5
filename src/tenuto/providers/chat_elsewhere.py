"""Those who speak OpenAI's Chat Completions, one row each: clouds, and servers of one's own."""

from __future__ import annotations

from tenuto.providers.models import CLAUDE_TAKES_PREFILL
from tenuto.providers.provider import Provider
from tenuto.wires.base import Dialect

_WIRE = "openai-chat"

_GEMINI_STOPS = (
    "function_call_filter: MALFORMED_FUNCTION_CALL",
    "content_filter: OTHER",
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
)
_GEMINI_QUIRKS = (
    "q06-no-index-stream",
    "q14-text-and-stop-in-one-chunk",
    "q30-function-call-filter-malformed-function-call",
)

CHAT_CLOUDS: tuple[Provider, ...] = (
    Provider(
        Dialect("github-models"),
        _WIRE,
        hosts=("models.github.ai", "models.inference.ai.azure.com"),
        source="azure-ai-inference 1.0.0b9, azure/ai/inference/models/_enums.py 2026-11-21",
    ),
    Provider(
        Dialect("azure-inference"),
        _WIRE,
        hosts=(".inference.ai.azure.com", ".models.ai.azure.com"),
        authorization="api-key",
        source="azure-ai-inference 1.0.0b9, azure/ai/inference/models/_enums.py 2026-11-21",
    ),
    Provider(
        Dialect("huggingface"),
        _WIRE,
        hosts=("router.huggingface.co", ".endpoints.huggingface.cloud"),
        stops=("eos_token", "stop_sequence"),
        quirks=("q30-eos-token", "q30-stop-sequence"),
        source="huggingface_hub 1.33.0, "
        "huggingface_hub/inference/_generated/types/chat_completion.py 2026-11-21",
    ),
    Provider(
        # Its gateway; for the API of its own there is a row in `native`.
        Dialect("watsonx-chat"),
        _WIRE,
        hosts=(".ml.cloud.ibm.com",),
        stops=("time_limit", "cancelled", "error"),
        quirks=("q30-time-limit",),
        source="https://ibm.github.io/watsonx-ai-node-sdk 2026-11-21",
    ),
    Provider(
        Dialect("ai21"),
        _WIRE,
        hosts=("api.ai21.com",),
        source="ai21 4.3.0, ai21/models/chat/chat_completion_response.py 2026-11-21",
    ),
    Provider(
        Dialect("databricks", prefill_models=CLAUDE_TAKES_PREFILL),
        _WIRE,
        hosts=(".cloud.databricks.com", ".azuredatabricks.net", ".gcp.databricks.com"),
        quirks=("databricks-reasoning-summary",),
        source="the registry of litellm 1.106.2 2026-11-21; https://docs.databricks.com/aws/en/"
        "machine-learning/foundation-model-apis/api-reference 2026-11-22",
    ),
    Provider(
        # Answers of Claude come without a stop.
        Dialect("snowflake", prefill_models=CLAUDE_TAKES_PREFILL),
        _WIRE,
        hosts=(".snowflakecomputing.com",),
        quirks=("q19-done-without-stop", "q29-empty-text-stream"),
        source="pydantic-ai-slim 2.68.0, pydantic_ai/models/snowflake.py 2026-11-21",
    ),
    Provider(
        Dialect("nvidia-nim"),
        _WIRE,
        hosts=("integrate.api.nvidia.com",),
        quirks=("q19-calls-without-stop",),
        source="https://github.com/earendil-works/pi/issues/6225 2026-11-21",
    ),
    Provider(
        Dialect("gemini-chat"),
        _WIRE,
        hosts=("generativelanguage.googleapis.com",),
        stops=_GEMINI_STOPS,
        quirks=_GEMINI_QUIRKS,
        source="https://ai.google.dev/gemini-api/docs/openai 2026-11-21",
    ),
    Provider(
        Dialect("gemini-vertex-chat"),
        _WIRE,
        hosts=(".googleapis.com",),
        stops=_GEMINI_STOPS,
        quirks=_GEMINI_QUIRKS,
        source="https://ai.google.dev/gemini-api/docs/openai 2026-11-21",
    ),
)

_GENERATION = (("continue_final_message", True), ("add_generation_prompt", False))
"""Chat templates go on in the last message instead of beginning another one."""
_NO_THINKING = ("chat_template_kwargs", {"enable_thinking": False, "thinking": False})
"""Templates call it by either name, and leave alone what they do not know."""

CHAT_SERVERS: tuple[Provider, ...] = (
    # Of these two nothing tells that they answer: `tenuto.register(…, like="vllm")` says so.
    Provider(
        Dialect(
            "vllm",
            prefill=True,
            prefill_members=_GENERATION,
            reasoning_prefill=True,
            reasoning_members=(_NO_THINKING,),
        ),
        _WIRE,
        authorization="",
        stops=("abort", "error", "repetition"),
        quirks=(
            "q02-calls-missing",
            "q22-error-vllm-old",
            "q30-abort",
            "q30-repetition",
            "q45-stop-at-the-limit",
            "q47-stop-string-included",
            "vllm-stop-string",
        ),
        source="https://github.com/vllm-project/vllm/blob/main/vllm/v1/engine/__init__.py "
        "2026-11-21; https://docs.vllm.ai/en/stable/features/reasoning_outputs/ 2026-11-23",
    ),
    Provider(
        # Without the first member a trailing assistant message becomes one of the user's.
        Dialect(
            "sglang",
            prefill=True,
            prefill_members=_GENERATION[:1],
            reasoning_prefill=True,
            reasoning_members=(_NO_THINKING,),
        ),
        _WIRE,
        authorization="",
        stops=("abort",),
        quirks=(
            "q06-all-index-zero-stream",
            "q15-text-after-stop",
            "q30-abort",
            "sglang-matched-token",
        ),
        source="sglang 0.5.23, sglang/srt/entrypoints/openai/protocol.py 2026-11-21; "
        "https://github.com/sgl-project/sglang/pull/17065 2026-11-23",
    ),
    Provider(
        # A trailing assistant message is continued by default (`--prefill-assistant`), and in every
        # case where the request says so; without that a server that has it off begins anew. Where
        # it says `content`, thoughts of the message are closed and the answer begins behind them.
        Dialect(
            "llama.cpp",
            prefill=True,
            prefill_members=_GENERATION,
            reasoning_prefill=True,
            reasoning_members=(("continue_final_message", "content"), _NO_THINKING),
            reasoning_echoed=True,
            reasoning_key="reasoning_content",
        ),
        _WIRE,
        server="llama.cpp",
        authorization="",
        quirks=(
            "q03-length-with-whole-call-stream",
            "q22-error-line-llama-cpp",
            "q35-400-llama-cpp-context",
            "q48-character-cut-at-limit",
        ),
        source="https://github.com/ggml-org/llama.cpp/tree/master/tools/server 2026-11-21; "
        "https://github.com/ggml-org/llama.cpp/pull/23089 2026-11-23",
    ),
    Provider(
        Dialect("lm-studio"),
        _WIRE,
        hosts=("localhost:1234", "127.0.0.1:1234"),
        authorization="",
        quirks=("q01-stop-with-calls",),
        source="https://lmstudio.ai/docs/developer/openai-compat 2026-11-21",
    ),
    Provider(
        Dialect("ollama-chat"),
        _WIRE,
        hosts=("localhost:11434", "127.0.0.1:11434", "ollama.com"),
        authorization="",
        quirks=("q19-done-without-stop", "q28-call-as-text"),
        source="https://github.com/ollama/ollama/blob/main/openai/openai.go 2026-11-21",
    ),
)
