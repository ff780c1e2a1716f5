"""What a provider's form of a wire allows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a provider's form of a wire allows, as data (providers/table.py).

    Attributes:
        name: the provider's name.
        prefill: whether models continue a trailing assistant message as the beginning of their
            answer.
        prefill_models: the models that do where not all of them do, by a pattern that is searched
            for in their names; None: all or none, as `prefill` says.
        prefill_row: further members of the message with the prefill.
        prefill_members: further top-level members of a request with a prefill.
        prefill_echoed: whether every answer to a prefill begins with it, however short it is.
        output_key: the key of the output limit, for requests that don't set one.
        reasoning_prefill: whether those that take one go on behind reasoning as well.
        reasoning_members: top-level members that a request with reasoning as its prefill carries
            as well: those that make the model go on from it, and those that turn reasoning off. The
            caller's own members of an object stay.
        reasoning_echoed: whether answers without streaming repeat the reasoning that they continue
            from.
        reasoning_key: the key under which assistant rows must carry their reasoning back, "" where
            the provider does not want it (C20).
        signed_thinking: whether thinking without a signature is refused in a history, so that it
            must be left out; those who sign nothing may want it back instead.
        less_reasoning: top-level members by which any request asks for less reasoning, or none;
            () where that depends on the model, and only a request that has the knob can turn it.
        output_tokens: the largest output limit that is taken, whatever the model; 0: the model's
            own (providers/models.py).
        window_tokens: the context window; 0: not known.
    """

    name: str = "unknown"
    prefill: bool = False
    prefill_models: re.Pattern[str] | None = None
    output_key: str = "max_tokens"
    prefill_row: tuple[tuple[str, bool], ...] = ()
    prefill_members: tuple[tuple[str, bool], ...] = ()
    prefill_echoed: bool = False
    reasoning_prefill: bool = False
    reasoning_members: tuple[tuple[str, Any], ...] = ()
    reasoning_echoed: bool = False
    reasoning_key: str = ""
    signed_thinking: bool = True
    less_reasoning: tuple[tuple[str, Any], ...] = ()
    output_tokens: int = 0
    window_tokens: int = 0

    def takes_prefill(self, model: str) -> bool:
        """Whether a model takes a prefill, as far as the row says."""
        if self.prefill_models is not None:
            return self.prefill_models.search(model.lower()) is not None
        return self.prefill
