"""Answers one request: everything between the received bytes and those to send.

This module sends nothing, so a test can get an answer without a socket.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tenuto_sim.asked import Asked, answers_result, first_prompt, reread, results_in
from tenuto_sim.case import Arguments, Ending, Kind, Say, Step, Writes
from tenuto_sim.cases import CASES_ON, described
from tenuto_sim.conversation import (
    Conversation,
    Conversations,
    arrives,
    breaks_off,
    is_broken,
)
from tenuto_sim.envelope import Envelope, dump
from tenuto_sim.errors import Failure
from tenuto_sim.prose import key_of
from tenuto_sim.reply import Settings, as_call, due, reply, uncut_tokens, wanted
from tenuto_sim.wire import Memory, Wire
from tenuto_sim.wires import WIRES, wire_at

_CREATED: Final = 1_790_000_000
_CHAT: Final = WIRES["openai-chat"]
"""The wire whose format answers a path that belongs to no wire."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request that the simulator received, and its answer.

    `headers` have lower-case names; `json` is the decoded body, or None if it can't be decoded.
    Tokens are those billed: none for a rejected request, and all those sent for a broken answer.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    json: Any
    status: int
    wire: str = ""
    """Name of the wire; "" if the path belongs to none."""
    prompt: str = ""
    """Text of the first user message; "" if the request was rejected before it was read."""
    conversation: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    uncut_output_tokens: int = 0
    """What the whole right answer to the conversation would have cost, including reasoning."""


Bill = dict[str, Any]
"""What one answer cost, and which conversation it belongs to, as fields of `Recorded`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response that is ready to send; `events` is None for a whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    events: tuple[bytes, ...] | None = None
    ending: Ending = Ending.WHOLE
    writes: Writes = Writes.EVENT
    last_event: bytes = b""
    """The event after which clients leave."""


_OF_WRONG_TYPES: Final = (TypeError, AttributeError, LookupError, ValueError, RecursionError)
"""Exceptions from a body with values of the wrong type, such as a list instead of a string."""


@dataclass(slots=True)
class Exchange:
    """A provider without a socket.

    >>> Exchange().answer("GET", "/health", {}, b"").status
    200
    """

    settings: Settings = field(default_factory=Settings)
    strict: bool = True
    dialect: str = ""
    """Which version of Chat Completions to speak; "" for OpenAI's."""
    conversations: Conversations = field(default_factory=Conversations)
    requests: list[Recorded] = field(default_factory=list)
    memory: Memory = field(default_factory=dict)

    def too_large(self, most_bytes: int) -> Answer:
        """Return the answer to a request that is too large to read."""
        said = f"The request is larger than {most_bytes} bytes."
        refused = _CHAT.refuse(said, status=413, code="request_too_large")
        return _document(refused.status, _CHAT.stamped(refused.document, ""), refused.headers)

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Return the answer to one request, and record both."""
        try:
            decoded = json.loads(body) if body else None
        except (ValueError, RecursionError):
            decoded = None
        path_alone, _, query = path.partition("?")
        wire, said_there = self._wire_at(method, path_alone, query) or (None, {})
        key = key_of("request", str(len(self.requests)))
        bill = Bill()
        if (method, path_alone) == ("POST", "/sim/reset"):
            self.conversations.forget()
            made: Answer | Failure = _document(200, {"status": "ok"})
        elif wire is not None:
            made, bill = self._complete(wire, headers, decoded, said_there)
        else:
            made = _elsewhere(method, path_alone, query)
        speaker = wire or _CHAT
        if isinstance(made, Failure):
            made = _document(made.status, speaker.stamped(made.document, key), made.headers)
        made = replace(made, headers={**speaker.headers(key), **made.headers})
        asked = (method, path, headers, body, decoded, made.status, wire.name if wire else "")
        self.requests.append(Recorded(*asked, **bill))
        return made

    def _wire_at(self, method: str, path: str, query: str) -> tuple[Wire, Mapping[str, str]] | None:
        return wire_at(path, query, self.dialect) if method == "POST" else None

    def _read(
        self, wire: Wire, headers: Mapping[str, str], body: Any, said_there: Mapping[str, str]
    ) -> tuple[Any, Asked] | Failure:
        """Return the body with what path and headers add, and what it asks for; or a refusal."""
        if isinstance(body, dict):
            body = wire.headed(wire.located(body, said_there), headers)
        if found := next(wire.impossible(body), None):
            return found
        recalled = wire.recalled(body, self.memory)
        if isinstance(recalled, Failure):
            return recalled
        wrong = wire.violations(headers, recalled, self.settings)
        if self.strict and (found := next(wrong, None)):
            return found
        return recalled, reread(wire.read(recalled, self.settings))

    def _complete(
        self, wire: Wire, headers: Mapping[str, str], body: Any, said_there: Mapping[str, str]
    ) -> tuple[Answer | Failure, Bill]:
        try:
            read = self._read(wire, headers, body, said_there)
        except _OF_WRONG_TYPES as error:  # the tables of rules don't cover all of these
            read = wire.refuse(f"Something in the body has a wrong type: {error}")
        if isinstance(read, Failure):
            return read, Bill()
        body, asked = read
        chosen = self.conversations.choose(wire, headers, asked)
        if isinstance(chosen, Failure):
            return chosen, Bill(prompt=first_prompt(asked.rows))
        state, step = chosen
        refused = _refused(wire, step, asked, body)
        if refused is not None:
            return refused, Bill(prompt=first_prompt(asked.rows), conversation=state.key)
        return self._say(wire, asked, state, step, body)

    def _say(
        self, wire: Wire, asked: Asked, state: Conversation, step: Step, body: Mapping[str, Any]
    ) -> tuple[Answer, Bill]:
        prompt = first_prompt(asked.rows)
        kind = state.kind or Kind.TEXT
        whole = wanted(prompt, kind, asked.tools, state.response_format, state.answers)
        now = state.planned or due(asked, whole, results_failed=state.broken_call)
        if asked.answers_by_call and state.planned is None:
            now = as_call(now, whole, state.answer_key)
        said = reply(asked, step, now, self.settings)
        if said.finish == "stop_sequence" and "stop_sequence" not in CASES_ON[wire.name]:
            said = replace(said, finish="stop")  # such a wire has no value for it
        whole_answer = arrives(_live(step), said.finish, stream=asked.stream)
        calling = step.say is not Say.ANSWER and not answers_result(asked.rows)
        if state.planned is not None:
            # A client that has a schema requests a call again if its arguments never arrived.
            given = any(call.arguments not in ("{}", "", None) for call in now.calls)
            lost = given and step.arguments is Arguments.NULL
            # A client may run whole calls even if the stream breaks off after them. It may take a
            # call that the budget cut for a whole one, too, if the stop hides that and no tool of
            # the request says which arguments are missing.
            cut = said.call_cut
            broke_off = not cut and breaks_off(_live(step), stream=asked.stream)
            unseen = cut and whole_answer and said.calls[-1].name not in dict(asked.tools)
            open_end = bool(said.calls) and not lost and (broke_off or unseen)
            state.broken_call = lost or not (open_end or (whole_answer and not cut))
            state.results_before = results_in(asked.rows) if open_end else None
            state.given[state.place] = len(state.ran) + len(said.calls)
        elif whole.calls and (said.calls or calling):
            state.broken_call = is_broken(step) or said.finish == "length"
        token_chars = self.settings.token_chars
        bill = Bill(
            prompt=prompt,
            conversation=state.key,
            input_tokens=said.prompt_tokens,
            output_tokens=said.completion_tokens,
            uncut_output_tokens=uncut_tokens(now, token_chars) + said.reasoning_tokens,
        )
        state.over = whole_answer or (
            said.finish == "length" and bool(said.text) and not said.calls
        )
        envelope = Envelope(
            id=wire.answer_id(state.answer_key),
            model=asked.model,
            choices=asked.choices,
            include_usage=asked.include_usage,
            token_chars=token_chars,
            prompt=asked.echoed,
            forms=asked.forms,
        )
        step = _live(step)
        if not step.error and step.ending is Ending.WHOLE:
            wire.kept(body, wire.render_body(said, step, envelope), self.memory)
        if not asked.stream:
            return _document(200, wire.render_body(said, step, envelope), ending=step.ending), bill
        answer = Answer(
            200,
            wire.stream_headers,
            events=tuple(wire.frame(wire.render_events(said, step, envelope), step.framing)),
            ending=step.ending,
            writes=step.writes,
            last_event=wire.last_event,
        )
        return answer, bill


def _elsewhere(method: str, path: str, query: str) -> Answer | Failure:
    """Answer a request that belongs to no wire."""
    match method, path:
        case "GET", "/v1/models":
            rows = [{"id": "sim", "object": "model", "created": _CREATED, "owned_by": "tenuto"}]
            return _document(200, {"object": "list", "data": rows})
        case "GET", "/health":
            return _document(200, {"status": "ok"})
        case "GET", "/sim/faults":
            wanted_wire = query.removeprefix("wire=") or _CHAT.name
            if wanted_wire not in WIRES:
                return _CHAT.refuse(f"The wire '{wanted_wire}' does not exist here.", status=404)
            return _document(200, described(wanted_wire))
        case _:
            return _CHAT.refuse(f"Invalid URL ({method} {path})", status=404)


def _live(step: Step) -> Step:
    """Return the step without an error that doesn't apply to this request."""
    return Step(kind=step.kind) if step.error == "unknown_key" else step


def _refused(wire: Wire, step: Step, asked: Asked, body: Mapping[str, Any]) -> Failure | None:
    """Return the HTTP error with which a step answers this request."""
    budget = asked.budget_tokens
    if step.ceiling_tokens and budget is not None and budget > step.ceiling_tokens:
        name = "max_tokens" if "max_tokens" in body else "max_completion_tokens"
        return wire.too_many_tokens(name, budget, step.ceiling_tokens, asked.model)
    if step.error == "unknown_key":
        name = next((name for name in body if name not in wire.core_keys), "")
        return wire.unknown_key(name) if name else None
    if step.error and step.error not in wire.errors:
        return wire.refuse(f"The error '{step.error}' does not exist on this wire.")
    if step.error and wire.errors[step.error].status != 200:
        return wire.errors[step.error]
    return None


def _document(
    status: int,
    document: Mapping[str, Any] | list[Any],
    headers: Mapping[str, str] | None = None,
    ending: Ending = Ending.WHOLE,
) -> Answer:
    body = dump(document).encode("utf-8", "replace")
    return Answer(
        status, {"content-type": "application/json"} | dict(headers or {}), body, ending=ending
    )
