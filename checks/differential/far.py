"""The server's side: a simulator whose answers are noted, or answers that a case wrote down.

Each play has a server of its own, and so a host that nobody has learned anything of.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from checks.differential.sdks import PROMPT, SCHEMA
from checks.differential.truth import State, Truth, meant, truth_of
from tenuto_sim import TABLES_ON, Case, Step
from tenuto_sim.asked import Asked, first_prompt
from tenuto_sim.case import Ending, Kind
from tenuto_sim.conversation import Conversation, chosen_case
from tenuto_sim.errors import Failure
from tenuto_sim.exchange import Answer, Bill, Exchange
from tenuto_sim.plan import Plan
from tenuto_sim.reply import Settings, Wanted, due, reply, wanted
from tenuto_sim.service import Pace, Service
from tenuto_sim.wire import Wire


@dataclass(slots=True)
class Noted:
    """What arrived and what was sent."""

    requests: list[Any] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    def note(self, path: str, body: bytes, answer: Answer) -> Answer:
        """Keep a request and its answer."""
        try:
            self.requests.append(json.loads(body))
        except ValueError:
            self.requests.append(body.decode("latin-1"))
        self.paths.append(path)
        self.answers.append(answer)
        return answer

    def sent(self) -> Iterator[str]:
        """Return each answer as text: status, ending, bytes."""
        for answer in self.answers:
            events = answer.events
            data = answer.body if events is None else b"".join(events)
            yield f"{answer.status} ({answer.ending})\n{data.decode('utf-8', 'backslashreplace')}"


class Simulated(Exchange):
    """A simulator that notes what is sent, and knows the truth of its first answer."""

    def __init__(
        self,
        case: Case,
        *,
        dialect: str = "",
        prefill: str = "restart",
        script: Sequence[Step] = (),
        answers: Sequence[Wanted] = (),
    ) -> None:
        super().__init__(settings=Settings(prefill=prefill), dialect=dialect)
        self.noted = Noted()
        tools = [("write_file", SCHEMA)] if case.wants_tools else []
        due_there = wanted(PROMPT, case.kind, tools, case.request.get("response_format"))
        calls = tuple((call.name, meant(call.arguments)) for call in due_there.calls)
        self.truth = Truth(State.ERROR, due_there.text, calls)  # unless the model gets to speak
        self._spoken = False
        self.conversations.script.extend(script)
        if answers:
            self.conversations.plan = Plan(answers)

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Answer as the simulator does."""
        return self.noted.note(path, body, super().answer(method, path, headers, body))

    def _say(
        self, wire: Wire, asked: Asked, state: Conversation, step: Step, body: Mapping[str, Any]
    ) -> tuple[Answer, Bill]:
        if not self._spoken and not self.noted.answers:
            self._spoken = True
            kind = state.kind or Kind.TEXT
            prompt = first_prompt(asked.rows)
            whole = wanted(prompt, kind, asked.tools, state.response_format, state.answers)
            now = state.planned or due(asked, whole, results_failed=False)
            said = reply(asked, step, now, self.settings)
            case = chosen_case(wire, asked.model, {})
            blocked = not isinstance(case, Failure) and case.name in TABLES_ON[wire.name]["blocked"]
            self.truth = truth_of(step, said, now, stream=asked.stream, blocked=blocked)
        return super()._say(wire, asked, state, step, body)


class Written:
    """Answers that a case wrote down: number N to request N, the last to all further ones."""

    def __init__(self, answers: Sequence[Answer | Callable[[Any], Answer]]) -> None:
        self.noted = Noted()
        self._answers = answers

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Answer with the next one."""
        del method, headers
        answer = self._answers[min(len(self.noted.answers), len(self._answers) - 1)]
        if callable(answer):
            try:
                answer = answer(json.loads(body))
            except ValueError:
                answer = Answer(400, {"content-type": "application/json"}, b"{}")
        return self.noted.note(path, body, answer)

    def too_large(self, most_bytes: int) -> Answer:
        """Answer a request that is too large to read."""
        return Answer(413, {"content-type": "application/json"}, b'{"error":{"message":"large"}}')


class Place:
    """A thread with a loop on which servers live."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    @contextmanager
    def served(self, far: Any) -> Iterator[str]:
        """Serve a far side for as long as the block lasts; yields the base URL, without `/v1`."""
        service = Service(far, Pace())

        async def start() -> int:
            return await service.start("127.0.0.1", 0)

        port = asyncio.run_coroutine_threadsafe(start(), self._loop).result(10)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            asyncio.run_coroutine_threadsafe(service.stop(), self._loop).result(10)
        if service.failure is not None:
            raise RuntimeError("the laboratory's server failed") from service.failure


__all__ = ["Answer", "Ending", "Noted", "Place", "Simulated", "Written"]
