"""Read messages of conversations, in the forms in which data sets and logs keep them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tenuto.detection.roles import role_of
from tenuto.judging.answers import text_in
from tenuto.judging.beside import stop_beside, tokens_in
from tenuto.judging.held import Called, Held, Told
from tenuto.judging.names import LIMITS
from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, object_in, objects_in

_OF_REQUESTS: Final = frozenset(
    {*LIMITS, "temperature", "stream", "top_p", "stop"}
    | {"response_format", "tool_choice", "stop_sequences", "n"}
)
"""Members that only requests have."""


def are_messages(messages: object) -> bool:
    """Return whether a list holds the messages of a conversation with a model, and one is the
    model's.

    >>> are_messages([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hi"}])
    True
    >>> are_messages([{"role": "buyer", "content": "Hi"}])
    False
    """
    rows = list_in(messages)
    if not rows or not all(isinstance(row, dict) for row in rows):
        return False
    roles = [role_of(row) for row in rows]
    return all(roles) and "assistant" in roles and "agent" not in roles


def is_conversation(row: JsonObject) -> bool:
    """Return whether a row holds a conversation with a model, and is no request for more of it. A
    request may end in the beginning of an answer, too, but has neither its stop nor its tokens."""
    messages = row.get("messages")
    if not are_messages(messages):
        return False
    last = objects_in(messages)[-1]
    if role_of(last) in ("user", "system"):
        return False
    return not _asks(row) or _has_ended(row) or _has_ended(last)


def _asks(row: JsonObject) -> bool:
    """Return whether a row has a member that only requests have, or a limit where a request has it
    that holds messages. Data sets keep what they were made with in settings of other names."""
    return not _OF_REQUESTS.isdisjoint(row) or any(
        name in object_in(row.get(place)) for place in _PLACES_OF_REQUESTS for name in LIMITS
    )


_PLACES_OF_REQUESTS: Final = ("options", "inferenceConfig")  # Ollama's, Converse's


def _has_ended(place: JsonObject) -> bool:
    return stop_beside(place)[0] is not None or tokens_in(place) is not None


def messages(row: JsonObject) -> Iterator[Held]:
    """Read the answers of a conversation, in its order. What else was asked was asked for the last
    one."""
    found = list(turns_in(row.get("messages"), row.get("tools")))
    asked = {name: row[name] for name in ("tools", *_OF_ANSWERS) if row.get(name)}
    if found and len(asked) > bool(row.get("tools")):
        found[-1] = replace(found[-1], request=asked)
    yield from found


_OF_ANSWERS: Final = ("response_format", "n")
"""Members of a request that say what the answer has to be."""


def turns_in(messages: object, tools: object = None) -> Iterator[Held]:
    """Read each message of the model."""
    for message in objects_in(messages):
        if role_of(message) == "assistant":
            yield Held(answer=own) if (own := _own_answer(message)) else turn(message, tools)


def _own_answer(message: JsonObject) -> object:
    """Return the answer as it came, where a message keeps it beside its text; None: it does not."""
    extra = message.get("extra")  # mini-swe-agent
    if isinstance(extra, dict) and isinstance(extra.get("response"), dict):
        return extra["response"]
    told = message.get("response_metadata")  # LangChain
    return {**message, "type": "ai"} if isinstance(told, dict) and told else None


def turn(message: JsonObject, tools: object = None) -> Held:
    """Read one message of the model."""
    content = message.get("content", message.get("value"))
    if isinstance(content, dict) and "answer" in content:  # Arena-Hard
        content = content["answer"]
    stop, stop_at = stop_beside(message)
    told = Told(
        text=text_in(content),
        reasoning=reasoning_in(message),
        refusal=refusal if isinstance(refusal := message.get("refusal"), str) else "",
        calls=calls_in(message),
        stop=stop,
        stop_at=stop_at,
        tokens=tokens_in(message),
    )
    return Held(answer=told, request={"tools": tools} if tools else None)


def reasoning_in(message: JsonObject) -> str:
    """Return the reasoning that a message keeps beside its text; "": it keeps none."""
    kept = message.get("reasoning") or message.get("reasoning_content") or message.get("thinking")
    if isinstance(kept, str):
        return kept
    parts = (
        part.get("reasoning") or part.get("thinking") for part in objects_in(message.get("content"))
    )
    return "".join(part for part in parts if isinstance(part, str))


_NOT_PARSED: Final = "(not parsed)"
"""What stands for arguments of which inspect keeps why it could not parse them alone."""


def calls_in(message: JsonObject) -> list[Called]:
    """Return the tool calls of a message, in the forms of OpenAI, Anthropic, inspect and others.

    >>> calls_in({"tool_calls": [{"function": {"name": "add", "arguments": "{}"}}]})
    [Called(name='add', arguments='{}')]
    """
    found: list[Called] = []
    calls = list_in(message.get("tool_calls"))
    if isinstance(message.get("function_call"), dict):
        calls = [*calls, message["function_call"]]
    for call in objects_in(calls):
        function = call.get("function")
        if isinstance(function, dict):
            found.append(Called(str(function.get("name") or ""), function.get("arguments")))
        else:
            name = str(function or call.get("name") or "")
            arguments = call.get("arguments", call.get("args"))
            found.append(Called(name, _NOT_PARSED if call.get("parse_error") else arguments))
    parts = objects_in(message.get("content"))
    used = [part for part in parts if part.get("type") in _CALLS]
    return found + [
        Called(str(part.get("name") or ""), part.get("input", part.get("arguments")))
        for part in used
    ]


_CALLS: Final = ("tool_use", "toolCall")  # Anthropic's, pi's
