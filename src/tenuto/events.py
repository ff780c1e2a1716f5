"""The events of a turn: a class for each, by name in `EVENTS`, and `event_from_dict`, which reads
them back from files.

    def hear(event: tenuto.Event) -> None:
        if isinstance(event, TurnEnded) and event.status != "complete":
            print(event.turn, event.reason, event.duration_s)

    client = tenuto.wrap(openai.OpenAI(), on_event=hear)
"""

from tenuto.core import events as _events
from tenuto.core.event import VERSION, Event, OnEvent
from tenuto.core.events import *  # noqa: F403 - its `__all__` names them, and no second list does

__all__ = ["VERSION", "Event", "OnEvent"]
__all__ += _events.__all__
