"""The cases of this wire: common ones, with their differences, and its own.

Bodies are those of Chat Completions, and so are most faults. The framing and the errors are
Bedrock's, with the faults of Converse.
"""

from __future__ import annotations

from typing import Final

from tenuto_sim.bedrock_converse.cases import GUARDRAIL, NOT_JSON, OF_BEDROCK
from tenuto_sim.case import Bare
from tenuto_sim.tables_own import OF_HOSTS, OF_SERVERS, own_tables

TABLES: Final = own_tables(
    without=OF_SERVERS
    + OF_HOSTS
    + """error_chunk_then_done crlf comments no_space_after_data event_lines double_done
        empty_choices_frames bom content_filter_prompt_400""",
    otherwise={
        # An exception of urllib3, not one of botocore's.
        "cut_off_mid_text reset_mid_text": {"bare": Bare.HARMFUL},
        **NOT_JSON,
    },
    own=["event_not_json", *OF_BEDROCK],
    blocked=[GUARDRAIL],
)
