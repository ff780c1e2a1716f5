"""Everything that a wire is written with, in one module.

A wire is one format of requests and answers. docs/guide/write-a-wire.md shows how to write one in
one file that imports nothing else of Tenuto, and how an entry point of the group `tenuto.wires`
makes it known. What works with these names in 0.1.0 works with every 0.1 (docs/stability.md).

>>> from dataclasses import replace
>>> its_own = {"is_request": "/acme/chat".__eq__, "looks_like": lambda value: "acme" in value}
>>> replace(CHAT, name="acme-chat", **its_own).name
'acme-chat'
"""

from __future__ import annotations

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.parts import (
    AnySignal,
    Beside,
    CallPiece,
    Envelope,
    Kind,
    Message,
    Opened,
    Part,
    PartClosed,
    Piece,
    Restated,
    Said,
    is_silent,
)
from tenuto.core.answer.signals import (
    Began,
    CallDelta,
    ChoiceSeen,
    Ended,
    FaultSeen,
    Signal,
    StopSeen,
    Usage,
    UsageSeen,
)
from tenuto.core.answer.stop import StopReason
from tenuto.core.deciding.actions import AppendAssistant, AppendCalls, AppendUser, Edit
from tenuto.core.deciding.outcome import Outcome
from tenuto.core.hints import EMPTY_WITH_TOOLS_NOTE, ORPHAN_RESULT
from tenuto.core.history.table import Call, Reasoning, Result, Role, Rules, Text, by_role
from tenuto.frames.frame import Frame
from tenuto.wires.answer import Answer, AttemptContent, Shown, error_body, shown_alike
from tenuto.wires.base import Wire, never, no_request, unasked
from tenuto.wires.calls import object_of, schemas_in, valid_call
from tenuto.wires.chat_like.beginnings import begins_answer, with_beginnings
from tenuto.wires.chat_like.chat import CHAT
from tenuto.wires.chat_like.chat import CONTENT as CHAT_TEXT
from tenuto.wires.chat_like.chat import STOPS as CHAT_STOPS
from tenuto.wires.chat_like.chat import is_event as is_chat_event
from tenuto.wires.chat_like.chat import looks_like as looks_like_chat
from tenuto.wires.chat_like.chat import read as read_chat
from tenuto.wires.chat_like.citations import joined_annotations
from tenuto.wires.chat_like.errors import ERRORS as CHAT_ERRORS
from tenuto.wires.chat_like.render import DONE, ChatLayout, choice_of, completion, envelope
from tenuto.wires.chat_like.request import ChatRequest
from tenuto.wires.chat_like.request import request_of as chat_request_of
from tenuto.wires.dialect import Dialect
from tenuto.wires.documents import asks_for_json
from tenuto.wires.enveloped import enveloped
from tenuto.wires.errors import (
    CONTEXT_WORDS,
    GAVE_UP,
    HISTORY_REJECTED,
    PREFILL_REJECTED,
    UNREADABLE_CALL,
    ErrorRow,
    bare_error,
    by_status,
    error_at,
    fault_parser,
    fault_reader,
    openai_error,
)
from tenuto.wires.errors import OURS as TENUTO_ERROR
from tenuto.wires.errors import row as error_row
from tenuto.wires.filters import BLOCKED
from tenuto.wires.json import (
    UNREADABLE,
    JsonObject,
    arguments_of,
    count,
    count_of_decimal,
    decode_object,
    encode,
    encode_event,
    encode_named_event,
    is_utf8,
)
from tenuto.wires.layout import FlatLayout, GroupLayout, Layout
from tenuto.wires.members import (
    joined,
    list_in,
    listed,
    members_of,
    object_in,
    objects_in,
    rows_of,
    value_at,
    value_of,
    with_members,
    word_in,
)
from tenuto.wires.one_text import OneText
from tenuto.wires.request import RequestFacts, WireRequest
from tenuto.wires.request_edits import EditableRequest, Paths, key_at
from tenuto.wires.request_reading import begun_in, is_switch, limit_in, text_in, why_left_alone
from tenuto.wires.rewriter import Rewriter
from tenuto.wires.stops import StopTable, clean_stop, stop_reader
from tenuto.wires.usage import Counts
from tenuto.wires.watched import Watched

__all__ = [
    "BLOCKED",
    "CHAT",
    "CHAT_ERRORS",
    "CHAT_STOPS",
    "CHAT_TEXT",
    "CONTEXT_WORDS",
    "DONE",
    "EMPTY_WITH_TOOLS_NOTE",
    "GAVE_UP",
    "HISTORY_REJECTED",
    "ORPHAN_RESULT",
    "PREFILL_REJECTED",
    "TENUTO_ERROR",
    "UNREADABLE",
    "UNREADABLE_CALL",
    "Answer",
    "AnySignal",
    "AppendAssistant",
    "AppendCalls",
    "AppendUser",
    "AttemptContent",
    "Began",
    "Beside",
    "Call",
    "CallDelta",
    "CallPiece",
    "ChatLayout",
    "ChatRequest",
    "ChoiceSeen",
    "Counts",
    "Dialect",
    "Edit",
    "EditableRequest",
    "Ended",
    "Envelope",
    "ErrorRow",
    "Fault",
    "FaultKind",
    "FaultSeen",
    "FlatLayout",
    "Frame",
    "GroupLayout",
    "JsonObject",
    "Kind",
    "Layout",
    "Message",
    "OneText",
    "Opened",
    "Outcome",
    "Part",
    "PartClosed",
    "Paths",
    "Piece",
    "Reasoning",
    "RequestFacts",
    "Restated",
    "Result",
    "Rewriter",
    "Role",
    "Rules",
    "Said",
    "Shown",
    "Signal",
    "StopReason",
    "StopSeen",
    "StopTable",
    "Text",
    "ToolCall",
    "Usage",
    "UsageSeen",
    "Watched",
    "Wire",
    "WireRequest",
    "arguments_of",
    "asks_for_json",
    "bare_error",
    "begins_answer",
    "begun_in",
    "by_role",
    "by_status",
    "chat_request_of",
    "choice_of",
    "clean_stop",
    "completion",
    "count",
    "count_of_decimal",
    "decode_object",
    "encode",
    "encode_event",
    "encode_named_event",
    "envelope",
    "enveloped",
    "error_at",
    "error_body",
    "error_row",
    "fault_parser",
    "fault_reader",
    "is_chat_event",
    "is_silent",
    "is_switch",
    "is_utf8",
    "joined",
    "joined_annotations",
    "key_at",
    "limit_in",
    "list_in",
    "listed",
    "looks_like_chat",
    "members_of",
    "never",
    "no_request",
    "object_in",
    "object_of",
    "objects_in",
    "openai_error",
    "read_chat",
    "rows_of",
    "schemas_in",
    "shown_alike",
    "stop_reader",
    "text_in",
    "unasked",
    "valid_call",
    "value_at",
    "value_of",
    "why_left_alone",
    "with_beginnings",
    "with_members",
    "word_in",
]
