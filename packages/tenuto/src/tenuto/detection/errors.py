"""Whether an object is an error of a known API, and how sure that is.

Many programs write errors alike, and people write messages, so an error is claimed by a form that
an API gives its own errors, and is certain only by a code or by words that an API uses (N14).
"""

from __future__ import annotations

import re
from http import HTTPStatus

from tenuto.core.answer.stop import Confidence
from tenuto.wires.errors import error_words, is_in
from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, object_in
from tenuto.wires.registry import in_order

_MEMBERS = frozenset(
    {"error", "errors", "error_type", "message", "detail", "code", "type", "param", "object", "id"}
    | {"status", "status_code", "statusCode", "request_id", "requestId", "trace", "event_id"}
    | {"sequence_number", "user_id", "success", "provider", "timestamp", "path", "base_resp"}
)
"""What error bodies hold. An object with anything else beside its `error` is something else, such
as a line of a log."""

_NULL_IN_ERRORS = ("choices", "output", "usage")
"""Members that errors of MiniMax and of DashScope's SDK have without a value."""

_OF_A_PERSON = frozenset({"event_id", "user_id", "timestamp", "path", "success"})
"""Members that a message of a person has too. A body that is nothing but a message has none."""

_speaks_of_requests = re.compile(
    r"\b(?:(?:api|trial|such) key|api calls|invalid request|unknown field|too many requests"
    r"|(?:unexpected|internal) server error|security token|model identifier|model id"
    r"|tokens? exceeds?|messages\.\d+)\b",
    re.IGNORECASE,
).search
"""Matches what errors say and people seldom do, in bodies that are nothing but a message."""

_CODED = frozenset({"code", "type", "param", "status", "error_type"})

_SAYS_SERVER = re.compile(r"(?:server|api|internal|service)_?(?:server_?|service_?)?error\Z").match
"""Matches codes that say no more than that the server failed, which no table needs."""

_STATUSES = range(400, 600)


def error_shown(value: JsonObject) -> Confidence | None:
    """Return how surely an object is an error of a known API; None: it is none. High: a table knows
    its code or its words. Medium: it has the form of an API's, and a code that no table knows. Low:
    it has a form that many programs share.

    >>> error_shown({"error": {"code": "invalid_api_key", "message": "No."}}).value
    'high'
    >>> error_shown({"error": "disk full"}).value
    'low'
    >>> error_shown({"message": "I can't come today"}) is None
    True
    """
    unlike = value.keys() - _MEMBERS
    unlike -= {name for name in _NULL_IN_ERRORS if value.get(name, "") is None}
    if unlike or value.get("object", "error") != "error":
        return None
    error = _error_in(value)
    if "base_resp" in value:  # MiniMax's alone
        return Confidence.HIGH
    if error is None:
        return Confidence.HIGH if _is_message(value) else None
    many = "errors" in object_in(error)  # Google's other APIs, whose codes are HTTP statuses too
    if not many and _is_known(error):
        return Confidence.HIGH
    coded = isinstance(error, dict) and any(error.get(name) for name in _CODED)
    return Confidence.MEDIUM if coded else Confidence.LOW


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
        return {**value, "message": error} if "error_type" in value else error
    if isinstance(error, dict) and (error.get("message") or error.get("status")):
        return error
    if value.get("type") == "error" and isinstance(error, dict) and error.get("type"):
        return error
    if value.get("object") == "error" or _is_dashscopes(value):
        return value
    first = next(iter(list_in(value.get("errors"))), None)
    return first if object_in(first).get("message") else None


def _is_dashscopes(value: JsonObject) -> bool:
    """Return whether it is an error of DashScope, whose codes are words in camel case. Other
    programs answer with such members too, also where nothing failed:
    https://help.aliyun.com/zh/model-studio/error-code (read 2026-11-28)."""
    code = value.get("code")
    if not {"code", "message", "request_id"} <= value.keys() or not isinstance(code, str):
        return False
    return _in_camel_case(code) is not None and code.lower() not in _SUCCESSES


_in_camel_case = re.compile(r"[A-Z][A-Za-z]*[a-z](?:\.[A-Za-z]+)*\Z").match
_SUCCESSES = ("success", "ok", "succeeded")


def _is_message(value: JsonObject) -> bool:
    """Return whether a body that is nothing but a message is an error's, by its words."""
    if "error" in value or "errors" in value or not _OF_A_PERSON.isdisjoint(value):
        return False
    said = value.get("message") or value.get("detail")
    if isinstance(said, str):
        return _speaks_of_requests(said) is not None or _is_known(said)
    return bool(said) and _is_known({"message": said})


def _is_known(error: object) -> bool:
    """Return whether a table of a wire has a code or the words of an error."""
    codes, message = error_words(error)
    if any(code.isdecimal() and int(code) in _STATUSES for code in codes):
        return True
    return any(map(_SAYS_SERVER, codes)) or any(
        is_in(row, codes, message)
        for known in in_order()
        for wire in known.values()
        for row in wire.errors
    )
