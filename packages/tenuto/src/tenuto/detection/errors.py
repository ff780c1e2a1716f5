"""Whether an object is an error of a known API, and how sure that is.

Many programs write errors alike, with the same codes and the same words, and people write messages.
So an error is claimed by a form that an API gives its own errors. It is certain only by a known
code in a form that no other program has, or if what a table knows of it speaks of models (N14).
What kind it is, where it is not certain, is in `error_kinds`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from http import HTTPStatus

from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.stop import Confidence
from tenuto.detection.error_kinds import (
    is_code,
    kind_by_code,
    knows_code,
    knows_words,
    leaves_open,
    says_kind,
)
from tenuto.wires.errors import GOOGLE, ErrorRow, error_words, rows_with_code
from tenuto.wires.json import JsonObject, encode
from tenuto.wires.members import list_in, object_in, objects_in
from tenuto.wires.registry import wires

_MEMBERS = frozenset(
    {"error", "errors", "error_type", "message", "detail", "code", "type", "param", "object", "id"}
    | {"status", "status_code", "statusCode", "request_id", "requestId", "trace", "event_id"}
    | {"sequence_number", "user_id", "success", "provider", "timestamp", "path", "base_resp"}
    | {"contentFilter"}
)
"""What error bodies hold. An object with anything else beside its `error` is something else, such
as a line of a log."""

_NULL_IN_ERRORS = (
    "choices", "created", "model", "metadata", "moderation", "service_tier", "system_fingerprint",
    "usage", "output",
)  # fmt: skip
"""Members of an answer that errors have without a value: those of MiniMax and of DashScope's SDK,
and OpenRouter's, which the SDK of OpenAI holds as a completion."""

_OF_A_PERSON = frozenset({"event_id", "user_id", "timestamp", "path", "success"})
"""Members that a message of a person has too. A body that is nothing but a message has none."""

_speaks_of_requests = re.compile(
    r"\b(?:(?:api|trial|such) key|api calls|invalid request|unknown field|too many requests"
    r"|(?:unexpected|internal) server error|security token|model identifier|model id"
    r"|tokens? exceeds?|messages\.\d+)\b",
    re.IGNORECASE,
).search
"""Matches what errors say and people seldom do, in bodies that are nothing but a message."""

_speaks_of_models = re.compile(
    r"max_?(?:completion_?|output_?|new_?)?tokens|maximum (?:output )?tokens"
    r"|too many tokens(?:, please (?:wait|slow)| per (?:second|minute|hour|day|month))"
    r"|too many tokens: (?:total number|size limit)"
    r"|\b(?:\d+ |input |output |prompt |completion )tokens?\b|prompt_tokens"
    r"|tokens? (?:exceed|per min|rate|quota)"
    r"|context[ _](?:length|window|size|limit)|\b(?:this|foundation) model\b"
    r"|prompt is too long:? \d"
    r"|model (?:id\b|identifier|output|capacity|limit|turn|returned|requires more system memory)"
    r"|requested model|\bmodels/|role: user, model|model_not_"
    r"|model\w* (?:is |are )?(?:currently )?(?:overloaded|unavailable)"
    r"|(?:model|engine|provider)_?(?:overloaded|unavailable|timeout|stream|error)"
    r"|support (?:tools|thinking|chat|generate|insert)\b|chat (?:template|completion|histor)"
    r"|assistant message|messages(?:\.|\[)\d|tool[_ ](?:calls?|use|results?|choice)|prefill"
    r"|reasoning_\w|thinking\.|content_(?:filter|block|policy)|trial key|api deployment"
    r"|cascade_exhausted|tenuto_|generativelanguage|generative-ai|aiplatform"
    r"|\b(?:openai|anthropic|claude|gpt-\d|mistral|cohere|deepseek|openrouter|ollama|groq)\b"
    r"|x\.ai\b|\bgrok-\d|\btemperature value\b|invalid 'messages'",
    re.IGNORECASE,
).search
"""Matches what only an API of language models says, in codes and in words: `rate limit`,
`timed out` or `blocked by moderation` may be any program's."""

_SEARCHED_CHARS = 2_000

_CODED = frozenset({"code", "type", "param", "status", "error_type"})

_STATUSES = range(400, 600)


def error_shown(value: JsonObject) -> Confidence | None:
    """Return how surely an object is an error of a known API; None: it is none. High: a table knows
    its code, in a form that only APIs of models have, or its code or its words, which speak of
    models. Medium: it has another code, or another form. Low: it has words alone.

    >>> error_shown({"type": "error", "error": {"type": "overloaded_error"}}).value
    'high'
    >>> error_shown({"error": {"code": "invalid_api_key", "message": "No."}}).value
    'medium'
    >>> error_shown({"error": "disk full"}).value, error_shown({"error": "timeout"}).value
    ('low', 'low')
    >>> error_shown({"message": "I can't come today"}) is None
    True
    """
    if value.get("object") != "error":  # which says that it is one, whatever it has beside
        unlike = value.keys() - _MEMBERS
        unlike -= {name for name in _NULL_IN_ERRORS if value.get(name, "") is None}
        if unlike or value.get("object") is not None:
            return None
    error = _error_in(value)
    if "base_resp" in value:  # MiniMax's alone
        return Confidence.HIGH
    if error is None:
        if not _is_message(value):
            return None
        return Confidence.HIGH if _is_of_models(value) else Confidence.LOW
    codes = _codes_of(error)
    known = knows_code(codes)
    forms = _OWN_FORMS if known else _FORMS_WITH_NUMBERS
    if is_code(codes) and any(own(value, object_in(error)) for own in forms):
        return Confidence.HIGH
    if (known or _tells_words(error)) and _is_of_models(error, strange=bool(codes) and not known):
        return Confidence.HIGH
    coded = isinstance(error, dict) and any(error.get(name) for name in _CODED)
    return Confidence.MEDIUM if coded else Confidence.LOW


def told_kind(value: JsonObject, read: FaultKind, status: int | None = None) -> FaultKind | None:
    """Return the kind of an error that any program may have written; None: nothing tells it.
    `read`: the kind as which a wire's table reads it; `status`: the HTTP status, if it is known.

    >>> told_kind({"error": {"code": "timeout", "message": "Redis"}}, FaultKind.TIMEOUT).value
    'timeout'
    >>> words = {"error": {"code": "E1", "message": "Your post was blocked by moderation"}}
    >>> told_kind(words, FaultKind.CONTENT_BLOCKED) is None
    True
    """
    error = _error_in(value)
    codes = [*_codes_of(error), *([str(status)] if status is not None else [])]
    kind = kind_by_code(codes)
    by_words = says_kind(codes, error_words(error)[1]) and leaves_open(kind, codes, read)
    return read if by_words else kind


# --- the forms that only one API, or those that follow it, give their errors


def _as_anthropic(value: JsonObject, error: JsonObject) -> bool:
    told = str(error.get("type") or "").lower()
    return value.get("type") == "error" and bool(told) and told not in _OF_GOOGLE


_OF_GOOGLE = frozenset(" ".join(GOOGLE.values()).split())
"""Google's words, such as `not_found`, which many programs have too. Anthropic's are longer."""


def _as_openai(value: JsonObject, error: JsonObject) -> bool:
    """Return whether an error has all the members of OpenAI's, and none that other APIs add, such
    as Stripe's `doc_url`. Its code is one of theirs, since other programs have that form too; where
    it has none, its type is. Some that follow OpenAI leave out `param`: those must have both."""
    if not error.keys() <= _OF_OPENAI or not {"message", "type", "code"} <= error.keys():
        return False
    told, kind = error["code"], error["type"]
    if told is None or told == "":
        return "param" in error and _is_of_chats(kind)
    return _is_of_chats(told) and ("param" in error or _is_type(kind))


def _is_of_chats(code: object) -> bool:
    """Return whether a table of OpenAI's own wires has a code, or it is any server's."""
    return is_code([str(code)], _rows_of_chats())


def _is_type(kind: object) -> bool:
    """Return whether an error's type is one of OpenAI's, in its tables or among Groq's."""
    return kind in _OF_GROQ or any(rows_with_code(_rows_of_chats(), [str(kind)]))


def _rows_of_chats() -> Iterator[ErrorRow]:
    known = wires()
    return (row for name in _OF_CHATS for row in known[name].errors)


_OF_GROQ = ("tokens", "requests")
"""What was limited: https://github.com/danielmiessler/Fabric/issues/364 (read 2026-11-29)."""


_OF_CHATS = ("openai-chat", "openai-responses")

_OF_OPENAI = frozenset(
    {"message", "type", "param", "code", "object", "status", "innererror", "inner_error"}
    | {"metadata", "event_id", "failed_generation", "request_id", "provider_specific_fields"}
    | {"content_filter_result", "content_filter_results", "details", "sequence_number"}
)
"""OpenAI's (in a Responses stream too), Azure's, Groq's, and those of gateways."""


def _as_openrouter(value: JsonObject, error: JsonObject) -> bool:
    """Return whether an error has what only OpenRouter's have: its users' ids begin alike, and its
    metadata names a provider: https://openrouter.ai/docs/api/reference/errors-and-debugging
    (read 2026-11-28)."""
    user = value.get("user_id")
    if isinstance(user, str) and user.startswith("user_"):
        return True
    return not _OF_OPENROUTER.isdisjoint(object_in(error.get("metadata")))


_OF_OPENROUTER = frozenset({"provider_name", "raw", "reasons", "flagged_input", "error_type"})


def _as_mistral(value: JsonObject, error: JsonObject) -> bool:
    """Return whether an error calls itself one and has the members of OpenAI's, as those of Mistral
    and of vLLM. Notion's and Omise's have other members beside their code."""
    whole = error if error.get("object") == "error" else value
    return whole.get("object") == "error" and whole.keys() >= _FLAT


def _as_zhipu(value: JsonObject, _: JsonObject) -> bool:
    """Return whether it says beside its error what its filter found:
    https://docs.z.ai/api-reference/api-code (read 2026-11-29)."""
    return any("level" in found for found in objects_in(value.get("contentFilter")))


def _as_watsonx(value: JsonObject, _: JsonObject) -> bool:
    return "trace" in value and "errors" in value


def _as_dashscope(value: JsonObject, _: JsonObject | None = None) -> bool:
    """Return whether it is an error of DashScope, whose codes are words in camel case. Other
    programs answer with such members too, also where nothing failed:
    https://help.aliyun.com/zh/model-studio/error-code (read 2026-11-28)."""
    code = value.get("code")
    if not {"code", "message", "request_id"} <= value.keys() or not isinstance(code, str):
        return False
    return _in_camel_case(code) is not None and code.lower() not in _SUCCESSES


_in_camel_case = re.compile(r"[A-Z][A-Za-z]*[a-z](?:\.[A-Za-z]+)*\Z").match
_SUCCESSES = ("success", "ok", "succeeded")

_FORMS_WITH_NUMBERS = (_as_mistral, _as_zhipu, _as_watsonx, _as_dashscope)
"""Forms that only one API has, so that a number is one of its own codes."""

_OWN_FORMS = (_as_anthropic, _as_openai, _as_openrouter, *_FORMS_WITH_NUMBERS)


# --- errors in forms that many have


def phrase_status(value: JsonObject) -> int | None:
    """Return the HTTP status whose standard phrase is all that an error says, as web frameworks
    write it; None: it says something else, or what people say too.

    >>> phrase_status({"detail": "Too Many Requests"}), phrase_status({"detail": "Not Found"})
    (429, None)
    """
    said = value.get("detail") or value.get("message")
    if len(value) != 1 or not isinstance(said, str) or not _is_message(value):
        return None
    return _PHRASES.get(said.strip().rstrip(".").lower())


_PHRASES = {one.phrase.lower(): one.value for one in HTTPStatus if one.value in _STATUSES}


def _error_in(value: JsonObject) -> object:
    """Return the error in an object in a form of a known API; None: it has none."""
    error = value.get("error")
    if isinstance(error, str) and error:
        return error if _CODES_BESIDE.isdisjoint(value) else {**value, "message": error}
    if isinstance(error, dict) and (error.get("message") or error.get("status")):
        return error
    if value.get("type") == "error" and isinstance(error, dict) and error.get("type"):
        return error
    if value.get("object") == "error" or _as_dashscope(value) or value.keys() >= _FLAT:
        return value
    first = next(iter(list_in(value.get("errors"))), None)
    return first if object_in(first).get("message") else None


_CODES_BESIDE = frozenset({"error_type", "code"})
"""Where an error that is a text has its code: xAI's is in `code`."""

_FLAT = frozenset({"message", "type", "param", "code"})
"""OpenAI's members. Cerebras gives them without an `error` around them."""


def _is_message(value: JsonObject) -> bool:
    """Return whether a body that is nothing but a message is an error's, by its words."""
    if "error" in value or "errors" in value or not _OF_A_PERSON.isdisjoint(value):
        return False
    said = value.get("message") or value.get("detail")
    if isinstance(said, str):
        return _speaks_of_requests(said) is not None or _tells_words(said)
    return bool(said) and _tells_words({"message": said})


def _is_of_models(error: object, *, strange: bool = False) -> bool:
    """Return whether an error's codes, words or details speak of models or of their APIs.

    `strange`: whether no table knows its codes, so that its words have to name a model."""
    codes, message = error_words(error)
    details = object_in(error).get("details")
    said = [message[:_SEARCHED_CHARS]]
    if isinstance(details, list | dict):
        said.append(encode(details)[:_SEARCHED_CHARS].decode("utf-8", "replace"))
    if strange and not any(map(_names_models, (*codes, *said))):
        return False
    said += [code for code in codes if code.lower() not in _OF_MACHINES]
    return any(map(_speaks_of_models, said))


_names_models = re.compile(
    r"model|prompt|assistant|completion|messages|\bclaude|\bgpt|openai|generative|\bgrok|\bx\.ai",
    re.IGNORECASE,
).search
"""Matches what names a model, or what only a model is given: others have tokens, tools and contexts
too."""

_OF_MACHINES = frozenset({"tool_use_failed", "max_tokens_exceeded"})
"""Codes that other programs may have: Groq's stands beside words of a model's."""


def _codes_of(error: object) -> list[str]:
    """Return the codes of an error. What stands in watsonx' list has codes of its own."""
    return [] if "errors" in object_in(error) else error_words(error)[0]


def _tells_words(error: object) -> bool:
    """Return whether a table of a wire has the words of an error."""
    return knows_words(error_words(error)[1])
