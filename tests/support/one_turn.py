"""One `tenuto.sansio.Turn` over scripted answers."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import tenuto
from support.events.framing import sse
from tenuto.turn.drivers.scripted import Script, Scripted


@dataclass
class Shown:
    """What the caller of a turn was given; `head` is None where it was given none."""

    head: tenuto.sansio.Head | None = None
    body: bytes = b""


def drive(turn: tenuto.sansio.Turn, script: Script) -> Shown:
    """Drive a turn to its end."""
    shown = Shown()
    reply: Any = None
    upstream: Any = None
    while (command := turn.next(reply)) is not None:
        reply = None
        match command:
            case tenuto.sansio.SendRequest():
                upstream = script.connect(command)
                reply = (
                    upstream
                    if isinstance(upstream, tenuto.sansio.ConnectionLost)
                    else upstream.head
                )
            case tenuto.sansio.ReadMore():
                reply = upstream.read()
            case tenuto.sansio.StartResponse(head):
                shown.head = head
            case tenuto.sansio.SendData(data):
                shown.body += data
    return shown


class Played:
    """One turn over scripted answers: what left, what the caller got, what was told."""

    def __init__(
        self,
        url: str,
        body: dict[str, Any],
        *answers: Scripted,
        **policy: Any,
    ) -> None:
        self.events: list[tenuto.Event] = []
        script = Script(*answers)
        turn = tenuto.sansio.Turn(
            "POST",
            url,
            [],
            json.dumps(body).encode(),
            policy=replace(tenuto.Policy(backoff_s=0.0), **policy),
            on_event=self.events.append,
        )
        shown = drive(turn, script)
        self.head: Any = shown.head
        self.got = shown.body
        self.sent = [json.loads(command.body) for command in script.transmitted]
        self.report: Any = turn.report

    def of(self, name: str) -> list[dict[str, Any]]:
        return [event.data for event in self.events if event.name == name]


def events(*values: dict[str, Any]) -> Scripted:
    return Scripted.stream(*sse(values, done=True))
