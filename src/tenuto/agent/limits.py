"""How far a turn of an agent may go."""

from __future__ import annotations

from dataclasses import dataclass, fields

from tenuto.core.errors import AgentError


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one turn of an agent may go; what stands here bounds all its steps together.

    Attributes:
        max_steps: requests of the loop; the last of them is still carried out.
        max_output_tokens: output tokens that the turn may use, attempts of recovery included; once
            they are used no further step begins. 0: no limit.
        timeout_s: wall-clock seconds after which no further step begins. 0: no limit.
        repeated_calls: how often the same call may come to the same result, in a row, before the
            model is told so (P8a). 0: as often as it likes.

    Raises:
        AgentError: a value is not allowed; the message names it and says what is.

    >>> Limits(max_steps=0)
    Traceback (most recent call last):
        ...
    tenuto.core.errors.AgentError: max_steps is 0, allowed is a whole number of 1 or more
    """

    max_steps: int = 50
    max_output_tokens: int = 0
    timeout_s: float = 0.0
    repeated_calls: int = 3

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            number = float(value) if type(value) is int else value
            least = 1 if field.name == "max_steps" else 0
            kind, word = (float, "number") if field.name == "timeout_s" else (int, "whole number")
            right = type(value) is int or (kind is float and type(value) is float)
            if not right or not least <= number < float("inf"):
                raise AgentError(
                    f"{field.name} is {value!r}, allowed is a {word} of {least} or more"
                )
