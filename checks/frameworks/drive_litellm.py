"""LiteLLM: `completion` with `tenuto.litellm.install()`, in a loop of our own, since it has none."""

from typing import Any, ClassVar

import litellm
import paths_litellm
from framework_judge import Answer, Given, fault_of
from loop import Conversation, schemas

import tenuto.litellm

litellm.suppress_debug_info = True
litellm.num_retries = 0


class Driver:
    distribution = "litellm"
    wire = "openai-chat"
    library = "httpx"
    ways = ("sync", "async")
    provider = "openai"
    defaults: ClassVar[dict[str, Any]] = {}

    installed: Any = None
    fails = staticmethod(paths_litellm.fails)

    def __init__(self, given: Given) -> None:
        # A client for each case, as the others are given one; what was learned goes with it.
        if given.policy is not None and Driver.installed is not given.http:
            tenuto.litellm.install(policy=given.policy)
            Driver.installed = given.http
        self.given = given
        self.talk = Conversation(given.tools)
        tools = {"tools": schemas(given.tools)} if given.tools else {}
        self.options = self.defaults | {
            "model": f"{self.provider}/sim",
            "api_base": given.base_url.removesuffix("/v1")
            + ("/v1" if self.provider == "openai" else ""),
            "api_key": "key",
            "max_retries": 0,
            **tools,
            **given.body,
        }

    def _request(self) -> dict[str, Any]:
        given = {"messages": self.talk.messages, "stream": self.given.stream}
        return self.options | given | {"extra_headers": fault_of(self.given)}

    def ask(self, prompt: str) -> Answer:
        for _ in self.talk.ask(prompt):
            made: Any = litellm.completion(**self._request())
            if self.given.stream:
                made = litellm.stream_chunk_builder(list(made), messages=self.talk.messages)
            if not self.talk.run(made.choices[0].message):
                return _answer(made)
        raise self.talk.never_ends()

    async def ask_async(self, prompt: str) -> Answer:
        for _ in self.talk.ask(prompt):
            made: Any = await litellm.acompletion(**self._request())
            if self.given.stream:
                chunks = [chunk async for chunk in made]
                made = litellm.stream_chunk_builder(chunks, messages=self.talk.messages)
            if not self.talk.run(made.choices[0].message):
                return _answer(made)
        raise self.talk.never_ends()


def _answer(made: Any) -> Answer:
    message = made.choices[0].message
    said = (message.content or "") + str(getattr(message, "refusal", None) or "")
    return Answer(said, made.choices[0].finish_reason)
