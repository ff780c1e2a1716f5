"""The demo's first act: a model's answer under a small output limit, bare and wrapped."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tenuto.cli.demo_ask import Answered, ask

if TYPE_CHECKING:
    import openai

    from tenuto.core.event import Event

PROMPTS: Final = ("What is photosynthesis?", "What does a plumber do?")
"""Questions that the small model answers in about 80 tokens, ending by itself."""

LIMIT_TOKENS: Final = 24
UNCUT_TOKENS: Final = 400


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One question, asked three times.

    Attributes:
        bare: the answer under the limit, from the SDK alone.
        wrapped: the answer under the same limit, through Tenuto.
        uncut: the answer without the limit, from the SDK alone.
        seams: where in the wrapped answer each continuation began, in characters.
        requests: how many requests the wrapped answer took.
    """

    prompt: str
    limit_tokens: int
    bare: Answered
    wrapped: Answered
    uncut: Answered
    seams: tuple[int, ...]
    requests: int
    seconds: float

    @property
    def equal(self) -> bool:
        """Whether the stitched answer is the uncut one, character by character."""
        return self.wrapped.text == self.uncut.text

    @property
    def verdict(self) -> str:
        """ "recovered", "truthful" for a part that says so, "fine" where nothing was cut, or
        "differs"."""
        if self.wrapped.finish == "length" and self.uncut.text.startswith(self.wrapped.text):
            return "truthful"
        if not self.equal:
            return "differs"
        return "recovered" if self.seams else "fine"


def ask_model(
    client: openai.OpenAI, prompts: Sequence[str], *, model: str, limit_key: str = "max_tokens"
) -> Iterator[ModelRow]:
    """Ask each question bare, wrapped (as a stream) and uncut.

    Args:
        client: any client of the official SDK; it is wrapped here.
        limit_key: the name of the request's output limit, which differs among services.
    """
    import tenuto

    events: list[Event] = []
    wrapped_client = tenuto.wrap(client, on_event=events.append)
    for prompt in prompts:
        start_s = time.monotonic()
        messages = [{"role": "user", "content": prompt}]
        small = {"model": model, "messages": messages, "temperature": 0, limit_key: LIMIT_TOKENS}
        bare = ask(client, stream=True, **small)
        events.clear()
        wrapped = ask(wrapped_client, stream=True, **small)
        seams = tuple(_seams(events))
        requests = sum(event.name == "stop_reason_observed" for event in events)
        uncut = ask(client, stream=True, **{**small, limit_key: UNCUT_TOKENS})
        taken_s = time.monotonic() - start_s
        yield ModelRow(
            prompt, LIMIT_TOKENS, bare, wrapped, uncut, seams, requests, round(taken_s, 2)
        )


def _seams(events: Sequence[Event]) -> Iterator[int]:
    for event in events:
        at = event.data.get("output_chars")
        if event.name == "continuation_attempt" and isinstance(at, int):
            yield at


def pieces(text: str, seams: Sequence[int]) -> list[str]:
    """The text in the pieces that each request brought.

    >>> pieces("one two three", [4, 8])
    ['one ', 'two ', 'three']
    """
    edges = [0, *seams, len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges)]
