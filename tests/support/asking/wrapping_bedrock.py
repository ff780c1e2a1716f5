"""Asking a simulator through a wrapped client of boto3."""

from __future__ import annotations

from asking_bedrock import BedrockAsker
from wrapping import Watching


class WrappedBedrock(Watching, BedrockAsker):
    """Asks through `tenuto.wrap`."""
