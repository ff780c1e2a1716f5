"""Events, by their classes."""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from typing import Any, assert_type

import openai

import tenuto
from tenuto.events import ContinuationStarted, OnEvent, TurnEnded, Waited
from tenuto.telemetry import LogLines, add_listener, remove_listener


def heard(event: tenuto.Event) -> None:
    assert_type(event.time, float)
    assert_type(event.as_dict(), dict[str, Any])
    match event:
        case TurnEnded():
            assert_type(event.reason, str)
        case Waited(duration_s=seconds):
            assert_type(seconds, float)
        case ContinuationStarted():
            assert_type(event.rung, str)
        case _:
            print(event.turn)


async def not_awaited(event: tenuto.Event) -> None:
    del event


def only_ends(event: TurnEnded) -> None:
    print(event.reason)


def listen() -> None:
    listener: OnEvent = heard
    tenuto.wrap(openai.OpenAI(), on_event=listener)
    events: list[tenuto.Event] = []
    tenuto.wrap(openai.OpenAI(), on_event=events.append)
    add_listener(LogLines())
    add_listener(heard)
    remove_listener(heard)
    tenuto.wrap(openai.OpenAI(), on_event=not_awaited)  # type: ignore[arg-type]
    tenuto.wrap(openai.OpenAI(), on_event=only_ends)  # type: ignore[arg-type]
    add_listener("prometheus")  # type: ignore[arg-type]
