"""How a wire writes whole requests, for an agent, which has no client's request to edit.
`composing` writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # whose wires have forms
    from tenuto.wires.json import JsonObject


@dataclass(frozen=True, slots=True)
class Declared:
    """A tool as declared to the model; `parameters`: the JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    def told(self, schema: str = "parameters") -> JsonObject:
        """Return the declaration as most wires write it. `schema`: the member for the JSON
        Schema."""
        return {"name": self.name, "description": self.description, schema: self.parameters}


@dataclass(frozen=True, slots=True)
class Opening:
    """Everything in a request except its conversation.

    Attributes:
        model: the model's name.
        system: the system prompt; "": none.
        tools: the tools that the model may call.
        max_tokens: the output limit in tokens; None: the provider's default.
        stream: whether to ask for a stream.
        options: further members of the body, by the provider's names.
        output_key: the member of the output limit, for wires with several.
        call_needed: whether the model has to call one of the tools, if there are any.
    """

    model: str
    system: str = ""
    tools: Sequence[Declared] = ()
    max_tokens: int | None = None
    stream: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    output_key: str = "max_tokens"
    call_needed: bool = False


def written_here(model: str) -> str:
    """Return "": most wires have one form for all models."""
    return ""


def user_row(text: str) -> JsonObject:
    """Return a user row, in the form of most wires."""
    return {"role": "user", "content": text}


def at(path: str) -> Callable[[str, bool], str]:
    """Return a function that sends all requests to one path below the base URL."""
    return lambda model, stream: path


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a wire writes whole requests.

    Attributes:
        rows: the member that holds the conversation.
        members: all other members.
        user: a user row.
        system: the row of the system prompt; None: `members` writes it.
        path: the path below the base URL, by the model and whether to stream.
        foreign_call: the `extra` of calls that another wire's model made, if the wire needs one.
        headers: request headers that the wire requires.
        instead: the name of the wire to use for a model whose requests this form can't write; "":
            this one.
    """

    rows: str
    members: Callable[[Opening], JsonObject]
    path: Callable[[str, bool], str]
    user: Callable[[str], JsonObject] = user_row
    system: Callable[[str], JsonObject] | None = None
    foreign_call: Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    instead: Callable[[str], str] = written_here
