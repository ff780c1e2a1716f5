"""Ollama's `/api/chat` and `/api/generate`, as the simulator speaks them."""

from tenuto.sim.ollama.wire import GENERATE, WIRE

__all__ = ["GENERATE", "WIRE"]
