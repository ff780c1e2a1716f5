"""The wrapped official SDKs of all wires, in front of a far side that says what a test wrote down:
a text, and one call in whatever pieces."""

from __future__ import annotations

import itertools
import json
from typing import Any

from examples.wires.tests.asking.cohere_v1 import TOOLS as COHERE_V1_TOOLS
from examples.wires.tests.asking.cohere_v1 import WrappedCohereV1
from support.asking.anthropic_messages import TOOLS as ANTHROPIC_TOOLS
from support.asking.anthropic_messages import WrappedAnthropic
from support.asking.bedrock_converse import TOOLS as CONVERSE_TOOLS
from support.asking.bedrock_converse import WrappedBedrock
from support.asking.bedrock_invoke import WrappedInvoke
from support.asking.cohere import WrappedCohere
from support.asking.gemini_generate import TOOLS as GEMINI_TOOLS
from support.asking.gemini_generate import WrappedGemini
from support.asking.gemini_interactions import TOOLS as INTERACTIONS_TOOLS
from support.asking.gemini_interactions import WrappedInteractions, asks
from support.asking.mistral import WrappedMistral
from support.asking.ollama import WrappedOllama
from support.asking.openai_chat import TOOLS as CHAT_TOOLS
from support.asking.openai_responses import TOOLS as RESPONSES_TOOLS
from support.asking.openai_responses import WrappedResponses
from support.asking.wrapping import Wrapped
from support.events import openai_chat as chat
from support.events.by_wire import WIRES
from support.events.framing import Call
from support.far_sides import FarSide, answer, json_answer

MAKERS: dict[str, Any] = {
    "anthropic-messages": WrappedAnthropic,
    "bedrock-converse": WrappedBedrock,
    "bedrock-invoke": WrappedInvoke,
    "cohere": WrappedCohere,
    "cohere-v1": WrappedCohereV1,
    "gemini-generate": WrappedGemini,
    "gemini-interactions": WrappedInteractions,
    "mistral": WrappedMistral,
    "ollama": WrappedOllama,
    "openai-chat": Wrapped,
    "openai-responses": WrappedResponses,
}
TOOLS: dict[str, dict[str, Any]] = {
    "anthropic-messages": {"tools": ANTHROPIC_TOOLS},
    "bedrock-converse": {"toolConfig": CONVERSE_TOOLS},
    "bedrock-invoke": {"tools": CHAT_TOOLS},
    "cohere": {"tools": CHAT_TOOLS},
    "cohere-v1": {"tools": COHERE_V1_TOOLS},
    "gemini-generate": {"tools": GEMINI_TOOLS},
    "gemini-interactions": {"tools": INTERACTIONS_TOOLS},
    "mistral": {"tools": CHAT_TOOLS},
    "ollama": {"tools": CHAT_TOOLS},
    "openai-chat": {"tools": CHAT_TOOLS},
    "openai-responses": {"tools": RESPONSES_TOOLS},
}
ROWS: dict[str, dict[str, Any]] = {
    "bedrock-converse": {"role": "user", "content": [{"text": "Write it."}]},
    "cohere-v1": {"role": "USER", "message": "Write it."},
    "gemini-generate": {"role": "user", "parts": [{"text": "Write it."}]},
    "gemini-interactions": asks("Write it."),
}
DECODED = ("cohere-v1", "gemini-generate", "ollama")
"""Wires on which arguments are no text but an object."""
OBJECTS = (*DECODED, "anthropic-messages", "bedrock-converse", "gemini-interactions")
"""Wires whose bodies hold arguments as an object."""


class At:
    """Where an asker finds a far side."""

    def __init__(self, far: FarSide) -> None:
        self.base_url = far.base_url
        self.root_url = far.base_url.removesuffix("/v1")


def ask(
    asker: Any,
    wire: str,
    mode: str = "stream",
    way: str = "sync",
    *,
    required: bool = True,
    limit: int | None = None,
) -> Any:
    """One question with a tool; `required`: whether the tool requires arguments; `limit`: the
    request's output limit."""
    row = ROWS.get(wire, {"role": "user", "content": "Write it."})
    tools = TOOLS[wire] if required else _without_required(TOOLS[wire])
    return asker.ask([row], mode, way, **tools, **(limited(wire, limit) if limit else {}))


def limited(wire: str, tokens: int) -> dict[str, Any]:
    """An output limit as this wire's SDK takes it."""
    match wire:
        case "bedrock-converse":
            return {"inferenceConfig": {"maxTokens": tokens}}
        case "gemini-interactions":
            return {"generation_config": {"max_output_tokens": tokens}}
        case "gemini-generate" | "openai-responses":
            return {"max_output_tokens": tokens}
        case "ollama":
            return {"options": {"num_predict": tokens}}
        case _:
            return {"max_tokens": tokens}


def count(wire: str, last: dict[str, Any], tokens: int | None) -> None:
    """Write into a body, or into the last event of a stream, how many output tokens were used; None:
    nothing is said."""
    inner = last.get("response", last.get("interaction", last.get("metadata", last)))
    if wire == "cohere":
        inner = last.get("delta", last)
    key, counts = _counts(wire, tokens or 0)
    inner.pop(key, None)
    if tokens is not None:
        inner[key] = counts


def _counts(wire: str, tokens: int) -> tuple[str, Any]:
    """The member of this wire's usage, and its value."""
    match wire:
        case "anthropic-messages":
            return "usage", {"input_tokens": 1, "output_tokens": tokens}
        case "bedrock-converse":
            used = {"inputTokens": 1, "outputTokens": tokens}
            return "usage", used | {"totalTokens": tokens + 1}
        case "cohere" | "cohere-v1":
            told = {"tokens": {"input_tokens": 1, "output_tokens": tokens}}
            return ("usage" if wire == "cohere" else "meta"), told
        case "gemini-generate":
            used = {"promptTokenCount": 1, "candidatesTokenCount": tokens}
            return "usageMetadata", used | {"totalTokenCount": tokens + 1}
        case "gemini-interactions":
            return "usage", {"total_input_tokens": 1, "total_output_tokens": tokens}
        case "ollama":
            return "eval_count", tokens
        case "openai-responses":
            used = {"input_tokens": 1, "output_tokens": tokens, "total_tokens": tokens + 1}
            cached = {"input_tokens_details": {"cached_tokens": 0}}
            return "usage", used | cached | {"output_tokens_details": {"reasoning_tokens": 0}}
        case _:
            return "usage", chat.usage_of(1, tokens)


def _without_required(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_required(v) for k, v in value.items() if k != "required"}
    return [_without_required(item) for item in value] if isinstance(value, list) else value


def arguments_of(said: Any) -> list[Any]:
    """What the calls that were handed out ask for, as values."""
    if hasattr(said, "inputs"):
        return list(said.inputs)
    return [json.loads(raw) for raw in said.raw_arguments]


AS_MADE: Any = object()
"""Stands for the usage that the events or the body have by themselves."""


def streamed(
    wire: str, *pieces: Any, text: str = "", stop: str | None = None, used: Any = AS_MADE
) -> bytes:
    """A response that streams a text and a call, with a clean stop: that of a call, or `stop`. Each
    piece stands where the wire has a piece of the arguments, whatever it is. `used`: the output
    tokens that it tells; None: it tells none."""
    return streamed_calls(wire, Call(pieces), text=text, stop=stop, used=used)


def streamed_calls(
    wire: str, *calls: Call, text: str = "", stop: str | None = None, used: Any = AS_MADE
) -> bytes:
    """The same with several calls."""
    made = WIRES[wire]
    events = made.events(text, calls, stop)
    if used is not AS_MADE:
        told = next((e for e in events if e.get("type") == "message_delta"), events[-1])
        count(wire, told, used)
    raw = b"".join(made.framed(events))
    return answer(raw, f"content-type: {made.content_type}", length=False)


ABSENT: Any = object()
"""Stands for arguments that do not stand in a body at all."""


def whole(
    wire: str, given: Any, *, text: str = "", stop: str | None = None, used: Any = AS_MADE
) -> bytes:
    """A body with a text and a call, with a clean stop: that of a call, or `stop`. `used`: as for
    a stream."""
    call = Call(() if given is ABSENT else (given,))
    return whole_calls(wire, call, text=text, stop=stop, used=used)


def whole_calls(
    wire: str, *calls: Call, text: str = "", stop: str | None = None, used: Any = AS_MADE
) -> bytes:
    """The same with several calls."""
    body = WIRES[wire].body(text, calls, stop)
    if used is not AS_MADE:
        count(wire, body, used)
    return json_answer(json.dumps(body).encode())


def made(wire: str, mode: str, text: str, stop: str | None = None) -> bytes:
    """The bytes of an answer with this text, as its provider sends it: `mode` is "whole" or a
    stream."""
    as_made = WIRES[wire]
    if mode == "whole":
        return json_answer(json.dumps(as_made.body(text, [], stop)).encode())
    raw = b"".join(as_made.framed(as_made.events(text, [], stop)))
    return answer(raw, f"content-type: {as_made.content_type}", length=False)


def batch(wire: str, mode: str, *given: Any, stop: str | None = None, text: str = "") -> bytes:
    """The bytes of an answer with a call for each of these arguments; a string is sent as it is."""
    plain = wire in (OBJECTS if mode == "body" else DECODED)
    calls = [
        Call((one if plain or isinstance(one, str) else json.dumps(one),), id=f"call_{number}")
        for number, one in enumerate(given)
    ]
    return (whole_calls if mode == "body" else streamed_calls)(wire, *calls, stop=stop, text=text)


LIMITS = {
    "anthropic-messages": "max_tokens",
    "bedrock-converse": "max_tokens",
    "bedrock-invoke": "length",
    "cohere": "MAX_TOKENS",
    "cohere-v1": "MAX_TOKENS",
    "gemini-generate": "MAX_TOKENS",
    "gemini-interactions": "incomplete",
    "mistral": "length",
    "ollama": "length",
    "openai-chat": "length",
    "openai-responses": "incomplete",
}
"""What each wire says where the output limit cut an answer."""


def begun(wire: str, text: str) -> list[Any]:
    """The events of a text before the one that says why it stopped."""
    if wire == "gemini-generate":  # which has both in one
        content = {"role": "model", "parts": [{"text": text}]}
        return [{"candidates": [{"content": content, "index": 0}]}]
    events = WIRES[wire].events(text, [], "the-stop")
    return [*itertools.takewhile(lambda e: "the-stop" not in json.dumps(e, default=str), events)]


def cut_text(wire: str, mode: str, text: str, by: str) -> bytes:
    """An answer whose text the limit cuts, or a "break": the connection ends before the body does."""
    if by == "limit":
        return made(wire, mode, text, LIMITS[wire])
    as_made, sent = WIRES[wire], b""
    written = [json.dumps(text, ensure_ascii=plain).encode()[1:-1] for plain in (True, False)]
    for frame in as_made.framed(begun(wire, text)):
        sent += frame
        if any(one in sent for one in written):
            break
    length = f"content-length: {len(sent) + 1}"
    return answer(sent, f"content-type: {as_made.content_type}", length, length=False)
