"""Why recorded attempts ended, and what Tenuto does next, as decided by the code of a live turn.

Theory of operation
-------------------
A capture has the request and the responses, so the turn is run again: the pipe itself gets the
recorded bytes, and its events and commands say what it decides. If it wants to send a request that
was never answered, or a different one, the bytes of that request show what would differ. An answer
without its request goes through `classify` and `step` only, with the facts that the answer itself
shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tenuto.cli.recorded import Answer, Capture, Exchange, NotRecorded, read_recording
from tenuto.core.answer.response import Response
from tenuto.core.answer.runaway import is_runaway
from tenuto.core.answer.stop import Stop, StopReason, printable
from tenuto.core.deciding.actions import (
    AppendAssistant,
    AppendCalls,
    AppendContent,
    AppendUser,
    DropConstraint,
    DropKeys,
    DropTools,
    Edit,
    Finish,
    FreeToolChoice,
    LowerReasoning,
    SetOutputLimit,
)
from tenuto.core.deciding.ladders import SENTENCES
from tenuto.core.deciding.machine import step
from tenuto.core.deciding.outcome import classify
from tenuto.core.deciding.view import Facts, State
from tenuto.core.events.advice import advice_on
from tenuto.core.events.event import Event
from tenuto.core.settings.policy import Policy
from tenuto.detection import recognize
from tenuto.providers.registry import route
from tenuto.turn.drivers.commands import (
    ConnectionLost,
    Head,
    RaiseError,
    ReadMore,
    Reply,
    SendData,
    SendRequest,
    StartResponse,
)
from tenuto.turn.pipeline.ending import ends_in_error
from tenuto.turn.pipeline.engine import Engine
from tenuto.turn.record.usage import output_tokens
from tenuto.wires.base import Wire
from tenuto.wires.registry import WIRES
from tenuto.wires.request import RequestFacts

Plain = dict[str, Any]


def explain(content: bytes, policy: Policy | None, in_force: Callable[[], Policy]) -> Plain:
    """Explain a file, as plain values. Content is under `content` only.

    Args:
        content: the bytes of the file.
        policy: the policy that the user named; None: the capture's own, or else the one in force.
        in_force: returns the policy in force.

    Raises:
        NotRecorded: the file has nothing that can be explained.
    """
    recorded = read_recording(content)
    if isinstance(recorded, Capture):
        told = _Turn(recorded, policy or recorded.policy).told()
        return told | {"policy": "given" if policy else "recorded"}
    answers = [answer for answer in recorded if answer.counted]
    if len(answers) > 1:
        count = len(answers)
        raise NotRecorded(f"it holds {count} answers, not one; tenuto detect tells each of them")
    told = _answer((answers or recorded)[0], policy or in_force())
    return told | {"policy": "given" if policy else "in force"}


# --- an answer without its request --------------------------------------------------------------


def _answer(answer: Answer, policy: Policy) -> Plain:
    response, wire = answer.response, answer.wire
    if not answer.known:
        known = ", ".join(WIRES.all())
        raise NotRecorded(f"it is not a capture, nor a body or stream of a known wire ({known})")
    facts = Facts(
        kept_text=response.text,
        new_chars=len(response.text),
        runaway=is_runaway(response.text),
        output_tokens=output_tokens(response, None),
        input_tokens=response.usage.input_tokens if response.usage else None,
        tools=bool(response.calls),
        http_error=not answer.streamed and response.fault is not None,
    )
    _, action = step(State(), response, facts, replace(policy, decide=None), 0.0)
    if isinstance(action, Finish):
        as_it_came = facts.http_error and not facts.kept_text.strip()
        shown = "the error, unchanged" if as_it_came else _shown(action, wire, policy)
        fault = response.fault.kind if response.fault is not None else None
        follows = _end(action.status, action.reason, shown, fault)
    else:
        changes = [word for edit in action.edits for word in _edit(edit)]
        follows = {"do": "send", "rung": action.rung, "changes": changes}
    told = plain_stop(response.stop) | _message_and_size(response)
    attempt = {"number": 1, **told, "outcome": classify(response).value, "rung": action.rung}
    return {
        "kind": "stream" if answer.streamed else "body",
        "wire": wire.name if wire else None,
        "request": None,
        "attempts": [attempt],
        "next": follows,
        "content": {"text": response.text, "seams": []},
    }


def _shown(finish: Finish, wire: Wire | None, policy: Policy) -> str:
    if finish.status == "complete" or wire is None:
        return "the answer, unchanged" if finish.status == "complete" else ""
    shown = wire.shown[finish.shown]
    if ends_in_error(finish, shown, policy):
        return f"an error, {shown.error or finish.reason}"
    notice = " and a line that says so" if policy.on_incomplete == "notice" else ""
    if shown.received or finish.as_received:
        return f"the text with its own stop{notice}"
    return f"the text with the stop {shown.native!r}{notice}"


def _edit(edit: Edit) -> Iterator[str]:
    match edit:
        case AppendAssistant(_, prefill):
            yield (
                "the text so far is the beginning of the model's own answer"
                if prefill
                else "the text so far is an assistant message"
            )
        case AppendUser():
            yield "a user message with a hint follows"
        case AppendContent():
            yield "what the provider needs to go on by itself is sent back"
        case AppendCalls(_, calls):
            yield f"the {len(calls)} call(s) are answered as failed"
        case SetOutputLimit(tokens, counted):
            yield f"the output limit is {tokens + counted} tokens"
        case LowerReasoning():
            yield "the request asks for less reasoning"
        case DropConstraint():
            yield "any constraint on the output is lifted"
        case DropKeys(keys):
            yield f"left out: {', '.join(map(printable, keys))}"
        case FreeToolChoice():
            yield "the tool choice is free"
        case DropTools():
            yield "the tools are left out"


# --- a captured turn ----------------------------------------------------------------------------


@dataclass
class _Turn:
    """A captured turn, run again.

    Attributes:
        capture, policy: what to run, and under which policy.
        events: the events of the pipe.
        requests: the bodies of the requests that it wanted to send.
        note: how this run differs from the recorded one; "" if it doesn't.
    """

    capture: Capture
    policy: Policy
    events: list[Event] = field(default_factory=list)
    requests: list[bytes] = field(default_factory=list)
    note: str = ""
    written: list[bytes] = field(default_factory=list)
    head: Head | None = None
    raised: str = ""

    def told(self) -> Plain:
        """Return the explanation as plain values."""
        capture = self.capture
        facts = self._facts()
        runs = facts is not None and all(e.body is not None for e in capture.exchanges)
        if runs:
            self._run()
        else:
            self.note = "not all bytes are in the file, so this is what was recorded"
        attempts = [self._attempt(n, e) for n, e in enumerate(capture.exchanges) if self._met(n)]
        return {
            "kind": "capture",
            "wire": capture.wire,
            "provider": capture.provider,
            "host": capture.request and urlsplit(capture.request.url).netloc,
            "model": capture.model,
            "request": facts and _telling(facts),
            "attempts": attempts,
            "next": self._next(),
            "note": self.note,
            "content": self._content(),
        }

    def _facts(self) -> RequestFacts | None:
        wire, request = WIRES.find(self.capture.wire), self.capture.request
        parsed = (
            wire
            and request
            and wire.asked(
                request.body,
                self.policy.probe_max_tokens,
                urlsplit(request.url).path,
                route(request.url)[1].dialect,
                request.headers,
            )
        )
        return parsed.facts if parsed else None

    def _run(self) -> None:
        request = self.capture.request
        engine = Engine(replace(self.policy, capture=None, events=None), self.events.append)
        run = engine.begin(request) if request else None
        if run is None:
            self.note = "its URL is that of no wire that is known, so this is what was recorded"
            return
        reply: Reply = None
        unread: list[bytes | ConnectionLost] = []
        try:
            while (command := run.send(reply)) is not None:
                reply = None
                match command:
                    case SendRequest():
                        if not self._goes_on(command):
                            return
                        exchange = self.capture.exchanges[len(self.requests) - 1]
                        reply = exchange.head or exchange.lost
                        if reply is None:
                            self.note = "when it was recorded, nothing was answered"
                            return
                        lost = (exchange.lost,) if exchange.head and exchange.lost else ()
                        unread = [piece for piece in (exchange.body or b"", *lost) if piece]
                    case ReadMore():
                        reply = unread.pop(0) if unread else b""
                    case StartResponse(head):
                        self.head = head
                    case SendData(data):
                        self.written.append(data)
                    case RaiseError(error):
                        self.raised = str(error)
        except StopIteration:
            if len(self.requests) < len(self.capture.exchanges):
                self.note = "when it was recorded, the turn went on"
        finally:
            heard = len(self.events)
            run.close()
            del self.events[heard:]  # closing the run here doesn't mean that the caller left

    def _goes_on(self, command: SendRequest) -> bool:
        """Return whether the next request has a recorded answer, from the same rung."""
        number = len(self.requests)
        self.requests.append(command.body)
        if number == len(self.capture.exchanges):
            if self.capture.report:
                self.note = "when it was recorded, the turn ended here"
            return False
        if command.url is not None:
            return True  # the rest of the same answer, which no rung asks for
        before = self.capture.exchanges[number - 1].report.get("rung") if number else None
        now = self._observed(number - 1).get("rung") if number else None
        if before != now:
            self.note = (
                f"when it was recorded, the next rung was {sentence_of(before)!r}"
                if before
                else ("when it was recorded, the turn ended here")
            )
        return before == now

    def _of(self, name: str) -> list[dict[str, Any]]:
        return [event.data for event in self.events if event.name == name]

    def _observed(self, number: int) -> dict[str, Any]:
        observed, exchanges = self._of("stop_reason_observed"), self.capture.exchanges
        if 0 <= number < len(observed):
            return observed[number]
        known = 0 <= number < len(exchanges) and not self.requests
        return exchanges[number].report if known else {}

    def _met(self, number: int) -> bool:
        return not self.requests or number < min(len(self.requests), len(self.capture.exchanges))

    def _attempt(self, number: int, exchange: Exchange) -> Plain:
        response, _ = recognize(exchange.body or b"", wire=self.capture.wire)
        told: Plain = {
            "number": number + 1,
            "status": exchange.head.status if exchange.head else None,
        }
        told["lost"] = exchange.lost.kind.value if exchange.lost else None
        observed = self._observed(number)
        keys = ("reason", "raw", "detail", "confidence", "anomalies", "outcome", "rung")
        told |= plain_stop(response.stop) | _message_and_size(response)
        told |= {key: observed[key] for key in keys if key in observed}
        told.setdefault("outcome", None)
        told.setdefault("rung", "")
        told["message"] = _message(observed) or told["message"]
        if number + 1 < len(self.requests):
            told["changes"] = changes(self.requests[0], self.requests[number + 1])
        return told

    def _next(self) -> Plain:
        ended = [end for end in self._of("turn_ended") if end["status"] is not None]
        report = ended[-1] if ended else self.capture.report if not self.requests else None
        if report:
            stops = self._of("stop_reason_observed")
            fault = stops[-1].get("detail") if stops else None
            return _end(report["status"], report["reason"], self._seen(), fault)
        if self.raised or self.written or not self.requests:
            return _end("failed" if self.raised else "complete", "passed_on_unread", self._seen())
        last = self._observed(len(self.requests) - 2)
        wanted = changes(self.requests[0], self.requests[-1])
        return {"do": "send", "rung": last.get("rung", ""), "changes": wanted}

    def _seen(self) -> str:
        """Return what the caller gets, in words."""
        if self.raised:
            return f"the exception of its own transport, {printable(self.raised)}"
        if self.head is None:
            return ""
        data = b"".join(self.written)
        same = (n for n, e in enumerate(self.capture.exchanges, 1) if e.body == data)
        number = next(same, None)
        if number is not None:
            return f"attempt {number}, unchanged"
        stop = recognize(data, wire=self.capture.wire)[0].stop
        if self.head.status >= 400 or stop.reason.value == "error":
            return f"an error, {printable(stop.raw or stop.reason.value)}"
        native = f"the stop {printable(stop.raw)!r}" if stop.raw is not None else "no stop"
        return f"one answer out of {len(self.requests)} attempts, with {native}"

    def _content(self) -> Plain:
        text = recognize(b"".join(self.written), wire=self.capture.wire)[0].text
        if not text:
            text = recognize(self.capture.exchanges[-1].body or b"", wire=self.capture.wire)[0].text
        seams = [told["output_chars"] for told in self._of("attempt_started")]
        return {"text": text, "seams": [seam for seam in seams if 0 < seam < len(text)]}


# --- sentences ----------------------------------------------------------------------------------


def plain_stop(stop: Stop) -> Plain:
    """Return why an answer ended, as plain values."""
    return {
        "reason": stop.reason.value,
        "raw": stop.raw,
        "field": stop.field,
        "detail": stop.detail,
        "confidence": stop.confidence.value,
        "anomalies": list(stop.anomalies),
    }


def why(told: Plain) -> str:
    """Return why an answer ended, in words."""
    native = ""
    if told["raw"] is not None:
        native = f", {told['field']} = {printable(str(told['raw']))!r}"
    odd = f", odd: {', '.join(told['anomalies'])}" if told["anomalies"] else ""
    return f"{told['reason']} ({told['confidence']} confidence{native}{odd})"


def _message_and_size(response: Response) -> Plain:
    return {
        "message": response.stop.message,
        "text_chars": len(response.text),
        "reasoning_chars": len(response.reasoning),
        "calls": [call.finding.value for call in response.calls],
        "usage": response.usage and asdict(response.usage),
    }


def sentence_of(rung: object) -> str:
    """Return what a rung does, in words. A capture may have any value in its place."""
    return SENTENCES.get(rung, rung) if isinstance(rung, str) else str(rung)


def _message(observed: dict[str, Any]) -> str:
    try:
        return Stop(StopReason(observed["reason"]), detail=observed.get("detail")).message
    except (KeyError, ValueError):
        return ""


def _end(status: str, reason: str, shown: str, fault: str | None = None) -> Plain:
    advice = advice_on(reason, fault)
    return {"do": "end", "status": str(status), "reason": reason, "shown": shown, "advice": advice}


_WORD = re.compile(r"[A-Za-z0-9_.-]{1,32}")
_LONGEST_PATH = 4


def changes(before: bytes, after: bytes) -> list[str]:
    """Return how a request differs from the caller's own, in words and without its content.

    >>> changes(b'{"n": 1, "messages": [{}]}', b'{"n": 2, "messages": [{}, {"role": "user"}]}')
    ['n: 1 → 2', 'messages: 1 more at the end (user)']
    """
    try:
        old, new = json.loads(before), json.loads(after)
    except ValueError:
        return [] if before == after else ["other bytes"]
    return list(_differences("", old, new)) or ["nothing: it is sent again as it was"]


def _differences(path: str, old: Any, new: Any) -> Iterator[str]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict) and path.count(".") < _LONGEST_PATH:
        for key in dict.fromkeys((*old, *new)):
            inner = f"{path}.{key}" if path else str(key)
            if key not in new:
                yield f"{inner}: left out"
            elif key not in old:
                yield f"{inner}: {_brief(new[key])}, which was not there"
            else:
                yield from _differences(inner, old[key], new[key])
    elif isinstance(old, list) and isinstance(new, list) and new[: len(old)] == old:
        roles = [
            str(row["role"]) for row in new[len(old) :] if isinstance(row, dict) and "role" in row
        ]
        names = f" ({', '.join(map(printable, roles))})" if roles else ""
        yield f"{path}: {len(new) - len(old)} more at the end{names}"
    else:
        yield f"{path}: {_brief(old)} → {_brief(new)}"


def _brief(value: object) -> str:
    """Return a value that can't be content (numbers, switches, single words), or what it is."""
    if isinstance(value, str):
        return value if _WORD.fullmatch(value) else "a text"
    if isinstance(value, list):
        return f"{len(value)} rows"
    return "an object" if isinstance(value, dict) else json.dumps(value)


def _telling(facts: RequestFacts) -> dict[str, Any]:
    """Return the facts of a request that differ from the defaults."""
    unsaid = msgspec.structs.asdict(RequestFacts())
    return {n: v for n, v in msgspec.structs.asdict(facts).items() if v != unsaid[n]}
