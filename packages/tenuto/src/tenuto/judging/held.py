"""What a row holds: its answers, and what it says beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tenuto.wires.json import JsonObject


class Called(NamedTuple):
    """A tool call as a row keeps it. `arguments`: text, an object, or None."""

    name: str
    arguments: object = None


@dataclass(frozen=True, slots=True)
class Told:
    """An answer that a tool keeps in a form of its own.

    Attributes:
        text, reasoning, refusal: what the model wrote. None: the tool keeps no text, so that its
            absence says nothing.
        calls: its tool calls; None: the tool keeps none, so that their absence says nothing.
        stop: the provider's stop, in any spelling that is stored; None if it is not.
        stop_at: where it is stored.
        tokens: the answer's tokens; None if they are not stored.
    """

    text: str | None = ""
    reasoning: str = ""
    calls: Sequence[Called] | None = ()
    stop: object = None
    stop_at: str = ""
    tokens: int | None = None
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One answer in a row.

    Attributes:
        answer: a body or a stream as a provider sent it, or a `Told`; None if none was stored.
        failed: why there is none, in the words of the tool (`expired`); "" if nothing says so.
        request, request_at: what was asked, and where it is in the row; None and "": not stored.
        id, model: as the row names them; "": it does not.
        limit: the output limit that the row tells; None: it does not.
        shared: whether the tokens are those of several answers, so that they show no limit.
        wire, path: the API, and the path of its URL, if the kind says so; "": the answer shows it.
    """

    answer: object = None
    failed: str = ""
    request: object = None
    request_at: str = ""
    id: str = ""
    model: str = ""
    limit: int | None = None
    shared: bool = False
    wire: str = ""
    path: str = ""


Row = JsonObject
