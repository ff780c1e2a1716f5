"""A provider that says what a test wrote down, answer by answer, and keeps what it was asked.

`sim.script` plays faults on texts that the simulator makes up; this one is for tests in which each
character counts: `R("part 1 ", MAX), R("part 2", END)`. It checks nothing: the simulator does that.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

import tenuto
from support.asking.openai_chat import TOOLS, Asker, Got
from support.asking.wrapping import QUICK, Wrapped
from support.events import openai_chat as chat
from support.events.framing import sse

END, MAX, TOOL, SAFETY = "stop", "length", "tool_calls", "content_filter"
INPUT_TOKENS = 20


@dataclass(frozen=True)
class Reply:
    """What goes over the wire."""

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str]


class Answer(Protocol):
    """What a test writes down: one response in the words of its wire. `wait_s`: how long it takes."""

    @property
    def wait_s(self) -> float: ...

    def reply(self, asked: Any) -> Reply:
        """The response to a request, given its decoded body."""


@dataclass(frozen=True)
class Call:
    """A tool call; a field that is None is left out."""

    name: str = "write_file"
    arguments: Any = '{"path": "a.txt", "content": "x"}'
    id: str | None = "call_a"
    type: str | None = "function"
    index: bool = True


@dataclass(frozen=True)
class R:
    """One response of the model.

    Attributes:
        text: what it says; streams say it in pieces of `piece_chars` characters.
        stop: the finish reason; None: none comes.
        calls: its calls, each with its raw arguments.
        reasoning, refusal: text in fields of their own.
        tokens: the output tokens of the usage; None: no usage is given.
        input_tokens: those of the prompt.
        dropped: the transfer ends without an end mark (bodies: in the middle of the document).
        wait_s: how long it thinks.
        echo: what bodies repeat before the text.
        id: the message's id.
    """

    text: str = ""
    stop: str | None = END
    calls: Sequence[Call] = ()
    reasoning: str = ""
    refusal: str = ""
    tokens: int | None = 1
    input_tokens: int = INPUT_TOKENS
    dropped: bool = False
    wait_s: float = 0.0
    echo: str = ""
    piece_chars: int = 5
    id: str = "chatcmpl-1"

    def reply(self, asked: Any) -> Reply:
        model = str(asked.get("model"))
        if not asked.get("stream"):
            return Reply(200, "application/json", self.body(model), {})
        options = asked.get("stream_options") or {}
        made = self.stream(model, include_usage=bool(options.get("include_usage")))
        return Reply(200, "text/event-stream", made, {})

    def body(self, model: str) -> bytes:
        said = chat.message(
            self.echo + self.text,
            [_head(call, call.arguments) for call in self.calls],
            reasoning_content=self.reasoning,
            refusal=self.refusal,
        )
        value = chat.whole(said, self.stop, shared=self._shared(model), usage=self._usage())
        made = json.dumps(value, ensure_ascii=False).encode()
        return made[: len(made) // 2] if self.dropped else made

    def events(self, model: str, *, include_usage: bool = False) -> list[dict[str, Any]]:
        """The chunks of a stream."""
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        for key, text in (
            ("reasoning_content", self.reasoning),
            ("content", self.text),
            ("refusal", self.refusal),
        ):
            size = self.piece_chars
            deltas += [{key: text[at : at + size]} for at in range(0, len(text), size)]
        for number, call in enumerate(self.calls):
            deltas += _call_deltas(number, call)
        usage = (self._usage() or {}) if include_usage else None
        told = chat.chunks(deltas, self.stop, shared=self._shared(model), beside={}, usage=usage)
        return told[: len(deltas)] if self.dropped else told

    def stream(self, model: str, *, include_usage: bool) -> bytes:
        events = self.events(model, include_usage=include_usage)
        return b"".join(sse(events, done=not self.dropped))

    def _shared(self, model: str) -> dict[str, Any]:
        return {**chat.SHARED, "id": self.id, "created": 1_790_000_000, "model": model}

    def _usage(self) -> dict[str, Any] | None:
        return None if self.tokens is None else chat.usage_of(self.input_tokens, self.tokens)


@dataclass(frozen=True)
class Refused:
    """An HTTP error."""

    status: int
    message: str = "No."
    code: str | None = None
    headers: Mapping[str, str] | None = None
    wait_s: float = 0.0

    def reply(self, asked: Any) -> Reply:
        return Reply(self.status, "application/json", self.body(), self.headers or {})

    def body(self) -> bytes:
        error = {"message": self.message, "type": None, "param": None, "code": self.code}
        return json.dumps({"error": error}).encode()


@dataclass(frozen=True)
class Asked:
    """One request as it came; `json` is the decoded body, None where it is no JSON; `at_s` when it came."""

    headers: dict[str, str]
    body: bytes
    json: Any
    at_s: float
    path: str = ""


class Replay:
    """A server on loopback with a list of answers; past its end it answers 501."""

    def __init__(self) -> None:
        self.answers: deque[Answer] = deque()
        self.requests: list[Asked] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )

    def __enter__(self) -> Replay:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def root_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def base_url(self) -> str:
        return self.root_url + "/v1"

    def say(self, *answers: Answer) -> None:
        """Forget everything, and answer the next requests with these."""
        self.answers = deque(answers)
        self.requests = []


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _head(call: Call, arguments: Any) -> dict[str, Any]:
    return chat.function(call.name, arguments, call.id, call.type)


def _call_deltas(number: int, call: Call) -> list[dict[str, Any]]:
    """A head without arguments, then the arguments in two pieces; what is no text comes at once."""
    raw, index = call.arguments, number if call.index else None
    if not isinstance(raw, str):
        return chat.call_deltas(_head(call, raw), (), index)
    half = len(raw) // 2
    return chat.call_deltas(_head(call, ""), (raw[:half], raw[half:]), index)


def _handler(replay: Replay) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {key.lower(): value for key, value in self.headers.items()}
            asked = Asked(headers, body, _decoded(body), time.monotonic(), self.path)
            replay.requests.append(asked)
            over = Refused(501, "The test wrote down no further answer.")
            answer = replay.answers.popleft() if replay.answers else over
            time.sleep(answer.wait_s)
            # Gemini names the mode in the path.
            streams = {"stream": True} if ":stream" in self.path else {}
            self._send(answer.reply(asked.json | streams if streams else asked.json))

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in {
                "content-type": reply.content_type,
                "content-length": str(len(reply.body)),
                **reply.headers,
            }.items():
                self.send_header(name, value)
            self._headers_buffer.append(b"\r\n" + reply.body)  # type: ignore[attr-defined]  # one write
            try:
                self.flush_headers()
            except ConnectionError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


ASK = {"role": "user", "content": "Tell me."}
FILES: dict[str, Any] = {"tools": TOOLS}
"""Keywords of a request that attaches the tool `write_file`."""

AFTER_RESULT: list[Any] = [
    ASK,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_0",
                "type": "function",
                "function": {"name": "write_file", "arguments": '{"path":"a","content":"b"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_0", "content": "written"},
]
"""A conversation that ends in a tool result."""


class OnStage:
    """A wrapped client in front of written-down answers, whichever the SDK. The connections are
    those of `base`, an asker without anything around it."""

    client: Any
    async_client: Any

    def __init__(self, base: Any, replay: Replay, policy: tenuto.Policy) -> None:
        self.__dict__.update(vars(base))
        self.replay = replay
        self.events: list[tenuto.Event] = []
        watch = self.events.append
        self.client = tenuto.wrap(base.client, policy=policy, on_event=watch)
        self.async_client = tenuto.wrap(base.async_client, policy=policy, on_event=watch)

    @property
    def sent(self) -> int:
        """How many requests left."""
        return len(self.replay.requests)

    @property
    def bodies(self) -> list[Any]:
        """The decoded bodies of the requests that left."""
        return [asked.json for asked in self.replay.requests]

    @property
    def budgets(self) -> list[Any]:
        """The output limit of each request that left."""
        return [body.get("max_completion_tokens", body.get("max_tokens")) for body in self.bodies]

    def added(self, number: int) -> list[Any]:
        """The rows that a request holds after the caller's own; those must be unchanged."""
        own, sent = self.bodies[0]["messages"], self.bodies[number]["messages"]
        assert sent[: len(own)] == own
        return list(sent[len(own) :])


class Played(OnStage, Wrapped):
    """The SDK of OpenAI."""

    def tell(self, mode: str = "body", way: str = "sync", **more: Any) -> Got:
        """Ask `ASK`."""
        return self.ask([ASK], mode, way, **more)


def played(base: Asker, replay: Replay, *answers: Answer, **settings: Any) -> Played:
    """A wrapped client that meets these answers; keywords are settings of the policy."""
    replay.say(*answers)
    return Played(base, replay, tenuto.Policy(**(QUICK | settings)))
