"""OpenAI Chat Completions."""

from tenuto.sim.openai_chat.wire import IN_DIALECTS, WIRE

__all__ = ["IN_DIALECTS", "WIRE"]
