"""Mistral's chat."""

from tenuto.sim.mistral.wire import WIRE

__all__ = ["WIRE"]
