"""A stream that leaves as one array of JSON: its brackets, and what stands between its elements.

A codec keeps no state of what leaves, so this is a generator around the turn.
"""

from __future__ import annotations

from tenuto.frames.frame import Framing
from tenuto.frames.json_array import ArrayCodec, begun
from tenuto.relay.commands import Open, Reply, Run, Write
from tenuto.relay.stream_framing import StreamFraming


def in_one_array(run: Run, framing: StreamFraming) -> Run:
    """The same turn, for a caller that reads its stream as an array."""
    reply: Reply = None
    framed, first = False, True
    try:
        while True:
            try:
                command = run.send(reply)
            except StopIteration:
                break
            match command:
                case Write(data) if framed:
                    reply = None
                    if data:
                        made, first = begun(data, first=first), False
                        reply = yield Write(made)  # the bracket is still to come
                case Open(_, events):
                    framed = events and framing.writes.framing is Framing.ARRAY
                    reply = yield command
                case _:
                    reply = yield command
        if framed and (end := _end(framing) or (b"" if first else b"\r\n]")):
            yield Write(end, last=True)
    finally:
        run.close()


def _end(framing: StreamFraming) -> bytes:
    """The end of the array, where it came."""
    codec = framing.codec
    return codec.closing if isinstance(codec, ArrayCodec) else b""
