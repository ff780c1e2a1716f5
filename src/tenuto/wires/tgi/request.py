"""Requests of Text Generation Inference: facts and edits. `prompt` edits the prompt itself.

The paths say little: many servers use `/generate`, and `/`, which Hugging Face's own client uses,
may be any server's. So the body decides whether a request is one. At `/` it must ask for something
that no other task has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import unquote

import msgspec

from tenuto.core.deciding.actions import AppendAssistant, AppendUser, Edit
from tenuto.wires.base import Wire
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import UNREADABLE, JsonObject
from tenuto.wires.members import object_in
from tenuto.wires.prompt import PromptRequest
from tenuto.wires.request import RequestFacts
from tenuto.wires.request_edits import Paths, put
from tenuto.wires.request_reading import limit_in, reader, why_left_alone

BUDGET = "max_new_tokens"
_PARAMETERS = ("parameters",)

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
    """Return whether a path is one of those that generate text, below any base URL.

    >>> is_request("/generate_stream"), is_request("/"), is_request("/hf-inference/models/gpt2")
    (True, True, True)
    """
    return _path(path.rstrip("/")) is not None


class _Asked(msgspec.Struct):
    """The members that Tenuto reads, in one pass over the body."""

    inputs: str
    parameters: Any = None
    stream: bool | None = None


_read = reader(_Asked)


@dataclass(frozen=True, slots=True)
class Form:
    """The form of the answer that a request asks for.

    Attributes:
        listed: whether a body is the only element of a list.
        details: whether the answer says why it ended, and its usage.
        echoed: the prompt, if the answer may begin with it.
    """

    listed: bool
    details: bool
    echoed: str


class FormedRequest(PromptRequest):
    """A request, and the form of its answer. `wire` is the wire for that form."""

    wire: Wire
    form: Form
    paths: ClassVar[Paths] = Paths(
        "inputs", (_PARAMETERS, (BUDGET,)), [(_PARAMETERS, ("grammar",))]
    )

    def added_rows(self, edit: Edit, members: dict[str, bytes], dialect: Dialect) -> tuple[()]:
        if self.form.echoed and isinstance(edit, AppendAssistant | AppendUser):
            # Otherwise, Tenuto's additions would be repeated with the prompt.
            put(members, (_PARAMETERS, ("return_full_text",)), b"false")
        return ()


def parse_request(
    body: bytes, probe_max_tokens: int = 0, path: str = "/generate", *_: object
) -> FormedRequest | None:
    """Return a request, or None if the bytes are none; they then pass unchanged (C7).

    >>> parse_request(b'{"inputs": "The tide"}').facts.goes_on
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
            # By default, servers of such models do so at `/`.
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
        made = FormedRequest(body, facts)
        made.form = form
        return made
    except UNREADABLE:
        return None


def _budget(parameters: JsonObject) -> int | None:
    return limit_in(parameters.get(BUDGET))


def _grammar(parameters: JsonObject) -> object:
    return object_in(parameters.get("grammar")).get("type")


def _left_alone(parameters: JsonObject, probe_max_tokens: int) -> str:
    """Return why a request can't be continued (C28); "": it can."""

    def above(least: int, *keys: str) -> bool:
        numbers = (parameters.get(key) for key in keys)
        return any(type(number) is int and number > least for number in numbers)

    reasons = {
        "several_choices": above(1, "best_of", "num_return_sequences"),
        "logprobs": above(0, "top_n_tokens") or bool(parameters.get("decoder_input_details")),
        "grammar": _grammar(parameters) == "regex",  # for the whole text, not for the rest
    }
    return why_left_alone(reasons, _budget(parameters), probe_max_tokens)
