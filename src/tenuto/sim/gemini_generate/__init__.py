"""Gemini generateContent."""

from tenuto.sim.gemini_generate.wire import WIRE

__all__ = ["WIRE"]
