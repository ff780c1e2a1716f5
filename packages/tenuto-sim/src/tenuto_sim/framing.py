"""How to write events: as server-sent events, or as one document per line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tenuto_sim.case import Framing
from tenuto_sim.envelope import dump

Event = tuple[str, str]
"""Name ("" if the wire gives none) and payload."""


def named_by(key: str) -> Callable[[Mapping[str, Any], int], Event]:
    """Return a function that makes an event of a payload, named by one of its members.

    >>> named_by("type")({"type": "ping"}, 0)
    ('ping', '{"type":"ping"}')
    """
    return lambda payload, _: (payload[key], dump(payload))


def frame(events: list[Event], framing: Framing) -> list[bytes]:
    r"""Return events as server-sent events, in bytes.

    >>> frame([("", "{}")], Framing.PLAIN), frame([("ping", "{}")], Framing.CRLF)
    ([b'data: {}\n\n'], [b'event: ping\r\ndata: {}\r\n\r\n'])
    """
    return [event.encode("utf-8", "replace") for event in _FRAMINGS[framing](events)]


def lines(events: list[Event], framing: Framing) -> list[bytes]:
    r"""Return events as bytes with one document per line.

    >>> lines([("", "{}")], Framing.PLAIN), lines([("", "{}")], Framing.CRLF)
    ([b'{}\n'], [b'{}\r\n'])
    """
    end = "\r\n" if framing is Framing.CRLF else "\n"
    return [f"{payload}{end}".encode("utf-8", "replace") for _, payload in events]


def _name(event: Event) -> str:
    return f"event: {event[0]}\n" if event[0] else ""


def _plain(events: list[Event]) -> list[str]:
    return [f"{_name(event)}data: {event[1]}\n\n" for event in events]


def _comments(events: list[Event]) -> list[str]:
    out = [": OPENROUTER PROCESSING\n\n", *_plain(events)]
    return [f": keep-alive\n\n{event}" if i % 10 == 9 else event for i, event in enumerate(out)]


def _data_lines(events: list[Event]) -> list[str]:
    """Break each document after its first key; a reader joins the lines with a line feed."""
    return [event.replace('",', '",\ndata: ', 1) for event in _plain(events)]


_FRAMINGS: Final[Mapping[Framing, Callable[[list[Event]], list[str]]]] = {
    Framing.PLAIN: _plain,
    Framing.CRLF: lambda events: [event.replace("\n", "\r\n") for event in _plain(events)],
    Framing.BOM: lambda events: ["\ufeff" + _plain(events)[0], *_plain(events)[1:]],
    Framing.COMMENTS: _comments,
    Framing.NO_SPACE: lambda events: [
        f"{_name(event).replace(': ', ':')}data:{event[1]}\n\n" for event in events
    ],
    Framing.EVENT_LINES: lambda events: [
        f"event: {name or 'message'}\nid: {i}\nretry: 1000\ndata: {payload}\n\n"
        for i, (name, payload) in enumerate(events)
    ],
    Framing.DATA_LINES: _data_lines,
}
