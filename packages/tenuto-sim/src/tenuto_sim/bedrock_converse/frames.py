"""Write events as messages of an AWS event stream.

https://smithy.io/2.0/aws/amazon-eventstream.html (read 2026-11-22). A message consists of its
length and that of its headers, a checksum of the two, the headers, the payload, and a checksum of
all.
"""

from __future__ import annotations

import struct
from typing import Final
from zlib import crc32

from tenuto_sim.case import Framing
from tenuto_sim.framing import Event

CONTENT_TYPE: Final = "application/vnd.amazon.eventstream"
_STRING: Final = 7
_EXCEPTION: Final = "Exception"


def frame(events: list[Event], framing: Framing) -> list[bytes]:
    """Return events as bytes. Events named as exceptions become exceptions.

    >>> made = frame([("messageStop", "{}")], Framing.PLAIN)[0]
    >>> int.from_bytes(made[:4]) == len(made)
    True
    """
    messages = [_message(name, payload) for name, payload in events]
    if framing is Framing.BAD_CHECKSUM:
        middle = len(messages) // 2
        messages[middle] = messages[middle][:-1] + bytes([messages[middle][-1] ^ 1])
    return messages


def _message(name: str, payload: str) -> bytes:
    kind = "exception" if name.endswith(_EXCEPTION) else "event"
    headers = b"".join(
        _header(key, value)
        for key, value in (
            (f":{kind}-type", name),
            (":content-type", "application/json"),
            (":message-type", kind),
        )
    )
    body = payload.encode("utf-8", "replace")
    lengths = struct.pack("!II", 16 + len(headers) + len(body), len(headers))
    whole = lengths + struct.pack("!I", crc32(lengths)) + headers + body
    return whole + struct.pack("!I", crc32(whole))


def _header(key: str, value: str) -> bytes:
    name, text = key.encode(), value.encode()
    return bytes([len(name)]) + name + bytes([_STRING]) + struct.pack("!H", len(text)) + text
