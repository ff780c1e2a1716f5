"""LiteLLM with a model of Anthropic: another path to the network, which has no setting for a client."""

from typing import Any, ClassVar

from drive_litellm import Driver as OnChat


class Driver(OnChat):
    wire = "anthropic-messages"
    provider = "anthropic"
    # Of a model that it does not know LiteLLM asks for more than any takes.
    defaults: ClassVar[dict[str, Any]] = {"max_tokens": 4_096}
