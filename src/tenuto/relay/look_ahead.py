"""Reading as little of an answer as tells how it is framed (`frames.sniff`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator

from tenuto.frames.compression import UndecodableBytes, decoder_for
from tenuto.frames.frame import Framing
from tenuto.frames.sniff import framing_of
from tenuto.relay.commands import Head, LeftS, Read, Reply, late, reading


def look_ahead(
    asked: Framing, head: Head, limit_bytes: int, within_s: LeftS | None = None
) -> Generator[Read, Reply, tuple[Framing, deque[Reply]]]:
    """Read as little as tells how an answer is framed; what was read is still to be taken.

    Args:
        limit_bytes: the most that one piece may unpack to; 0: no limit.
        within_s: tells how many seconds are left for what tells more; None: as long as it takes.
    """
    kind, ahead = head.get(b"content-type"), deque[Reply]()
    first = b""
    decoder = decoder_for(head.coding, limit_bytes)
    while (framing := framing_of(asked, kind, first)) is None:
        reply = yield reading(within_s)
        ahead.append(reply)
        if not isinstance(reply, bytes) or not reply or decoder is None:
            return asked, ahead
        try:
            first += decoder.feed(reply)
        except UndecodableBytes:
            return asked, ahead
        if within_s is not None and within_s() <= 0:
            ahead.append(late())
            return asked, ahead
    return framing, ahead
