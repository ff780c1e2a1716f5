"""The events of a turn: a class for each, by name in `EVENTS`, and `event_from_dict`, which reads
them back from files.

    def hear(event: tenuto.Event) -> None:
        if isinstance(event, TurnEnded) and event.status != "complete":
            print(event.turn, event.reason, event.duration_s)

    client = tenuto.wrap(openai.OpenAI(), on_event=hear)
"""

# ruff: noqa: F403 - the `__all__` of each module names its events, and no second list does
from tenuto.core.events import attempt as _of_attempts
from tenuto.core.events import kinds as _events
from tenuto.core.events import recovery as _of_recoveries
from tenuto.core.events import turn as _of_turns
from tenuto.core.events.attempt import *
from tenuto.core.events.event import VERSION, Event, OnEvent
from tenuto.core.events.kinds import *
from tenuto.core.events.recovery import *
from tenuto.core.events.turn import *

__all__ = ["VERSION", "Event", "OnEvent"]
__all__ += _events.__all__
__all__ += _of_turns.__all__
__all__ += _of_attempts.__all__
__all__ += _of_recoveries.__all__
