"""The simulated wires of this package. They share no code with its wires."""

from examples.wires.tests.simulated import watsonx
from examples.wires.tests.simulated.cohere_v1 import wire as cohere_v1
from examples.wires.tests.simulated.dashscope import wire as dashscope
from tenuto_sim.cases import add_wire
from tenuto_sim.openai_chat.wire import IN_DIALECTS


def serve() -> None:
    """Let all simulators of this process serve them."""
    if "watsonx" not in IN_DIALECTS:
        IN_DIALECTS["watsonx"] = watsonx.WATSONX
        add_wire(cohere_v1.WIRE)
        add_wire(dashscope.WIRE)
