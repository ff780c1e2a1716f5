"""Wakes a thread that waits for a provider, so that another one can end its turn (C23).

Closing a socket does not wake who reads from it; shutting it down does, and tells the provider at
once. Where the response has come the library gives its socket. Before, only the library's pool
knows over which connection a request went, and has no public word for it: where a release calls
that otherwise, such a wait lasts until the response begins or the read's timeout.
"""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Callable
from typing import Any

from tenuto.turn.drive import Drive

_OWN_CONNECTION = (b"HTTP/1.1", b"HTTP/1.0")
"""Versions with one response at a time on a connection: no other turn ends with it."""

_BEFORE_A_WAIT = ("send_request_headers.started", "receive_response_headers.started")
"""Steps of a request before which no response is open, and a connection is."""


def shut_down(stream: Any) -> bool:
    """End a connection under whoever reads from it; whether it could be."""
    found = stream.get_extra_info("socket") if stream is not None else None
    if not isinstance(found, socket.socket):
        return False
    with contextlib.suppress(OSError):  # the provider was faster
        # Not that of `ssl.SSLSocket`, which takes the reader's own state away.
        socket.socket.shutdown(found, socket.SHUT_RDWR)
    return True


def wake_reader(response: Any) -> bool:
    """Wake the thread that reads this response; False: nothing was done."""
    if response.extensions.get("http_version") not in _OWN_CONNECTION:
        return False
    return shut_down(response.extensions.get("network_stream"))


def wake_waiting(thread: int) -> None:
    """Wake a thread that reads from a socket through `http.client`, as urllib3 does.

    urllib3 gives out no connection before the response is there. So the socket is looked for in the
    thread's own frames, where a `socket.SocketIO` reads from it."""
    frame = sys._current_frames().get(thread)  # noqa: SLF001 - see private_seams
    while frame is not None:
        reader = frame.f_locals.get("self")
        if isinstance(reader, socket.SocketIO):
            found = getattr(reader, "_sock", None)
            if isinstance(found, socket.socket):
                with contextlib.suppress(OSError):  # the provider was faster
                    socket.socket.shutdown(found, socket.SHUT_RDWR)
            return
        frame = frame.f_back


def wake_sender(client: Any, request: Any, key: str, value: object) -> None:
    """Wake the thread that waits for the response to a request like this one, of which `value`
    stands in the extension `key`. `client` is the client or the transport that sends it."""
    with contextlib.suppress(AttributeError):
        choose = getattr(client, "_transport_for_url", None)
        transport = client if choose is None else choose(request.url)
        held = transport._pool._requests  # noqa: SLF001 - see private_seams
        for each in [one for one in held if one.request.extensions.get(key) is value]:
            connection = each.connection
            while hasattr(connection, "_connection"):  # a tunnel holds another one
                connection = connection._connection  # noqa: SLF001
            if type(connection).__name__ == "HTTP11Connection":
                shut_down(connection._network_stream)  # noqa: SLF001


def traced(turn: Callable[[], Drive | None], error: Callable[[str], Exception]) -> Any:
    """What the library calls at each step of a request (its extension "trace"): raises an `error`
    before a wait that nobody wants any more, since nobody would wake from it. `turn` refers weakly:
    the request would else keep the turn that keeps it."""

    def step(name: str, _: object) -> None:
        if name.endswith(_BEFORE_A_WAIT) and ((asking := turn()) is None or asking.closed):
            raise error("the turn was closed")

    return step
