"""The listeners for the events of all turns of the process, besides a client's own `on_event`.

The listeners are one tuple, which is replaced as a whole. A turn reads it once, when it begins, so
it needs no lock. While the tuple is empty, turns make no events for it.

Log lines are on by default, but they are not a listener in this sense. Only recoveries and
unfinished turns are logged, so a turn makes no events for them before it becomes one of these.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TypeVar

from tenuto.core.events.event import Event, OnEvent
from tenuto.telemetry.loggers import lines_log

log: logging.Logger = logging.getLogger("tenuto")

Heard = TypeVar("Heard")

_lock = threading.Lock()
current: tuple[OnEvent, ...] = ()
"""Those that there are now; each turn looks whether there are any."""


def add_listener(listener: OnEvent) -> None:
    """Call a function with each event of each turn in the process that begins from now on. Adding a
    listener twice has no effect.

    Tenuto calls it in the thread or task that runs the turn, so several threads may call it at
    once. If it raises, Tenuto logs the exception, and the turn and other listeners continue.

    Raises:
        TypeError: the listener is not callable.

    >>> import tenuto
    >>> heard = []
    >>> add_listener(heard.append)
    >>> body = b'{"model": "gpt-5.4", "messages": [{"role": "user", "content": "Why?"}]}'
    >>> turn = tenuto.sansio.Turn("POST", "https://api.openai.com/v1/chat/completions", [], body)
    >>> type(turn.next()).__name__, [event.name for event in heard]
    ('SendRequest', ['turn_started', 'attempt_started'])
    >>> remove_listener(heard.append)
    """
    global current  # noqa: PLW0603 - the tuple belongs to the process
    if not callable(listener):
        raise TypeError(f"a listener is called with each event; {listener!r} cannot be called")
    with _lock:
        if listener not in current:
            current = (*current, listener)


def remove_listener(listener: OnEvent) -> None:
    """Stop calling a function. Turns that have begun still call it until they end. Removing a
    function that is not a listener has no effect."""
    global current  # noqa: PLW0603 - the tuple belongs to the process
    with _lock:
        current = tuple(one for one in current if one != listener)


def listener_for(on_event: OnEvent | None, folder: str | None = None) -> OnEvent | None:
    """Join a client's own listener, those of the process and the log lines. None: nothing listens.
    Log lines alone don't count.

    `folder`: where the process writes its events, from the client's policy; None: nowhere."""
    listeners = current if on_event is None else (on_event, *current)
    if folder:
        from tenuto.telemetry.event_folder import events_in

        listeners = (*listeners, events_in(folder))
    if not listeners:
        return None
    if (lines := log_lines()) is not None:
        listeners = (*listeners, lines)
    return listeners[0] if len(listeners) == 1 else _Joined(listeners)


def tell(listener: Callable[[Heard], object], event: Heard, name: str) -> None:
    """Call a listener. It is somebody else's code, so whatever it raises is logged, and the turn
    continues."""
    try:
        listener(event)
    except Exception:
        log.exception("a listener raised for %s", name)


def log_lines() -> OnEvent | None:
    """Return the listener that writes log lines. None: logging is off, and nothing is loaded."""
    if not lines_log.isEnabledFor(logging.WARNING):  # the highest level of any line
        return None
    from tenuto.telemetry.logs import DEFAULT

    return DEFAULT


class _Joined:
    """Calls several listeners in order. If one raises, this is logged, and the others are
    called."""

    def __init__(self, listeners: tuple[OnEvent, ...]) -> None:
        self._listeners = listeners

    def __call__(self, event: Event) -> None:
        for listener in self._listeners:
            tell(listener, event, event.name)
