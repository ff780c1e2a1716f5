"""Answers that are none of the API's: a page where base_url is wrong, or of a network that wants a
log-in first, and redirects to one."""

from __future__ import annotations

from urllib.parse import urlsplit

from tenuto.core.fault import Fault, FaultKind
from tenuto.core.stop import printable
from tenuto.relay.commands import Head
from tenuto.relay.framing import is_of_an_api
from tenuto.relay.turn import Attempt

_NAME_CHARS = 60


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
