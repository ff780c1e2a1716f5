"""Streams that are read in lockstep with the simulator, by wire."""
