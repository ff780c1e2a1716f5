"""smolagents: a `ToolCallingAgent` over `OpenAIModel`. It is sync only, and answers by a call."""

import inspect
import io
from collections.abc import Callable
from typing import Any

from framework_judge import Answer, Given
from rich.console import Console
from smolagents import AgentLogger, LogLevel, OpenAIModel, Tool, ToolCallingAgent

MOST_STEPS = 6
"""Few enough that the agent gives up before the judge does: a step is up to four requests with
Tenuto, and the default is 20 steps."""


class Driver:
    distribution = "smolagents"
    wire = "openai-chat"
    library = "httpx2"
    ways = ("sync",)
    recipe = "stop"
    """Its loop repeats an unfinished step by itself; an error would end the run."""

    def __init__(self, given: Given) -> None:
        model = OpenAIModel(
            "sim",
            api_base=given.base_url,
            api_key="key",
            client_kwargs={"http_client": given.http, "max_retries": 0},
            retry=False,
            **given.body,
        )
        self.agent = ToolCallingAgent(
            [_Function(tool) for tool in given.tools],
            model,
            max_steps=MOST_STEPS,
            stream_outputs=given.stream,
            logger=AgentLogger(LogLevel.OFF, Console(file=io.StringIO())),
        )

    def ask(self, prompt: str) -> Answer:
        run: Any = self.agent.run(prompt, reset=False, return_full_result=True)
        return Answer(str(run.output), None if run.state == "success" else run.state)


class _Function(Tool):  # type: ignore[misc]
    """A function of strings as a tool. `smolagents.tool` wants each argument described."""

    output_type = "string"
    skip_forward_signature_validation = True

    def __init__(self, function: Callable[..., str]) -> None:
        self.name = function.__name__
        self.description = inspect.getdoc(function)
        names = inspect.signature(function).parameters
        self.inputs = {name: {"type": "string", "description": name} for name in names}
        self.forward = function
        super().__init__()
