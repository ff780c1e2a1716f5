"""Cohere's Chat of version 2."""

from tenuto.sim.cohere.wire import WIRE

__all__ = ["WIRE"]
