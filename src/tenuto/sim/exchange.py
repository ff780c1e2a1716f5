"""One request in, one answer out: everything between the bytes that came and those that will go.

Nothing is sent here, so that a test can ask for an answer without a socket.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tenuto.sim.case import Ending, Kind, Say, Step, Writes
from tenuto.sim.cases import described
from tenuto.sim.conversation import Conversation, Conversations, is_broken, lacks_tools
from tenuto.sim.errors import ERRORS, Failure, failure, too_many_tokens, unknown_argument
from tenuto.sim.history import (
    NOT_JSON,
    PREFILL_REFUSALS,
    basic_violation,
    header_violation,
    violation,
)
from tenuto.sim.prose import key_of
from tenuto.sim.render import CREATED, Envelope, dump, frame, render_body, render_events
from tenuto.sim.reply import (
    Settings,
    answers_result,
    budget_of,
    first_prompt,
    reply,
    tool_names,
    wanted,
)

CORE_KEYS: Final = frozenset(
    {"model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens"}
    | {"tools", "tool_choice", "response_format"}
)
"""Body keys that the case of an unknown key never names."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request that the simulator received, and the status that it answered.

    `headers` has lower-cased names; `json` is the decoded body, None where it does not decode.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    json: Any
    status: int


@dataclass(frozen=True, slots=True)
class Answer:
    """A response that is ready to be sent; `events` is None for a whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    events: tuple[bytes, ...] | None = None
    ending: Ending = Ending.WHOLE
    writes: Writes = Writes.EVENT


@dataclass(slots=True)
class Exchange:
    """A provider without a socket.

    >>> Exchange().answer("GET", "/health", {}, b"").status
    200
    """

    settings: Settings = field(default_factory=Settings)
    strict: bool = True
    refusal: str = "anthropic"
    conversations: Conversations = field(default_factory=Conversations)
    requests: list[Recorded] = field(default_factory=list)

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Return the answer to one request, and record both."""
        try:
            decoded = json.loads(body) if body else None
        except ValueError:
            decoded = None
        made = self._route(method, path.partition("?")[0], headers, decoded)
        number = key_of("request", str(len(self.requests)))
        if isinstance(made, Failure):
            made = _document(made.status, made.document, made.headers)
        made = Answer(
            made.status,
            {
                "openai-organization": "sim",
                "openai-processing-ms": "7",
                "openai-version": "2020-10-01",
                "x-request-id": f"req_{number}",
            }
            | dict(made.headers),
            made.body,
            made.events,
            made.ending,
            made.writes,
        )
        self.requests.append(Recorded(method, path, headers, body, decoded, made.status))
        return made

    def _route(
        self, method: str, path: str, headers: Mapping[str, str], decoded: Any
    ) -> Answer | Failure:
        match method, path:
            case "POST", "/v1/chat/completions":
                return self._complete(headers, decoded)
            case "GET", "/v1/models":
                rows = [{"id": "sim", "object": "model", "created": CREATED, "owned_by": "tenuto"}]
                return _document(200, {"object": "list", "data": rows})
            case "GET", "/health":
                return _document(200, {"status": "ok"})
            case "GET", "/sim/faults":
                return _document(200, described())
            case _:
                return failure(f"Invalid URL ({method} {path})", status=404)

    def _complete(self, headers: Mapping[str, str], body: Any) -> Answer | Failure:
        if not isinstance(body, dict):
            return failure(NOT_JSON)
        if (found := basic_violation(body)) is not None:
            return found
        if self.strict:
            rejects = self.settings.prefill == "reject"
            found = header_violation(headers) or violation(
                body,
                max_output_tokens=self.settings.max_output_tokens,
                prefill_refusal=PREFILL_REFUSALS[self.refusal] if rejects else None,
            )
            if found is not None:
                return found
        chosen = self.conversations.choose(headers, body)
        if isinstance(chosen, Failure):
            return chosen
        state, step, key = chosen
        refused = lacks_tools(step, body) or _refused(step, body)
        return refused or self._say(body, state, step, key)

    def _say(self, body: Mapping[str, Any], state: Conversation, step: Step, key: str) -> Answer:
        prompt = first_prompt(body["messages"])
        kind = state.kind or Kind.TEXT
        whole = wanted(prompt, kind, tool_names(body), state.response_format, state.answers)
        said = reply(body, step, whole, self.settings, results_failed=state.broken_call)
        calling = step.say is not Say.ANSWER and not answers_result(body["messages"])
        if whole.calls and (said.calls or calling):
            state.broken_call = is_broken(step) or said.finish == "length"
        choices = body.get("n")
        envelope = Envelope(
            id="chatcmpl-" + key_of(key, length=29),
            model=body["model"],
            choices=choices if isinstance(choices, int) and 1 <= choices <= 8 else 1,
            include_usage=bool((body.get("stream_options") or {}).get("include_usage")),
            token_chars=self.settings.token_chars,
        )
        step = _live(step)
        if not body.get("stream"):
            return _document(200, render_body(said, step, envelope), ending=step.ending)
        return Answer(
            200,
            {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"},
            events=tuple(frame(render_events(said, step, envelope), step.framing)),
            ending=step.ending,
            writes=step.writes,
        )


def _live(step: Step) -> Step:
    """Return the step without an error that did not apply to this request."""
    return Step(kind=step.kind) if step.error == "unknown_key" else step


def _refused(step: Step, body: Mapping[str, Any]) -> Failure | None:
    """Return the HTTP error that a step gives to this request."""
    budget = budget_of(body)
    if step.ceiling_tokens and budget is not None and budget > step.ceiling_tokens:
        name = "max_tokens" if "max_tokens" in body else "max_completion_tokens"
        return too_many_tokens(name, budget, step.ceiling_tokens)
    if step.error == "unknown_key":
        name = next((name for name in body if name not in CORE_KEYS), "")
        return unknown_argument(name) if name else None
    if step.error and ERRORS[step.error].status != 200:
        return ERRORS[step.error]
    return None


def _document(
    status: int,
    document: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
    ending: Ending = Ending.WHOLE,
) -> Answer:
    body = dump(document).encode("utf-8", "replace")
    return Answer(
        status, {"content-type": "application/json"} | dict(headers or {}), body, ending=ending
    )
