"""The rules for requests, and the provider's error messages.

DashScope's own rules come first, then those of Chat Completions, with DashScope's messages if they
are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from examples.wires.tests.simulated.dashscope.errors import by_algorithm, failure, too_many_tokens
from examples.wires.tests.simulated.dashscope.request import as_chat
from tenuto_sim.errors import Failure
from tenuto_sim.openai_chat import history as chat
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Violations, others

_BODY_KEYS: Final = frozenset({"model", "input", "parameters", "service", "stream"})
_INPUT_KEYS: Final = frozenset({"messages", "prompt", "history"})

NOTHING_ASKED: Final = 'Either "prompt" or "messages" must exist and cannot both be none'
NOT_PARTIAL: Final = (
    'The "partial" parameter is only supported in the last message, whose role is "assistant".'
)
THINKS_IN_INCREMENTS: Final = (
    'The incremental_output parameter must be "true" when enable_thinking is true'
)
THINKS_IN_STREAMS: Final = "parameter.enable_thinking must be set to false for non-streaming calls"

_IN_ITS_WORDS: Final[Mapping[str, str]] = {
    chat.ORPHAN_CALL: 'An assistant message with "tool_calls" must be followed by tool messages '
    'responding to each "tool_call_id". The following tool_call_ids did not have response '
    "messages: message[0].role",
    chat.ORPHAN_RESULT: 'messages with role "tool" must be a response to a preceeding message '
    'with "tool_calls".',
    chat.BROKEN_ARGUMENTS: 'The "function.arguments" parameter of the code model must be in JSON '
    "format.",
    chat.EMPTY_ASSISTANT: "Role must be user or assistant and Content length must be greater "
    "than 0",
}
"""Messages of Chat Completions, by their beginning, and those of DashScope for them."""


_OWN: Final = {"": ("partial", "reasoning_content"), "tool": ("name",), "call": ("index",)}
"""Members of rows and calls that Chat Completions doesn't have."""


def impossible(body: Any) -> Violations:
    """Yield the violations of a body that can't be answered at all."""
    if not isinstance(body, dict):
        yield failure("Required body invalid, please check the request body format.")
    if not isinstance(body.get("input"), dict):
        yield failure("Required input parameter missing from request.")
    if not (body["input"].get("messages") or body["input"].get("prompt")):
        yield failure(NOTHING_ASKED)
    if not isinstance(body.get("parameters", {}), dict):
        yield failure("The parameters must be an object.")
    if not isinstance(body.get("model"), str):
        yield failure("Required parameter(s) missing or invalid, please check the request.")
    yield from chat.reworded(chat.impossible(as_chat(body)), _say)


def violations(
    headers: Mapping[str, str], body: Mapping[str, Any], settings: Settings
) -> Violations:
    """Yield the other violations of a request.

    >>> asked = {"messages": [{"role": "user", "content": "hello"}]}
    >>> list(violations({}, {"model": "sim", "input": asked, "stream": False}, Settings()))
    []
    """
    asked, most = as_chat(body), settings.max_output_tokens
    yield from chat.reworded(chat.header_violations(headers), _say)
    for held, known in ((body, _BODY_KEYS), (body["input"], _INPUT_KEYS)):
        yield from others(held, known, lambda name: failure(f"Unexpected parameter: {name}"))
    if "prompt" in body["input"] and "messages" in body["input"]:
        yield failure('"prompt" and "messages" cannot both be given')
    yield from _rows(asked["messages"], in_lists=body.get("service") == "multimodal")
    if asked.get("enable_thinking") is True and not asked["stream"]:
        yield failure(THINKS_IN_STREAMS)
    if asked.get("enable_thinking") is True and not asked.get("incremental_output"):
        yield by_algorithm(THINKS_IN_INCREMENTS)
    budget = asked.get("max_tokens")
    if isinstance(budget, int) and not 1 <= budget <= most:
        yield too_many_tokens("max_tokens", budget, most)
    plain = chat.without(asked, _OWN)
    any_end = replace(settings, prefill="continue")
    yield from chat.reworded(chat.body_violations(plain, any_end), _say)


def _rows(rows: list[Any], *, in_lists: bool) -> Violations:
    begun = [row for row in rows if row.get("partial")]
    if begun and (begun != rows[-1:] or rows[-1]["role"] != "assistant"):
        yield by_algorithm(NOT_PARTIAL)
    for row in rows if in_lists else ():
        if row["role"] != "tool" and not isinstance(row.get("content"), list):
            yield by_algorithm("The content field is a required field.")


def _say(said: str) -> Failure:
    """Return a refusal of Chat's in DashScope's form, with its message if that is known."""
    known = (by_algorithm(own) for begin, own in _IN_ITS_WORDS.items() if said.startswith(begin))
    return next(known, failure(said))
