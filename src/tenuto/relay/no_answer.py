"""An answer that says it is well and is none of the API's: a page where base_url is wrong, or of a
network that wants a log-in first."""

from __future__ import annotations

from tenuto.core.fault import NOT_THIS_API, Fault, FaultKind
from tenuto.core.stop import printable
from tenuto.relay.turn import Attempt

_OF_AN_API = ("json", "event-stream", "eventstream")
"""What stands in the content types that answers have."""

_KIND_CHARS = 60


def not_of_this_api(attempt: Attempt) -> Fault | None:
    """The fault of an attempt that was answered with something else, in which nothing of the API
    was found; None where it was not. Its words are ours, and name the content type alone."""
    head, response = attempt.head, attempt.response
    if head is None or not 200 <= head.status < 300 or attempt.lost or attempt.value:
        return None
    if response.fault or response.text or response.reasoning or response.calls or response.other:
        return None
    kind = head.get(b"content-type").partition(";")[0].strip().lower()
    if not kind or any(word in kind for word in _OF_AN_API):
        return None
    said = f"the answer is {printable(kind, _KIND_CHARS)}, and holds nothing of this API"
    return Fault(FaultKind.GARBAGE, NOT_THIS_API, said, head.status)
