"""How a request of the loop is sent, and its answer listened to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any

from tenuto.agent.events import AgentEvent, Recovered, Said, Thought
from tenuto.agent.loop import Ask
from tenuto.clients.httpx_client import CARRIED, library_of
from tenuto.core.events import Event
from tenuto.core.signals import ReasoningDelta, Signal, TextDelta
from tenuto.wire.aws_eventstream import AwsEventDecoder, UnreadableMessage
from tenuto.wire.json_lines import LineDecoder
from tenuto.wire.sse import EventTooLarge, SseDecoder, SseEvent
from tenuto.wire.stream import EventReader

Decoder = SseDecoder | LineDecoder | AwsEventDecoder

DECODERS: dict[str, type[Decoder]] = {
    "text/event-stream": SseDecoder,
    "application/x-ndjson": LineDecoder,
    "application/vnd.amazon.eventstream": AwsEventDecoder,
}
"""Who tells the events of a stream apart, by its content type; a body has none."""


class Hearing:
    """One request of the loop while its answer comes. What the answer is, the pipe says; what is
    heard here is for those who watch.

    Args:
        ask: the request.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._reader = EventReader(ask.model.wire)
        self._decoder: Decoder | None = None
        self._recovered: list[AgentEvent] = []
        self._said = False
        ask.carried.on_event = self._recover

    def request(self, client: Any, stream: bool) -> Any:
        """The request, as a client of httpx2 or httpx makes it."""
        model = self._ask.model
        request = client.build_request(
            "POST",
            model.url(stream),
            content=self._ask.request.body,
            headers=model.request_headers(),
        )
        request.extensions[CARRIED] = self._ask.carried
        if (left_s := self._ask.within_s) is not None:
            # No wait that the provider asks for is longer either.
            times = request.extensions["timeout"]
            least = {key: min(time or left_s, max(left_s, 0.001)) for key, time in times.items()}
            request.extensions["timeout"] = least
        return request

    def failures(self, client: Any) -> AbstractContextManager[None]:
        """Where the way to the model fails, the loop is told so by what is carried, which then has
        no report; errors of the caller's own code pass."""
        library = library_of(client)
        assert library is not None
        return suppress(library.HTTPError, OSError)

    def begun(self, headers: Mapping[str, str]) -> list[AgentEvent]:
        """The head has come."""
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        decoder = DECODERS.get(kind)
        self._decoder = decoder() if decoder is not None else None
        return self._told()

    def heard(self, data: bytes) -> list[AgentEvent]:
        """What these bytes say."""
        heard = self._told() if self._recovered else []
        for event in self._events(data):
            for signal in self._signals(event):
                if isinstance(signal, TextDelta) and signal.text:
                    self._said = True
                    heard.append(Said(signal.text, self._ask.step))
                elif isinstance(signal, ReasoningDelta) and signal.text:
                    heard.append(Thought(signal.text, self._ask.step))
        return heard

    def _events(self, data: bytes) -> list[SseEvent]:
        """Events in these bytes; none behind what cannot be read, of which the pipe tells."""
        try:
            return self._decoder.feed(data) if self._decoder is not None else []
        except (EventTooLarge, UnreadableMessage):
            self._decoder = None
            return []

    def rest(self) -> Iterator[AgentEvent]:
        """What was not heard yet: all of a body's text."""
        yield from self._told()
        answer = self._ask.carried.answer
        if answer is not None and not self._said:
            if answer.reasoning:
                yield Thought(answer.reasoning, self._ask.step)
            if answer.text:
                yield Said(answer.text, self._ask.step)

    def _signals(self, event: SseEvent) -> list[Signal]:
        quick = self._reader.flowing(event)
        return [quick] if quick is not None else self._reader.read(event)[0]

    def _recover(self, event: Event) -> None:
        self._recovered.append(Recovered(event, self._ask.step))

    def _told(self) -> list[AgentEvent]:
        events, self._recovered = self._recovered, []
        return events
