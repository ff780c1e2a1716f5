"""Those who have an API of their own. Some of them are read, and no more."""

from __future__ import annotations

from dataclasses import replace

from tenuto.providers.models import QWEN_MAY_NOT_THINK
from tenuto.providers.provider import Provider
from tenuto.wires.base import Dialect

_TGI = Dialect(prefill=True, output_key="parameters.max_new_tokens")

TGI_UNKNOWN = Provider(_TGI, "tgi", sends_stop=True)
"""Who is behind a host that no row names. A prompt is the beginning of what the model writes.
The last event of a stream holds the whole text, whoever runs the server."""

DASHSCOPE = Dialect(
    "dashscope",
    prefill_models=QWEN_MAY_NOT_THINK,
    prefill_row=(("partial", True),),
    prefill_members=(("enable_thinking", False),),
)

NATIVE: tuple[Provider, ...] = (
    Provider(
        replace(_TGI, name="tgi"),
        "tgi",
        sends_stop=True,
        hosts=(
            ".endpoints.huggingface.cloud",
            "router.huggingface.co/hf-inference",
            "api-inference.huggingface.co",
        ),
        quirks=("n1a-no-details", "n1a-no-details-stream", "q22-error-event-stream"),
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
