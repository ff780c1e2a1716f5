"""Amazon Bedrock Converse, as the simulator speaks it."""

from tenuto.sim.bedrock_converse.wire import WIRE

__all__ = ["WIRE"]
