"""The fixtures of the simulator's tests."""

from sim.conftest import *  # noqa: F403
