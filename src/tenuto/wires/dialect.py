"""What a provider's variant of a wire allows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a provider's variant of a wire allows, as data (providers/table.py).

    Attributes:
        name: the provider's name.
        prefill: whether models continue a trailing assistant message as the beginning of their
            answer.
        prefill_models: a pattern to search for in a model's name, if only some models do; None:
            `prefill` applies to all.
        prefill_row: further members of the message with the prefill.
        prefill_members: further top-level members of a request with a prefill.
        prefill_echoed: whether every answer to a prefill begins with it, however short it is.
        output_key: the key of the output limit, for requests that don't set one, on wires where
            providers differ in it: Chat Completions and those like it.
        reasoning_prefill: whether models that accept a prefill can also continue from reasoning.
        reasoning_members: further top-level members of a request with reasoning as its prefill:
            those that make the model continue from it, and those that turn reasoning off. The
            caller's own members of an object stay.
        reasoning_echoed: whether answers without streaming repeat the reasoning that they continue
            from.
        reasoning_key: the key under which assistant rows must carry their reasoning back; "": the
            provider does not want it (C20).
        signed_thinking: whether the provider refuses thinking without a signature in a history, so
            that Tenuto leaves it out. Providers that sign nothing may want it back.
        less_reasoning: top-level members by which any request asks for less reasoning, or none;
            (): it depends on the model, and only a request that sets its reasoning can lower it.
        output_tokens: the largest output limit for every model; 0: it depends on the model
            (providers/models.py).
        window_tokens: the context window, in tokens; 0: not known.
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
        """Return whether a model accepts a prefill, as far as the row says."""
        if self.prefill_models is not None:
            return self.prefill_models.search(model.lower()) is not None
        return self.prefill
