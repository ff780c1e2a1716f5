"""Whole numbers in arguments, read as strictly as those in the environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cyclopts import Parameter, Token

from tenuto.command_kit.command_error import CommandError
from tenuto.core.answer.stop import printable
from tenuto.core.settings.rule import Rule

__all__ = ["Rule", "whole_number"]


def whole_number(rule: Rule) -> Parameter:
    """Return the parameter of a whole number within a rule. Without it cyclopts takes 1.5 for 1."""

    def convert(_: Any, tokens: Sequence[Token]) -> int:
        (token,) = tokens
        try:
            value = int(token.value)
        except ValueError:
            value = None
        if value is None or not rule.accepts(value):
            raise CommandError(
                f"{token.keyword} is {printable(token.value)}, but it must be {rule.allowed}", 2
            )
        return value

    return Parameter(converter=convert)
