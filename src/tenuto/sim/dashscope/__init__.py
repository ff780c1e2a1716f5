"""DashScope's own API for Qwen's models."""

from tenuto.sim.dashscope.wire import WIRE

__all__ = ["WIRE"]
