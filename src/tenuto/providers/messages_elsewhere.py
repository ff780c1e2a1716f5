"""Who else speaks Anthropic's Messages.

Makers of other models answer at such an address so that agents made for Claude take theirs. They
sign no thinking, and want it back in a history as it came."""

from __future__ import annotations

from tenuto.providers.models import CLAUDE_TAKES_PREFILL
from tenuto.providers.provider import Provider
from tenuto.wires.base import Dialect

_WIRE = "anthropic-messages"

MESSAGES_ELSEWHERE: tuple[Provider, ...] = (
    Provider(
        Dialect("deepseek-anthropic", signed_thinking=False),
        _WIRE,
        hosts=("api.deepseek.com",),
        authorization="x-api-key",
        source="https://api-docs.deepseek.com/guides/anthropic_api 2026-11-22",
    ),
    Provider(
        Dialect("moonshot-anthropic", signed_thinking=False),
        _WIRE,
        hosts=("api.moonshot.ai", "api.moonshot.cn"),
        authorization="x-api-key",
        source="https://platform.kimi.ai/docs 2026-11-21",
    ),
    Provider(
        Dialect("minimax-anthropic", signed_thinking=False),
        _WIRE,
        hosts=("api.minimax.io", "api.minimaxi.com"),
        authorization="x-api-key",
        source="https://platform.minimax.io/docs/api-reference/text-anthropic-api 2026-11-22",
    ),
    Provider(
        Dialect("zai-anthropic", signed_thinking=False),
        _WIRE,
        hosts=("api.z.ai", "open.bigmodel.cn"),
        authorization="x-api-key",
        source="https://docs.rs/rig-core/0.40.0/src/rig_core/providers/zai.rs.html 2026-11-22",
    ),
    Provider(
        Dialect("fireworks-anthropic", signed_thinking=False),
        _WIRE,
        hosts=("api.fireworks.ai",),
        authorization="x-api-key",
        source="https://docs.fireworks.ai/tools-sdks/anthropic-compatibility 2026-11-22",
    ),
    Provider(
        Dialect("ollama-anthropic", signed_thinking=False),
        _WIRE,
        hosts=("localhost:11434", "127.0.0.1:11434", "ollama.com"),
        authorization="",
        quirks=("q04-ollama-cut-call-called-tool-use-stream",),
        source="https://github.com/ollama/ollama/blob/main/anthropic/anthropic.go 2026-11-22",
    ),
    Provider(  # Claude, and others by its format
        Dialect("openrouter-anthropic", prefill_models=CLAUDE_TAKES_PREFILL),
        _WIRE,
        hosts=("openrouter.ai",),
        source="https://openrouter.ai/docs/api/reference 2026-11-22",
    ),
    Provider(
        Dialect("databricks-anthropic", prefill_models=CLAUDE_TAKES_PREFILL),
        _WIRE,
        hosts=(".cloud.databricks.com", ".azuredatabricks.net", ".gcp.databricks.com"),
        source="https://docs.databricks.com/gcp/ja/machine-learning/model-serving/"
        "query-anthropic-messages 2026-11-22",
    ),
)
