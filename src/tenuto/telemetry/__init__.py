"""What an operator sees of turns: listeners for all turns of a process, and what listens."""

from tenuto.telemetry.listeners import add_listener, remove_listener

__all__ = ["add_listener", "remove_listener"]
