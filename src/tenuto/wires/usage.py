"""The usage of a whole turn, in the members in which a wire counts it (C19)."""

from __future__ import annotations

from dataclasses import dataclass

from tenuto.core.signals import Usage
from tenuto.wires.base import JsonObject
from tenuto.wires.members import object_in


@dataclass(frozen=True, slots=True)
class Counts:
    """The members of a usage object.

    Attributes:
        input, output, total: the tokens of the prompt, of the answer, and of both.
        reasoning: those of reasoning. Without `details` they are not counted in `output`.
        details: the member of the object that holds `reasoning`, "" where it stands beside the
            others.
    """

    input: str
    output: str
    total: str
    reasoning: str
    details: str = ""

    def merged(self, raw: JsonObject | None, usage: Usage | None) -> JsonObject:
        """Return a usage object of the whole turn: the first one's other members, these counts.

        >>> chat = Counts("in", "out", "both", "reasoning", "details")
        >>> chat.merged({"in": 5, "out": 3, "both": 8}, Usage(5, 9))
        {'in': 5, 'out': 9, 'both': 14}
        >>> Counts("in", "out", "both", "thought").merged({"in": 5}, Usage(5, 9, 2))
        {'in': 5, 'out': 7, 'both': 14, 'thought': 2}
        """
        merged = dict(raw or {})
        if usage is None or (usage.output_tokens is None and not self.details):
            return merged
        thought, apart = usage.reasoning_tokens, not self.details
        if usage.input_tokens is not None or apart:
            merged[self.input] = usage.input_tokens or 0
        if usage.output_tokens is not None:
            merged[self.output] = usage.output_tokens - ((apart and thought) or 0)
            merged[self.total] = (usage.input_tokens or 0) + usage.output_tokens
        if thought is not None and apart:
            merged[self.reasoning] = thought
        elif thought is not None:
            details = object_in(merged.get(self.details))
            merged[self.details] = {**details, self.reasoning: thought}
        return merged
