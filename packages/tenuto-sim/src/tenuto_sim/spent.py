"""What a turn cost: the tokens of each exchange, and the share of a continuation that a prompt
cache
would hit.

All wires count tokens alike: one per `token_chars` characters, rounded up. Input is the messages as
JSON, output is the content sent. The numbers are for comparison, and don't predict prices.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from tenuto_sim.exchange import Recorded

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"
_HEAD = frozenset({"system", "systemInstruction", "tools"})


@dataclass(frozen=True, slots=True)
class Shared:
    """How much of a request's messages was already in the first request, byte by byte.

    >>> Shared(common_bytes=75, messages_bytes=100, rows_identical=True, head_identical=True).share
    0.75
    """

    common_bytes: int
    """Length of the common beginning of both lists of messages, in bytes."""
    messages_bytes: int
    rows_identical: bool
    """Whether every message of the first request is in this one, unchanged and in the same
    place."""
    head_identical: bool
    """Whether `system` and `tools` are unchanged."""

    @property
    def share(self) -> float:
        """The share of this request's messages, 0 to 1, that is the same as the beginning of the
        first request's.

        >>> Shared(0, 0, True, True).share
        0.0
        """
        return self.common_bytes / self.messages_bytes if self.messages_bytes else 0.0


@dataclass(frozen=True, slots=True)
class Spent:
    """Exchanges that belong together, in order: those of one turn or one conversation.

    >>> Spent(()).output_tokens
    0
    """

    exchanges: tuple[Recorded, ...]

    @property
    def input_tokens(self) -> int:
        """Input tokens of all exchanges."""
        return sum(exchange.input_tokens for exchange in self.exchanges)

    @property
    def output_tokens(self) -> int:
        """Output tokens of all exchanges, including broken answers."""
        return sum(exchange.output_tokens for exchange in self.exchanges)

    @property
    def uncut_tokens(self) -> int:
        """What the first answered exchange would have cost with the whole right answer."""
        for exchange in self.exchanges:
            if exchange.uncut_output_tokens:
                return exchange.input_tokens + exchange.uncut_output_tokens
        return 0

    @property
    def recovery_tokens(self) -> int:
        """Tokens spent beyond that; negative if the answer stayed cut."""
        return self.input_tokens + self.output_tokens - self.uncut_tokens

    def shared(self, number: int = -1) -> Shared:
        """Return what the request with this number shares with the first.

        >>> body = b'{"model":"sim","messages":[{"role":"user","content":"x"}]}'
        >>> asked = Recorded("POST", "/v1/messages", {}, body, None, 200)
        >>> Spent((asked, asked)).shared().share
        1.0
        """
        first, this = self.exchanges[0].body, self.exchanges[number].body
        own, rows = _rows(first), _rows(this)
        here, before = _inside(this), _inside(first)
        same = takewhile(lambda pair: pair[0] == pair[1], zip(before, here, strict=False))
        head = [{k: v for k, v in _keys(body).items() if k in _HEAD} for body in (first, this)]
        return Shared(
            common_bytes=sum(1 for _ in same),
            messages_bytes=len(here),
            rows_identical=rows[: len(own)] == own,
            head_identical=head[0] == head[1],
        )


def _members(text: str) -> Iterator[tuple[str, str]]:
    """Yield each member of a JSON object or list as written, with its key ("" in a list)."""
    at = _after(text, 1)
    while text[at] not in "]}":
        name = ""
        if text[0] == "{":
            name, at = _DECODER.raw_decode(text, at)
            at = _after(text, _after(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        yield name, text[at:end]
        at = _after(text, end)
        at = _after(text, at + 1) if text[at] == "," else at


def _keys(body: bytes) -> dict[str, str]:
    return dict(_members(body.decode().strip()))


def _conversation(body: bytes) -> str:
    """Return the list of messages as written; Gemini has a different name for it."""
    keys = _keys(body)
    return keys.get("messages") or keys["contents"]


def _rows(body: bytes) -> list[str]:
    """Return each message of a body as written."""
    return [row for _, row in _members(_conversation(body))]


def _inside(body: bytes) -> bytes:
    """Return the list of messages as written, without its brackets."""
    return _conversation(body).strip()[1:-1].strip().encode()


def _after(text: str, at: int) -> int:
    """Return the index of the next character that isn't white space."""
    while text[at] in _SPACE:
        at += 1
    return at
