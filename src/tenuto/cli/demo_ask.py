"""Asking through the official SDK, as its documentation shows how to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import openai


@dataclass(frozen=True, slots=True)
class Answered:
    """What one call of the SDK handed out.

    Attributes:
        text: the text, "" where there was none.
        calls: name and raw arguments of each tool call.
        finish: the finish reason that the SDK showed, None where it showed none.
        error: the name of the exception's class, "" where none came.
        foreign: whether the exception is none of the SDK's own.
    """

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    finish: str | None = None
    error: str = ""
    foreign: bool = False


def ask(client: openai.OpenAI, *, stream: bool, **request: Any) -> Answered:
    """Ask once; what the SDK raises is a part of the answer.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    import openai

    try:
        if stream:
            return _assembled(client.chat.completions.create(stream=True, **request))
        choice = client.chat.completions.create(**request).choices[0]
        functions = [getattr(call, "function", None) for call in choice.message.tool_calls or ()]
        calls = tuple((f.name, f.arguments) for f in functions if f is not None)
        return Answered(choice.message.content or "", calls, choice.finish_reason)
    except openai.OpenAIError as error:
        return Answered(error=type(error).__name__)
    except Exception as error:  # noqa: BLE001 - that such a thing can come is what the demo shows
        return Answered(error=type(error).__name__, foreign=True)


def _assembled(chunks: Any) -> Answered:
    text, finish = "", None
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    for chunk in chunks:
        for choice in chunk.choices or ():
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for piece in choice.delta.tool_calls or ():
                names.setdefault(piece.index, piece.function.name)
                before = arguments.get(piece.index, "")
                arguments[piece.index] = before + (piece.function.arguments or "")
    calls = tuple((names[index], arguments[index]) for index in names)
    return Answered(text, calls, finish)
