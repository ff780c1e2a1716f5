"""The words in which a fault is described: Step (one response) and Case (a named plan of steps).

A step names only what differs from a normal answer, field by field, so that one step of data is
enough for each fault and the code that answers has no branch per case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

BODY: Final = frozenset({"body"})
STREAM: Final = frozenset({"stream"})
"""The modes of cases that show in whole bodies alone, and in streams alone."""

AUTO: Final = "<auto>"
"""A finish reason that follows from what was said, as a truthful provider gives it."""


class Kind(StrEnum):
    """What the right answer of a conversation is."""

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
    """What a response carries instead of the answer."""

    ANSWER = "answer"
    NOTHING = "nothing"
    WHITESPACE = "whitespace"
    REASONING = "reasoning"
    HIDDEN_REASONING = "hidden_reasoning"
    THINK_CLOSED = "think_closed"
    THINK_OPEN = "think_open"
    REFUSAL = "refusal"
    COMPACTION = "compaction"
    """A summary of the conversation, with which the client goes on."""


class Search(StrEnum):
    """Where a search stands that the provider runs itself."""

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
    """What becomes of a call's arguments."""

    WHOLE = "whole"
    CUT = "cut"
    MALFORMED = "malformed"
    EMPTY = "empty"
    NULL = "null"
    OBJECT = "object"
    DOUBLE = "double"
    ARRAY = "array"


class Shape(StrEnum):
    """What becomes of the frame around the arguments."""

    NORMAL = "normal"
    NO_TYPE = "no_type"
    NO_ID = "no_id"
    NO_INDEX = "no_index"
    WRONG_INDEX = "wrong_index"
    """Everything has the index of the first."""
    DUPLICATE_IDS = "duplicate_ids"
    INTERLEAVED = "interleaved"


class Continuation(StrEnum):
    """How a request to go on is answered."""

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
    """The terminator comes, a finish reason does not."""
    COUNT_ALONE = "count_alone"
    """Neither a finish reason nor the terminator comes, but the usage does, behind the answer."""
    DROP = "drop"
    """Neither; the transfer ends in order, as behind a proxy."""
    EOF = "eof"
    """Neither; the transfer has no length and the connection is closed."""
    CUT_OFF = "cut_off"
    """The connection is closed inside of a chunked transfer."""
    RESET = "reset"
    CUT_BODY = "cut_body"
    """Half of the JSON document in an orderly transfer."""
    EMPTY_BODY = "empty_body"


CUT_SHORT: Final = frozenset({Ending.DROP, Ending.EOF, Ending.CUT_OFF, Ending.RESET})
"""Endings behind which neither a stop nor an end mark comes."""


class Odd(StrEnum):
    """Events that are out of place, or more than were expected."""

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
    """The event of the end has no usage."""
    ITEMS_CALLED_WHOLE = "items_called_whole"
    """Each item says that it is whole, whatever the response says of itself."""
    ITEM_CALLED_INCOMPLETE = "item_called_incomplete"
    """The last item says that it is not, and the response says that it is."""
    END_CALLED_COMPLETED = "end_called_completed"
    """The last event has the name of a good end."""
    CALLS_WITHOUT_PIECES = "calls_without_pieces"
    """A call comes at the end of its item alone."""
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
    """One document over several `data:` lines."""
    BAD_CHECKSUM = "bad_checksum"
    """Binary messages, of which one cannot be trusted."""


class Writes(StrEnum):
    """How the bytes are spread over TCP writes."""

    EVENT = "event"
    TINY = "tiny"
    ONE = "one"
    SPLIT_CHARACTER = "split_character"


class Bare(StrEnum):
    """What the official SDK alone makes of a case."""

    SILENT = "silent"
    """No exception, a wrong answer, and at most the stop field tells."""
    HARMFUL = "harmful"
    """A broken call is handed out, a foreign exception comes, or the history is spoilt."""
    RAISES = "raises"
    """An exception of the SDK's own tree."""
    FINE = "fine"
    """The right answer."""


@dataclass(frozen=True, slots=True)
class Step:
    """One response, described by how it differs from a normal answer.

    >>> Step(keep=0.5, finish="length").keep
    0.5
    """

    kind: Kind | None = None
    """What the conversation's right answer is from here on; None leaves it."""
    say: Say = Say.ANSWER
    keep: float = 1.0
    """Share of the text not yet said that is sent; below 1 the calls after it are not."""
    cut: Cut = Cut.TOKEN
    continuation: Continuation = Continuation.EXACT
    arguments: Arguments = Arguments.WHOLE
    broken_call: int | None = None
    """Index of the one call whose arguments are changed (negative from the end); None: all."""
    shape: Shape = Shape.NORMAL
    finish: str | None = AUTO
    """In the words of Chat Completions, which other wires translate; others go as they are."""
    native_finish: str | None = None
    """OpenRouter's second stop field; None leaves it away."""
    think: bool = False
    """A whole chain of thought comes first, signed where the wire signs."""
    search: Search = Search.NONE
    usage: bool = True
    context_window_tokens: int = 0
    """The usage fills a window of this size; 0: the usage is as it is."""
    ceiling_tokens: int = 0
    """Requests that ask for more output are refused; 0: the server's own ceiling."""
    error: str = ""
    """Name in `errors.ERRORS`; its status says whether it comes instead or in the middle."""
    ending: Ending = Ending.WHOLE
    odd: Odd | None = None
    framing: Framing = Framing.PLAIN
    writes: Writes = Writes.EVENT
    event_chars: int = 0
    """Characters of text per event; 0: one token."""


@dataclass(frozen=True, slots=True)
class Case:
    """A named fault: the steps that a conversation meets, and what a client should make of them.

    >>> Case("x", (Step(),), "An example.").kind
    <Kind.TEXT: 'text'>
    """

    name: str
    plan: tuple[Step, ...]
    summary: str
    wires: frozenset[str] = frozenset()
    """Names of the wires that the case exists on; `cases.CASES_ON` has it as each one shows it."""
    modes: frozenset[str] = frozenset({"body", "stream"})
    """Whether the case shows in a whole body, in a stream, or in both."""
    bare: Bare = Bare.SILENT
    wants_tools: bool = False
    """The request must attach tools."""
    after_tool_result: bool = False
    """The plan is for requests that end in a tool result; others get a normal call."""
    recoverable: bool = True
    """A client that follows behaviours.md could deliver the full right answer."""
    behaviours: tuple[str, ...] = ()
    repeat_last: bool = False
    """The last step is taken for ever; otherwise normal answers follow the plan."""
    request: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Body keys that a request needs for the case to show."""

    @property
    def kind(self) -> Kind:
        """What the right answer of this case is.

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
