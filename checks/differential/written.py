"""The cases that are written here, as pairs: a table, and each row on the SDKs that can have it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from checks.differential.far import Simulated, Written
from checks.differential.playing import Pair
from checks.differential.sdks import SDKS, Question
from checks.differential.truth import Truth

EVERY: tuple[str, ...] = tuple(SDKS)
CHAT: tuple[str, ...] = ("openai-chat", "groq", "together", "cerebras")
BOTH: tuple[bool, ...] = (False, True)
STREAM: tuple[bool, ...] = (True,)
BODY: tuple[bool, ...] = (False,)


@dataclass(frozen=True, slots=True)
class Script:
    """A case: its key is `letter/name`, as the issue and the public reports name the kinds.

    `far` makes the server's side from an SDK's name and whether a stream was asked for. `truth` is
    None where a simulator answers. `limit` is the output limit that the program sets, `more` are
    further arguments of the call.
    """

    key: str
    far: Callable[[str, bool], Simulated | Written]
    truth: Truth | None
    sdks: Sequence[str] = EVERY
    modes: Sequence[bool] = BOTH
    tools: bool = False
    limit: int | None = None
    model: str = "m"
    more: Mapping[str, Any] = field(default_factory=dict)
    turns: int = 1
    policy: Mapping[str, Any] = field(default_factory=dict)

    def pairs(self) -> Iterator[Pair]:
        """Return the case on each SDK, as body and stream, sync and async."""
        for sdk in self.sdks:
            for stream in self.modes:
                for task in (False,) if SDKS[sdk].sync_only else (False, True):
                    mode, way = "stream" if stream else "body", "task" if task else "sync"
                    more = {**self.more, **limited(sdk, self.limit)}
                    question = Question(self.model, self.tools, more=more)
                    far = partial(self.far, sdk, stream)
                    yield Pair(
                        *(f"{sdk}/{self.key}/{mode}/{way}", sdk, stream, task, question, far),
                        *(self.truth, self.turns, dict(self.policy)),
                    )


def limited(sdk: str, tokens: int | None) -> dict[str, Any]:
    """Return the argument that limits the output of an SDK."""
    if tokens is None:
        return {}
    named: dict[str, dict[str, Any]] = {
        "openai-responses": {"max_output_tokens": tokens},
        "gemini": {"max_output_tokens": tokens},
        "bedrock": {"inferenceConfig": {"maxTokens": tokens}},
        "ollama": {"options": {"num_predict": tokens}},
    }
    return named.get(sdk, {"max_tokens": tokens})


def pairs() -> Iterator[Pair]:
    """Return all written pairs."""
    from checks.differential import bytes_chat, bytes_others, documents_cut, everywhere

    modules = everywhere, documents_cut, bytes_chat, bytes_others
    for table in (module.SCRIPTS for module in modules):
        for script in table:
            yield from script.pairs()
