"""Responses and conversations that the provider stores, for later requests.

Both are lists of items under an id. A request that names one has these items before its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenuto_sim.errors import Failure
from tenuto_sim.openai_chat.errors import failure
from tenuto_sim.openai_responses.request import items_of

Body = Mapping[str, Any]


def conversation_of(body: Body) -> str:
    """Return the id of the conversation that a request belongs to; "": none.

    >>> conversation_of({"conversation": {"id": "conv_1"}}), conversation_of({})
    ('conv_1', '')
    """
    given = body.get("conversation")
    given = given.get("id") if isinstance(given, dict) else given
    return given if isinstance(given, str) else ""


def recalled(body: Body, memory: dict[str, Any]) -> Body | Failure:
    """Return a body with the whole history in its input, or a refusal.

    >>> recalled({"input": "b", "previous_response_id": "r"}, {"r": [{"role": "user"}]})["input"]
    [{'role': 'user'}, {'role': 'user', 'content': 'b'}]
    """
    before = body.get("previous_response_id")
    if isinstance(before, str):
        if before not in memory:
            return failure(
                f"Previous response with id '{before}' not found.",
                param="previous_response_id",
                code="previous_response_not_found",
            )
        return {**body, "input": [*memory[before], *items_of(body)]}
    if name := conversation_of(body):
        return {**body, "input": [*memory.get(name, ()), *items_of(body)]}
    return body


def kept(body: Body, document: Body, memory: dict[str, Any]) -> None:
    """Store the input and the answer, unless the request says not to.

    >>> memory = {}
    >>> kept({"input": "a"}, {"id": "r", "output": []}, memory)
    >>> memory
    {'r': [{'role': 'user', 'content': 'a'}]}
    """
    items = [*items_of(body), *document["output"]]
    if name := conversation_of(body):
        memory[name] = items
    if body.get("store") is not False:
        memory[document["id"]] = items
