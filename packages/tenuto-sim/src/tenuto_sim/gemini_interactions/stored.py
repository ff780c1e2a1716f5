"""Interactions that the provider stores, as lists of steps under an id, for later requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenuto_sim.errors import Failure
from tenuto_sim.gemini_interactions.errors import failure
from tenuto_sim.gemini_interactions.request import steps_of
from tenuto_sim.gemini_interactions.seals import opened

Body = Mapping[str, Any]


def recalled(body: Body, memory: dict[str, Any]) -> Body | Failure:
    """Return a body with the whole history in its input, or a refusal.

    >>> made = recalled({"input": "b", "previous_interaction_id": "i"}, {"i": [{"type": "x"}]})
    >>> [step["type"] for step in made["input"]]
    ['x', 'user_input']
    """
    before = body.get("previous_interaction_id")
    if (given := body.get("continuation_token")) is not None:
        paused = opened(given)
        if paused is None or (before is not None and paused[1] != before):
            return failure("The continuation_token is not valid for this interaction.")
        if before is not None and body.get("input") is not None:
            return failure("'input' must not be set when an interaction is continued.")
    if not isinstance(before, str):
        return body
    if before not in memory:
        return failure(f"Interaction '{before}' was not found.", status=404)
    return {**body, "input": [*memory[before], *steps_of(body)]}


def kept(body: Body, document: Body, memory: dict[str, Any]) -> None:
    """Store the input and the answer, unless the request says not to.

    >>> memory = {}
    >>> kept({"input": []}, {"id": "i", "steps": [{"type": "thought"}]}, memory)
    >>> memory
    {'i': [{'type': 'thought'}]}
    """
    if body.get("store") is not False:
        memory[document["id"]] = [*steps_of(body), *document.get("steps", ())]
