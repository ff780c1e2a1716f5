"""Those with an API of their own; of most, answers are read, and no more:
`tenuto.detect(…, wire="tgi")`."""

from __future__ import annotations

from tenuto.providers.models import QWEN_MAY_NOT_THINK
from tenuto.providers.provider import Provider
from tenuto.wire.base import Dialect

DASHSCOPE = Dialect(
    "dashscope",
    prefill_models=QWEN_MAY_NOT_THINK,
    prefill_row=(("partial", True),),
    prefill_members=(("enable_thinking", False),),
)

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
        DASHSCOPE,
        "dashscope",
        hosts=(
            "dashscope.aliyuncs.com",
            "dashscope-intl.aliyuncs.com",
            "dashscope-us.aliyuncs.com",
        ),
        quirks=(
            "all-so-far-stream",
            "q22-error-event-stream",
            "q29-null-as-text",
            "q34-400-filter",
        ),
        source="https://help.aliyun.com/zh/model-studio/qwen-api-via-dashscope; "
        "https://help.aliyun.com/zh/model-studio/partial-mode 2026-11-22",
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
