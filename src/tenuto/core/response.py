"""One attempt as it was read, and what of its text a person sees."""

from __future__ import annotations

import re

from tenuto.core.calls import ToolCall
from tenuto.core.fault import Fault
from tenuto.core.record import record
from tenuto.core.signals import Usage
from tenuto.core.stop import CLEAN, Stop

THINK_BLOCK = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)

_leading_thought = re.compile(r"\s*<think(?:ing)?>.*?(?:</think(?:ing)?>\s*|\Z)", re.DOTALL).match


def visible(text: str) -> str:
    """Text without think blocks (closed or cut) and without white space around it (E1).

    >>> visible("<think>hm</think> yes "), visible("<think>cut in thoug")
    ('yes', '')
    """
    if "<think" in text:
        text = THINK_BLOCK.sub("", text)
    return text.strip()


def is_visible(text: str) -> bool:
    """Whether anything of `visible(text)` is left; text without think blocks is not copied for it.

    >>> is_visible(" yes"), is_visible(" \\n"), is_visible("<think>cut in thoug")
    (True, False, False)
    """
    if "<think" in text:
        text = THINK_BLOCK.sub("", text)
    return bool(text) and not text.isspace()


def leading_thought(text: str) -> int:
    """Characters of the think block that `text` begins with, and of the white space behind it.

    >>> leading_thought("<think>hm</think> yes "), leading_thought("yes <think>hm</think>")
    (18, 0)
    """
    found = _leading_thought(text)
    return found.end() if found else 0


def think_closing(text: str) -> str:
    """What closes a think block that `text` leaves open, "" where none is open.

    >>> think_closing("<think>cut in thoug"), think_closing("<think>hm</think>")
    ('\\n</think>\\n\\n', '')
    """
    for tag in ("think", "thinking"):
        if text.rfind(f"<{tag}>") > text.rfind(f"</{tag}>"):
            return f"\n</{tag}>\n\n"
    return ""


@record
class Response:
    """One attempt, read to its end (or as far as it came).

    Attributes:
        text: the answer's text, raw, think blocks included.
        reasoning: reasoning that came in a field of its own.
        refusal: text by which the model declined, "" where it did not.
        calls: the tool calls in the order of their first appearance.
        usage: the tokens of this attempt, None where the provider gave none.
        stop: why it ended.
        fault: the error that ended it, or None.
        mended: True where the calls differ from what the provider wrote (ids, types, encoding), so
            that handing on the bytes as they came would hand on the oddity too (T13).
        calls_alternate: whether an earlier call went on after a later one had begun, so that who
            takes each piece for the newest call would mix them.
        other: whether there is content that is neither text nor a call, such as an image.
        text_behind_calls: whether text came behind the last call, so that what cut the answer cut
            that text and not the call.
        several: whether there are choices beside the first, of which only the stops are read.
        unmarked: True where the transfer ended without an error and nothing says whether the answer
            had ended as well: no stop, no end mark, no usage behind the content (S3a). The stop is
            DROPPED then.
        id: the provider's id, where a later request can go on from it; "" elsewhere.
    """

    text: str
    reasoning: str
    refusal: str
    calls: tuple[ToolCall, ...]
    usage: Usage | None
    stop: Stop
    fault: Fault | None = None
    mended: bool = False
    calls_alternate: bool = False
    other: bool = False
    text_behind_calls: bool = False
    several: bool = False
    unmarked: bool = False
    id: str = ""


def broke_off(response: Response) -> bool:
    """Whether an attempt did not end by itself: by a fault, a limit, or without a stop."""
    return response.fault is not None or response.stop.reason not in CLEAN
