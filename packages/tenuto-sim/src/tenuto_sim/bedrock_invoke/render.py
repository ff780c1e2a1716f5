"""Write a reply: as Chat Completions, except for what Bedrock and Mistral do differently.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-mistral-chat-completion.html
and …/model-parameters-openai.html (read 2026-11-22). Mistral has its stop in `stop_reason`, a
message instead of a delta, and no usage. Bedrock adds metrics to the last event, which ends the
stream.
"""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any, Final

from tenuto_sim.bedrock_converse.errors import ERRORS, kind_of
from tenuto_sim.bedrock_converse.models import maker
from tenuto_sim.case import CUT_SHORT, Ending, Step
from tenuto_sim.envelope import Envelope, dump
from tenuto_sim.framing import Event
from tenuto_sim.openai_chat import render as chat
from tenuto_sim.reply import Reply

Named = tuple[str, dict[str, Any]]

GUARDRAIL: Final = "guardrail_intervened"
GUARDED: Final = "Sorry, the model cannot answer this question."
ACTION: Final = "amazon-bedrock-guardrailAction"
METRICS: Final = "amazon-bedrock-invocationMetrics"
_NO_METRICS: Final = CUT_SHORT | {Ending.NO_DONE}
_PADDING: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_NAMED_OTHERWISE: Final = {"delta": "message", "finish_reason": "stop_reason"}
_NOT_MISTRALS: Final = ("object", "usage", "service_tier", "system_fingerprint")


def document(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the answer to a request without streaming.

    >>> said = Reply("Hi.", (), "stop", 3, 1)
    >>> list(document(said, Step(), Envelope("1", "mistral.x"))["choices"][0])
    ['index', 'message', 'logprobs', 'stop_reason']
    """
    made = chat.document(_as_shown(reply), step, envelope)
    return _as_made(made, envelope) | _action(reply)


def payloads(reply: Reply, step: Step, envelope: Envelope) -> list[Named]:
    """Return the payloads of a stream's events, with their names.

    >>> made = payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("1", "sim"))
    >>> [name for name, _ in made]
    ['chunk', 'chunk', 'chunk']
    """
    error, said = step.error, _as_shown(reply)
    said = replace(said, finish=None) if error else said
    written = chat.payloads(said, replace(step, error=""), envelope)
    chunks = [_as_made(chunk, envelope) for chunk in written]
    if not error and step.ending not in _NO_METRICS:
        chunks[-1] = chunks[-1] | _action(reply) | (_metrics(reply) if step.usage else {})
    named = [("chunk", chunk) for chunk in chunks]
    if error:
        named.append((kind_of(ERRORS[error]), dict(ERRORS[error].document)))
    return named


def event(named: Named, number: int) -> Event:
    """Return the event of a payload. An error is not the model's own event."""
    name, payload = named
    return (name, _payload(dump(payload), number) if name == "chunk" else dump(payload))


def _payload(said: str, number: int) -> str:
    data = base64.b64encode(said.encode("utf-8", "replace")).decode()
    return dump({"bytes": data, "p": _PADDING[: 4 + number * 7 % 58]})


BROKEN: Final = ("chunk", _payload('{"choices":[', 0))


def _as_shown(reply: Reply) -> Reply:
    """Return the reply as a body shows it: a guardrail replaces the answer, with a clean stop."""
    return replace(reply, text=GUARDED, finish="stop") if reply.finish == GUARDRAIL else reply


def _action(reply: Reply) -> dict[str, Any]:
    return {ACTION: "INTERVENED"} if reply.finish == GUARDRAIL else {}


def _metrics(reply: Reply) -> dict[str, Any]:
    return {
        METRICS: {
            "inputTokenCount": reply.prompt_tokens,
            "outputTokenCount": reply.completion_tokens,
            "invocationLatency": 700,
            "firstByteLatency": 70,
        }
    }


def _as_made(document: dict[str, Any], envelope: Envelope) -> dict[str, Any]:
    """Return a document as the model's maker writes it."""
    if maker(envelope.model) != "mistral":
        return document
    kept = {key: value for key, value in document.items() if key not in _NOT_MISTRALS}
    renamed = [
        {_NAMED_OTHERWISE.get(key, key): value for key, value in choice.items()}
        for choice in document["choices"]
    ]
    return kept | {"choices": renamed}
