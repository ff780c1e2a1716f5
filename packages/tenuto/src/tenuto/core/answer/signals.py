"""Signals: what a wire reads, one thing at a time.

Whole bodies and streams are read into the same signals, so that one builder serves both.
"""

from __future__ import annotations

from collections.abc import Mapping

from tenuto.core.answer.fast_dataclass import fast_dataclass
from tenuto.core.answer.fault import Fault
from tenuto.core.answer.stop import StopReason


@fast_dataclass
class Began:
    """The message began: its ids and model are known, but nothing of the answer yet.

    `id`: the provider's id of the message, on wires where a request can continue from it; else
    ""."""

    id: str = ""


@fast_dataclass
class Closed:
    """A part of the answer ended, and another may follow."""


@fast_dataclass
class TextDelta:
    """Text of the answer."""

    text: str


@fast_dataclass
class ReasoningDelta:
    """Text of the model's reasoning; it never becomes part of the answer (E13)."""

    text: str


@fast_dataclass
class RefusalDelta:
    """Text in which the model declines."""

    text: str


@fast_dataclass
class CallDelta:
    """A piece of a tool call. Missing parts are None; `arguments` is raw text, or None.

    `index`: the number of the call among those of the answer, from 0 on, which says to which call a
    piece belongs; None: the wire does not number calls. Then the id says it, and without an id, a
    piece with a name begins a new call once the one before is complete.

    `odd` names what the wire had to correct to read it (T13). `free`: the tool takes text of any
    form, which cannot be judged as JSON. `may_be_empty`: on this wire, a call without arguments
    normally has no text; `may_lack_id` is the same for ids. `decoded`: the arguments came decoded,
    so that their text cannot show a cut. `extra`: further keys of the call, passed on unchanged
    (providers keep signatures there). `whole`: the call is sent once more as a whole, with all of
    its arguments, whatever pieces came before. `unreadable`: a piece of a call came that cannot be
    read, so the call is broken unless it is sent once more as a whole. Without an id and a name,
    such a piece begins no call. `unseen`: the arguments themselves are not read, and `arguments`
    only shows whether they are complete."""

    index: int | None
    id: str | None
    name: str | None
    arguments: str | None
    odd: tuple[str, ...] = ()
    free: bool = False
    may_be_empty: bool = False
    may_lack_id: bool = False
    decoded: bool = False
    extra: Mapping[str, object] | None = None
    whole: bool = False
    unreadable: bool = False
    unseen: bool = False


@fast_dataclass
class OtherSeen:
    """Content that is neither text nor a call for the caller: an image, audio, a call that the
    provider runs itself. It is noted, but not read.

    `index`: its number among the parts of a stream, which identifies later pieces of it; None if
    the wire does not number parts."""

    index: int | None = None


@fast_dataclass
class ChoiceSeen:
    """Something belongs to a choice other than the first, and what was read of it.

    `number`: the number of the choice, from 1 on. Such choices are never recovered (C28), but they
    count for why the answer ended (S6)."""

    number: int = 1
    signals: tuple[Signal, ...] = ()


@fast_dataclass
class OddSeen:
    """The form of the response lacks something that readers rely on. Tenuto corrects it when it
    writes the response itself; the bytes as received would pass the anomaly on, unless the event
    was `repaired` before it was read."""

    what: str
    repaired: bool = False


@fast_dataclass
class StopSeen:
    """A native stop value, already looked up in the wire's own table.

    `known` is False for a value that the table lacks (reason UNKNOWN), `readable` for one that is
    not even text (N6). `beside`: the provider's own words beside the stop, each with its name.
    `explains`: it only says more about the stop beside it, which readers go by."""

    raw: str
    field: str
    reason: StopReason
    detail: str | None = None
    known: bool = True
    readable: bool = True
    explains: bool = False
    beside: tuple[tuple[str, str], ...] = ()


@fast_dataclass
class WordsSeen:
    """The provider's own words about a stop, if they come in an event of their own."""

    words: tuple[tuple[str, str], ...]


@fast_dataclass
class Usage:
    """The tokens that one attempt used; None if the provider did not say.

    Attributes:
        input_tokens: those of the request.
        output_tokens: those of the answer, including reasoning.
        reasoning_tokens: those of the reasoning.
        cached_tokens: those of the request that were read from a cache.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


@fast_dataclass
class UsageSeen:
    """The usage that the provider reports; a later report replaces an earlier one.

    `running`: it came beside a piece of the answer, so it is no evidence about the end."""

    usage: Usage
    running: bool = False


@fast_dataclass
class FaultSeen:
    """An error object or error event."""

    fault: Fault


@fast_dataclass
class Ended:
    """The transfer ended in order: the stream's own terminator came, or a whole body parsed.

    A stream or body that breaks off has no `Ended`."""


@fast_dataclass
class HalfSeen:
    """The transfer ended in the middle of an event, or broke off."""


@fast_dataclass
class TransferEnded:
    """The transfer ended without an error, and without the wire's own end mark.

    `delimited`: the transfer itself marks its end (a length, chunks), so it arrived complete; False
    if the connection was merely closed. `parts_close`: this wire marks the end of each part of an
    answer, so a part without its end was cut. `unmarked`: this provider never marks the end of an
    answer, so the end of the transfer is its end (S3a)."""

    delimited: bool = True
    parts_close: bool = False
    unmarked: bool = False


Signal = (
    Began
    | Closed
    | TextDelta
    | ReasoningDelta
    | RefusalDelta
    | OtherSeen
    | OddSeen
    | ChoiceSeen
    | CallDelta
    | StopSeen
    | WordsSeen
    | UsageSeen
    | FaultSeen
    | HalfSeen
    | TransferEnded
    | Ended
)
"""What the builder weighs: one thing read, without its place."""
