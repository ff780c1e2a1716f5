"""The server: four wires on a real socket of loopback. It imports nothing of Tenuto.

It reads each request strictly, lets the model answer, cuts at the output limit with the wire's own stop,
refuses or lowers a limit above the model's ceiling, drops connections, and keeps what it did.
"""

from __future__ import annotations

import asyncio
import json
import random
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from checks.documents.model import Mind
from checks.documents.truth import Plan, plan_of
from checks.soak import wire_chat, wire_gemini, wire_messages, wire_responses
from checks.soak.asked import Asked, Refused, need
from checks.soak.model import Answer

if TYPE_CHECKING:
    from _typeshed import SupportsLenAndGetItem

WIRES: Final[dict[str, ModuleType]] = {
    path: module
    for module in (wire_chat, wire_messages, wire_responses, wire_gemini)
    for path in module.PATHS
}
DEFAULT_TOKENS: Final = 32_000
LARGE_CHARS: Final = 1_500


@dataclass(slots=True)
class Attempt:
    """What one request asked for, and what was sent."""

    limit: int | None
    schema: bool
    said_chars: int
    way: str = ""
    sent: str = ""
    tokens: int = 0
    stop: str = ""
    fault: str = ""
    note: str = ""


@dataclass(slots=True)
class Turn:
    """One turn as the server has seen it."""

    plan: Plan
    mind: Mind
    own_rows: int
    attempts: list[Attempt] = field(default_factory=list)


class _Even(random.Random):
    """Long texts come in the largest pieces: thousands of events would show nothing more."""

    def choice(self, seq: SupportsLenAndGetItem[Any]) -> Any:
        return seq[len(seq) - 1] if isinstance(seq[0], int) else super().choice(seq)


def schema_of(asked: Asked) -> Any:
    """The schema that a request carries, whatever its wire; None if it has none."""
    body = asked.body
    chat = (body.get("response_format") or {}).get("json_schema") or {}
    responses = (body.get("text") or {}).get("format") or {}
    messages = (body.get("output_config") or {}).get("format") or {}
    gemini = (body.get("generationConfig") or {}).get("responseJsonSchema")
    return chat.get("schema") or responses.get("schema") or messages.get("schema") or gemini


class Server:
    """Answers requests in a thread of its own."""

    def __init__(self) -> None:
        self.turns: dict[str, Turn] = {}
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()
        self._ready.wait(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        made = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = made.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self._one(reader, writer):
                pass
        with suppress(ConnectionError):
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *lines = head.split("\r\n")
        path = line.split(" ", 2)[1].partition("?")[0]
        sizes = (each.partition(":") for each in lines)
        size = next((int(v) for k, _, v in sizes if k.lower() == "content-length"), 0)
        raw = await reader.readexactly(size)
        wire = next((made for end, made in WIRES.items() if path.endswith(end)), None)
        if wire is None:
            return await _whole(writer, 404, {"error": {"message": f"no such path: {path}"}})
        asked: Asked = wire.read(raw, path)
        key = asked.body["model"]
        turn = self.turns.get(key)
        if turn is None:
            plan = plan_of(key)
            turn = self.turns[key] = Turn(plan, Mind(plan), len(asked.rows))
        schema = schema_of(asked)
        attempt = Attempt(asked.max_tokens, schema is not None, 0)
        turn.attempts.append(attempt)
        try:
            wire.check(asked, turn.own_rows, False)
            need(not asked.prefill, wire_chat.NO_PREFILL)
            need(schema is None or schema == turn.plan.schema, "the schema is another one")
        except (Refused, KeyError, TypeError, AttributeError, IndexError) as error:
            attempt.note = f"refused: {type(error).__name__} {error}"
            return await _refuse(wire, str(error), writer)
        return await self._answer(wire, turn, attempt, asked, schema, writer)

    async def _answer(
        self,
        wire: ModuleType,
        turn: Turn,
        attempt: Attempt,
        asked: Asked,
        schema: Any,
        writer: asyncio.StreamWriter,
    ) -> bool:
        plan, number = turn.plan, len(turn.attempts)
        limit = asked.max_tokens or DEFAULT_TOKENS
        if plan.ceiling and limit > plan.ceiling:
            if plan.fault == "ceiling_refused":
                attempt.fault = "refused by the ceiling"
                return await _refuse(wire, _too_large(wire, asked, plan.ceiling), writer)
            limit = plan.ceiling
        attempt.said_chars = len(asked.said)
        text, attempt.way = turn.mind.answer(number, asked.said, schema)
        cut = len(text) > limit * 4
        shown = text[: limit * 4]
        attempt.tokens, attempt.stop = -(-len(shown) // 4), "length" if cut else "stop"
        answer = Answer(shown, stop=attempt.stop, used=max(1, attempt.tokens))
        at: int | None = None
        if plan.fault == "drop" and number == 1:
            at = plan.cut
        elif plan.fault == "cut_then_drop" and number == 2 and len(shown) > 1:
            at = random.Random(f"{plan.key} at").randrange(1, len(shown))
        attempt.fault = "" if at is None else "dropped"
        attempt.sent = shown if at is None else shown[:at]
        return await _send(wire, asked, answer, f"{number}_{plan.number}", at, writer)


def _too_large(wire: ModuleType, asked: Asked, ceiling: int) -> str:
    """How the wire's provider refuses a limit that is too large."""
    limit = asked.max_tokens
    if wire is wire_messages:
        return (
            f"max_tokens: {limit} > {ceiling}, which is the maximum allowed number of output tokens"
            f" for {asked.body['model']}"
        )
    if wire is wire_gemini:
        return (
            f"Unable to submit request because it has a maxOutputTokens value of {limit} but the"
            f" supported range is from 1 (inclusive) to {ceiling + 1} (exclusive). Update the value"
            " and try again."
        )
    name = "max_output_tokens" if wire is wire_responses else "max_tokens"
    return (
        f"{name} is too large: {limit}. This model supports at most {ceiling} completion tokens,"
        f" whereas you provided {limit}."
    )


async def _refuse(wire: ModuleType, why: str, writer: asyncio.StreamWriter) -> bool:
    made = wire.error_body(400)
    made["error"]["message"] = why
    return await _whole(writer, 400, made)


async def _whole(writer: asyncio.StreamWriter, status: int, made: Any) -> bool:
    data = json.dumps(made).encode()
    head = (
        f"HTTP/1.1 {status} Word\r\ncontent-type: application/json\r\ncontent-length: {len(data)}"
    )
    writer.write(head.encode() + b"\r\n\r\n" + data)
    await writer.drain()
    return True


async def _send(
    wire: ModuleType,
    asked: Asked,
    answer: Answer,
    mark: str,
    at: int | None,
    writer: asyncio.StreamWriter,
) -> bool:
    """Send an answer; `at` is behind how many characters of its text the connection breaks."""
    kind: type[random.Random] = _Even if len(answer.text) > LARGE_CHARS else random.Random
    rng = kind(mark)
    if not asked.stream:
        made = wire.body_of(answer, asked, mark, rng)
        data = json.dumps(made, ensure_ascii=False).encode()
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        sent = data if at is None else data[: len(data) * at // (len(answer.text) + 1)]
        writer.write(head % len(data) + sent)
        await writer.drain()
        return at is None
    encode = json.JSONEncoder(ensure_ascii=False).encode
    if at is not None:
        answer = Answer(answer.text[:at], stop=answer.stop, used=answer.used)
    data = b""
    for part, payload in wire.events_of(answer, asked, mark, rng):
        if at is not None and (part in ("stop", "end") or _closes(payload)):
            break
        data += wire.framed(payload, encode)
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    writer.write(head + b"%x\r\n" % len(data) + data + b"\r\n")
    if at is None:
        writer.write(b"0\r\n\r\n")
    await writer.drain()
    return at is None


def _closes(payload: Any) -> bool:
    """Whether an event closes the text, so that it comes only behind a whole one."""
    name = payload.get("type", "") if isinstance(payload, dict) else ""
    return name == "content_block_stop" or name.endswith(".done")
