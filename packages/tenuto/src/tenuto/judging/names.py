"""The names under which rows and requests keep the stop, the tokens, the limit and the model."""

from __future__ import annotations

from typing import Final

from tenuto.wires.stops import STOP_NAMES

STOPS: Final = (*STOP_NAMES, "finish_reasons", "raw_finish_reason")

LIMITS: Final = (
    "max_completion_tokens", "max_tokens", "max_output_tokens", "maxOutputTokens", "max_new_tokens",
    "maxTokens", "maxCompletionTokens", "max_gen_toks", "max_tokens_to_sample", "num_predict",
    "maxTokenCount", "n_predict",
)  # fmt: skip
"""What requests call their limit. The first one goes before the second, as at OpenAI."""

TOKENS: Final = (
    "completion_tokens", "output_tokens", "num_generated_tokens", "num_output_tokens",
    "generated_tokens", "completionTokens", "outputTokens", "candidates_token_count",
    "candidatesTokenCount", "tokens_predicted",
    "n_output_tokens", "output_token_count", "tokens_out",
)  # fmt: skip
USAGES: Final = ("usage", "token_usage", "usage_metadata", "usageMetadata", "tokenUsage")
"""Where the tokens may stand, too."""

SETTINGS: Final = (
    "sampling_params", "generation_params", "generation_config", "generationConfig",
    "inferenceConfig", "textGenerationConfig", "options", "config", "parameters", "params",
    "model_parameters", "optional_params", "model_kwargs", "gen_kwargs",
    "generation_settings", "request_params", "generation_kwargs", "gen_params",
)  # fmt: skip
"""Where the limit may stand, too. Requests of several APIs keep it there."""

HOLDERS: Final = (
    "metadata", "meta", "extra", "response_metadata", "generation_info", "details", "meta_info",
)  # fmt: skip
"""Where any of them may stand, too."""

MODELS: Final = ("model", "model_name", "model_id", "modelId", "modelVersion", "model_version")

IDS: Final = ("custom_id", "id", "request_id", "uuid", "uid", "task_id")
