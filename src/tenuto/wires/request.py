"""What a request is to the turn, on any wire: its facts, and the bytes that edits make of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from tenuto.core.actions import Edit
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import JsonObject


class RequestFacts(msgspec.Struct, frozen=True):
    """What the turn needs to know of a request; None and "" where it does not say.

    `prefill_barred`: nothing can be appended as the beginning of the model's answer, whatever the
    model takes: the request ends in an assistant row of its own, or uses what excludes it.
    `goes_on`: the model goes on at the end of the request by itself, whatever its name.
    `structured`: the output is constrained, to a document or, where `one_of_words`, to one of some
    words, which is none. `follows`: the id of the response that the request goes on from, whose
    history the provider keeps. `least_tokens`: the smallest output limit that is accepted.
    `call_forced`: the model must call a tool, one that is named or any.
    `sent_once`: why nothing may be sent after it, "" where it may: what is sent is kept in a
    history that others read. Such a turn ends truthfully; one that is `left_alone` is only
    watched. `repeats`: each event of its stream says all that was said before it as well; None:
    the model decides."""

    model: str = ""
    stream: bool = False
    max_tokens: int | None = None
    least_tokens: int = 1
    tools: bool = False
    call_forced: bool = False
    after_tool_result: bool = False
    structured: bool = False
    one_of_words: bool = False
    lower_reasoning: bool = False
    prefill_barred: bool = False
    goes_on: bool = False
    include_usage: bool = False
    left_alone: str = ""
    sent_once: str = ""
    follows: str = ""
    repeats: bool | None = False


class WireRequest(Protocol):
    """The caller's request, kept as bytes. An address may stand for formats of several makers: then
    the request has a member `wire` as well, the one that speaks it from there on."""

    @property
    def facts(self) -> RequestFacts:
        """What the turn needs to know of it."""
        ...

    @property
    def repairs(self) -> tuple[str, ...]:
        """What had to be put right in its history, in words; often empty."""
        ...

    def tool_parameters(self) -> dict[str, JsonObject]:
        """The JSON Schema of each attached tool, by name; {} for one that has none."""
        ...

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """The bytes of the request with these edits; without edits and repairs the caller's own."""
        ...
