"""The wires that one simulator serves, by name and by path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tenuto.sim import anthropic_messages, openai_chat
from tenuto.sim.wire import Wire

WIRES: Final[Mapping[str, Wire]] = {
    wire.name: wire for wire in (openai_chat.WIRE, anthropic_messages.WIRE)
}
BY_PATH: Final[Mapping[str, Wire]] = {wire.path: wire for wire in WIRES.values()}
