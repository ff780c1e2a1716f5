"""`detect_conversation()`: where a conversation stands.

A conversation is the history of a request, as its wire writes it. It may also hold the answers
themselves, with their stops and their usage, in place of the messages that they became. Each row is
read by the reader of its wire, as if it were an answer without a stop.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from tenuto.core.answer.builder import Builder
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.response import Response
from tenuto.core.answer.signals import Ended, Signal
from tenuto.core.answer.stop import CALLS_MISSING, CLEAN, NO_STOP, Stop, printable
from tenuto.detection.documents import documents
from tenuto.detection.foreign import foreign, unwrapped
from tenuto.detection.objects import plain
from tenuto.detection.reader import Reader
from tenuto.detection.replies import Reply, Unread
from tenuto.detection.roles import OF_DATA_SETS, role_of
from tenuto.wires.json import JsonObject, decode_object
from tenuto.wires.members import list_in, object_in, objects_in, word_in
from tenuto.wires.openai_responses.items import is_client_call, is_made_by_model
from tenuto.wires.registry import wire_for_shape, wires
from tenuto.wires.stops import STOP_NAMES

log: logging.Logger = logging.getLogger("tenuto")


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """One answer of the model within a conversation.

    Attributes:
        message: the index of its first message, from 0 on.
        stop: why it ended. If the message does not hold the provider's stop, as most histories
            don't, it is inferred from the content, with the anomaly `no_stop`.
        calls: the ids of its tool calls, in order; a name in the place of an id that is not there.
        input_tokens: the tokens of its request; None if the message does not tell them.
        output_tokens: its own tokens; None if the message does not tell them.
    """

    message: int
    stop: Stop
    calls: tuple[str, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """A tool call that has no result yet.

    Attributes:
        message: the index of the message that holds it, from 0 on.
        id: its id; "" if it has none.
        name: the tool's name; "" if the model gave none.
    """

    message: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class DetectedConversation:
    """Where a conversation stands.

    Attributes:
        turns: the answers of the model, in order.
        waiting: the calls that wait for their results, in order.
        may_end: whether it may end here: the last message is the model's, it ended as a complete
            answer or without a reason, and no call waits. A message without a reason may be a half
            one: `turns[-1].stop.raw` is then None, and `why` says so.
        why: the reason, as one sentence. It holds no text of the conversation, except for the names
            of tools.
        messages: how many messages there are.
        roles: how many there are of each role: "user", "assistant", "tool", "system"; "other" for
            what is not known. A message with results of calls counts as "tool".
        attempts: how many answers of the model there are, each of which took a request at least.
        input_tokens: tokens of all requests whose answers tell them; None if none does. A request
            sends the whole conversation, so this is more than the conversation's size.
        output_tokens: tokens of all answers that tell them; None if none does.
    """

    turns: tuple[AssistantTurn, ...]
    waiting: tuple[WaitingCall, ...]
    may_end: bool
    why: str
    messages: int
    roles: Mapping[str, int] = field(default_factory=dict, hash=False)
    attempts: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON.

        >>> detect_conversation([]).as_dict()["why"]
        'There is no message.'
        """
        told = asdict(self)
        told["turns"] = [
            asdict(turn) | {"stop": turn.stop.as_dict(), "calls": list(turn.calls)}
            for turn in self.turns
        ]
        return told | {"waiting": list(map(asdict, self.waiting)), "roles": dict(self.roles)}


def detect_conversation(messages: object, *, wire: str | None = None) -> DetectedConversation:
    """Tell where a conversation stands: why each answer of the model ended, which calls wait for
    results, and whether it may end. Never raises.

    Args:
        messages: the messages as OpenAI's Chat or Responses, Anthropic, Gemini, Bedrock Converse,
            Cohere, Mistral or Ollama have them, as dicts or objects of an SDK, of LangChain or of
            pydantic-ai; or a request that holds them, as a dict or as JSON, or the messages on
            lines of their own. Of several conversations, `why` says that they are several. Also
            pairs of a role and a text, and the conversations of ShareGPT. Whole answers may stand
            among them, or alone. A message may have its stop beside it, under the name that any
            provider gives it. Nothing is read from an iterator.
        wire: the wire or the provider of whole answers, as for `detect`; None: found from their
            shape.

    >>> call = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": "{}"}}
    >>> told = detect_conversation([
    ...     {"role": "user", "content": "When is high tide?"},
    ...     {"role": "assistant", "content": None, "tool_calls": [call]},
    ... ])
    >>> told.may_end, told.why, [waits.id for waits in told.waiting]
    (False, 'Tool calls wait for their results: tide.', ['c1'])
    >>> told.turns[0].stop.reason.value, told.messages, told.attempts
    ('tool_call', 2, 1)
    """
    try:
        found = _messages(messages)
        if isinstance(found, str):
            return _told([], found)
        return _told(list(_rows(found, wire)))
    except Exception as error:  # noqa: BLE001 - somebody else's object, as in `detect`
        names = printable(type(messages).__qualname__), printable(type(error).__qualname__)
        log.warning("detect_conversation could not read an object of the class %s: %s", *names)
        return _told([], _NO_CONVERSATION)


def _told(rows: Sequence[_Row], nothing: str = "There is no message.") -> DetectedConversation:
    """`nothing`: why a conversation without messages may not end."""
    turns: list[AssistantTurn] = []
    waiting: list[WaitingCall] = []
    for row in rows:
        waiting = _without(waiting, row.results)
        if row.response is not None:
            turns.append(_turn(row.at, row.response))
            waiting += [
                WaitingCall(row.at, _own_id(call), call.name) for call in row.response.calls
            ]
    why = _why_not(rows, turns, waiting) if rows else nothing
    return DetectedConversation(
        tuple(turns),
        tuple(waiting),
        not why,
        why or (_UNTOLD if NO_STOP in turns[-1].stop.anomalies else _FINISHED),
        sum(row.messages for row in rows),
        dict(Counter(row.role for row in rows for _ in range(row.messages))),
        len(turns),
        _sum(turn.input_tokens for turn in turns),
        _sum(turn.output_tokens for turn in turns),
    )


_NO_ROLE = "The role of the last message is not known."
_NO_CONVERSATION = (
    "No messages were found in this: give a list of messages, or a request or an answer."
)
_SEVERAL = "These are several conversations: give one of them."
_NOT_READ = "This has not been read: give the messages of a stream or an iterator as a list."
_FINISHED = "The model finished its answer, and no tool call waits."
_UNTOLD = "The last message is the model's, without a reason why it ended, and no tool call waits."
"""For a history, which seldom holds the provider's stops: the message may be a half one."""


def _turn(at: int, response: Response) -> AssistantTurn:
    used, calls = response.usage, response.calls
    tokens = (used.input_tokens, used.output_tokens) if used is not None else (None, None)
    return AssistantTurn(
        at, response.stop, tuple(_own_id(call) or call.name for call in calls), *tokens
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _own_id(call: ToolCall) -> str:
    """Return the id that the provider gave a call, also if another call has it; "" if it gave none,
    so that one was made up."""
    return call.shared_id or ("" if _made_up(call.id) is not None else call.id)


_made_up = re.compile(r"tenuto\d{3,}\Z").match
"""Matches what `core.answer.calls.fresh_id` gives a call that came without an id."""


def _without(waiting: list[WaitingCall], results: Sequence[_Result]) -> list[WaitingCall]:
    """Return the calls that still wait. A result without a call's id answers the first of its
    name."""
    left = list(waiting)
    for result in results:
        answers = (call for call in left if call.id and call.id == result.id)
        named = (call for call in left if result.name and call.name == result.name)
        found = next(answers, None) or next(named, None)
        if found is not None:
            left.remove(found)
    return left


def _why_not(
    rows: Sequence[_Row], turns: Sequence[AssistantTurn], waiting: Sequence[WaitingCall]
) -> str:
    """Return why a conversation may not end; "" if it may."""
    if waiting:
        names = ", ".join(printable(call.name or call.id or "?") for call in waiting)
        return f"Tool calls wait for their results: {names}."
    if rows[-1].response is None:
        known = rows[-1].role in _KNOWN
        return "The last message is not the model's." if known else _NO_ROLE
    stop = turns[-1].stop
    whole = stop.reason in CLEAN and CALLS_MISSING not in stop.anomalies and stop.broken is None
    return "" if whole else stop.message


# --- reading

_PLACES = (*OF_DATA_SETS, "source", "type")
"""Where a message names its role: AutoGen's in its source, LangChain's in its type."""

_KNOWN = frozenset({"user", "assistant", "tool", "system"})


class _Result(NamedTuple):
    """A result of a call: the call's id, and the tool's name; "" for what it does not tell."""

    id: str
    name: str


class _Row(NamedTuple):
    """One message. `response`: what the model said, read as an answer; None if it is not the
    model's. `messages`: how many there are; several items of Responses are one answer."""

    at: int
    role: str
    response: Response | None = None
    results: tuple[_Result, ...] = ()
    messages: int = 1


def _rows(messages: Sequence[object], wire: str | None) -> Iterator[_Row]:
    items: list[JsonObject] = []  # of one answer of Responses
    for at, message in enumerate(messages):
        value = _as_message(message)
        if _is_output(value):
            items.append(value)
            continue
        if items:
            yield _of_items(at - len(items), items)
            items = []
        yield _row(at, value, wire)
    if items:
        yield _of_items(len(messages) - len(items), items)


def _messages(source: object) -> Sequence[object] | str:
    """Return the messages of a conversation, of a request, or of its JSON; otherwise a sentence
    that says why there are none."""
    source = plain(source) if not isinstance(source, str | bytes | list | tuple) else source
    if isinstance(source, Unread):
        return _NOT_READ
    if isinstance(source, Reply):
        source = source.content
    if isinstance(source, str | bytes):
        data = source if isinstance(source, bytes) else source.encode("utf-8", "replace")
        source = decode_object(data)
        if source is None:
            source = documents(data) or None
    if isinstance(source, list) and source and all(held := list(map(_held_in, source))):
        if len(held) > 1:
            return _SEVERAL
        source = held[0]
    if isinstance(source, dict):
        source = _messages_of(source)
    return source if isinstance(source, list | tuple) else _NO_CONVERSATION


def _messages_of(value: JsonObject) -> object:
    """Return the messages that a request holds, or an answer or a message as the only one; None:
    there are none."""
    if isinstance(asked := value.get("input"), str) and asked and "model" in value:
        return [{"role": "user", "content": asked}]  # Responses' short form
    asks = "chat_history" in value or "model" in value
    if asks and isinstance(asked := value.get("message"), str):  # Cohere's older
        return [*list_in(value.get("chat_history")), {"role": "user", "content": asked}]
    held = _held_in(value)
    alone = _is_message(value) or foreign(value) is not None or _is_answer(unwrapped(value))
    return [value] if held is None and alone else held


def _held_in(row: object) -> list[Any] | None:
    """Return the messages that a request holds in a list, or one in a line of a batch; None: it
    holds none."""
    value = object_in(row)
    value = object_in(value.get("body")) or value
    return next((value[name] for name in _HOLDERS if isinstance(value.get(name), list)), None)


def _is_message(value: JsonObject) -> bool:
    return bool(role_of(value, _PLACES))


_HOLDERS = ("messages", "contents", "input", "conversations")


def _as_message(item: object) -> JsonObject:
    """Return a row as a message that names its role and its content as the wires do; {} if it is
    none."""
    if isinstance(item, list | tuple) and len(item) == 2:  # LangChain's, of a role and a text
        return {"role": item[0], "content": item[1]}
    value = item if isinstance(item, dict) else plain(item)
    if not isinstance(value, dict):
        return {}
    said = value.get("content", value.get("value", value.get("message")))  # ShareGPT's, Cohere's
    return _flat(value | {"content": said} if isinstance(said, str) else value)


def _row(at: int, value: JsonObject, wire: str | None) -> _Row:
    if foreign(value) is not None or _is_answer(unwrapped(value)):
        reader = Reader(wire)
        reader.feed(value)
        return _Row(at, "assistant", reader.finish()[0].response)
    nobodys = "parts" in value and "role" not in value  # Gemini's
    role = "user" if nobodys else role_of(value, _PLACES)
    if role in ("assistant", "agent"):  # the caller says that it is a model's conversation
        return _Row(at, "assistant", _read(value))
    results = tuple(_results(value))
    known = role if role in _KNOWN else "other"
    return _Row(at, "tool" if results else known, None, results)


def _flat(value: JsonObject) -> JsonObject:
    """Return a message of LangChain that `messages_to_dict` or `dumpd` stored, as a message; any
    other row as it is."""
    kind, held, kept = value.get("type"), value.get("data"), value.get("kwargs")
    if kind in _STORED and isinstance(held, dict):
        return {**held, "type": kind}
    if kind == "constructor" and "lc" in value and isinstance(kept, dict):
        name = str(next(reversed(list_in(value.get("id"))), ""))
        return {**kept, "type": _DUMPED.get(name, name)}
    return value


_STORED = ("human", "ai", "tool", "system", "function", "chat", "AIMessageChunk")
_DUMPED = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "ToolMessage": "tool",
    "SystemMessage": "system",
}
"""The types of LangChain's messages, by the names of their classes."""


def _is_answer(value: JsonObject) -> bool:
    """Return whether a row is an answer as it came. Most rows are messages of a role, for which no
    wires of other packages need to be read."""
    return wire_for_shape(value, ours=isinstance(value.get("role"), str)) is not None


def _read(row: JsonObject) -> Response:
    """Read a message of the model as an answer, by the reader of the wire that writes it so."""
    blocks = objects_in(row.get("content"))
    kinds = {block.get("type") for block in blocks}
    stop = _stop_beside(row)
    value: JsonObject
    if "parts" in row:
        read = "gemini-generate"
        value = {"candidates": [{"content": row, "finishReason": stop}]}
    elif blocks and None in kinds:
        read, value = "bedrock-converse", {"output": {"message": row}, "stopReason": stop}
    elif blocks and "tool_calls" not in row:
        read = "anthropic-messages"
        value = {"type": "message", "role": "assistant", "content": blocks, "stop_reason": stop}
    else:
        read = "openai-chat"
        value = {"choices": [{"index": 0, "message": row, "finish_reason": stop}]}
    return _built(wires()[read].parse_object(value, event=False))


def _stop_beside(row: JsonObject) -> object:
    """Return the stop that a message of a history has, under any provider's name; None: it has
    none, as most have."""
    return next((row[name] for name in STOP_NAMES if row.get(name) is not None), None)


def _built(signals: Sequence[Signal]) -> Response:
    builder = Builder()
    for signal in (*signals, Ended()):
        builder.feed(signal)
    return builder.build()


def _results(value: JsonObject) -> Iterator[_Result]:
    """Return the results of calls in a message that is not the model's."""
    for name in ("tool_call_id", "call_id", "approval_request_id"):
        if (found := word_in(value, name)) is not None:
            yield _Result(found, word_in(value, "name") or "")
            return
    if value.get("role") in ("tool", "function"):  # Ollama's, and OpenAI's oldest
        yield _Result("", word_in(value, "tool_name") or word_in(value, "name") or "")
    for block in objects_in(value.get("content")):
        if block.get("type") == "tool_result":
            yield _Result(word_in(block, "tool_use_id") or "", "")
        elif told := object_in(block.get("toolResult")):
            yield _Result(word_in(told, "toolUseId") or "", "")
    for part in objects_in(value.get("parts")):
        told = object_in(part.get("functionResponse") or part.get("function_response"))
        if told:
            yield _Result(word_in(told, "id") or "", word_in(told, "name") or "")
        elif part.get("part_kind") in ("tool-return", "retry-prompt"):  # pydantic-ai's
            yield _Result(word_in(part, "tool_call_id") or "", word_in(part, "tool_name") or "")


# --- Responses, whose messages, calls and reasoning are items

_UNDONE = ("incomplete", "in_progress")
"""What the status of an item may say, in the order of their weight, if it is not all that the model
said."""


def _is_output(value: JsonObject) -> bool:
    """Return whether a row is an item of a response. A message may be one of a chat, too."""
    if value.get("type") != "message":
        return is_made_by_model(value)
    if value.get("role", "assistant") != "assistant" or "stop_reason" in value:
        return False
    parts = {part.get("type") for part in objects_in(value.get("content"))}
    return value.get("status") in _UNDONE or not parts.isdisjoint(("output_text", "refusal"))


def _of_items(at: int, items: Sequence[JsonObject]) -> _Row:
    said = {item.get("status") for item in items if not is_client_call(item)}
    response = {"object": "response", "output": list(items)}
    if (undone := next((status for status in _UNDONE if status in said), None)) is not None:
        response["status"] = undone
    signals = wires()["openai-responses"].parse_object(response, event=False)
    return _Row(at, "assistant", _built(signals), messages=len(items))
