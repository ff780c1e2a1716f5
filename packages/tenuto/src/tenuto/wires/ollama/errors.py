"""The errors of Ollama, as a table.

https://docs.ollama.com/api/errors (read 2026-11-22): one text under `error`, in a body with an HTTP
status, or as a line of a stream that began well. Proxies and clouds behind it write errors as on
Chat Completions.
"""

from __future__ import annotations

from tenuto.core.answer.fault import FaultKind
from tenuto.wires.chat_like.errors import ERRORS as CHAT_ERRORS
from tenuto.wires.errors import UNREADABLE_CALL, ErrorRow, ReadFault, error_at, fault_reader, row
from tenuto.wires.json import JsonObject

_K = FaultKind

ERRORS: tuple[ErrorRow, ...] = (
    # The server parses the model's call itself: https://github.com/ollama/ollama/issues/12884
    UNREADABLE_CALL,
    row(
        _K.CONTEXT_OVERFLOW,
        words=r"exceed(?:s|ed) (?:the |max |maximum )*context (?:length|size|window)",
    ),
    row(_K.OVERLOADED, words=r"server busy|server overloaded|maximum pending requests exceeded"),
    # With status 500. Memory may become free.
    row(_K.SERVER, words=r"requires more system memory"),
    # The request can't be served here, however often it is sent.
    row(
        _K.INVALID_REQUEST,
        words=r"does not support (?:tools|thinking|chat|generate|insert)|json: cannot unmarshal",
    ),
    *CHAT_ERRORS,
)
"""Rows by code or type, words, or HTTP status. The first match counts; the last row matches all."""


def error_of(value: JsonObject) -> object | None:
    """Return the error in an object; None: there is none.

    >>> error_of({"error": "server busy", "type": "tenuto_incomplete"})
    {'error': 'server busy', 'type': 'tenuto_incomplete', 'message': 'server busy'}
    """
    error = error_at(value)
    return {**value, "message": error} if isinstance(error, str) else error


read_fault: ReadFault = fault_reader(ERRORS)
