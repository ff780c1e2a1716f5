"""How each wire is asked, and where its answers say what the checks look at.

Written from the providers' references and apart from `tenuto.wires`: a reader that was shared would
be wrong in the same places, and nothing would show it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

Json = dict[str, Any]

TOOL, TOOL_TELLS = "write_file", "Write a text file."
SCHEMA: Json = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
}
_FUNCTION: Json = {"name": TOOL, "description": TOOL_TELLS, "parameters": SCHEMA}
_TOOLS: list[Json] = [{"type": "function", "function": _FUNCTION}]
Members = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, in words of no wire.

    Attributes:
        model: the model's name.
        prompt: what the user says.
        limit_tokens: the output limit.
        limit_key: the key that the provider's row gives to that limit, where a wire has several.
        stream: whether the answer is to come as a stream.
        said: the beginning of the model's answer, "" for none.
        said_members: members that the row of this beginning carries as well.
        members: top-level members of the request beside the wire's own.
        stop: a stop sequence, "" for none.
        call: whether the tool must be called.
    """

    model: str
    prompt: str
    limit_tokens: int
    limit_key: str = "max_tokens"
    stream: bool = False
    said: str = ""
    said_members: Members = ()
    members: Members = ()
    stop: str = ""
    call: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    """One wire.

    A place is a path into a document, with `*` for each member of a list; in `a|b.c` only documents
    of the type `a` count.

    Attributes:
        asks: gives the path behind the base URL and the body.
        stops: where the stop value stands, the one that says most first.
        text: where the text stands, in bodies and in events.
        arguments: where the arguments of calls stand, in bodies and in events.
        sent: where the tokens of the request are counted.
        said: where the tokens of the answer are counted.
        thought: where tokens of reasoning are counted that `said` leaves out.
        events: cuts a stream into its documents.
        headers: request headers beside the key.
        limit_key: the key of the output limit; "": the one that the provider's row says.
        has_stop: whether a request may give stop sequences.
    """

    asks: Callable[[Ask], tuple[str, Json]]
    stops: tuple[str, ...]
    text: tuple[str, ...]
    arguments: tuple[str, ...]
    sent: tuple[str, ...]
    said: tuple[str, ...]
    thought: tuple[str, ...] = ()
    events: Callable[[bytes], Iterator[Any]] | None = None
    headers: Mapping[str, str] | None = None
    limit_key: str = ""
    has_stop: bool = True


def at(value: Any, place: str) -> Iterator[Any]:
    """Yield what stands at a place, nothing where there is nothing.

    >>> list(at({"choices": [{"n": 1}, {"n": 2}]}, "choices.*.n"))
    [1, 2]
    >>> list(at({"type": "a", "x": 1}, "b|x"))
    []
    """
    kind, _, path = place.rpartition("|")
    if kind and not (isinstance(value, dict) and value.get("type") == kind):
        return
    found = [value]
    for name in path.split("."):
        if name == "*":
            found = [one for each in found if isinstance(each, list) for one in each]
        else:
            found = [each[name] for each in found if isinstance(each, dict) and name in each]
    yield from (each for each in found if each is not None)


# --- streams ------------------------------------------------------------------------------------


def _sse(stream: bytes) -> Iterator[Any]:
    for line in stream.decode("utf-8", "replace").splitlines():
        name, _, data = line.partition(":")
        if name == "data" and data.strip().startswith("{"):
            yield json.loads(data)


def _lines(stream: bytes) -> Iterator[Any]:
    return (json.loads(line) for line in stream.decode().splitlines() if line.strip())


def _aws(stream: bytes) -> Iterator[Any]:
    from botocore.eventstream import EventStreamBuffer, ParserError

    buffer = EventStreamBuffer()
    buffer.add_data(stream)
    try:
        yield from (json.loads(message.payload) for message in buffer)
    except ParserError as error:
        raise ValueError(str(error)) from error


# --- requests -----------------------------------------------------------------------------------


def _rows(ask: Ask) -> list[Json]:
    said = {"role": "assistant", "content": ask.said, **dict(ask.said_members)}
    return [{"role": "user", "content": ask.prompt}, *([said] if ask.said else [])]


def _chat(ask: Ask) -> tuple[str, Json]:
    body: Json = {"model": ask.model, "messages": _rows(ask), ask.limit_key: ask.limit_tokens}
    if ask.stop:
        body["stop"] = [ask.stop]
    if ask.call:
        body |= {"tools": _TOOLS, "tool_choice": "required"}
    if ask.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return "/chat/completions", body


def _mistral(ask: Ask) -> tuple[str, Json]:
    path, body = _chat(ask)
    body.pop("stream_options", None)  # it counts without being told to, and knows no such member
    return path, body | ({"tool_choice": "any"} if ask.call else {})


def _responses(ask: Ask) -> tuple[str, Json]:
    body: Json = {"model": ask.model, "input": _rows(ask), "max_output_tokens": ask.limit_tokens}
    body |= {"store": False, "stream": ask.stream}
    if ask.call:
        body |= {"tools": [{"type": "function", **_FUNCTION}], "tool_choice": "required"}
    return "/responses", body


def _messages(ask: Ask) -> tuple[str, Json]:
    body: Json = {"model": ask.model, "messages": _rows(ask), "max_tokens": ask.limit_tokens}
    if ask.stop:
        body["stop_sequences"] = [ask.stop]
    if ask.call:
        tool = {"name": TOOL, "description": TOOL_TELLS, "input_schema": SCHEMA}
        body |= {"tools": [tool], "tool_choice": {"type": "any"}}
    return "/v1/messages", body | ({"stream": True} if ask.stream else {})


def _gemini(ask: Ask) -> tuple[str, Json]:
    rows: list[Json] = [{"role": "user", "parts": [{"text": ask.prompt}]}]
    if ask.said:
        rows.append({"role": "model", "parts": [{"text": ask.said}]})
    config: Json = {"maxOutputTokens": ask.limit_tokens}
    if ask.stop:
        config["stopSequences"] = [ask.stop]
    body: Json = {"contents": rows, "generationConfig": config}
    if ask.call:
        body["tools"] = [{"functionDeclarations": [_FUNCTION]}]
        body["toolConfig"] = {"functionCallingConfig": {"mode": "ANY"}}
    way = "streamGenerateContent?alt=sse" if ask.stream else "generateContent"
    return f"/v1beta/models/{quote(ask.model, safe='/')}:{way}", body


def _interactions(ask: Ask) -> tuple[str, Json]:
    told = (("user_input", ask.prompt), ("model_output", ask.said))
    steps = [{"type": k, "content": [{"type": "text", "text": t}]} for k, t in told if t]
    config: Json = {"max_output_tokens": ask.limit_tokens}
    if ask.stop:
        config["stop_sequences"] = [ask.stop]
    body: Json = {"model": ask.model, "input": steps, "store": False, "stream": ask.stream}
    if ask.call:
        config["tool_choice"] = "any"
        body["tools"] = [{"type": "function", **_FUNCTION}]
    return "/v1beta/interactions", body | {"generation_config": config}


def _converse(ask: Ask) -> tuple[str, Json]:
    told = (("user", ask.prompt), ("assistant", ask.said))
    config: Json = {"maxTokens": ask.limit_tokens}
    if ask.stop:
        config["stopSequences"] = [ask.stop]
    body: Json = {
        "messages": [{"role": role, "content": [{"text": text}]} for role, text in told if text],
        "inferenceConfig": config,
    }
    if ask.call:
        spec = {"name": TOOL, "description": TOOL_TELLS, "inputSchema": {"json": SCHEMA}}
        body["toolConfig"] = {"tools": [{"toolSpec": spec}], "toolChoice": {"any": {}}}
    way = "converse-stream" if ask.stream else "converse"
    return f"/model/{quote(ask.model, safe='')}/{way}", body


def _cohere(ask: Ask) -> tuple[str, Json]:
    body: Json = {"model": ask.model, "messages": _rows(ask), "max_tokens": ask.limit_tokens}
    if ask.stop:
        body["stop_sequences"] = [ask.stop]
    if ask.call:
        body |= {"tools": _TOOLS, "tool_choice": "REQUIRED"}
    return "/v2/chat", body | {"stream": ask.stream}


def _ollama(ask: Ask) -> tuple[str, Json]:
    options: Json = {"num_predict": ask.limit_tokens}
    if ask.stop:
        options["stop"] = [ask.stop]
    body: Json = {"model": ask.model, "messages": _rows(ask), "options": options}
    if ask.call:  # which no request can force
        body["tools"] = _TOOLS
    return "/api/chat", body | {"stream": ask.stream}


_CHAT = Wire(
    asks=_chat,
    stops=("choices.*.finish_reason",),
    text=("choices.*.message.content", "choices.*.delta.content"),
    arguments=(
        "choices.*.message.tool_calls.*.function.arguments",
        "choices.*.delta.tool_calls.*.function.arguments",
    ),
    sent=("usage.prompt_tokens", "x_groq.usage.prompt_tokens"),
    said=("usage.completion_tokens", "x_groq.usage.completion_tokens"),
    events=_sse,
)

WIRES: dict[str, Wire] = {
    "openai-chat": _CHAT,
    "mistral": Wire(
        asks=_mistral,
        stops=_CHAT.stops,
        text=_CHAT.text,
        arguments=_CHAT.arguments,
        sent=_CHAT.sent,
        said=_CHAT.said,
        events=_sse,
    ),
    "openai-responses": Wire(
        asks=_responses,
        limit_key="max_output_tokens",
        stops=(
            *("incomplete_details.reason", "response.incomplete_details.reason"),
            *("status", "response.status"),
        ),
        text=("output.*.content.*.text", "response.output_text.delta|delta"),
        arguments=("output.*.arguments", "response.function_call_arguments.delta|delta"),
        sent=("usage.input_tokens", "response.usage.input_tokens"),
        said=("usage.output_tokens", "response.usage.output_tokens"),
        events=_sse,
        has_stop=False,
    ),
    "anthropic-messages": Wire(
        asks=_messages,
        stops=("stop_reason", "delta.stop_reason"),
        text=("content.*.text", "delta.text"),
        arguments=("content.*.input", "delta.partial_json"),
        sent=("usage.input_tokens", "message.usage.input_tokens"),
        said=("usage.output_tokens",),
        events=_sse,
        headers={"anthropic-version": "2023-06-01"},
    ),
    "gemini-generate": Wire(
        asks=_gemini,
        limit_key="maxOutputTokens",
        stops=("candidates.*.finishReason",),
        text=("candidates.*.content.parts.*.text",),
        arguments=("candidates.*.content.parts.*.functionCall.args",),
        sent=("usageMetadata.promptTokenCount",),
        said=("usageMetadata.candidatesTokenCount",),
        thought=("usageMetadata.thoughtsTokenCount",),
        events=_sse,
    ),
    "gemini-interactions": Wire(
        asks=_interactions,
        limit_key="max_output_tokens",
        stops=("interaction.status", "status"),
        text=("steps.*.content.*.text", "delta.text"),
        arguments=("steps.*.arguments", "delta.arguments"),
        sent=("usage.total_input_tokens", "interaction.usage.total_input_tokens"),
        said=("usage.total_output_tokens", "interaction.usage.total_output_tokens"),
        thought=("usage.total_thought_tokens", "interaction.usage.total_thought_tokens"),
        events=_sse,
    ),
    "bedrock-converse": Wire(
        asks=_converse,
        stops=("stopReason",),
        text=("output.message.content.*.text", "delta.text"),
        arguments=("output.message.content.*.toolUse.input", "delta.toolUse.input"),
        sent=("usage.inputTokens",),
        said=("usage.outputTokens",),
        events=_aws,
    ),
    "cohere": Wire(
        asks=_cohere,
        stops=("finish_reason", "delta.finish_reason"),
        text=("message.content.*.text", "delta.message.content.text"),
        arguments=(
            "message.tool_calls.*.function.arguments",
            "delta.message.tool_calls.function.arguments",
        ),
        sent=("usage.tokens.input_tokens", "delta.usage.tokens.input_tokens"),
        said=("usage.tokens.output_tokens", "delta.usage.tokens.output_tokens"),
        events=_sse,
    ),
    "ollama": Wire(
        asks=_ollama,
        limit_key="num_predict",
        stops=("done_reason",),
        text=("message.content",),
        arguments=("message.tool_calls.*.function.arguments",),
        sent=("prompt_eval_count",),
        said=("eval_count",),
        events=_lines,
    ),
}


@dataclass(frozen=True, slots=True)
class Seen:
    """What an answer says, read without Tenuto.

    Attributes:
        native: the service's own stop value, None where it gave none.
        text: its text.
        arguments: the arguments of its calls: a text where they came as one, else decoded; None
            where no call came.
        sent_tokens, said_tokens: what it counted, None where it did not.
    """

    native: str | None
    text: str
    arguments: Any
    sent_tokens: int | None
    said_tokens: int | None


def see(wire: Wire, content: bytes, *, stream: bool) -> Seen:
    """Read an answer; one that is no JSON says nothing.

    >>> body = b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}'
    >>> see(WIRES["openai-chat"], body, stream=False).native
    'stop'
    """
    try:
        documents = [*wire.events(content)] if stream and wire.events else [json.loads(content)]
    except ValueError:
        documents = []

    def every(places: tuple[str, ...]) -> list[Any]:
        return [found for one in documents for place in places for found in at(one, place)]

    def count(places: tuple[str, ...]) -> int | None:
        return next((n for n in reversed(every(places)) if type(n) is int), None)

    stops = (found for place in wire.stops for found in reversed(every((place,))))
    said = count(wire.said)
    if said is not None:
        said += count(wire.thought) or 0
    given = every(wire.arguments)
    pieces = [one for one in given if isinstance(one, str)]
    decoded = [one for one in given if isinstance(one, dict) and one]
    return Seen(
        native=next((stop for stop in stops if isinstance(stop, str)), None),
        text="".join(piece for piece in every(wire.text) if isinstance(piece, str)),
        arguments="".join(pieces) if pieces else decoded[0] if decoded else None,
        sent_tokens=count(wire.sent),
        said_tokens=said,
    )
