"""OpenAI Chat Completions."""

from tenuto.sim.openai_chat.wire import WIRE

__all__ = ["WIRE"]
