"""Answers that are none of the API's: a page where base_url is wrong, or of a network that wants a
log-in first, and redirects to one."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from tenuto.core.fault import Fault, FaultKind
from tenuto.core.stop import printable
from tenuto.frames.sniff import is_of_an_api
from tenuto.relay.commands import Head, Lost
from tenuto.relay.turn import Attempt

_NAME_CHARS = 60
_MOST_CAUSES = 10


def is_good(head: Head) -> bool:
    """Whether the status is one that models answer with."""
    return 200 <= head.status < 300


def not_of_this_api(attempt: Attempt) -> Fault | None:
    """The fault of an attempt that was answered with something else; None where it was not. Its
    words are ours, and name the content type or the host of a redirect alone."""
    head = attempt.head
    if head is None or attempt.http_error or attempt.lost:
        return None
    if is_good(head) and not attempt.page:
        return None
    if attempt.page or not head.get(b"location"):
        return Fault(FaultKind.NOT_THIS_API, message=_page(head), status=head.status)
    return Fault(FaultKind.REDIRECTED, message=_elsewhere(head), status=head.status)


def with_words(fault: Fault, attempt: Attempt) -> Fault:
    """The same fault; where an error response says nothing, its words are ours: the status, and
    what came."""
    head = attempt.head
    if fault.message or not attempt.http_error or head is None:
        return fault
    body = attempt.raw.strip()
    came = _EMPTY.get(body, "a body in which no error message was found")
    return replace(fault, message=f"HTTP {head.status} with {came}")


_EMPTY = {
    b"": "an empty body",
    b"[]": "the body []",
    b"null": "the body null",
    b"{}": "the body {}",
}


def unreachable(lost: Lost, url: str) -> Fault:
    """Return the fault of a request that got no answer. Its words are ours: the host and the port,
    and the system's own error where there is one; never what a library says, which may quote a URL
    with its query."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    where = printable(f"{parts.hostname}{port}", _NAME_CHARS)
    error = _of_the_system(lost.error)
    slow = lost.kind is FaultKind.TIMEOUT
    why = (
        f"{error.strerror} (errno {error.errno})"
        if error
        else "the time for it is over"
        if slow
        else ""
    )
    message = f"no answer came from {where}" + (f": {why}" if why else "")
    return Fault(lost.kind, type(lost.error).__name__, message)


def _of_the_system(error: BaseException | None) -> OSError | None:
    """Return the error of the system that a library's error stands for, or None."""
    for _ in range(_MOST_CAUSES):
        if error is None or (isinstance(error, OSError) and error.errno and error.strerror):
            return error
        error = error.__cause__ or error.__context__
    return None


def _page(head: Head) -> str:
    """What an answer is that says it is well, or has a status that says nothing."""
    if not is_good(head):
        return f"the answer has status {head.status}, and holds nothing of this API"
    kind = head.get(b"content-type").partition(";")[0].strip().lower()
    what = "a page of HTML" if is_of_an_api(kind) else printable(kind, _NAME_CHARS)
    return f"the answer is {what}, and holds nothing of this API"


def _elsewhere(head: Head) -> str:
    """Where an answer leads that is neither good nor an error."""
    try:
        host = urlsplit(head.get(b"location")).hostname
    except ValueError:
        host = None
    where = printable(host, _NAME_CHARS) if host else "another path"
    return f"the address redirects to {where} (status {head.status})"
