"""Ollama's `/api/chat`, as the simulator speaks it."""

from tenuto.sim.ollama.wire import WIRE

__all__ = ["WIRE"]
