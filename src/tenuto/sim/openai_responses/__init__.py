"""OpenAI Responses."""

from tenuto.sim.openai_responses.wire import WIRE

__all__ = ["WIRE"]
