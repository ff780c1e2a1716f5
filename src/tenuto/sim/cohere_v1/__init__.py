"""Cohere's chat of version 1, as the simulator speaks it."""
