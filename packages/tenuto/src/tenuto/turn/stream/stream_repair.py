"""Repair the frames of a stream on which the SDK of its wire would crash (`Wire.mender`).

A repaired stream is read, forwarded and continued like one that came so. A frame that needs no
repair leaves as it came.
"""

from __future__ import annotations

import re

from tenuto.frames.codec import Codec
from tenuto.frames.frame import Frame
from tenuto.wires.base import Mender
from tenuto.wires.json import JsonObject, decode_object, encode

_TEXT = re.compile(rb'"text": ?"')


class StreamRepair:
    """Repairs the frames of one attempt.

    Args:
        mender: repairs their objects.
        codec: decodes the frames.
    """

    def __init__(self, mender: Mender, codec: Codec) -> None:
        self._mender = mender
        self._codec = codec
        self._plain_before = b""  # what came before the text of the last event without repair
        self.odd: list[str] = mender.odd

    def of(self, frames: list[Frame]) -> list[Frame]:
        """Return the frames, repaired."""
        if len(frames) == 1:
            return self._repaired(frames[0])
        return [repaired for frame in frames for repaired in self._repaired(frame)]

    def _repaired(self, frame: Frame) -> list[Frame]:
        data = frame.data
        if not data or (self._plain_before and data.startswith(self._plain_before)):
            return [frame]
        value = decode_object(data)
        self._plain_before = b""
        if not isinstance(value, dict):
            return [frame]
        repaired = self._mender.mend(value)
        if repaired is None:
            self._plain_before = _before_text(data)
            return [frame]
        return [self._framed(event) for event in repaired]

    def _framed(self, event: JsonObject) -> Frame:
        data, name = encode(event), str(event["type"])
        return Frame(self._codec.encode(data, name), data, name)


def _before_text(data: bytes) -> bytes:
    """Return what comes before the text of a piece of a block; b"" if its number comes behind."""
    found = _TEXT.search(data)
    before = data[: found.end()] if found is not None else b""
    return before if b'"index":' in before and b"_delta" in before else b""
