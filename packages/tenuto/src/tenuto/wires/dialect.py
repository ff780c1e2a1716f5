"""What a provider's variant of a wire allows."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
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
        refuses: a pattern to match the names of an answer's members beside its text and calls
            (reasoning, signatures) that the provider refuses in a history; None: it takes back what
            it gave.
        most_id_chars: the most characters that the id of a call may have; 0: there is no limit.
        signed_calls: a pattern to search for in a model's name, if the provider refuses calls of
            its current turn without a signature; None: it refuses none.
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
    refuses: re.Pattern[str] | None = None
    most_id_chars: int = 0
    signed_calls: re.Pattern[str] | None = None
    signed_thinking: bool = True
    less_reasoning: tuple[tuple[str, Any], ...] = ()
    output_tokens: int = 0
    window_tokens: int = 0

    def takes_prefill(self, model: str) -> bool:
        """Return whether a model accepts a prefill, as far as the row says."""
        if self.prefill_models is not None:
            return self.prefill_models.search(model.lower()) is not None
        return self.prefill

    def signs_calls(self, model: str) -> bool:
        """Return whether calls of a model must be signed."""
        return self.signed_calls is not None and self.signed_calls.search(model.lower()) is not None

    def wants_back(self, name: str) -> bool:
        """Return whether an error named this member of the model's rows as missing."""
        return False

    def refuses_back(self, name: str) -> bool:
        """Return whether the model's rows may not hold this member of an answer.

        >>> Dialect(refuses=re.compile("reasoning")).refuses_back("reasoning_details")
        True
        """
        return self.refuses is not None and self.refuses.match(name) is not None

    @property
    def learned(self) -> frozenset[str]:
        """What errors said of the model's rows (`TaughtDialect`)."""
        return frozenset()

    @property
    def refuses_all(self) -> bool:
        """Whether the model's rows may hold only its text and calls, as far as errors said."""
        return "-" in self.learned and not any(word.startswith("+") for word in self.learned)

    @property
    def signs(self) -> bool:
        """Whether thinking without a signature is left out of the model's rows."""
        return self.signed_thinking and not self.wants_back("thinking")

    @property
    def key_for_reasoning(self) -> str:
        """The key under which the model's rows must carry reasoning back; "": none is known."""
        return self.reasoning_key


@dataclass(frozen=True, slots=True)
class TaughtDialect(Dialect):
    """A dialect with what the provider's errors said of the model's rows.

    Attributes:
        learned: "+name" for a member that it wants back, "-name" for one that it refuses, "-" for
            all that it gave beside text and calls.

    >>> taught = taught_by(Dialect(), frozenset({"-reasoning", "+content[].thinking"}))
    >>> taught.refuses_back("reasoning"), taught.wants_back("thinking"), taught.signs
    (True, True, False)
    """

    learned: frozenset[str] = frozenset()  # pyright: ignore[reportIncompatibleMethodOverride]

    def wants_back(self, name: str) -> bool:
        """Return the same as `Dialect`, of which no error says anything."""
        return any(word.startswith("+") and word.endswith(name) for word in self.learned)

    def refuses_back(self, name: str) -> bool:
        """Return the same as `Dialect`, unless an error said otherwise."""
        if self.wants_back(name):
            return False
        told = not self.learned.isdisjoint({"-", f"-{name}"})
        return told or Dialect.refuses_back(self, name)

    @property
    def key_for_reasoning(self) -> str:
        """The key that an error named, or else that of the row."""
        wanted = (word[1:] for word in sorted(self.learned) if word.startswith("+reasoning"))
        return next(wanted, self.reasoning_key)


def taught_by(dialect: Dialect, learned: frozenset[str]) -> Dialect:
    """Return a dialect with what errors said of it; without that, the dialect itself."""
    if not learned:
        return dialect
    given = {item.name: getattr(dialect, item.name) for item in fields(Dialect)}
    return TaughtDialect(**given, learned=learned)
