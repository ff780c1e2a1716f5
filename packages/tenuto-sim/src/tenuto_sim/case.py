"""The terms that describe a fault: Step (one response) and Case (a named sequence of steps).

A step lists only how a response differs from a normal answer, field by field. So each fault is one
step of data, and the code that answers needs no branch per case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

BODY: Final = frozenset({"body"})
STREAM: Final = frozenset({"stream"})
"""The modes of cases that only a whole body shows, and of those that only a stream shows."""

AUTO: Final = "<auto>"
"""A finish reason that follows from the content, as a truthful provider would give it."""


class Kind(StrEnum):
    """What the right answer of a conversation contains."""

    TEXT = "text"
    CJK = "cjk"
    CALL = "call"
    CALLS = "calls"
    NO_ARGUMENTS = "no_arguments"
    PREFACE_CALL = "preface_call"
    TEXT_CALL = "text_call"


CALL_COUNT: Final[Mapping[Kind, int]] = dict.fromkeys(Kind, 1) | {
    Kind.TEXT: 0,
    Kind.CJK: 0,
    Kind.CALLS: 3,
}


class Say(StrEnum):
    """What a response contains instead of the answer."""

    ANSWER = "answer"
    NOTHING = "nothing"
    WHITESPACE = "whitespace"
    REASONING = "reasoning"
    HIDDEN_REASONING = "hidden_reasoning"
    THINK_CLOSED = "think_closed"
    THINK_OPEN = "think_open"
    REFUSAL = "refusal"
    COMPACTION = "compaction"
    """A summary of the conversation, from which the client continues."""


class Search(StrEnum):
    """Where the response has a search that the provider runs itself."""

    NONE = "none"
    BEFORE = "before"
    """Before the text, which cites it."""
    AFTER = "after"


class Cut(StrEnum):
    """Where exactly the text is cut, near the place that `keep` gives."""

    TOKEN = "token"
    MID_WORD = "mid_word"
    AFTER_NEWLINE = "after_newline"
    IN_CHARACTER = "in_character"


class Arguments(StrEnum):
    """How a call's arguments are changed."""

    WHOLE = "whole"
    CUT = "cut"
    MALFORMED = "malformed"
    EMPTY = "empty"
    NULL = "null"
    OBJECT = "object"
    DOUBLE = "double"
    ARRAY = "array"


class Shape(StrEnum):
    """How the fields around the arguments are changed."""

    NORMAL = "normal"
    NO_TYPE = "no_type"
    NO_ID = "no_id"
    NO_INDEX = "no_index"
    WRONG_INDEX = "wrong_index"
    """Every call has the index of the first."""
    DUPLICATE_IDS = "duplicate_ids"
    INTERLEAVED = "interleaved"


class Continuation(StrEnum):
    """How the simulator answers a request to continue."""

    EXACT = "exact"
    OVERLAP = "overlap"
    RESTART = "restart"
    PREAMBLE = "preamble"
    REPEAT = "repeat"


class Ending(StrEnum):
    """How the response ends on the wire."""

    WHOLE = "whole"
    NO_DONE = "no_done"
    NO_FINISH = "no_finish"
    """The terminator is sent, but no finish reason."""
    COUNT_ALONE = "count_alone"
    """The usage is sent after the answer, but neither a finish reason nor the terminator."""
    DROP = "drop"
    """Neither is sent; the transfer ends in order, as behind a proxy."""
    EOF = "eof"
    """Neither is sent; the transfer has no length, and the server closes the connection."""
    CUT_OFF = "cut_off"
    """The server closes the connection in the middle of a chunked transfer."""
    RESET = "reset"
    CUT_BODY = "cut_body"
    """Half of the JSON document is sent, in an orderly transfer."""
    EMPTY_BODY = "empty_body"


CUT_SHORT: Final = frozenset({Ending.DROP, Ending.EOF, Ending.CUT_OFF, Ending.RESET})
"""Endings without a stop and without an end mark."""


class Odd(StrEnum):
    """Events that are out of place, unexpected or missing."""

    FINISH_REPEATED = "finish_repeated"
    FINISH_CONFLICT = "finish_conflict"
    CONTENT_AFTER_FINISH = "content_after_finish"
    USAGE_AFTER_FINISH = "usage_after_finish"
    DOUBLE_DONE = "double_done"
    EMPTY_CHOICES = "empty_choices"
    MODERATION = "moderation"
    PINGS = "pings"
    UNKNOWN_EVENT = "unknown_event"
    NOT_JSON = "not_json"
    USAGE_MISSING = "usage_missing"
    """The last event has no usage."""
    ITEMS_CALLED_WHOLE = "items_called_whole"
    """Each item says that it is complete, even if the response says otherwise."""
    ITEM_CALLED_INCOMPLETE = "item_called_incomplete"
    """The last item says that it is incomplete, and the response says that it is complete."""
    END_CALLED_COMPLETED = "end_called_completed"
    """The last event has the name of a successful end."""
    CALLS_WITHOUT_PIECES = "calls_without_pieces"
    """A call has no deltas, and appears only at the end of its item."""
    MANY_BLOCKS = "many_blocks"
    """Each piece of text is a block of its own."""


class Framing(StrEnum):
    """How events are written on the wire."""

    PLAIN = "plain"
    CRLF = "crlf"
    BOM = "bom"
    COMMENTS = "comments"
    NO_SPACE = "no_space"
    EVENT_LINES = "event_lines"
    DATA_LINES = "data_lines"
    """Each document is spread over several `data:` lines."""
    BAD_CHECKSUM = "bad_checksum"
    """Events are binary messages, and one of them has a wrong checksum."""


class Writes(StrEnum):
    """How the bytes are divided into TCP writes."""

    EVENT = "event"
    TINY = "tiny"
    ONE = "one"
    SPLIT_CHARACTER = "split_character"


class Bare(StrEnum):
    """What happens in this case to a program that uses the official SDK without Tenuto."""

    SILENT = "silent"
    """The SDK raises nothing and gives a wrong answer; at most the stop field shows it."""
    HARMFUL = "harmful"
    """The SDK returns a broken call, raises a foreign exception, or the history becomes invalid."""
    RAISES = "raises"
    """The SDK raises one of its own exceptions."""
    FINE = "fine"
    """The SDK gives the right answer."""


@dataclass(frozen=True, slots=True)
class Step:
    """One response, described by how it differs from a normal answer.

    >>> Step(keep=0.5, finish="length").keep
    0.5
    """

    kind: Kind | None = None
    """What the conversation's right answer contains from here on; None: no change."""
    say: Say = Say.ANSWER
    keep: float = 1.0
    """Share of the remaining text that is sent; below 1, the calls after it are left out."""
    cut: Cut = Cut.TOKEN
    continuation: Continuation = Continuation.EXACT
    arguments: Arguments = Arguments.WHOLE
    broken_call: int | None = None
    """Index of the only call whose arguments are changed (negative: from the end); None: all."""
    shape: Shape = Shape.NORMAL
    finish: str | None = AUTO
    """A finish reason of Chat Completions, which other wires translate; they send other values as
    they are."""
    native_finish: str | None = None
    """OpenRouter's second stop field; None: left out."""
    think: bool = False
    """A complete chain of thought precedes the answer, signed if the wire signs."""
    search: Search = Search.NONE
    usage: bool = True
    usage_at_limit: bool = False
    """The usage is the request's output limit, if it has one."""
    context_window_tokens: int = 0
    """The usage fills a context window of this size, in tokens; 0: the usage is not changed."""
    ceiling_tokens: int = 0
    """Requests for more output tokens are rejected; 0: the server's own limit applies."""
    error: str = ""
    """Name in `errors.ERRORS`; its status decides whether it replaces the response or interrupts
    it."""
    ending: Ending = Ending.WHOLE
    odd: Odd | None = None
    framing: Framing = Framing.PLAIN
    writes: Writes = Writes.EVENT
    event_chars: int = 0
    """Characters of text per event; 0: one token."""


@dataclass(frozen=True, slots=True)
class Case:
    """A named fault: the steps that a conversation goes through, and what a client should make of
    them.

    >>> Case("x", (Step(),), "An example.").kind
    <Kind.TEXT: 'text'>
    """

    name: str
    plan: tuple[Step, ...]
    summary: str
    wires: frozenset[str] = frozenset()
    """Names of the wires that have the case; `cases.CASES_ON` has each wire's version of it."""
    modes: frozenset[str] = frozenset({"body", "stream"})
    """Whether the fault shows in a whole body, in a stream, or in both."""
    bare: Bare = Bare.SILENT
    wants_tools: bool = False
    """The request must attach tools."""
    after_tool_result: bool = False
    """The steps apply to requests that end in a tool result; others get a normal call."""
    recoverable: bool = True
    """A client with the behaviours of docs/behaviours.md could deliver the whole right answer."""
    behaviours: tuple[str, ...] = ()
    repeat_last: bool = False
    """The last step repeats forever; otherwise normal answers follow."""
    request: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Body keys that a request needs for the fault to show."""

    @property
    def kind(self) -> Kind:
        """What the right answer of this case contains.

        >>> Case("x", (Step(kind=Kind.CALL),), "An example.").kind
        <Kind.CALL: 'call'>
        """
        return next((step.kind for step in self.plan if step.kind is not None), Kind.TEXT)

    def step(self, number: int) -> Step:
        """Return the step for the request with this number, counted from 0.

        >>> case = Case("x", (Step(keep=0.5),), "An example.")
        >>> case.step(0).keep, case.step(1).keep
        (0.5, 1.0)
        """
        if number < len(self.plan):
            return self.plan[number]
        return self.plan[-1] if self.repeat_last and self.plan else Step()
