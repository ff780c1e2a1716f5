"""Cohere's chat of version 1, as the simulator speaks it."""

from tenuto.sim.cohere_v1.wire import WIRE

__all__ = ["WIRE"]
