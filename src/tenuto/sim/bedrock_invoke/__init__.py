"""Bedrock's InvokeModel, in the shape of OpenAI's chat and in that of Nova's messages, as the
simulator speaks it."""

from tenuto.sim.bedrock_invoke.nova import NOVA
from tenuto.sim.bedrock_invoke.wire import WIRE

__all__ = ["NOVA", "WIRE"]
