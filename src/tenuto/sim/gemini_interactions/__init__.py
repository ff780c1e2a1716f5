"""Gemini's Interactions API."""

from tenuto.sim.gemini_interactions.wire import WIRE

__all__ = ["WIRE"]
