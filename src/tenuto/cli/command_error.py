"""How a command says that it could not do its work."""

from __future__ import annotations

INTERRUPTED = 130
"""What a shell says of a program that Ctrl-C ended."""


class CommandError(Exception):
    """A command could not do its work; the message is for a person, on one line."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def one_line(text: str) -> str:
    """The same words with one space between each two."""
    return " ".join(text.split())
