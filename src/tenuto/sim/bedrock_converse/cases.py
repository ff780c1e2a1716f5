"""What can go wrong on this wire: which of the common cases, how they differ, and its own.

The common cases keep their names and plans: stops are translated when they are written. A case is
left out where this wire has no place for the fault (a framing by lines, say).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tenuto.sim import tables_own
from tenuto.sim.case import Arguments, Bare, Case, Framing, Kind, Odd, Say, Step

_BODY: Final = frozenset({"body"})
_STREAM: Final = frozenset({"stream"})
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "items": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["title", "items"],
    "additionalProperties": False,
}

_LEFT_OUT: Final = tables_own.OF_SERVERS | tables_own.OF_HOSTS | {
    "call_object_arguments", "call_no_type", "error_chunk_then_done", "usage_after_finish", "crlf",
    "comments", "no_space_after_data", "event_lines", "double_done", "empty_choices_frames", "bom",
    "content_filter_prompt_400",
}  # fmt: skip

_FORMAT: Final = {
    "type": "json_schema",
    "structure": {"jsonSchema": {"schema": json.dumps(_SCHEMA)}},
}
_OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "length_json": {"request": {"outputConfig": {"textFormat": _FORMAT}}},
    "think_tag_unclosed_length": {"request": {"inferenceConfig": {"maxTokens": 400}}},
    "suspected_truncation": {"request": {"inferenceConfig": {"maxTokens": 60}}},
    "http_400_max_tokens_too_large": {"request": {"inferenceConfig": {"maxTokens": 2000}}},
    # The SDK sends no hints, so that the key is one of the caller's contract.
    "http_400_unknown_key": {
        "summary": "A key of the request is not known.",
        "request": {"performanceConfig": {"latency": "optimized"}},
        "recoverable": False,
    },
    # A body holds the arguments decoded, so that malformed ones show in streams alone.
    "call_malformed": {"modes": _STREAM},
    "call_malformed_always": {"modes": _STREAM},
    "call_null_arguments": {"modes": _BODY},
    # botocore holds no body against its length.
    "body_short": {"bare": Bare.HARMFUL},
    # An exception of urllib3, which is none of botocore's.
    "cut_off_mid_text": {"bare": Bare.HARMFUL},
    "reset_mid_text": {"bare": Bare.HARMFUL},
    "malformed_stop": {
        "plan": (Step(kind=Kind.CALL, say=Say.NOTHING, finish="malformed_tool_use"),)
    },
}

_FAULTS: Final = (
    tables_own.think_then_length("A signed chain of thought"),
    Case("think_then_call_cut",
         (Step(kind=Kind.CALL, think=True, arguments=Arguments.CUT, finish="length"),),
         "A signed chain of thought, then a call that the limit cuts.", bare=Bare.HARMFUL,
         wants_tools=True, behaviours=("T5", "C20")),
    Case("malformed_output", (Step(keep=0.5, finish="malformed_model_output"),),
         "The stop says that the model's output was malformed.", behaviours=("N1", "S3")),
    Case("malformed_call_with_call",
         (Step(kind=Kind.CALL, arguments=Arguments.CUT, finish="malformed_tool_use"),),
         "The stop says that the call was malformed, and the call is there.", bare=Bare.HARMFUL,
         wants_tools=True, behaviours=("T14",)),
    Case("event_not_json", (Step(odd=Odd.NOT_JSON),),
         "The payload of one event is no JSON.", modes=_STREAM, bare=Bare.HARMFUL,
         behaviours=("N6",)),
    Case("bad_checksum", (Step(framing=Framing.BAD_CHECKSUM),),
         "The checksum of one message is wrong.", modes=_STREAM, bare=Bare.HARMFUL,
         behaviours=("N6", "S3")),
    tables_own.call_wrong_index(Bare.HARMFUL),
)  # fmt: skip


def _exception(name: str, error: str, summary: str) -> Case:
    return Case(f"exception_{name}", (Step(keep=0.5, error=error),), summary,
                modes=_STREAM, bare=Bare.RAISES, behaviours=("S9",))  # fmt: skip


_HTTP: Final = (
    _exception("internal_server", "mid_server", "internalServerException in the middle."),
    _exception("throttling", "mid_throttled", "throttlingException in the middle."),
    _exception("service_unavailable", "mid_unavailable",
               "serviceUnavailableException in the middle."),
    replace(_exception("validation", "mid_invalid", "validationException in the middle."),
            recoverable=False),
    Case("http_424_once", (Step(error="model_error"),), "The model fails once.",
         bare=Bare.RAISES, recoverable=False, behaviours=("P5",)),
)  # fmt: skip
"""botocore does not retry a 424: what it leaves to its caller is left to them."""

_QUIRKS: Final = (
    Case("stop_sequence", (Step(finish="stop_sequence"),), "A stop sequence ends the text.",
         bare=Bare.FINE, request={"inferenceConfig": {"stopSequences": ["###"]}},
         behaviours=("N1",)),
    tables_own.think("think_signed", "A signed chain of thought"),
    tables_own.think_then_call("A signed chain of thought"),
    Case("unknown_event", (Step(odd=Odd.UNKNOWN_EVENT),), "One event has an unknown name.",
         modes=_STREAM, bare=Bare.FINE, behaviours=("S8",)),
    Case("many_blocks", (Step(odd=Odd.MANY_BLOCKS),), "Each piece of text is a block (Nova).",
         modes=_STREAM, bare=Bare.FINE, behaviours=("S8",)),
)  # fmt: skip

_BLOCKED: Final = (
    Case("guardrail", (Step(finish="guardrail_intervened"),),
         "A guardrail stands in for the model.",
         repeat_last=True, recoverable=False, behaviours=("C6", "E12")),
)  # fmt: skip


def tables(common: Mapping[str, Mapping[str, Case]]) -> tables_own.Tables:
    """Return this wire's tables by title, made of the common ones and its own."""
    own = {"faults": _FAULTS, "http_faults": _HTTP, "quirks": _QUIRKS, "blocked": _BLOCKED}
    return tables_own.own_tables(common, _LEFT_OUT, _OTHERWISE, own)
