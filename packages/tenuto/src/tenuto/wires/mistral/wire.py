"""Mistral's chat: La Plateforme, and its models on Azure and Google Cloud.

https://docs.mistral.ai/api (read through mistralai 3.7, 2026-11-22: `chatcompletionchoice.py`,
`completionresponsestreamchoice.py`, `contentchunk.py`). It is OpenAI's chat, at the same paths,
except for the shape of its errors, content that may be a list of chunks (`render`), stricter rules
for a history (`request`), and a prefill, which every answer to it repeats.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tenuto.core.answer.parts import AnySignal, is_silent
from tenuto.core.answer.signals import FaultSeen
from tenuto.core.answer.stop import StopReason
from tenuto.core.deciding.outcome import Outcome
from tenuto.wires.answer import Shown, error_body
from tenuto.wires.chat_like import chat as chat_like
from tenuto.wires.chat_like.errors import read_fault
from tenuto.wires.chat_like.form import USAGE_ALWAYS
from tenuto.wires.chat_like.paths import is_request as is_chat
from tenuto.wires.json import JsonObject
from tenuto.wires.mistral import render
from tenuto.wires.mistral.request import parse_request
from tenuto.wires.stops import StopTable

_R = StopReason

STOPS: StopTable = {
    # A natural end or a stop sequence, which can't be distinguished.
    "stop": (_R.END_TURN, None),
    # The output limit of the request was reached.
    "length": (_R.MAX_TOKENS, None),
    # The context of the model is full. Not in the type of streams, which is open.
    "model_length": (_R.CONTEXT_WINDOW_EXCEEDED, None),
    "error": (_R.ERROR, None),
    "tool_calls": (_R.TOOL_CALL, None),
}
"""Mistral's own values, in the order and spelling of its SDK."""

_PATH = re.compile(
    r"/(?:fim|agents)/completions\Z|/publishers/mistralai/models/[^/]+:(?:r|streamR)awPredict\Z"
)
"""Paths beside that of the chat: fill in the middle, agents, Google Cloud."""

_ID = re.compile(r"(?:cmpl-)?[0-9a-f]{32}\Z").match
_MODEL = re.compile(r"(?:ft:|open-|labs-)*[a-z]+[sx]tral\b", re.IGNORECASE).match
"""Matches the ids of its answers and the names of its models. Other providers share one of them."""


def is_request(path: str) -> bool:
    """Return whether the path is one of its own, or that of the chat.

    >>> is_request("/v1/fim/completions"), is_request("/v1/embeddings")
    (True, False)
    """
    return is_chat(path) or _PATH.search(path.rstrip("/")) is not None


def is_its_own(value: JsonObject) -> bool:
    """Return whether an object that looks like OpenAI's chat can only be Mistral's.

    >>> is_its_own({"id": "08f3" * 8, "model": "mistral-small-latest"})
    True
    >>> is_its_own({"object": "error", "message": "vLLM numbers its errors.", "code": 400})
    False
    """
    if value.get("object") == "error":
        return "code" in value and not isinstance(value["code"], int)
    answer_id, model = value.get("id"), value.get("model")
    if not isinstance(answer_id, str) or not isinstance(model, str):
        return False
    return _ID(answer_id) is not None and _MODEL(model) is not None


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a body, or of one event. Errors of its gateway have only a detail."""
    signals = chat_like.read(value, event=event)
    if isinstance(value, dict) and value.get("detail") and all(map(is_silent, signals)):
        signals.append(FaultSeen(read_fault(value)))
    return signals


WIRE = replace(
    chat_like.CHAT,
    name="mistral",
    stops=STOPS,
    shown=chat_like.SHOWN | {Outcome.OVERFLOW: Shown(native="model_length", received=True)},
    is_request=is_request,
    request=parse_request,
    claims=is_its_own,
    read=read,
    layout=render.MistralLayout,
    render_body=render.render_body,
    render_error=error_body(render.error_of_ours),
    breaks_on_errors=True,
    form=USAGE_ALWAYS,
)
