"""Anthropic Messages."""

from tenuto.sim.anthropic_messages.wire import WIRE

__all__ = ["WIRE"]
