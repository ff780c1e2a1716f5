"""Google ADK: an `Agent` in a `Runner` over `Gemini`, which takes a client of the SDK."""

from typing import Any

import httpx
from framework_judge import Answer, Given, fault_of
from google import genai
from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import Gemini
from google.adk.runners import InMemoryRunner
from google.genai import types

import tenuto


class Driver:
    distribution = "google-adk"
    wire = "gemini-generate"
    library = "httpx"
    ways = ("async",)

    def __init__(self, given: Given) -> None:
        async def hook(request: httpx.Request) -> None:
            request.headers.update(fault_of(given))
            given.count()

        options: Any = types.HttpOptions(
            base_url=given.base_url.removesuffix("/v1"),
            async_client_args={"event_hooks": {"request": [hook]}},
        )
        client = genai.Client(api_key="key", http_options=options)
        if given.policy is not None:
            client = tenuto.wrap(client, policy=given.policy)
        body = dict(given.body)
        agent = Agent(
            name="guide",
            # It refuses a schema among the other settings.
            output_schema=body.pop("response_schema", None),
            model=Gemini(model="gemini-3.6-flash", client=client),
            tools=given.tools,
            generate_content_config=types.GenerateContentConfig(**body),
        )
        self.runner = InMemoryRunner(agent=agent, app_name="app")
        mode = StreamingMode.SSE if given.stream else StreamingMode.NONE
        self.config = RunConfig(streaming_mode=mode)
        self.session: Any = None

    async def ask_async(self, prompt: str) -> Answer:
        if self.session is None:
            made = await self.runner.session_service.create_session(app_name="app", user_id="one")
            self.session = made.id
        said = types.Content(role="user", parts=[types.Part(text=prompt)])
        last: Any = None
        streamed = self.runner.run_async(
            user_id="one", session_id=self.session, new_message=said, run_config=self.config
        )
        async for event in streamed:
            if not event.partial:
                last = event
        if last.error_code or last.error_message:  # it raises nothing of its own
            return Answer(_text(last), str(last.error_code))
        return Answer(_text(last), getattr(last.finish_reason, "value", None))


def _text(event: Any) -> str:
    parts = event.content.parts if event.content and event.content.parts else []
    return "".join(part.text for part in parts if part.text and not part.thought)
