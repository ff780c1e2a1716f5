"""How a provider sends the rest of a stream whose connection broke (C30)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, urlsplit, urlunsplit

from tenuto.wires.json import JsonObject


@dataclass(frozen=True, slots=True)
class Cursors:
    """The stream of an answer that the provider keeps can be fetched from any of its events on.

    Attributes:
        id_of: returns the id of the answer, from an event that has it; "" if the event has none.
        place_of: returns the place of an event in its stream; "" if the event has none.
        fails: returns whether an event says that the stream failed.
        after: the member of the query with the place behind which the stream goes on.
        numbered: whether places are numbers that grow.

    >>> cursors = Cursors(str, str, bool, "starting_after")
    >>> cursors.url("https://host/v1/responses?api-version=1", "resp_1", "7")
    'https://host/v1/responses/resp_1?api-version=1&stream=true&starting_after=7'
    """

    id_of: Callable[[JsonObject], str]
    place_of: Callable[[JsonObject], str]
    fails: Callable[[JsonObject], bool]
    after: str
    numbered: bool = False

    def url(self, asked: str, answer: str, place: str) -> str:
        """Return the URL of the rest of a stream.

        Args:
            asked: the URL of the request that the stream answers.
            answer: the id of the answer.
            place: that of the last event that came.
        """
        parts = urlsplit(asked)
        query = [parts.query] if parts.query else []
        query += ["stream=true", f"{self.after}={quote(place, safe='')}"]
        path = f"{parts.path.rstrip('/')}/{quote(answer, safe='')}"
        return urlunsplit(parts._replace(path=path, query="&".join(query)))

    def is_behind(self, place: str, other: str) -> bool:
        """Return whether a place comes behind another one. Without numbers, any other does.

        >>> numbered = Cursors(str, str, bool, "after", numbered=True)
        >>> numbered.is_behind("10", "9"), numbered.is_behind("9", "10")
        (True, False)
        """
        if self.numbered and place.isdecimal() and other.isdecimal():
            # Python reads no number of more than 4,300 digits, and a place may have any length.
            return (len(place), place) > (len(other), other)
        return place != other
