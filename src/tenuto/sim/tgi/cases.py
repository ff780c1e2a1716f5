"""What can go wrong on this wire: the common cases that are about none of what it has no place for,
which are calls, reasoning, filters, and ways to go on other than at the end of the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Bare, Case
from tenuto.sim.tables_own import Tables, own_tables

_AS_THEY_ARE: Final = (
    "normal", "text", "cjk",
    "length_once", "length_twice", "length_three_times", "length_always", "length_mid_word",
    "length_after_newline", "length_in_multibyte", "length_no_usage", "length_foreign_spelling",
    "length_then_500", "length_then_drop", "length_then_empty", "length_then_filter",
    "empty_always",
    "drop_before_text", "drop_mid_text", "drop_mid_text_always", "eof_no_finish",
    "body_cut", "body_empty", "done_no_finish",
    "unknown_stop", "unknown_stop_control", "finish_conflict", "finish_repeated", "finish_upper",
    "finish_null_string", "finish_empty_string", "content_after_finish", "abort",
    "content_filter", "context_length_400", "length_context",
    "http_503_always", "error_chunk_mid_text",
    "crlf", "comments", "no_space_after_data", "event_lines", "multibyte_split", "tiny_writes",
    "one_write",
)  # fmt: skip
"""Common cases that need no other words here."""


def _asks(**parameters: Any) -> dict[str, Any]:
    return {"request": parameters}


_SCHEMA: Final = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
}

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "length_json": _asks(grammar={"type": "json", "value": _SCHEMA}),
    "think_tag_unclosed_length": _asks(max_new_tokens=400),
    "suspected_truncation": _asks(max_new_tokens=60),
    "http_400_max_tokens_too_large": _asks(max_new_tokens=2000),
    # The SDK makes an answer without a text of it.
    "body_error_only": {"bare": Bare.SILENT},
    # The SDK loses the first event, and a text begins with it.
    "bom": {"bare": Bare.SILENT},
    # Nobody can be asked: the model would take the question for the text.
    "empty_once": {"recoverable": False},
    "think_tag_only": {"recoverable": False},
    "whitespace_once": {"recoverable": False},
    # The SDK repeats no request.
    "http_429_once": {"recoverable": False},
    "http_500_once": {"recoverable": False},
    # An exception of its transport leaves the SDK as it is.
    "body_short": {"bare": Bare.HARMFUL},
    "cut_off_mid_text": {"bare": Bare.HARMFUL},
    "reset_mid_text": {"bare": Bare.HARMFUL},
}


def tables(common: Mapping[str, Mapping[str, Case]]) -> Tables:
    """Return this wire's tables by title, made of the common ones."""
    return own_tables(common, _AS_THEY_ARE, _OTHERWISE, {})
