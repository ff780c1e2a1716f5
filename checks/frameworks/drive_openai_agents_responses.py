"""openai-agents as it is by default: `Runner` over `OpenAIResponsesModel`."""

from agents import OpenAIResponsesModel
from drive_openai_agents import Driver as OnChat


class Driver(OnChat):
    wire = "openai-responses"
    model = OpenAIResponsesModel
