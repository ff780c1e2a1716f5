"""LangChain: `create_agent` over `ChatOpenAI`, which takes a client for each way."""

from typing import Any

from framework_judge import Answer, Given
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI


class Driver:
    distribution = "langchain"
    wire = "openai-chat"
    library = "httpx2"
    ways = ("sync", "async")

    def __init__(self, given: Given) -> None:
        own = "http_async_client" if given.way == "async" else "http_client"
        model = ChatOpenAI(
            model="sim",
            base_url=given.base_url,
            api_key="key",
            streaming=given.stream,
            extra_body=given.body or None,
            **{own: given.http},
        )
        self.agent = create_agent(model, given.tools)
        self.messages: Any = []

    def ask(self, prompt: str) -> Answer:
        for kind, seen in self.agent.stream(
            self._asked(prompt), stream_mode=["messages", "values"]
        ):
            self._keep(kind, seen)
        return self._answer()

    async def ask_async(self, prompt: str) -> Answer:
        asked = self._asked(prompt)
        async for kind, seen in self.agent.astream(asked, stream_mode=["messages", "values"]):
            self._keep(kind, seen)
        return self._answer()

    def _asked(self, prompt: str) -> Any:
        return {"messages": [*self.messages, {"role": "user", "content": prompt}]}

    def _keep(self, kind: str, seen: Any) -> None:
        if kind == "values":
            self.messages = seen["messages"]

    def _answer(self) -> Answer:
        last = self.messages[-1]
        said = str(last.text) + str(last.additional_kwargs.get("refusal") or "")
        return Answer(said, last.response_metadata.get("finish_reason"))
