"""Sends the requests of the checks, within a budget, and keeps secrets out of what is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2

import tenuto
from checks.live.providers import Target
from checks.live.wires import Ask, Seen, see
from tenuto.core.answer.signals import Usage
from tenuto.core.answer.stop import printable
from tenuto.events import TurnEnded

TIMEOUT_S = 60.0
SHOWN_CHARS = 90
_OF_THE_KEY = (401, 403)
"""Their messages may quote a part of the key, so that none of it is shown."""


class Refused(Exception):
    """The service gave no answer. The message says how, without secrets."""

    def __init__(self, said: str, status: int = 0, body: str = "") -> None:
        super().__init__(said)
        self.status = status
        self.body = body


class OutOfBudget(Exception):
    """What is left of the budget is less than the next request may cost."""


@dataclass(slots=True)
class Budget:
    """Output tokens of all providers together.

    A request is sent only if the most that it may cost is left. Afterwards what the service counted
    is taken off, or all of it where the service did not count.

    >>> budget = Budget(100)
    >>> budget.reserve(60)
    >>> budget.spend(20)
    >>> budget.left_tokens
    80
    """

    tokens: int
    used_tokens: int = 0

    @property
    def left_tokens(self) -> int:
        """What may still be used."""
        return self.tokens - self.used_tokens

    def reserve(self, most_tokens: int) -> None:
        """Raise OutOfBudget where this much is not left."""
        if most_tokens > self.left_tokens:
            raise OutOfBudget

    def spend(self, tokens: int) -> None:
        """Take off what was used."""
        self.used_tokens += tokens


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its bytes, and what they say when they are read without Tenuto."""

    content: bytes
    seen: Seen


@dataclass(slots=True)
class Session:
    """The checks of one provider, and what the later ones need of the earlier ones.

    Attributes:
        target: who is asked.
        budget: what all requests share.
        tokens: what the present check used.
        whole: the text without a cut, as far as it came; "" while it is not known.
        cut, cut_stream: the answers that the output limit cut, None while there are none.
        events: what Tenuto told of the last turn that it finished.
    """

    target: Target
    budget: Budget
    tokens: int = 0
    whole: str = ""
    cut: Reply | None = None
    cut_stream: Reply | None = None
    events: list[tenuto.Event] = field(default_factory=list)

    def ask(self, prompt: str, limit_tokens: int, **more: Any) -> Reply:
        """Send one request with nothing of Tenuto in between.

        Raises:
            OutOfBudget: the limit is more than what is left.
            Refused: the service gave no answer.
        """
        request = Ask(
            self.target.model,
            prompt,
            limit_tokens,
            limit_key=self.target.row.dialect.output_key,
            **more,
        )
        self.budget.reserve(limit_tokens)
        with httpx2.Client(**self._options) as client:
            content = self._post(client, request, limit_tokens)
        reply = Reply(content, see(self.target.wire, content, stream=request.stream))
        self._spend(limit_tokens if reply.seen.said_tokens is None else reply.seen.said_tokens)
        return reply

    def turn(self, prompt: str, limit_tokens: int, most_tokens: int, policy: tenuto.Policy) -> str:
        """Have a streamed turn finished by Tenuto, and return its text.

        Args:
            most_tokens: what all its requests together may use.

        Raises:
            OutOfBudget: this is more than what is left.
            Refused: the service gave no answer.
        """
        self.budget.reserve(most_tokens)
        self.target.register()
        self.events.clear()
        row = self.target.row.dialect
        request = Ask(self.target.model, prompt, limit_tokens, row.output_key, stream=True)
        made = tenuto.http_client(policy=policy, on_event=self.events.append, **self._options)
        with made as client:
            content = self._post(client, request, most_tokens)
        self._spend(self._turn_tokens(limit_tokens))
        return see(self.target.wire, content, stream=True).text

    def _turn_tokens(self, limit_tokens: int) -> int:
        """What the attempts of a turn used; one that was not counted used its whole limit."""
        ended = [event for event in self.events if isinstance(event, TurnEnded)]
        usages = [usage or Usage() for event in ended for usage in event.usage]
        counted = (usage.output_tokens for usage in usages)
        return sum(limit_tokens if tokens is None else tokens for tokens in counted)

    @property
    def _options(self) -> dict[str, Any]:
        # A redirect is not followed: it would take the key along. No proxy stands before loopback.
        return {
            "timeout": TIMEOUT_S,
            "follow_redirects": False,
            "trust_env": not self.target.on_loopback,
        }

    def _spend(self, tokens: int) -> None:
        self.tokens += tokens
        self.budget.spend(tokens)

    def _post(self, client: httpx2.Client, request: Ask, most_tokens: int) -> bytes:
        path, body = self.target.wire.asks(request)
        body |= dict(request.members)
        data = json.dumps(body, ensure_ascii=False).encode()
        url = self.target.base_url + path
        try:
            response = client.post(url, content=data, headers=self.target.headers)
        except httpx2.HTTPError as error:
            if not isinstance(error, httpx2.ConnectError):
                self._spend(most_tokens)  # what the service did behind the break, nobody knows
            raise Refused(f"no answer: {type(error).__name__}") from None
        if response.status_code != 200:
            said = "" if response.status_code in _OF_THE_KEY else self.shown(response.text)
            raise Refused(
                f"{response.status_code} {said}".strip(), response.status_code, response.text
            )
        return response.content

    def shown(self, text: str) -> str:
        """Make a text of the service fit for a line: short, printable, and without the key.

        >>> target = Target("openai", "m", "https://api.openai.com/v1", "k-1")
        >>> Session(target, Budget(1)).shown('{"error":{"message":"No k-1 here"}}')
        'No … here'
        """
        try:
            document = json.loads(text)
        except ValueError:
            document = text
        found = next(_messages(document), text)
        if self.target.key:
            found = found.replace(self.target.key, "…")
        return printable(" ".join(found.split()), SHOWN_CHARS)


def _messages(value: Any) -> Iterator[str]:
    """Yield the texts that an error holds under `message`, the outer ones first."""
    if isinstance(value, list):
        for one in value:
            yield from _messages(one)
    if isinstance(value, dict):
        if isinstance(value.get("message"), str):
            yield value["message"]
        for one in value.values():
            yield from _messages(one)
