"""Read InvokeModel requests, and refuse invalid ones with Bedrock's error messages.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-openai.html (read 2026-11-22):
the path names the model and whether to stream, and the body must agree if it does too. The history
must follow the rules of Chat Completions; violations are reported in Bedrock's form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tenuto_sim.bedrock_converse.errors import failure, too_many_tokens
from tenuto_sim.bedrock_converse.request import located as from_path
from tenuto_sim.bedrock_converse.rules import header_violations
from tenuto_sim.openai_chat import history as chat
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Violations

_CONTRADICTED: Final = "contradicted"
_BUDGETS: Final = ("max_tokens", "max_completion_tokens")
Body = Mapping[str, Any]


def located(body: Body, said: Mapping[str, str]) -> dict[str, Any]:
    """Return a body with what its path says, and the names of members that contradict it.

    >>> located({}, {"model": "sim", "what": "invoke"})
    {'model': 'sim', 'stream': False}
    >>> located({"model": "other"}, {"model": "sim", "what": "invoke"})["contradicted"]
    ['model']
    """
    made = from_path(body, said)
    wrong = [name for name in ("model", "stream") if body.get(name, made[name]) != made[name]]
    return made | ({_CONTRADICTED: wrong} if wrong else {})


impossible: Callable[[Any], Violations] = chat.impossible_as(failure)
"""Yields the violations of a body that can't be answered at all."""


def violations(headers: Mapping[str, str], body: Body, settings: Settings) -> Violations:
    """Yield the other violations of a request.

    >>> ask = {"model": "sim", "messages": [{"role": "user", "content": "Hi", "p": 1}]}
    >>> next(violations({"authorization": "AWS4"}, ask, Settings())).document["message"][:55]
    'Malformed input request: #/messages/0: extraneous key ['
    """
    yield from header_violations(headers)
    for name in body.get(_CONTRADICTED, ()):
        yield failure(f"The {name} in the request body does not match the {name} of the request.")
    for i, row in enumerate(body["messages"]):
        for name in row if row["role"] in chat.KEYS else ():
            if name not in chat.KEYS[row["role"]]:
                yield failure(
                    f"Malformed input request: #/messages/{i}: extraneous key [{name}] is not "
                    "permitted, please reformat your input and try again."
                )
    for name in _BUDGETS:
        budget = body.get(name)
        if isinstance(budget, int) and budget > settings.max_output_tokens:
            yield too_many_tokens(name, budget, settings.max_output_tokens, body["model"])
    yield from chat.reworded(chat.body_violations(body, settings), failure)
