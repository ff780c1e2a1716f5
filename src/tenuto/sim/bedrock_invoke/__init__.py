"""Bedrock's InvokeModel with bodies in the shape of OpenAI's chat, as the simulator speaks it."""

from tenuto.sim.bedrock_invoke.wire import WIRE

__all__ = ["WIRE"]
