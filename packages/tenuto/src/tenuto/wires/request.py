"""A request as the turn sees it, on any wire: its facts, and its bytes after edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from tenuto.core.deciding.actions import Edit
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import JsonObject


class RequestFacts(msgspec.Struct, frozen=True):
    """What the turn needs to know about a request. None and "": the request doesn't say.

    Attributes:
        model: the model's name.
        stream: whether it asks for a stream.
        max_tokens: its output limit.
        least_tokens: the smallest output limit that the provider accepts.
        tools: whether it offers tools.
        call_forced: whether the model must call a tool, either a named one or any.
        after_tool_result: whether it ends in the result of a call.
        structured: whether the output is constrained to a document.
        one_of_words: whether it is constrained to one of some words, which is no document.
        lower_reasoning: whether it can ask for less reasoning than it does.
        prefill_barred: whether no prefill can be appended, whatever the model accepts, since the
            request ends in a row of the model or uses a feature that excludes it.
        begun: the text of such a row, which the answer continues; "": there is none.
        goes_on: whether the model continues at the end of the request by itself, whatever its name.
        include_usage: whether its caller gets the usage in a stream: on most APIs always, on some
            only if the request asks for it.
        left_alone: why the turn is only observed, such as "logprobs"; "": it isn't.
        sent_once: why no further request may follow, such as when the provider keeps it in a
            history that others read; "": one may. Such a turn is ended without a further request.
        follows: the id of the response that it continues, whose history the provider keeps.
        repeats: whether each event of its stream repeats everything so far; None: it depends on the
            model.
        keeps: whether the provider keeps the answer, so that the rest of a broken stream can be
            fetched (`Wire.cursors`).
    """

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
    begun: str = ""
    goes_on: bool = False
    include_usage: bool = False
    left_alone: str = ""
    sent_once: str = ""
    follows: str = ""
    repeats: bool | None = False
    keeps: bool = False

    def changed(self, **members: Any) -> RequestFacts:
        """Return the same facts with other values of some members.

        >>> RequestFacts(model="m").changed(stream=True).stream
        True
        """
        return msgspec.structs.replace(self, **members)


class WireRequest(Protocol):
    """The caller's request, kept as bytes. If an address serves formats of several makers, the
    request also has a member `wire`: the wire to use from there on."""

    @property
    def facts(self) -> RequestFacts:
        """What the turn needs to know about it."""
        ...

    @property
    def repairs(self) -> tuple[str, ...]:
        """The repairs of its history, in words; often empty."""
        ...

    @property
    def tools_may_go(self) -> bool:
        """Whether the provider accepts the request without the tools that it offers."""
        ...

    def tool_parameters(self) -> dict[str, JsonObject]:
        """Return the JSON Schema of each attached tool, by name; {}: the tool has none."""
        ...

    def document(self) -> JsonObject | None:
        """Return the JSON Schema of the document that it asks for. {}: JSON without a schema. None:
        it asks for no document, or the schema can't be read."""
        ...

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """Return the bytes of the request with these edits. Without edits and repairs, they are the
        caller's own."""
        ...
