"""Which response took the place of which, where the provider keeps the history.

A turn that took several attempts shows the id of its first one, and the provider knows the whole
answer under the id of the last. A later request that goes on from the first means the whole answer.
"""

from __future__ import annotations

import threading


class Successors:
    """Ids of responses, each with that of the response that holds the whole turn; safe under
    threads.

    Args:
        most: how many are kept; the oldest go first.

    >>> successors = Successors()
    >>> successors.add("resp_1", "resp_2")
    >>> successors.instead(b'{"previous_response_id": "resp_1"}', "resp_1")
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
        """Whether any id has one."""
        return bool(self._ids)

    def knows(self, follows: str) -> bool:
        """Whether this id has a successor."""
        return follows in self._ids

    def instead(self, body: bytes, follows: str) -> bytes:
        """A request that goes on from this id, from its successor; the same bytes without one."""
        last = self._ids.get(follows) if follows else None
        if last is None:
            return body
        return body.replace(b'"%b"' % follows.encode(), b'"%b"' % last.encode())
