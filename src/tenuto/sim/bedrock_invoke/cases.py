"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

Bodies are those of Chat Completions, and so are most faults; the framing and the errors are
Bedrock's, and those faults are Converse's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.bedrock_converse import cases as converse
from tenuto.sim.case import Bare, Case
from tenuto.sim.tables_own import OF_HOSTS, OF_SERVERS, Tables, own_tables

_LEFT_OUT: Final = OF_SERVERS | OF_HOSTS | {
    "error_chunk_then_done", "crlf", "comments", "no_space_after_data", "event_lines",
    "double_done", "empty_choices_frames", "bom", "content_filter_prompt_400",
}  # fmt: skip

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
    own = {
        title: [case for name, case in cases.items() if name in _OF_CONVERSE]
        for title, cases in converse.tables({}).items()
    }
    return own_tables(common, _LEFT_OUT, _OTHERWISE, own)
