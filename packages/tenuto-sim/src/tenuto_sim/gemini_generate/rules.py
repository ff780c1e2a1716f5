"""The rules for requests, and the provider's error messages. `history` has those for turns.

Quoted texts come from public reports. The others have the form of the service's errors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.gemini_generate.errors import failure, too_many_tokens, unknown_name
from tenuto_sim.gemini_generate.history import history_violations
from tenuto_sim.gemini_generate.request import member
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Violations, from_us, others

KEYS: Final = frozenset(
    {"contents", "tools", "toolConfig", "safetySettings", "systemInstruction", "generationConfig"}
    | {"cachedContent", "labels", "continuationToken", "serviceTier", "store"}
    | {"modelArmorConfig", "outputConfig", "model", "stream"}
)
CONFIG_KEYS: Final = frozenset(
    {"stopSequences", "responseMimeType", "responseSchema", "responseJsonSchema", "topP", "topK"}
    | {"responseModalities", "candidateCount", "maxOutputTokens", "temperature", "seed"}
    | {"presencePenalty", "frequencyPenalty", "responseLogprobs", "logprobs", "speechConfig"}
    | {"thinkingConfig", "mediaResolution", "imageConfig", "responseFormat"}
)
PART_KEYS: Final = frozenset(
    {"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode"}
    | {"codeExecutionResult", "toolCall", "toolResponse"}
)
"""A part has exactly one of these."""
BESIDE_KEYS: Final = frozenset(
    {"thought", "thoughtSignature", "videoMetadata", "partMetadata", "mediaResolution"}
)

Body = Mapping[str, Any]


def camel(name: str) -> str:
    """Return a key in camelCase, from either spelling.

    >>> camel("max_output_tokens"), camel("maxOutputTokens")
    ('maxOutputTokens', 'maxOutputTokens')
    """
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def impossible(body: Any) -> Violations:
    """Yield the violations of a body that can't be answered at all.

    >>> next(impossible({})).document["error"]["message"]
    '* GenerateContentRequest.contents: contents is not specified\\n'
    """
    if not isinstance(body, dict):
        yield failure("Invalid JSON payload received. Unexpected end of string.")
    if not body.get("contents"):
        yield failure("* GenerateContentRequest.contents: contents is not specified\n")
    if not isinstance(body["contents"], list):
        yield failure("Invalid value at 'contents' (type.googleapis.com/google.protobuf.Value)")
    for i, content in enumerate(body["contents"]):
        if not isinstance(content, dict):
            yield failure(f"Invalid value at 'contents[{i}]' (Content)")


def violations(headers: Mapping[str, str], body: Body, settings: Settings) -> Violations:
    """Yield the other violations of a request.

    >>> next(violations({}, {}, Settings())).document["error"]["status"]
    'PERMISSION_DENIED'
    >>> ask = {"contents": [], "x": 1}
    >>> next(violations({"x-goog-api-key": "k"}, ask, Settings())).document["error"]["message"]
    'Invalid JSON payload received. Unknown name "x": Cannot find field.'
    """
    yield from from_us(headers, lambda name: failure(f"{name}: unexpected header"))
    bearer = headers.get("authorization", "").lower().startswith("bearer ")
    if not headers.get("x-goog-api-key") and not bearer:
        yield failure(
            "Method doesn't allow unregistered callers (callers without established identity). "
            "Please use API Key or other form of API consumer identity to call this API.",
            status=403,
        )
    yield from _others(body, KEYS)
    yield from _config(body, settings.max_output_tokens)
    for i, content in enumerate(body["contents"]):
        yield from _content(f"contents[{i}]", content)
    yield from history_violations(body, settings.prefill)


def _others(value: Body, known: frozenset[str], place: str = "") -> Violations:
    return (unknown_name(name, place) for name in value if camel(name) not in known)


def _config(body: Body, ceiling_tokens: int) -> Violations:
    config = member(body, "generationConfig")
    yield from _others(config if isinstance(config, dict) else {}, CONFIG_KEYS, "generation_config")
    tokens = member(config, "maxOutputTokens")
    if tokens is not None and type(tokens) is not int:
        yield failure(
            f"Invalid value at 'generation_config.max_output_tokens' (TYPE_INT32), \"{tokens}\""
        )
    if tokens is not None and not 1 <= tokens <= ceiling_tokens:
        yield too_many_tokens("maxOutputTokens", tokens, ceiling_tokens, str(body.get("model")))
    mode = member(body, "toolConfig", "functionCallingConfig")
    if member(mode, "allowedFunctionNames") and member(mode, "mode") not in ("ANY", "VALIDATED"):
        yield failure(
            "Function calling config is set with allowed_function_names but mode is not ANY."
        )


def _content(place: str, content: Body) -> Violations:
    yield from others(content, ("role", "parts"), lambda name: unknown_name(name, place))
    if content.get("role", "user") not in ("user", "model", "function"):
        yield failure("Please use a valid role: user, model.")
    parts = content.get("parts")
    if not isinstance(parts, list) or not parts:
        yield failure(
            f"* GenerateContentRequest.{place}.parts: contents.parts must not be empty.\n"
        )
    for j, part in enumerate(content["parts"]):
        yield from _part(f"{place}.parts[{j}]", part)


def _part(place: str, part: Any) -> Violations:
    if not isinstance(part, dict):
        yield failure(f"Invalid value at '{place}' (Part)")
    yield from _others(part, PART_KEYS | BESIDE_KEYS, place)
    given = [name for name in part if camel(name) in PART_KEYS]
    if len(given) != 1:
        yield failure(
            f"* GenerateContentRequest.{place}.data: required oneof field 'data' must have one "
            "initialized field\n"
        )
    arguments = member(part, "functionCall", "args")
    if arguments is not None and not isinstance(arguments, dict):
        yield failure(f"Invalid value at '{place}.function_call.args' (Struct)")
    result = member(part, "functionResponse")
    if result is not None and not isinstance(member(result, "response"), dict):
        yield failure(f"Invalid value at '{place}.function_response.response' (Struct)")
    if not isinstance(part.get("text", ""), str):
        yield failure(f"Invalid value at '{place}.text' (TYPE_STRING)")
