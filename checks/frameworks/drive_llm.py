"""llm: a conversation that chains, with models whose `get_client` gives out a wrapped client."""

import atexit
import os
import shutil
import tempfile
from typing import Any

os.environ["LLM_USER_PATH"] = tempfile.mkdtemp()  # where llm looks for keys and models

from framework_judge import MOST_REQUESTS, Answer, Given, fault_of
from llm.default_plugins import openai_models

import tenuto

atexit.register(shutil.rmtree, os.environ["LLM_USER_PATH"], ignore_errors=True)


class Driver:
    distribution = "llm"
    wire = "openai-chat"
    library = "httpx2"
    ways = ("sync", "async")

    def __init__(self, given: Given) -> None:
        self.given = given
        kind: Any = openai_models.AsyncChat if given.way == "async" else openai_models.Chat
        self.model = kind("sim", api_base=given.base_url, supports_tools=True, headers={})
        self.model.needs_key = None
        made = self.model.get_client

        def get_client(*args: Any, **options: Any) -> Any:
            given.count()
            client = made(*args, **options).with_options(max_retries=0)
            return client if given.policy is None else tenuto.wrap(client, policy=given.policy)

        self.model.get_client = get_client
        self.talk = self.model.conversation(tools=given.tools, chain_limit=MOST_REQUESTS)
        form = given.body.get("response_format")
        self.options = {key: given.body[key] for key in given.body if key != "response_format"}
        self.options |= {"json_object": True} if form else {}

    def _chain(self, prompt: str) -> Any:
        self.model.headers = fault_of(self.given)
        return self.talk.chain(prompt, stream=self.given.stream, options=self.options)

    def ask(self, prompt: str) -> Answer:
        *_, last = self._chain(prompt).responses()
        return Answer(last.text())

    async def ask_async(self, prompt: str) -> Answer:
        responses = [each async for each in self._chain(prompt).responses()]
        return Answer(await responses[-1].text())
