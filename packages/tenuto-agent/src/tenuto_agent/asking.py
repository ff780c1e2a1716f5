"""Sends a request of the loop, and listens to its answer."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from typing import Any, NamedTuple

from tenuto.clients.libraries import library_of
from tenuto.core.events.attempt import AttemptEnded, AttemptStarted, StopReasonObserved
from tenuto.core.events.event import Event
from tenuto.core.events.turn import TurnEnded, TurnStarted
from tenuto_agent.events import AgentEvent, Recovered, Said, Thought
from tenuto_agent.loop import Ask


class _Like(NamedTuple):
    """What all requests to one model share. `given`: the URL and headers from the model, which may
    read the environment."""

    given: tuple[str, dict[str, str]]
    make: Any
    url: Any
    headers: list[tuple[bytes, bytes]]
    timeout: dict[str, float | None]


class Posts:
    """Makes the HTTP requests of an agent, as its client of httpx2 or httpx would. A model's
    requests differ only in their body, so everything else is prepared once."""

    def __init__(self) -> None:
        self._like: dict[int, _Like] = {}  # by the identity of the agent's models

    def made(self, ask: Ask, client: Any, stream: bool) -> Any:
        """Return the request for this question."""
        given, body = (ask.model.url(stream), ask.model.request_headers()), ask.request.body
        like = self._like.get(id(ask.model))
        if like is None or like.given != given or client.cookies:
            url, headers = given
            request = client.build_request("POST", url, content=body, headers=headers)
            kept = [h for h in request.headers.raw if h[0].lower() != b"content-length"]
            timeout = request.extensions["timeout"]
            if not client.cookies:
                like = _Like(given, type(request), request.url, kept, timeout)
                self._like[id(ask.model)] = like
        else:
            request = like.make("POST", like.url, headers=like.headers, content=body)
            timeout = like.timeout
        if (left_s := ask.context.within_s) is not None:
            # Tenuto waits no longer than this if a provider asks for a wait, either.
            timeout = {
                key: min(time or left_s, max(left_s, 0.001)) for key, time in timeout.items()
            }
        request.extensions["timeout"] = timeout
        return request


def failures(client: Any) -> AbstractContextManager[None]:
    """Suppress failures of the connection: the loop sees them by the missing report in the call's
    context. Errors of the caller's own code pass through."""
    library = library_of(client)
    assert library is not None
    return suppress(library.HTTPError, OSError)


class Hearing:
    """Collects events for one request of the loop while its answer arrives.

    Args:
        ask: the request.
        watched: whether anything reads the events; if not, none are made.
    """

    def __init__(self, ask: Ask, watched: bool) -> None:
        self._ask = ask
        self._watched = watched
        self._said = self._thought = self._ailing = False
        self._told: list[AgentEvent] = []
        if watched:
            ask.context.on_text, ask.context.on_reasoning = self._say, self._think
            ask.context.on_event = self._recover

    def told(self) -> list[AgentEvent]:
        """Return the events since the last call."""
        events, self._told = self._told, []
        return events

    def rest(self) -> list[AgentEvent]:
        """Return the events for the rest: everything in a body."""
        answer = self._ask.context.answer
        if answer is not None and self._watched:
            if answer.reasoning and not self._thought:
                self._think(answer.reasoning)
            if answer.text and not self._said:
                self._say(answer.text)
        return self.told()

    def _say(self, text: str) -> None:
        self._said = True
        self._told.append(Said(text, self._ask.step))

    def _think(self, text: str) -> None:
        self._thought = True
        self._told.append(Thought(text, self._ask.step))

    def _recover(self, event: Event) -> None:
        self._ailing = self._ailing or not _is_healthy(event)
        if self._ailing:
            self._told.append(Recovered(event, self._ask.step))


def _is_healthy(event: Event) -> bool:
    """Return whether an event also occurs in a turn whose first answer is complete."""
    match event:
        case TurnStarted() | AttemptStarted(attempt=1):
            return True
        case AttemptEnded(outcome=outcome):
            return outcome == "done"
        case StopReasonObserved(outcome=outcome, rung=rung):
            return outcome == "done" and not rung
        case TurnEnded(status=status):
            return status == "complete"
    return False
