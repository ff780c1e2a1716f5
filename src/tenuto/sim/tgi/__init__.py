"""Text Generation Inference's own API, as the simulator speaks it."""

from tenuto.sim.tgi.wire import ELSEWHERE, WIRE

__all__ = ["ELSEWHERE", "WIRE"]
