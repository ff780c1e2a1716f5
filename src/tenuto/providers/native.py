"""Those who have an API of their own. Most of them are read, and no more."""

from __future__ import annotations

from tenuto.providers.provider import Provider
from tenuto.wire.base import Dialect

NATIVE: tuple[Provider, ...] = (
    Provider(
        Dialect("tgi"),
        "tgi",
        authorization="",
        quirks=("n1a-no-details", "q22-error-event-stream"),
        source="huggingface_hub 2.4.0, "
        "huggingface_hub/inference/_generated/types/text_generation.py 2026-11-22",
    ),
    Provider(
        Dialect("dashscope"),
        "dashscope",
        hosts=(
            "dashscope.aliyuncs.com",
            "dashscope-intl.aliyuncs.com",
            "dashscope-us.aliyuncs.com",
        ),
        quirks=("q22-error-event-stream", "q29-null-as-text", "q34-400-filter"),
        source="https://help.aliyun.com/zh/model-studio/qwen-api-via-dashscope 2026-11-22",
    ),
    Provider(
        Dialect("watsonx", output_key="max_completion_tokens"),
        "watsonx",
        hosts=(".ml.cloud.ibm.com",),
        quirks=("generated-stream", "length-stream", "time-limit"),
        source="https://cloud.ibm.com/apidocs/watsonx-ai#text-chat 2026-11-22",
    ),
    Provider(
        Dialect("lm-studio-native"),
        "lm-studio",
        authorization="",
        source="https://lmstudio.ai/docs/typescript/api-reference/llm-prediction-stats 2026-11-22",
    ),
    Provider(
        Dialect("xai-native"),
        "xai",
        hosts=("api.x.ai",),
        quirks=("q31-not-finished",),
        source="xai-sdk, xai_sdk/proto/v6/sample_pb2.pyi 2026-11-22",
    ),
)
