"""LiteLLM with a model of Anthropic: another path to the network, which has no setting for a client."""

from drive_litellm import Driver as OnChat


class Driver(OnChat):
    wire = "anthropic-messages"
    provider = "anthropic"
