"""Cases of the wire: streams that break, errors, HTTP statuses and odd frames."""

from __future__ import annotations

from typing import Final

from tenuto.sim.case import (
    BODY,
    STREAM,
    Arguments,
    Bare,
    Case,
    Ending,
    Framing,
    Kind,
    Odd,
    Step,
    Writes,
)


def _stream(name: str, summary: str, *plan: Step, **more: object) -> Case:
    return Case(name, plan, summary, **({"modes": STREAM, "behaviours": ("S1",)} | more))  # type: ignore[arg-type]


def _raises(name: str, summary: str, step: Step, **more: object) -> Case:
    given = {"bare": Bare.RAISES, "behaviours": ("P5",)} | more
    return Case(name, (step,), summary, **given)  # type: ignore[arg-type]


def _host(name: str, summary: str, ending: Ending, **more: object) -> Case:
    given = {"bare": Bare.FINE, "behaviours": ("S3a",), "modes": STREAM} | more
    return Case(name, (Step(ending=ending),), summary, repeat_last=True, **given)  # type: ignore[arg-type]


def _frames(name: str, summary: str, step: Step) -> Case:
    return Case(name, (step,), summary, modes=STREAM, bare=Bare.FINE, behaviours=("S8",))


END_CASES: Final = (
    _stream("drop_before_text", "The stream ends before any text.",
            Step(keep=0, ending=Ending.DROP), behaviours=("S1", "S3")),
    _stream("drop_mid_text", "The stream ends in the middle of the text.",
            Step(keep=0.5, ending=Ending.DROP), behaviours=("S1", "S3")),
    _stream("drop_mid_text_always", "Every stream ends in the middle of the text.",
            Step(keep=0.15, ending=Ending.DROP),
            repeat_last=True, recoverable=False, behaviours=("S1", "C5")),
    _stream("drop_mid_call", "The stream ends in the middle of a call.",
            Step(kind=Kind.CALL, arguments=Arguments.CUT, ending=Ending.DROP),
            wants_tools=True, bare=Bare.HARMFUL, behaviours=("S1", "T1")),
    _stream("eof_no_finish", "The connection is closed, with no stop and no terminator.",
            Step(keep=0.8, ending=Ending.EOF)),
    _stream("error_object", "An error without an error key comes in the middle (old vLLM).",
            Step(keep=0.5, error="mid_object"), behaviours=("S9",)),
    _stream("error_groq", "An error comes in x_groq in the middle (Groq).",
            Step(keep=0.5, error="mid_groq"), behaviours=("S9",)),
    Case("body_error_only", (Step(error="mid_stream"),),
         "A body with status 200 holds an error alone.",
         modes=BODY, bare=Bare.HARMFUL, behaviours=("N3", "S9")),
    Case("body_cut", (Step(ending=Ending.CUT_BODY),), "Half of the JSON document comes.",
         modes=BODY, bare=Bare.HARMFUL, behaviours=("N6",)),
    Case("body_empty", (Step(ending=Ending.EMPTY_BODY),), "The body has no bytes.",
         modes=BODY, bare=Bare.HARMFUL, behaviours=("N6",)),
    Case("done_no_finish", (Step(ending=Ending.NO_FINISH),),
         "The answer ends in order, and has no stop.", bare=Bare.FINE, behaviours=("N1a",)),
    _stream("finish_no_done", "The stop comes, the terminator does not.",
            Step(ending=Ending.NO_DONE), bare=Bare.FINE),
    # What is no fault: whole answers of hosts that end them so, each time.
    _host("host_marks_nothing", "No answer of this host has a stop or a terminator.", Ending.DROP),
    _host("host_has_no_stop", "No answer has a stop; the terminator comes.", Ending.NO_FINISH),
    _host("host_has_no_mark", "Each answer has a stop; no terminator comes.", Ending.NO_DONE),
    _host("host_counts_alone", "The usage is all that comes behind an answer.",
          Ending.COUNT_ALONE),
    _host("host_closes", "The connection is closed behind an answer, and nothing says more.",
          Ending.EOF),
)  # fmt: skip

HTTP_CASES: Final = (
    _raises("http_400_max_tokens_too_large", "The output budget is above the model's ceiling.",
            Step(ceiling_tokens=1000), repeat_last=True, request={"max_tokens": 2000},
            behaviours=("C18",)),
    _raises("http_400_unknown_key", "A key that says nothing is not known.",
            Step(error="unknown_key"), repeat_last=True, request={"frequency_penalty": 0},
            behaviours=("H5",)),
    _raises("http_400_could_not_finish", "Reasoning took the whole budget, said with a 400.",
            Step(error="could_not_finish"), behaviours=("C11",)),
    _raises("http_400_tool_use_failed", "A malformed call, said with a 400 (Groq).",
            Step(kind=Kind.CALL, error="tool_use_failed"), wants_tools=True,
            behaviours=("T14",)),
    _raises("http_429_once", "The rate limit is reached once.", Step(error="rate_limit")),
    _raises("http_500_once", "The server fails once.", Step(error="server")),
    _raises("http_503_always", "The server is always overloaded.", Step(error="overloaded"),
            repeat_last=True, recoverable=False),
    _raises("body_short", "The body has fewer bytes than its length says.",
            Step(ending=Ending.CUT_OFF), modes=BODY),
    _raises("cut_off_mid_text", "The connection is closed inside of a chunked transfer.",
            Step(keep=0.5, ending=Ending.CUT_OFF), modes=STREAM, behaviours=("S1", "S3")),
    _raises("reset_mid_text", "The connection is reset in the middle of the text.",
            Step(keep=0.5, ending=Ending.RESET), modes=STREAM, behaviours=("S1", "S3")),
    _raises("error_chunk_mid_text", "An error comes in the middle, and nothing after it.",
            Step(keep=0.5, error="mid_stream", ending=Ending.NO_DONE), modes=STREAM,
            behaviours=("S9",)),
    _raises("error_chunk_then_done", "An error comes in the middle, then the terminator.",
            Step(keep=0.5, error="mid_stream"), modes=STREAM, behaviours=("S9",)),
    _raises("error_openrouter", "An error comes beside a stop that says error (OpenRouter).",
            Step(keep=0.5, error="mid_openrouter", finish="error", native_finish="error"),
            modes=STREAM, behaviours=("S9",)),
)  # fmt: skip


FRAME_CASES: Final = (
    _frames("crlf", "Lines end in CR LF.", Step(framing=Framing.CRLF)),
    _frames("comments", "Comments stand between events.", Step(framing=Framing.COMMENTS)),
    _frames("no_space_after_data", "No space after the colon.", Step(framing=Framing.NO_SPACE)),
    _frames("event_lines", "Events have names and ids.", Step(framing=Framing.EVENT_LINES)),
    _frames("double_done", "The terminator comes twice.", Step(odd=Odd.DOUBLE_DONE)),
    _frames("empty_choices_frames", "Frames without choices (Azure).",
            Step(odd=Odd.EMPTY_CHOICES)),
    _frames("moderation_frame", "A frame with a moderation result.", Step(odd=Odd.MODERATION)),
    _frames("multibyte_split", "Characters are split over TCP writes.",
            Step(kind=Kind.CJK, writes=Writes.SPLIT_CHARACTER)),
    _frames("tiny_writes", "One byte per TCP write.",
            Step(writes=Writes.TINY, event_chars=100)),
    _frames("one_write", "The whole stream in one TCP write.", Step(writes=Writes.ONE)),
    _frames("bom", "The stream begins with a byte order mark.", Step(framing=Framing.BOM)),
)  # fmt: skip
