"""What turns need from outside, and share.

Each engine has one `Environment`. Only what is learned changes in it: `learned`, `replaced_ids` and
`templates`, which several threads may use at once.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import partial

from tenuto.core.events.event import OnEvent
from tenuto.core.settings.policy import Policy
from tenuto.frames.templates import Templates
from tenuto.providers.learned import Learned
from tenuto.telemetry import listeners


class ReplacedIds:
    """Which response replaced which, if the provider keeps the history: ids of responses, each with
    the id of the response that holds the whole turn. Thread-safe.

    A turn that took several attempts shows the id of its first one, but the provider knows the
    whole answer under the id of the last. A later request that continues from the first means the
    whole answer.

    Args:
        most: how many to keep; the oldest are removed first.

    >>> replaced = ReplacedIds()
    >>> replaced.add("resp_1", "resp_2")
    >>> replaced.rewrite(b'{"previous_response_id": "resp_1"}', "resp_1")
    b'{"previous_response_id": "resp_2"}'
    """

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._ids: dict[str, str] = {}
        self._lock = threading.Lock()

    def add(self, first: str, last: str) -> None:
        """Note that a turn whose caller knows `first` ended with `last`."""
        if not first or not last or first == last:
            return
        with self._lock:
            self._ids[first] = last
            while len(self._ids) > self._most:
                del self._ids[next(iter(self._ids))]

    def __bool__(self) -> bool:
        """Whether any id was replaced."""
        return bool(self._ids)

    def __contains__(self, id_: str) -> bool:
        """Whether another id replaced this one."""
        return id_ in self._ids

    def rewrite(self, body: bytes, follows: str) -> bytes:
        """Return a request that continues from this id, with the id that replaced it, if one
        did."""
        last = self._ids.get(follows) if follows else None
        if last is None:
            return body
        return body.replace(b'"%b"' % follows.encode(), b'"%b"' % last.encode())


@dataclass(frozen=True, slots=True)
class Environment:
    """Everything that a turn needs from outside and that is not pure.

    Attributes:
        policy: the limits.
        on_event: the listener, or None. The process may have further listeners
            (`telemetry.listeners`).
        learned: what providers taught, shared by all turns of a client.
        now: a steady clock, in seconds, which measures durations.
        wall: the time of day, in seconds since the epoch, for events.
        date: returns the current date as a header writes it.
        jitter: a factor for waits, around 1.
        replaced_ids: ids of responses that others replaced, shared by all turns of a client.
        templates: what similar events of streams look like, shared by all turns of a client.
        serves: whether the answers go to other programs, so that they are marked
        (`turn.drivers.mark`).
    """

    policy: Policy
    on_event: OnEvent | None
    learned: Learned
    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    date: Callable[[], str] = partial(formatdate, usegmt=True)
    jitter: Callable[[], float] = lambda: random.uniform(0.75, 1.25)
    replaced_ids: ReplacedIds = field(default_factory=ReplacedIds)
    templates: Templates = field(default_factory=dict)
    serves: bool = False

    @property
    def has_listener(self) -> bool:
        """Whether a listener or `decide` needs every answer."""
        policy = self.policy
        if self.on_event is not None or policy.decide is not None:
            return True
        return bool(policy.events) or bool(listeners.current)
