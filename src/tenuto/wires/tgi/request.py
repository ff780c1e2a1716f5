"""The request's side of Text Generation Inference: facts and edits. What a prompt becomes stands in
`prompt`.

The paths say little: `/generate` is a word that many servers use, and `/`, where Hugging Face's own
client asks, is everybody's. So the body says whether a request is one, and at `/` it must ask for
what is asked of no other task.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import unquote

import msgspec

from tenuto.core.actions import (
    AppendAssistant,
    AppendUser,
    DropConstraint,
    Edit,
    SetOutputBudget,
)
from tenuto.wires.base import Dialect, JsonObject, RequestFacts, Wire
from tenuto.wires.json import UNREADABLE, encode
from tenuto.wires.members import object_in, value_of, with_members
from tenuto.wires.prompt import Members, PromptRequest
from tenuto.wires.request_reading import limit_in, reader, why_left_alone

BUDGET = "max_new_tokens"

_ASKED_OF_NO_OTHER_TASK = frozenset(
    {"adapter_id", "best_of", "decoder_input_details", "details", "do_sample", "grammar"}
    | {"max_new_tokens", "repetition_penalty", "return_full_text", "stop", "top_n_tokens"}
    | {"typical_p", "watermark"}
)

_path = re.compile(
    r"(?P<own>/generate(?P<stream>_stream)?)\Z|\A/?\Z"
    r"|\A(?:/hf-inference)?/models/(?P<model>[^/]+(?:/[^/]+)?)\Z"
).search


def is_request(path: str) -> bool:
    """Whether a path is one of those where text is asked for, below whatever base URL.

    >>> is_request("/generate_stream"), is_request("/"), is_request("/hf-inference/models/gpt2")
    (True, True, True)
    """
    return _path(path.rstrip("/")) is not None


class _Asked(msgspec.Struct):
    """The members that are looked at, in one reading of the body."""

    inputs: str
    parameters: Any = None
    stream: Any = None


_read = reader(_Asked)


@dataclass(frozen=True, slots=True)
class Form:
    """What a request says of the form of its answer.

    Attributes:
        listed: whether a body stands alone in a list.
        details: whether the answer says why it ends, and what it cost.
        echoed: the prompt, where the answer may begin with it.
    """

    listed: bool
    details: bool
    echoed: str


class FormedRequest(PromptRequest):
    """A request whose `wire` is that of the form of its answer."""

    wire: Wire


def parse_request(
    body: bytes, probe_max_tokens: int = 0, path: str = "/generate", *_: object
) -> tuple[FormedRequest, Form] | None:
    """A request, or None where the bytes are none: they then pass untouched (C7).

    >>> parse_request(b'{"inputs": "The tide"}')[0].facts.goes_on
    True
    >>> parse_request(b'{"inputs": "The tide"}', path="/") is None  # it may be to be classified
    True
    """
    found = _path(path.rstrip("/"))
    try:
        if found is None:
            return None
        asked = _read(body)
        parameters = object_in(asked.parameters)
        own = bool(found["own"])
        known = (
            own or asked.stream is not None or not _ASKED_OF_NO_OTHER_TASK.isdisjoint(parameters)
        )
        if not known or not asked.inputs:
            return None
        full = parameters.get("return_full_text")
        form = Form(
            listed=not own,
            details=parameters.get("details") is True,
            # Where it is not said, servers of such models do so at `/`.
            echoed=asked.inputs if full is True or (full is None and not own) else "",
        )
        facts = RequestFacts(
            model=unquote(found["model"] or ""),
            stream=bool(found["stream"]) or (not own and asked.stream is True),
            max_tokens=_budget(parameters),
            structured=_grammar(parameters) in ("json", "json_schema"),
            goes_on=True,
            include_usage=form.details,
            left_alone=_left_alone(parameters, probe_max_tokens),
        )
        edit = partial(_edited, echoes=bool(form.echoed))
        return FormedRequest(body, facts, edit, raw=True, key="inputs"), form
    except UNREADABLE:
        return None


def _budget(parameters: JsonObject) -> int | None:
    return limit_in(parameters.get(BUDGET))


def _grammar(parameters: JsonObject) -> object:
    return object_in(parameters.get("grammar")).get("type")


def _left_alone(parameters: JsonObject, probe_max_tokens: int) -> str:
    """Why a request cannot be continued (C28), "" where it can."""

    def above(least: int, *keys: str) -> bool:
        numbers = (parameters.get(key) for key in keys)
        return any(type(number) is int and number > least for number in numbers)

    reasons = {
        "several_choices": above(1, "best_of", "num_return_sequences"),
        "logprobs": above(0, "top_n_tokens") or bool(parameters.get("decoder_input_details")),
        "grammar": _grammar(parameters) == "regex",  # the rest of a text does not fit the whole
    }
    return why_left_alone(reasons, _budget(parameters), probe_max_tokens)


def _edited(members: Members, edits: Sequence[Edit], dialect: Dialect, *, echoes: bool) -> Members:
    """The members, with the edits that are about none of the conversation."""
    changes: dict[str, bytes | None] = {}
    for edit in edits:
        match edit:
            case SetOutputBudget(tokens):
                changes[BUDGET] = encode(tokens)
            case DropConstraint():
                changes["grammar"] = None
            case AppendAssistant() | AppendUser() if echoes:  # else it comes again with the prompt
                changes["return_full_text"] = b"false"
    raw = members.get("parameters", b"{}")
    raw = raw if isinstance(value_of(raw), dict) else b"{}"
    return {**members, "parameters": with_members(raw, changes)} if changes else members
