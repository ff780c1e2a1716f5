"""Read requests, and refuse invalid ones.

A prompt here is one line with the question, followed by the text so far, which a model continues by
itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.asked import Asked, in_schema, prompted
from tenuto.sim.errors import Failure
from tenuto.sim.reply import Settings
from tenuto.sim.shapes import Violations, from_us
from tenuto.sim.tgi.errors import failure, invalid, too_many_tokens, unknown_key

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "best_of": (int,),
    "decoder_input_details": (bool,),
    "details": (bool,),
    "do_sample": (bool,),
    "grammar": (dict,),
    "max_new_tokens": (int,),
    "return_full_text": (bool,),
    "stop": (list,),
    "temperature": (int, float),
    "top_n_tokens": (int,),
    "watermark": (bool,),
}


def located(
    body: Mapping[str, Any], said: Mapping[str, str], *, full: bool, stream: bool | None
) -> dict[str, Any]:
    """Return a body with what its path says: the model, whether to stream (None: the body says),
    and whether the answer repeats the prompt.

    >>> located({"inputs": "x"}, {}, full=True, stream=None)["parameters"]
    {'return_full_text': True}
    """
    given = body.get("parameters")
    parameters = given if isinstance(given, dict) else {}
    told = {key: value for key, value in parameters.items() if value is not None}
    return {
        **body,
        "model": said.get("model", "sim"),
        "stream": body.get("stream") is True if stream is None else stream,
        "parameters": {"return_full_text": full, **told} if given is None or parameters else given,
    }


def read(body: Mapping[str, Any], _: Settings) -> Asked:
    """Return what a located body asks for. `impossible` has checked it.

    >>> asked = {"inputs": "Tell me.\\nThe tide", "model": "sim", "parameters": {}}
    >>> read(asked, Settings()).rows[1].text
    'The tide'
    """
    prompt, parameters = body["inputs"], body["parameters"]
    stops = parameters.get("stop") or ()
    return Asked(
        model=body["model"],
        rows=prompted(prompt),
        counted=prompt,
        budget_tokens=parameters.get("max_new_tokens"),
        stream=body.get("stream") is True,
        include_usage=parameters.get("details") is True,
        response_format=_format(parameters.get("grammar")),
        stop_sequences=tuple(stops),
        prefill="continue",
        echoed=prompt if parameters.get("return_full_text") else "",
    )


def _format(grammar: Any) -> Mapping[str, Any] | None:
    if not grammar:
        return None
    return in_schema(grammar.get("value"))


def impossible(body: Any) -> Violations:
    """Yield the violations of a body that can't be answered at all.

    >>> next(impossible({"inputs": ""})).document["error"]
    'Input validation error: `inputs` cannot be empty'
    """
    if not isinstance(body, dict):
        yield failure("Failed to parse the request body as JSON: EOF while parsing a value")
    if "inputs" not in body:
        yield failure("Failed to deserialize the JSON body into the target type: missing field")
    if not isinstance(body["inputs"], str):
        yield _undeserialized("inputs: invalid type, expected a string")
    if not body["inputs"]:
        yield invalid("`inputs` cannot be empty")
    parameters = body.get("parameters")
    if not isinstance(parameters, dict | None):
        yield _undeserialized("parameters: invalid type")
    for key, value in (parameters or {}).items():
        if value is not None and type(value) not in _TYPES.get(key, (type(value),)):
            yield _undeserialized(f"parameters.{key}: invalid type")


def _undeserialized(told: str) -> Failure:
    return failure(f"Failed to deserialize the JSON body: {told}")


def violations(
    headers: Mapping[str, str], body: Mapping[str, Any], settings: Settings
) -> Violations:
    """Yield the other violations of a request.

    >>> body = {"inputs": "x", "parameters": {"max_new_tokens": 0}}
    >>> next(violations({}, body, Settings())).document["error"]
    'Input validation error: `max_new_tokens` must be strictly positive'
    """
    parameters: Mapping[str, Any] = body["parameters"]
    ceiling = settings.max_output_tokens
    # Keys that must not leave a client, although the server ignores them.
    names = [*headers, *body, *parameters]
    yield from from_us(names, unknown_key, "_", "tenuto", "x-tenuto")
    budget, best_of = parameters.get("max_new_tokens"), parameters.get("best_of") or 1
    if budget is not None and budget <= 0:
        yield invalid("`max_new_tokens` must be strictly positive")
    if budget is not None and budget > ceiling:
        yield too_many_tokens("max_new_tokens", budget, ceiling, body["model"])
    if best_of > 1 and body["stream"]:
        yield invalid("`best_of` != 1 is not supported when streaming tokens")
    if best_of > 1 and not parameters.get("do_sample"):
        yield invalid("you must use sampling when `best_of` is > 1")
    if parameters.get("decoder_input_details") and body["stream"]:
        yield invalid("`decoder_input_details` == true is not supported when streaming tokens")
    grammar = parameters.get("grammar")
    if grammar and grammar.get("type") not in ("json", "json_schema", "regex"):
        yield invalid("grammar is not valid: unknown type")
