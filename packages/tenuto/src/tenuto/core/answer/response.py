"""One attempt as it was read, and the part of its text that a person sees."""

from __future__ import annotations

import re

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.fast_dataclass import fast_dataclass
from tenuto.core.answer.fault import Fault
from tenuto.core.answer.signals import Usage
from tenuto.core.answer.stop import CLEAN, Stop, StopReason

THINK_BLOCK = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)

_leading_thought = re.compile(r"\s*<think(?:ing)?>.*?(?:</think(?:ing)?>\s*|\Z)", re.DOTALL).match

INVISIBLE = "".join(
    chr(code)
    for codes in (
        *(range(0x20), range(0x7F, 0xA0), (0xAD, 0x61C, 0x180E), range(0x200B, 0x2010)),
        *(range(0x202A, 0x202F), range(0x2060, 0x2070), (0xFEFF,), range(0xFFF9, 0xFFFC)),
    )
    for code in codes
)
"""Control and format characters, which show nothing, such as joiners and a byte order mark. Of none
of them does `str.isprintable` say that it is."""

_shows = re.compile(rf"[^\s{INVISIBLE}]").search
_escapes = re.compile(r"\x1b\[[0-9;]*[A-Za-z]").sub  # those that color a terminal


def visible(text: str) -> str:
    """Return text without think blocks (closed or cut) and without white space around it (E1).

    >>> visible("<think>hm</think> yes "), visible("<think>cut in thoug")
    ('yes', '')
    """
    if "<think" in text:
        text = THINK_BLOCK.sub("", text)
    return text.strip()


def is_visible(text: str) -> bool:
    """Return whether anything of `visible(text)` is left, without a copy if there is no think
    block.

    >>> is_visible(" yes"), is_visible(" \\n"), is_visible("<think>cut in thoug")
    (True, False, False)
    >>> is_visible("\u200b\ufeff"), is_visible("\x1b[0m")
    (False, False)
    """
    if "<think" in text:
        text = THINK_BLOCK.sub("", text)
    if "\x1b" in text:
        text = _escapes("", text)
    return _shows(text) is not None


def leading_thought(text: str) -> int:
    """Return the length of the think block at the start of `text`, with the white space after it.

    >>> leading_thought("<think>hm</think> yes "), leading_thought("yes <think>hm</think>")
    (18, 0)
    """
    found = _leading_thought(text)
    return found.end() if found else 0


def think_closing(text: str) -> str:
    """Return what closes a think block that `text` leaves open; "" if none is open.

    >>> think_closing("<think>cut in thoug"), think_closing("<think>hm</think>")
    ('\\n</think>\\n\\n', '')
    """
    for tag in ("think", "thinking"):
        if text.rfind(f"<{tag}>") > text.rfind(f"</{tag}>"):
            return f"\n</{tag}>\n\n"
    return ""


@fast_dataclass
class Response:
    """One attempt, read to its end (or as far as it came).

    Attributes:
        text: the answer's text, raw, including think blocks.
        reasoning: reasoning that came in a field of its own.
        refusal: text in which the model declined; "" if it did not.
        calls: the tool calls in the order of their first appearance.
        usage: the tokens of this attempt; None if the provider gave none.
        stop: why it ended.
        fault: the error that ended it, or None.
        repaired: whether the calls differ from what the provider wrote (ids, types, encoding). The
            bytes as received would pass the anomaly on (T13).
        calls_alternate: whether an earlier call continued after a later one had begun. A reader
            that assigns each piece to the newest call would mix them up.
        other: whether there is content that is neither text nor a call, such as an image.
        text_behind_calls: whether text came after the last call, so that a cut affects that text
            and not the call.
        several: whether there are choices besides the first. They count for the stop, and the other
            attributes are those of the first.
        stopped: whether a stop that means a clean end came, and no content after it. A fault or a
            break may follow.
        contradicted: whether the provider gave stops that contradict each other, so that readers
            which take the first or the last one see different ends (S2a).
        counted: whether the usage came behind the content, which says that the content is whole.
        unmarked: whether the transfer ended without an error and nothing in it shows whether the
            answer had ended as well: no stop, no end mark, no usage after the content (S3a). The
            stop is then DROPPED, unless it is known that this provider marks no end.
        id: the provider's id, if a later request can continue from it; otherwise "".
    """

    text: str
    reasoning: str
    refusal: str
    calls: tuple[ToolCall, ...]
    usage: Usage | None
    stop: Stop
    fault: Fault | None = None
    repaired: bool = False
    calls_alternate: bool = False
    other: bool = False
    text_behind_calls: bool = False
    several: bool = False
    stopped: bool = False
    contradicted: bool = False
    counted: bool = False
    unmarked: bool = False
    id: str = ""


def broke_off(response: Response) -> bool:
    """Return whether an attempt did not end by itself: by a fault, a limit, or without a stop."""
    return response.fault is not None or response.stop.reason not in CLEAN


def is_at_limit(response: Response) -> bool:
    """Return whether the output limit cut an attempt."""
    return response.stop.reason is StopReason.MAX_TOKENS
