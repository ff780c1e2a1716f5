"""What a wire says of whole requests, for who has no client's request that could be edited: the
agent. `composing` writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # whose wires have forms
    from tenuto.wires.json import JsonObject


@dataclass(frozen=True, slots=True)
class Declared:
    """A tool as the model is told of it; `parameters`: the JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    def told(self, schema: str = "parameters") -> JsonObject:
        """Return it as nearly all wires tell it, the schema in the member of that name."""
        return {"name": self.name, "description": self.description, schema: self.parameters}


@dataclass(frozen=True, slots=True)
class Opening:
    """All of a request but its conversation.

    Attributes:
        model: its name.
        system: what the model is told before all else, "" for nothing.
        tools: the tools that it may call.
        max_tokens: the output limit in tokens, None for the provider's own.
        stream: whether the answer is to come as a stream.
        options: further members of the body, as the provider names them.
        output_key: the member of the output limit, where a wire has several.
    """

    model: str
    system: str = ""
    tools: Sequence[Declared] = ()
    max_tokens: int | None = None
    stream: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    output_key: str = "max_tokens"


def written_here(model: str) -> str:
    """Of most wires: one form for all models."""
    return ""


def user_row(text: str) -> JsonObject:
    """Return a row of the user's, as most wires have it."""
    return {"role": "user", "content": text}


def at(path: str) -> Callable[[str, bool], str]:
    """Return what sends all requests to one path below the base URL."""
    return lambda model, stream: path


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a wire writes whole requests.

    Attributes:
        rows: the member that holds the conversation.
        members: all other members.
        user: a row of the user's.
        system: the row of what the model is told before all else; None: `members` says it.
        path: the path below the base URL, of the model and whether it is to stream.
        foreign_call: the `extra` of calls that another wire's model made, where one is wanted.
        headers: request headers that it cannot do without.
        instead: the name of the wire to ask a model on whose requests are not written here; "" for
            a model whose requests are.
    """

    rows: str
    members: Callable[[Opening], JsonObject]
    path: Callable[[str, bool], str]
    user: Callable[[str], JsonObject] = user_row
    system: Callable[[str], JsonObject] | None = None
    foreign_call: Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    instead: Callable[[str], str] = written_here
