"""The cases of this wire: common ones, with their differences, and its own.

The common cases keep their names and plans: stops are translated when written. A case is left out
if this wire has no place for the fault, such as a framing by lines.
"""

from __future__ import annotations

import json
from typing import Final

from tenuto_sim.case import (
    BODY,
    STREAM,
    Arguments,
    Bare,
    Case,
    Framing,
    Kind,
    Odd,
    Say,
    Step,
)
from tenuto_sim.tables_own import (
    BREAKS_THE_SDK,
    CUT_AS_WHOLE,
    KEY_OF_THE_CALLER,
    OF_HOSTS,
    OF_SERVERS,
    SCHEMA,
    own_tables,
)

_FORMAT: Final = {
    "type": "json_schema",
    "structure": {"jsonSchema": {"schema": json.dumps(SCHEMA)}},
}


def _exception(name: str, error: str, *, recoverable: bool = True) -> Case:
    kind = "".join(word.capitalize() for word in name.split("_"))
    return Case(f"exception_{name}", (Step(keep=0.5, error=error),),
                f"{kind[0].lower()}{kind[1:]}Exception in the middle.", modes=STREAM,
                bare=Bare.RAISES, recoverable=recoverable, behaviours=("S9",))  # fmt: skip


OF_BEDROCK: Final = (
    Case("bad_checksum", (Step(framing=Framing.BAD_CHECKSUM),),
         "The checksum of one message is wrong.", modes=STREAM, bare=Bare.HARMFUL,
         behaviours=("N6", "S3")),
    _exception("internal_server", "mid_server"),
    _exception("throttling", "mid_throttled"),
    _exception("service_unavailable", "mid_unavailable"),
    _exception("validation", "mid_invalid", recoverable=False),
    # botocore does not retry a 424, but leaves it to its caller.
    Case("http_424_once", (Step(error="model_error"),), "The model fails once.",
         bare=Bare.RAISES, recoverable=False, behaviours=("P5",)),
)  # fmt: skip
GUARDRAIL: Final = Case(
    "guardrail", (Step(finish="guardrail_intervened"),), "A guardrail stands in for the model.",
    repeat_last=True, recoverable=False, behaviours=("C6", "E12"),
)  # fmt: skip
"""Cases that InvokeModel shares: faults of the framing, errors, and the guardrail."""

NOT_JSON: Final = {"event_not_json": {"summary": "The payload of one event is no JSON."}}

_OWN: Final = (
    "think_then_length think_then_call_cut",
    Case("malformed_output", (Step(keep=0.5, finish="malformed_model_output"),),
         "The stop says that the model's output was malformed.", behaviours=("N1", "S3")),
    Case("malformed_call_with_call",
         (Step(kind=Kind.CALL, arguments=Arguments.CUT, finish="malformed_tool_use"),),
         "The stop says that the call was malformed, and the call is there.", bare=Bare.HARMFUL,
         wants_tools=True, behaviours=("T14",)),
    "event_not_json",
    *OF_BEDROCK,
    "call_wrong_index stop_sequence think_signed think_then_call unknown_event",
    Case("many_blocks", (Step(odd=Odd.MANY_BLOCKS),), "Each piece of text is a block (Nova).",
         modes=STREAM, bare=Bare.FINE, behaviours=("S8",)),
)  # fmt: skip

TABLES: Final = own_tables(
    without=OF_SERVERS
    + OF_HOSTS
    + """call_object_arguments call_no_type error_chunk_then_done usage_after_finish crlf comments
        no_space_after_data event_lines double_done empty_choices_frames bom
        content_filter_prompt_400""",
    otherwise={
        **CUT_AS_WHOLE,
        "length_json": {"request": {"outputConfig": {"textFormat": _FORMAT}}},
        "http_400_unknown_key": KEY_OF_THE_CALLER
        | {"request": {"performanceConfig": {"latency": "optimized"}}},
        # A body holds decoded arguments, so malformed ones appear only in streams.
        "call_malformed call_malformed_always": {"modes": STREAM},
        "call_null_arguments": {"modes": BODY},
        # botocore doesn't check a body's length, and lets exceptions of urllib3 out.
        **BREAKS_THE_SDK,
        "malformed_stop": {
            "plan": (Step(kind=Kind.CALL, say=Say.NOTHING, finish="malformed_tool_use"),)
        },
        **NOT_JSON,
        "stop_sequence": {"request": {"inferenceConfig": {"stopSequences": ["###"]}}},
        "unknown_event": {"summary": "One event has an unknown name."},
    },
    own=_OWN,
    blocked=[GUARDRAIL],
    thoughts="A signed chain of thought",
    limit=lambda tokens: {"inferenceConfig": {"maxTokens": tokens}},
)
