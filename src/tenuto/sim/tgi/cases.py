"""The cases of this wire: the common ones, except those about calls, reasoning, filters, and
continuations other than at the end of the prompt."""

from __future__ import annotations

from typing import Final

from tenuto.sim.case import Bare
from tenuto.sim.tables_own import (
    BREAKS_THE_SDK,
    CANNOT_BE_ASKED,
    OF_HOSTS,
    OF_SERVERS,
    WITH_CALLS,
    own_tables,
)

_SCHEMA: Final = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
}

TABLES: Final = own_tables(
    without=OF_SERVERS
    + OF_HOSTS
    + WITH_CALLS
    + """ length_then_overlap length_then_restart length_then_preamble length_then_repeat
        reasoning_only_length hidden_reasoning_length reasoning_only_stop http_400_unknown_key
        error_chunk_then_done finish_no_done usage_after_finish double_done empty_choices_frames
        content_filter_prompt_400 refusal""",
    otherwise={
        "length_json": {"request": {"grammar": {"type": "json", "value": _SCHEMA}}},
        # The SDK turns an answer without a text into an error. It loses the first event, with
        # which a text begins.
        "body_error_only bom": {"bare": Bare.SILENT},
        **CANNOT_BE_ASKED,
        # The SDK repeats no request.
        "http_429_once http_500_once": {"recoverable": False},
        **BREAKS_THE_SDK,
    },
    limit=lambda tokens: {"max_new_tokens": tokens},
)
