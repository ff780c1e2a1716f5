"""Semantic Kernel: `ChatCompletionAgent` over `OpenAIChatCompletion` with an SDK client."""

from typing import Any

from framework_judge import Answer, Given
from sdk_driver import SdkDriver
from semantic_kernel.agents import ChatCompletionAgent, ChatHistoryAgentThread
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.connectors.ai.open_ai import OpenAIChatPromptExecutionSettings as Settings
from semantic_kernel.functions import KernelArguments, kernel_function


class Driver(SdkDriver):
    distribution = "semantic-kernel"

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        service = OpenAIChatCompletion(ai_model_id="sim", async_client=self.client)
        settings = Settings(extra_body=dict(given.body) or None)
        plugin: Any = type("Tools", (), {})()
        for each in given.tools:
            setattr(plugin, each.__name__, kernel_function(each))
        choice = FunctionChoiceBehavior.Auto(maximum_auto_invoke_attempts=40)
        self.agent = ChatCompletionAgent(
            service=service,
            name="guide",
            plugins=[plugin] if given.tools else None,
            function_choice_behavior=choice,
            arguments=KernelArguments(settings=settings),
        )
        self.thread: Any = ChatHistoryAgentThread()

    async def ask_async(self, prompt: str) -> Answer:
        if not self.stream:
            made: Any = await self.agent.get_response(messages=prompt, thread=self.thread)
            self.thread = made.thread
            stop = getattr(made.message.finish_reason, "value", made.message.finish_reason)
            return Answer(str(made), stop)
        stop = None
        texts: list[str] = []

        async def called(_: Any) -> None:
            texts.clear()  # what was said before a call

        streamed = self.agent.invoke_stream(
            messages=prompt, thread=self.thread, on_intermediate_message=called
        )
        async for piece in streamed:
            self.thread = piece.thread
            texts.append(str(piece))
            reason: Any = getattr(piece.message, "finish_reason", None)
            stop = getattr(reason, "value", reason) or stop
        return Answer("".join(texts), stop)
