"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

Bodies are those of Chat Completions, and so are most faults; the framing and the errors are
Bedrock's, and those faults are Converse's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tenuto.sim.bedrock_converse import cases as converse
from tenuto.sim.case import Bare, Case

_LEFT_OUT: Final = frozenset(
    # Frames of text, and errors in the words of others.
    ("crlf", "comments", "no_space_after_data", "event_lines", "double_done", "bom",
     "empty_choices_frames", "moderation_frame", "error_object", "error_groq", "error_openrouter",
     "error_chunk_then_done", "content_filter_prompt_400", "http_400_could_not_finish",
     "http_400_tool_use_failed"),
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


def tables(common: Mapping[str, Mapping[str, Case]]) -> dict[str, dict[str, Case]]:
    """Return this wire's tables by title, made of the common ones and some of Converse's.

    >>> case = Case("normal", (), "A whole text.", bare=Bare.FINE)
    >>> list(tables({"normal": {"normal": case}})["normal"])
    ['normal']
    """
    out: dict[str, dict[str, Case]] = {title: {} for title in common}
    for title, cases in common.items():
        for name, case in cases.items():
            if name not in _LEFT_OUT:
                changed = replace(case, **_OTHERWISE.get(name, {}))
                out.setdefault(converse.title_of(title, changed), {})[name] = changed
    for title, cases in converse.tables({}).items():
        for name in _OF_CONVERSE:
            if name in cases:
                out.setdefault(title, {})[name] = cases[name]
    return out
