"""LangGraph: a graph of a model and its tools with a checkpointer, over `ChatOpenAI`."""

from typing import Any

from framework_judge import Answer, Given
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

THREAD: Any = {"configurable": {"thread_id": "1"}}


class Driver:
    distribution = "langgraph"
    wire = "openai-chat"
    library = "httpx2"
    ways = ("sync", "async")

    def __init__(self, given: Given) -> None:
        own = "http_async_client" if given.way == "async" else "http_client"
        model: Any = ChatOpenAI(
            model="sim",
            base_url=given.base_url,
            api_key="key",
            streaming=given.stream,
            extra_body=given.body or None,
            **{own: given.http},
        )
        if given.tools:
            model = model.bind_tools(given.tools)

        def call(state: MessagesState) -> Any:
            return {"messages": [model.invoke(state["messages"])]}

        async def call_async(state: MessagesState) -> Any:
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("model", call_async if given.way == "async" else call)
        graph.add_edge(START, "model")
        if given.tools:
            graph.add_node("tools", ToolNode(given.tools))
            graph.add_conditional_edges("model", tools_condition)
            graph.add_edge("tools", "model")
        self.graph = graph.compile(checkpointer=InMemorySaver())

    def ask(self, prompt: str) -> Answer:
        for _ in self.graph.stream(_asked(prompt), THREAD, stream_mode="messages"):
            pass
        return self._answer()

    async def ask_async(self, prompt: str) -> Answer:
        async for _ in self.graph.astream(_asked(prompt), THREAD, stream_mode="messages"):
            pass
        return self._answer()

    def _answer(self) -> Answer:
        last = self.graph.get_state(THREAD).values["messages"][-1]
        said = str(last.text) + str(last.additional_kwargs.get("refusal") or "")
        return Answer(said, last.response_metadata.get("finish_reason"))


def _asked(prompt: str) -> Any:
    return {"messages": [{"role": "user", "content": prompt}]}
