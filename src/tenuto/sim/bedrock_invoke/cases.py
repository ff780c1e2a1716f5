"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

Bodies are those of Chat Completions, and so are most faults; the framing and the errors are
Bedrock's, and those faults are Converse's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.bedrock_converse import cases as converse
from tenuto.sim.case import Bare, Case
from tenuto.sim.tables_own import Tables, own_tables

_LEFT_OUT: Final = frozenset(
    # Frames of text, and errors in the words of others.
    ("crlf", "comments", "no_space_after_data", "event_lines", "double_done", "bom",
     "empty_choices_frames", "moderation_frame", "error_object", "error_groq", "error_openrouter",
     "error_chunk_then_done", "content_filter_prompt_400", "http_400_could_not_finish",
     "http_400_tool_use_failed", "host_marks_nothing", "host_has_no_mark", "host_has_no_stop",
     "host_counts_alone", "host_closes"),
)  # fmt: skip

_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    # An exception of urllib3, which is none of botocore's.
    "cut_off_mid_text": {"bare": Bare.HARMFUL},
    "reset_mid_text": {"bare": Bare.HARMFUL},
}

_OF_CONVERSE: Final = (
    "event_not_json", "bad_checksum", "exception_internal_server", "exception_throttling",
    "exception_service_unavailable", "exception_validation", "http_424_once", "guardrail",
)  # fmt: skip


def tables(common: Mapping[str, Mapping[str, Case]]) -> Tables:
    """Return this wire's tables by title, made of the common ones and some of Converse's."""
    names = {name for cases in common.values() for name in cases} - _LEFT_OUT
    own = {
        title: [case for name, case in cases.items() if name in _OF_CONVERSE]
        for title, cases in converse.tables({}).items()
    }
    return own_tables(common, names, _OTHERWISE, own)
