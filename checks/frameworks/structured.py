"""Documents that a framework asks for, and that its provider cuts.

Theory of operation
-------------------
A framework has several ways to ask for a document: with a schema, in JSON mode, as the arguments of a
tool, or with a sentence in the prompt. It asks again if its model refuses what came. The provider here
cuts the first answer of every turn, and answers all of Tenuto's further requests with one of `RESTS`.
Each request of the framework is a turn. What is counted: the turns, their requests, and the values
that the framework's model was given to validate though Tenuto had put them together.
"""

import contextlib
import gc
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

import pydantic
from framework_judge import QUICK
from support.events.by_wire import WIRES
from support.events.framing import Call

import tenuto

QUESTION = "Tell of a bay. Answer in JSON."
LIMIT_TOKENS = 100
BEGUN = '{"name": "Bay", "kind": "spring", "rows": [{"n": 1}'
"""Whoever closes the brackets has a document that matches, and isn't whole."""
REST = ', {"n": 22}]}'
WHOLE = json.loads(BEGUN + REST)
RESTS: dict[str, str | None] = {
    "cut again": None,
    "another key": ', {"n": 22}], "height": 3}',
    "a document that doesn't match": '{"name": "Cove", "kind": "storm", "rows": [{"n": "one"}]}',
    "prose": "That was the whole document.",
    "nothing": "",
    "a document that matches": BEGUN + REST,
    "the rest": REST,
}
"""What Tenuto's further requests are answered with, under a clean stop; None: they are cut too."""
POLICIES: dict[str, dict[str, Any]] = {
    f"{on_incomplete}{' at the ceiling' * bool(more)}": {"on_incomplete": on_incomplete, **more}
    for on_incomplete in ("stop", "error")
    for more in ({}, {"hard_max_tokens": LIMIT_TOKENS})
}
"""At the ceiling, the limit of a request can't be raised, so that a document is continued at once."""
MOST_REQUESTS = 1 + tenuto.Policy().continuation_max_attempts
"""What a turn may take."""
STOPS = {
    "anthropic-messages": "max_tokens",
    "gemini-generate": "MAX_TOKENS",
    "mistral": "length",
    "openai-chat": "length",
    "openai-responses": "incomplete",
}
SEEN: list[Any] = []
"""The values that the framework's model was given to validate."""


class Row(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    n: int


class Shape(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    name: str
    kind: Literal["spring", "neap"]
    rows: list[Row]


class Tide(Shape):
    """What is asked for. It keeps what it is given."""

    @pydantic.model_validator(mode="before")
    @classmethod
    def _keep(cls, value: Any) -> Any:
        SEEN.append(value)
        return value


@dataclass(frozen=True, slots=True)
class Given:
    """What a way is given: where to ask, and what wraps its client or stands in its place."""

    root: str
    stream: bool
    settings: dict[str, Any]

    @property
    def url(self) -> str:
        """The base URL of an SDK that expects the version in it."""
        return f"{self.root}/v1"

    def wrap(self, client: Any) -> Any:
        """Return the wrapped client of an SDK."""
        return tenuto.wrap(client, **self.settings)

    def http(self, library: str = "httpx2", **more: Any) -> Any:
        """Return an HTTP client."""
        make: Any = tenuto.http_client
        return make(library, **self.settings, **more)


@dataclass(frozen=True, slots=True)
class Way:
    """How a framework asks for a document, on which wire, and by which package.

    `made` makes its client. What that returns asks, and returns what the framework makes of the
    answer.
    """

    name: str
    wire: str
    package: str
    made: Callable[[Given], Callable[[], Any]]


@dataclass(frozen=True, slots=True)
class Result:
    """What one question took, and what the framework made of it.

    `joined` counts the values that Tenuto put together and that the framework's model refused.
    `outcome` is "whole", "raised", or "incomplete": half a document was returned like a whole one.
    """

    way: str
    sends: str
    rest: str
    policy: str
    stream: bool
    turns: int
    requests: int
    requests_in_a_turn: int
    joined: int
    outcome: str
    why: str

    @property
    def wrong(self) -> str:
        """What must not be, "" if all is well. Where the schema stands in the prompt alone, the
        answer is a text like others. In JSON mode, what is put together is proven to be an object."""
        if self.requests_in_a_turn > MOST_REQUESTS:
            return f"{self.requests_in_a_turn} requests in a turn"
        if self.sends in ("schema", "call") and self.joined:
            return "saw a document that was put together and doesn't match"
        asks_for_errors = self.policy.startswith("error")
        if self.sends == "schema" and asks_for_errors and self.requests > MOST_REQUESTS:
            return f"{self.requests} requests"
        if self.sends != "text" and asks_for_errors and self.outcome == "incomplete":
            return f"took half a document for a whole one: {self.why}"
        return ""


class Provider:
    """Cuts the first answer of every turn. `requests` counts those of each turn."""

    def __init__(self) -> None:
        self.requests: list[int] = []
        self.rest: str | None = ""
        self.wire = self.sends = ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                stream = bool(body.get("stream")) or ":stream" in self.path
                kind, told = outer._answer(body, stream)
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._port = self._server.server_address[1]
        # A client that is no SDK's is known to be Mistral's by its host.
        row = tenuto.Provider("mistral-host", wire="mistral", hosts=[f"localhost:{self._port}"])
        tenuto.register_provider(row)

    def __enter__(self) -> "Provider":
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()

    def root(self, wire: str) -> str:
        """The address for a wire."""
        return f"http://{'localhost' if wire == 'mistral' else '127.0.0.1'}:{self._port}"

    def hear(self, event: tenuto.Event) -> None:
        """Begin a turn with Tenuto."""
        if event.name == "turn_started":
            self.requests.append(0)

    def _answer(self, asked: dict[str, Any], stream: bool) -> tuple[str, bytes]:
        self.sends = self.sends or sends(asked)
        self.requests[-1] += 1
        cut = self.requests[-1] == 1 or self.rest is None
        text = BEGUN if cut else self.rest or ""
        calls: tuple[Call, ...] = ()
        if (name := _tool_of(asked)) and text.startswith("{"):
            calls, text = _called(name, text, self.wire, stream), ""
        made, stop = WIRES[self.wire], STOPS[self.wire] if cut else None
        events = made.events(text, calls, stop) if stream else [made.body(text, calls, stop)]
        for event in events:
            inner = event.get("response", event)
            if inner.get("status") == "incomplete":
                inner["incomplete_details"] = {"reason": "max_output_tokens"}
        if not stream:
            return "application/json", json.dumps(events[0]).encode()
        return made.content_type, b"".join(made.framed(events))


SCHEMAS = ("json_schema", "schema", "responseSchema", "responseJsonSchema")


def sends(asked: dict[str, Any]) -> str:
    """What a request says of the document: its "schema", that it is an "object", or nothing ("text":
    the schema stands in the prompt alone). A "call" has it as arguments."""
    nested = asked.get("text") or asked.get("output_config") or {}
    form = asked.get("response_format") or nested.get("format") or asked.get("generationConfig")
    form = form or {}
    if asked.get("tools"):
        return "call"
    if any(key in form for key in SCHEMAS):
        return "schema"
    return "object" if form.get("type") or form.get("responseMimeType") else "text"


def _tool_of(asked: dict[str, Any]) -> str:
    """The name of the tool that a request asks to be called, "" if it has none."""
    for tool in asked.get("tools") or ():
        function = tool.get("function", tool)
        function = next(iter(function.get("functionDeclarations", ())), function)
        return str(function["name"])
    return ""


def _called(name: str, text: str, wire: str, stream: bool) -> tuple[Call, ...]:
    """The call that has a document as its arguments. Where they are an object, one that was cut has
    fewer members (Anthropic), or doesn't come (Gemini)."""
    if wire == "gemini-generate" or (wire == "anthropic-messages" and not stream):
        with contextlib.suppress(json.JSONDecodeError):
            return (Call((json.loads(text),), name),)
        return (Call(({"name": "Bay"},), name),) if wire == "anthropic-messages" else ()
    return (Call((text,), name),)


def joined(value: Any) -> bool:
    """Whether a value was put together from two answers, and doesn't match."""
    said = value if isinstance(value, str) else json.dumps(value, default=str)
    if "Bay" not in said or not ("height" in said or "Cove" in said):
        return False
    try:
        Shape.model_validate(value)
    except pydantic.ValidationError:
        return True
    return False


def played(way: Way, provider: Provider) -> Iterator[Result]:
    """Ask under each policy, whole and as a stream, with each answer to Tenuto's requests."""
    for policy, more in POLICIES.items():
        for stream in (False, True):
            settings = {"policy": tenuto.Policy(**QUICK, **more), "on_event": provider.hear}
            ask = way.made(Given(provider.root(way.wire), stream, settings))
            # A stream that a framework leaves open is closed when it is collected. If httpcore holds
            # the lock of its pool just then, the thread waits for itself, with Tenuto and without.
            gc.disable()
            try:
                yield from _asked(ask, way, policy, stream, provider)
            finally:
                gc.enable()
                gc.collect()


def _asked(
    ask: Callable[[], Any], way: Way, policy: str, stream: bool, provider: Provider
) -> Iterator[Result]:
    for rest, provider.rest in RESTS.items():
        provider.requests, provider.wire, provider.sends = [], way.wire, ""
        SEEN.clear()
        try:
            got = ask()
            outcome, why = "whole" if got.model_dump() == WHOLE else "incomplete", repr(got)
        except Exception as raised:  # noqa: BLE001 - each framework has its own
            outcome, why = "raised", f"{type(raised).__name__}: {raised}"
        counts = provider.requests
        yield Result(
            way.name, provider.sends, rest, policy, stream, len(counts), sum(counts),
            max(counts, default=0), sum(map(joined, SEEN)), outcome, why[:200],
        )  # fmt: skip
