"""OpenAI's Completions, the one before Chat, as the simulator speaks it."""

from tenuto.sim.openai_completions.wire import WIRE

__all__ = ["WIRE"]
