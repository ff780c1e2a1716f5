"""What can go wrong on this wire: the common cases that are about none of what it has no place for,
which are calls, reasoning, filters, and ways to go on other than at the end of the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Bare, Case
from tenuto.sim.tables_own import OF_HOSTS, OF_SERVERS, Tables, own_tables, with_calls

_LEFT_OUT: Final = OF_SERVERS | OF_HOSTS | {
    "length_then_overlap", "length_then_restart", "length_then_preamble", "length_then_repeat",
    "reasoning_only_length", "hidden_reasoning_length", "reasoning_only_stop",
    "http_400_unknown_key", "error_chunk_then_done", "finish_no_done", "usage_after_finish",
    "double_done", "empty_choices_frames", "content_filter_prompt_400", "refusal",
}  # fmt: skip


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
    return own_tables(common, _LEFT_OUT | with_calls(common), _OTHERWISE, {})
