"""The google-genai SDK by itself, in a loop of our own instead of its automatic function calling."""

from typing import Any

from framework_judge import Answer, Given, fault_of
from google import genai
from google.genai import types
from loop import SdkLoop


class Driver(SdkLoop):
    distribution = "google-genai"
    wire = "gemini-generate"
    library = "httpx2"

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        client = "httpx_async_client" if given.way == "async" else "httpx_client"
        options: Any = {"base_url": given.base_url.removesuffix("/v1"), client: given.http}
        self.client = genai.Client(api_key="key", http_options=types.HttpOptions(**options))

    def tools(self, schemas: list[dict[str, Any]]) -> Any:
        declared = [
            types.FunctionDeclaration(
                name=function["name"],
                description=function["description"],
                parameters_json_schema=function["parameters"],
            )
            for function in (each["function"] for each in schemas)
        ]
        return [types.Tool(function_declarations=declared)]

    def request(self) -> dict[str, Any]:
        contents = [
            types.UserContent(row["content"]) if isinstance(row, dict) else row
            for row in self.talk.messages
        ]
        config = types.GenerateContentConfig(
            http_options=types.HttpOptions(headers=fault_of(self.given)),
            tools=self.options.get("tools"),
            **self.given.body,
        )
        return {"model": "gemini-3.6-flash", "contents": contents, "config": config}

    def send(self) -> Any:
        if not self.given.stream:
            return [self.client.models.generate_content(**self.request())]
        return list(self.client.models.generate_content_stream(**self.request()))

    async def send_async(self) -> Any:
        models = self.client.aio.models
        if not self.given.stream:
            return [await models.generate_content(**self.request())]
        return [chunk async for chunk in await models.generate_content_stream(**self.request())]

    def keep(self, made: Any) -> bool:
        parts = _parts(made)
        self.talk.messages.append(types.ModelContent(parts))
        results = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=call.id,
                    name=call.name,
                    response={"result": self.talk.call(call.name, call.args or {})},
                )
            )
            for call in (part.function_call for part in parts)
            if call
        ]
        if results:
            self.talk.messages.append(types.UserContent(results))
        return bool(results)

    def answer(self, made: Any) -> Answer:
        text = "".join(part.text for part in _parts(made) if part.text and not part.thought)
        return Answer(text, _stop(made))


def _parts(made: Any) -> list[Any]:
    """The parts of a body or of all chunks of a stream, as they came: some carry a signature."""
    candidates = [chunk.candidates[0] for chunk in made if chunk.candidates]
    return [part for each in candidates if each.content for part in each.content.parts or []]


def _stop(made: Any) -> str | None:
    """The stop, or why the prompt was blocked; "stop" is the clean one of other wires."""
    blocked = [chunk.prompt_feedback.block_reason for chunk in made if chunk.prompt_feedback]
    stops = [c.candidates[0].finish_reason for c in made if c.candidates]
    named = next((stop.value for stop in [*blocked, *reversed(stops)] if stop), None)
    return "stop" if named == "STOP" else named
