"""`report()`: how the turn ended that an answer came from.

An answer is found by the header that names its turn, where the object keeps headers, and otherwise
by the provider's own id (`turn.record.recent`). An id may come again, from a test server or from a
client without Tenuto. So the text has to be that of the turn as well, and what isn't certain is
None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenuto.core.answer.stop import CLEAN
from tenuto.core.events.report import Report
from tenuto.detection import read, recognize
from tenuto.turn.drivers.mark import NAME
from tenuto.turn.record.recent import RecentTurn, recent, text_hash
from tenuto.wires.answer_id import answer_id, member
from tenuto.wires.json import decode_object

_HEADERS_AT: tuple[tuple[str, ...], ...] = (
    ("headers",),  # raw responses, httpx's, and LangChain's `response_metadata`
    ("http_response", "headers"),
    ("response", "headers"),  # exceptions
    ("sdk_http_response", "headers"),  # google-genai
    ("ResponseMetadata", "HTTPHeaders"),  # boto3
    ("response_metadata", "headers"),
)
"""Where objects keep the headers of their response."""

_ANSWERS_AT: tuple[tuple[str, ...], ...] = (("http_response", "content"), ("content",), ("data",))
"""Where raw responses keep the answer: its bytes, if they have been read, or the SDK's object."""

_METADATA = "model_name"
"""A member that only LangChain's `response_metadata` has, in which there is no text."""


def report(answer: object) -> Report | None:
    """Return how the turn ended that an answer came from; None if Tenuto isn't certain.

    The report tells the attempts, why the turn ended, and the tokens of each attempt. The answer
    isn't changed, and nothing is sent. Never raises.

    Args:
        answer: an SDK's object or raw response, the final message of a stream helper, a dict, a
            list of all events of a stream, or LangChain's message or `response_metadata`.

    Returns:
        the report; None if the answer has no id and keeps no header, if the turn isn't among the
        last 1,000 of this process, or if several answers have the same id. The guide on what the
        caller sees lists the SDKs whose objects never have one. Where a turn needed nothing, the
        stop and the tokens are read from the answer itself, so its usage is None if the object has
        none.

    >>> report({"id": "chatcmpl-1", "choices": []}) is None
    True
    """
    try:
        return _report(answer)
    except Exception:  # noqa: BLE001 - somebody else's object: whatever it raises, this must not
        return None


def _report(answer: object) -> Report | None:
    named, marked, _ = _turn_in(answer).partition(";")
    ended = recent.of_turn(named)
    if named and (ended is not None or not marked):
        return ended.report if ended is not None else None
    # A mark (`turn.drivers.mark`) may be that of another process, or of a turn that needed nothing.
    metadata = member(answer, "response_metadata")  # of a message of LangChain's
    source = answer if isinstance(metadata, Mapping) else _source(answer)
    name = _id_of(metadata if isinstance(metadata, Mapping) else source)
    ended = recent.of_answer(name) if name else None
    if ended is None or (ended.report is not None and not _has_text_of(ended, source)):
        return None
    return ended.report or _of_plain(source)


def _of_plain(source: object) -> Report | None:
    """Return the report of a turn that needed nothing, from its answer."""
    response = read(source)
    stop, usage = response.stop, response.usage
    if stop.reason not in CLEAN or response.fault is not None:
        return None
    if usage is None and _is_metadata(source):
        return None  # the provider may have counted the tokens all the same
    return Report("complete", "completed", stop, (usage,), "none")


def _has_text_of(ended: RecentTurn, source: object) -> bool:
    """Return whether an answer has the text that the turn's caller was shown, or is of a kind that
    has none."""
    if _is_metadata(source):
        return True
    response, wire = recognize(source)
    is_answer = wire is not None or bool(response.text or response.calls)
    return is_answer and text_hash(response.text) == ended.text


def _is_metadata(source: object) -> bool:
    return isinstance(source, Mapping) and _METADATA in source


def _turn_in(answer: object) -> str:
    """Return the header that names the turn; "" if the object keeps none."""
    name = NAME.decode()
    for path in _HEADERS_AT:
        headers = _at(answer, path)
        found = headers.get(name) if isinstance(headers, Mapping) else None
        if isinstance(found, str):
            return found
    return ""


def _source(answer: object) -> object:
    """Return what of an object is the answer itself: for a raw response, its body."""
    for path in _ANSWERS_AT:
        found = _at(answer, path)
        if isinstance(found, bytes) or (path == ("data",) and answer_id(found)):
            return found
    return answer


def _id_of(source: object) -> str:
    """Return the id of an answer; of several events, the first one."""
    if isinstance(source, bytes | str):
        return answer_id(decode_object(source.encode() if isinstance(source, str) else source))
    if isinstance(source, Sequence):
        return next(filter(None, map(answer_id, source)), "")
    return answer_id(source)


def _at(value: object, path: Sequence[str]) -> Any:
    for name in path:
        value = member(value, name)
    return value
