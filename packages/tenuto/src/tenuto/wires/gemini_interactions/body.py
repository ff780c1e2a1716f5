"""Write whole interactions of Gemini: bodies, calls, usage, errors.

Shapes follow `google/genai/_gaos/types/interactions` of google-genai 3.4 and are checked against
its types in the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import Message
from tenuto.wires.answer import Answer, kept_of
from tenuto.wires.calls import object_of
from tenuto.wires.errors import OURS
from tenuto.wires.gemini_interactions.content import TOKEN, output, without_token
from tenuto.wires.gemini_interactions.steps import CALL, is_earlier, outputs_of
from tenuto.wires.json import JsonObject, encode
from tenuto.wires.usage import Counts

ERROR_STATUS = 424
"""HTTP status 424, "failed dependency". The official SDK retries every 5xx by default, whatever a
header says, but of 4xx only 408, 409 and 429."""

_NOT_SHARED = frozenset(
    {"steps", "outputs", "status", "usage", "error", "errors", "updated", TOKEN}
)

COUNTS = Counts(
    input="total_input_tokens",
    output="total_output_tokens",
    total="total_tokens",
    reasoning="total_thought_tokens",
    cached=("total_cached_tokens",),
)

_CLEAN = ("completed", "requires_action")


def identity_of(interaction: Mapping[str, Any]) -> JsonObject:
    """Return what all of a turn's interactions share with its first one.

    >>> identity_of({"id": "v1_1", "status": "completed"})
    {'id': 'v1_1'}
    """
    return {key: item for key, item in interaction.items() if key not in _NOT_SHARED}


def ending_of(answer: Answer) -> JsonObject:
    """Return the status of an answer, and the members beside it, without the token of a pause: the
    official SDK would continue with it, but Tenuto did so as often as it may (C26).

    >>> ending_of(Answer("Hi", native_stop="incomplete"))
    {'status': 'incomplete'}
    """
    came = answer.ending.get("interaction", answer.ending)
    errors = came.get("errors") if isinstance(came, dict) else None
    status = answer.native_stop or "completed"
    return {"status": status, **({"errors": errors} if errors and status == "failed" else {})}


def call_step(call: ToolCall) -> JsonObject:
    """Return a call as a step."""
    named = {"type": CALL, "id": call.id, "name": call.name, "arguments": object_of(call)}
    return {**(call.extra or {}), **named}


def as_body(message: Message) -> JsonObject:
    """Return the body of a message (`Wire.as_body`): all members of the interaction."""
    return message.said


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """Return a whole interaction: the first attempt's identity, the merged steps. If the turn is
    complete, the id is the last attempt's, so that the next request continues the whole answer."""
    steps = without_token(answer.content)
    if not steps and answer.text:
        steps = [output(answer.text)]
    ending = ending_of(answer)
    identity = identity_of(first)
    if ending["status"] in _CLEAN and last.get("id"):
        identity["id"] = last["id"]
    steps += [call_step(call) for call in answer.calls]
    usage = COUNTS.merged(answer.raw_usage, answer.usage)
    told = {"usage": usage} if usage else {}
    said = {"outputs": outputs_of(steps)} if is_earlier(first) else {"steps": steps}
    return encode({"object": "interaction", **identity, **ending, **said, **told})


def error_object(code: str, message: str) -> JsonObject:
    """Return an error in the provider's shape, marked as Tenuto's own.

    >>> error_object("dropped", "…")["type"]
    'tenuto_incomplete'
    """
    return {"code": code, "message": message, "type": OURS}


def render_error(code: str, message: str, partial: Answer | None) -> bytes:
    """Return the body of an error. `partial` holds what was received, so nothing is lost."""
    return encode({"error": error_object(code, message) | kept_of(partial)})
