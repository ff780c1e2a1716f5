"""The fixtures of all tests of this repository."""

from conftest import *  # noqa: F403
