"""Asking a simulator through a wrapped client of boto3."""

from __future__ import annotations

from support.asking.bedrock_converse import BedrockAsker
from support.asking.wrapping import Watching


class WrappedBedrock(Watching, BedrockAsker):
    """Asks through `tenuto.wrap`."""
