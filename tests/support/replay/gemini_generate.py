"""What a `Replay` says on Gemini: part by part, as a test wrote it down.

`R("part 1 ", MAX)` reads as in `openai_chat`; where the parts matter, `R([thought("hm"), said("Hi")])`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tenuto
from support.asking.gemini_generate import (
    TOOLS,
    GeminiAsker,
    Said,
    WrappedGemini,
    model,
    result,
    user,
)
from support.asking.wrapping import QUICK
from support.events import gemini_generate as gemini
from support.events.framing import sse
from support.replay import openai_chat as replay
from support.replay.openai_chat import INPUT_TOKENS, Answer, Replay, Reply

END, MAX, MALFORMED, SAFETY = "STOP", "MAX_TOKENS", "MALFORMED_FUNCTION_CALL", "SAFETY"
PAUSE = "CONTINUATION"
END_OF_EVENT = "\r\n\r\n"

Part = dict[str, Any]


def said(text: str, signature: str = "") -> Part:
    """A part of text."""
    return {"text": text} | ({"thoughtSignature": signature} if signature else {})


def thought(text: str) -> Part:
    """A part that is a thought."""
    return {"text": text, "thought": True}


def call(name: str = "write_file", signature: str = "c2ln", **args: Any) -> Part:
    """A call; the provider signs the first of a turn."""
    made: Part = {"functionCall": {"name": name, "args": args or {"path": "a", "content": "b"}}}
    return made | ({"thoughtSignature": signature} if signature else {})


@dataclass(frozen=True)
class R:
    """One response of the model.

    Attributes:
        says: its text, or its parts; streams tell a plain text in pieces of `piece_chars` characters.
        stop: the finish reason; None: none comes.
        tokens: the output tokens but for the thoughts; None: no usage is given.
        thoughts: tokens of the thoughts.
        dropped: the transfer ends without a stop (bodies: in the middle of the document).
        wait_s: how long it thinks.
        beside: what stands beside the stop.
        around: further members of the response; a stream has them in its last event.
        headers: further headers.
    """

    says: str | Sequence[Part] = ""
    stop: str | int | None = END
    tokens: int | None = 1
    thoughts: int = 0
    input_tokens: int = INPUT_TOKENS
    dropped: bool = False
    wait_s: float = 0.0
    piece_chars: int = 5
    id: str = "response-1"
    beside: Mapping[str, Any] = field(default_factory=dict)
    around: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def parts(self) -> list[Part]:
        """The content."""
        if isinstance(self.says, str):
            return [said(self.says)] if self.says else []
        return list(self.says)

    def reply(self, asked: Any) -> Reply:
        if asked.get("stream"):
            return Reply(200, "text/event-stream", self.stream(), self.headers)
        return Reply(200, "application/json; charset=UTF-8", self.body(), self.headers)

    def body(self) -> bytes:
        value = self._response(self.parts(), last=True)
        made = json.dumps(value, ensure_ascii=False, indent=2).encode()
        return made[: len(made) // 2] if self.dropped else made

    def events(self) -> list[Part]:
        """The responses of a stream."""
        pieces: list[list[Part]] = []
        for part in self.parts():
            text = part.get("text", "") if part.keys() == {"text"} else ""
            size = self.piece_chars
            cut = [[said(text[at : at + size])] for at in range(0, len(text), size)]
            pieces += cut or [[part]]
        pieces = pieces or [[]]
        last = len(pieces) - 1
        return [
            self._response(p, last=n == last and not self.dropped) for n, p in enumerate(pieces)
        ]

    def stream(self) -> bytes:
        return b"".join(sse(self.events(), end=END_OF_EVENT))

    def _response(self, parts: list[Part], *, last: bool) -> Part:
        around: Part = dict(self.around) if last else {}
        if self.tokens is not None:
            thoughts = {"thoughtsTokenCount": self.thoughts} if self.thoughts else {}
            around["usageMetadata"] = {
                "promptTokenCount": self.input_tokens,
                "candidatesTokenCount": self.tokens if last else 0,
                "totalTokenCount": self.input_tokens + self.tokens + self.thoughts,
                **thoughts,
            }
        around |= {"modelVersion": "gemini-x", "responseId": self.id}
        stop, beside = (self.stop, self.beside) if last else (None, None)
        return gemini.response(parts, stop, beside=beside, around=around)


@dataclass(frozen=True)
class Blocked:
    """A prompt that was blocked; `message`: what Vertex says of it."""

    reason: str = "SAFETY"
    message: str = ""
    wait_s: float = 0.0

    def reply(self, asked: Any) -> Reply:
        feedback = {"blockReason": self.reason}
        if self.message:
            feedback["blockReasonMessage"] = self.message
        value = {"promptFeedback": feedback, "modelVersion": "gemini-x"}
        if asked.get("stream"):
            told = b"".join(sse([value], end=END_OF_EVENT))
            return Reply(200, "text/event-stream", told, {})
        return Reply(200, "application/json; charset=UTF-8", json.dumps(value).encode(), {})


@dataclass(frozen=True)
class Refused(replay.Refused):
    """An HTTP error; `code` is its status in words."""

    def body(self) -> bytes:
        named = {"code": self.status, "message": self.message}
        return json.dumps({"error": named | {"status": self.code or "INVALID_ARGUMENT"}}).encode()


ASK = user("Tell me.")
FILES: dict[str, Any] = {"tools": TOOLS}
"""Keywords of a request that declares the function `write_file`."""

CALLED: dict[str, Any] = {
    "functionCall": {"name": "write_file", "args": {"path": "a", "content": "b"}},
    "thoughtSignature": "c2ln",
}
AFTER_RESULT: list[Any] = [ASK, model(CALLED), user(result())]
"""A conversation that ends in a result."""


class PlayedGemini(WrappedGemini):
    """A wrapped client in front of written-down answers. The connections are those of `base`, an
    asker without anything around it."""

    def __init__(self, base: GeminiAsker, replay: Replay, policy: tenuto.Policy) -> None:
        self.__dict__.update(vars(base))
        self.replay = replay
        self.events: list[tenuto.Event] = []
        self.client = tenuto.wrap(base.client, policy=policy, on_event=self.events.append)

    @property
    def sent(self) -> int:
        """How many requests left."""
        return len(self.replay.requests)

    @property
    def bodies(self) -> list[Any]:
        """The decoded bodies of the requests that left."""
        return [asked.json for asked in self.replay.requests]

    @property
    def configs(self) -> list[Any]:
        """The generation config of each request that left."""
        return [body.get("generationConfig", {}) for body in self.bodies]

    @property
    def budgets(self) -> list[Any]:
        """The output limit of each request that left."""
        return [config.get("maxOutputTokens") for config in self.configs]

    def added(self, number: int) -> list[Any]:
        """The rows that a request holds after the caller's own; those must be unchanged."""
        own, sent = self.bodies[0]["contents"], self.bodies[number]["contents"]
        assert sent[: len(own)] == own
        return list(sent[len(own) :])

    def tell(self, mode: str = "body", way: str = "sync", **more: Any) -> Said:
        """Ask `ASK`."""
        return self.ask([ASK], mode, way, **more)


def played(base: GeminiAsker, replay: Replay, *answers: Answer, **settings: Any) -> PlayedGemini:
    """A wrapped client that meets these answers; keywords are settings of the policy."""
    replay.say(*answers)
    return PlayedGemini(base, replay, tenuto.Policy(**(QUICK | settings)))
