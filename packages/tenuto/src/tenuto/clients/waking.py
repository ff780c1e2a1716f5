"""Wakes a thread that waits for a provider, so that another thread can end its turn (C23).

Closing a socket doesn't wake the thread that reads from it. Shutting it down does, and tells the
provider at once. After a response has begun, the library gives access to its socket. Before that,
only the library's connection pool knows which connection carries a request, under private names. If
a release renames them, such a wait lasts until the response begins or the read times out.
"""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Callable
from typing import Any

from tenuto.turn.drivers.drive import Drive

_OWN_CONNECTION = (b"HTTP/1.1", b"HTTP/1.0")
"""HTTP versions with one response at a time on a connection, so that no other turn is affected."""

_BEFORE_A_WAIT = ("send_request_headers.started", "receive_response_headers.started")
"""The steps of a request at which a connection is open but no response yet."""


def shut_down(stream: Any) -> bool:
    """Shut down the socket of a network stream; return whether it has one."""
    found = stream.get_extra_info("socket") if stream is not None else None
    if not isinstance(found, socket.socket):
        return False
    with contextlib.suppress(OSError):  # the provider closed it first
        # Not `ssl.SSLSocket.shutdown`, which removes the TLS state that the reader uses.
        socket.socket.shutdown(found, socket.SHUT_RDWR)
    return True


def wake_reader(response: Any) -> bool:
    """Wake the thread that reads this response; return False if that isn't possible."""
    if response.extensions.get("http_version") not in _OWN_CONNECTION:
        return False
    return shut_down(response.extensions.get("network_stream"))


def wake_waiting(thread: int) -> None:
    """Wake a thread that reads from a socket through `http.client`, as urllib3 does.

    urllib3 gives no access to the connection before the response begins. So this looks for the
    socket in the thread's own frames, where a `socket.SocketIO` reads from it."""
    frame = sys._current_frames().get(thread)  # noqa: SLF001 - see private_seams
    while frame is not None:
        reader = frame.f_locals.get("self")
        if isinstance(reader, socket.SocketIO):
            found = getattr(reader, "_sock", None)
            if isinstance(found, socket.socket):
                with contextlib.suppress(OSError):  # the provider closed it first
                    socket.socket.shutdown(found, socket.SHUT_RDWR)
            return
        frame = frame.f_back


def wake_sender(client: Any, request: Any, key: str, value: object) -> None:
    """Wake the thread that waits for the response to a request of this client or transport. The
    request has `value` in its extension `key`."""
    with contextlib.suppress(AttributeError):
        choose = getattr(client, "_transport_for_url", None)
        transport = client if choose is None else choose(request.url)
        held = transport._pool._requests  # noqa: SLF001 - see private_seams
        for each in [one for one in held if one.request.extensions.get(key) is value]:
            connection = each.connection
            while hasattr(connection, "_connection"):  # a tunnel wraps another connection
                connection = connection._connection  # noqa: SLF001
            if type(connection).__name__ == "HTTP11Connection":
                shut_down(connection._network_stream)  # noqa: SLF001


def traced(turn: Callable[[], Drive | None], error: Callable[[str], Exception]) -> Any:
    """Return a function for the request extension "trace", which the library calls at each step. It
    raises `error` before a wait of a turn that was closed, since nothing would wake the thread
    later. `turn` is a weak reference: otherwise the request and its turn would keep each other
    alive."""

    def step(name: str, _: object) -> None:
        if name.endswith(_BEFORE_A_WAIT) and ((asking := turn()) is None or asking.closed):
            raise error("the turn was closed")

    return step
