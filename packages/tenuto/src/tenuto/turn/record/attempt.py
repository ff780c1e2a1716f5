"""One attempt of a turn, as received."""

from __future__ import annotations

from dataclasses import dataclass

from tenuto.core.answer.builder import Builder
from tenuto.core.answer.fault import Fault
from tenuto.core.answer.parts import Message
from tenuto.core.answer.response import Response
from tenuto.core.answer.signals import FaultSeen
from tenuto.core.answer.stop import NO_STOP_BUT_FAULT
from tenuto.core.deciding.outcome import Outcome
from tenuto.frames.codec import Codec
from tenuto.frames.compression import Decoder
from tenuto.turn.drivers.commands import ConnectionLost, Head
from tenuto.wires.answer_id import answer_id
from tenuto.wires.json import JsonObject


@dataclass(slots=True)
class Attempt:
    """One attempt as it was received.

    Attributes:
        response: the response that was read.
        head, raw, value: head, bytes and JSON value of a body; None and b"" if there were none.
        message: its parts.
        new_chars: the number of characters that it added to the kept text.
        http_error: whether it is an HTTP error status.
        tail: bytes after a stream's end mark.
        decoder, codec: these read the bytes that are still to come there.
        more: whether an error response is longer than `raw`, the part of it that was read.
        page: whether it was a page instead of an API's body (`frames.sniff`).
        unread: whether its body could not be read. The provider has made and billed it all the
            same.
        lost: how its connection broke; None if it did not.
        stopped_at: the stop sequence across the cut that ended it; "" if none did.
        outcome: what it means by itself; None until Tenuto has decided what follows.
    """

    response: Response
    head: Head | None = None
    raw: bytes = b""
    value: JsonObject | None = None
    message: Message | None = None
    new_chars: int = 0
    http_error: bool = False
    more: bool = False
    tail: bytes = b""
    decoder: Decoder | None = None
    codec: Codec | None = None
    page: bool = False
    unread: bool = False
    lost: ConnectionLost | None = None
    stopped_at: str = ""
    outcome: Outcome | None = None

    @property
    def id(self) -> str:
        """The provider's id of the answer; "" if it gave none."""
        return answer_id(self.value) or id_of(self.message)

    @property
    def names_stop(self) -> bool:
        """Whether the provider itself named a stop, and nothing broke off behind it."""
        stop = self.response.stop
        return self.lost is None and stop.raw is not None and stop.field != NO_STOP_BUT_FAULT


def id_of(message: Message | None) -> str:
    """Return the provider's id of a message as far as it has come; "" if it gave none.

    >>> id_of(None)
    ''
    """
    if message is None:
        return ""
    return answer_id(message.envelope) or answer_id(message.said)


def failed(fault: Fault) -> Response:
    """Return a response that is nothing but a fault."""
    builder = Builder()
    builder.feed(FaultSeen(fault))
    return builder.build()
