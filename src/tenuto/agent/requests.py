"""The conversation as requests: what each candidate's wire makes of it, and how long it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tenuto.agent import text_calls
from tenuto.agent.compaction import CHARS_PER_TOKEN
from tenuto.agent.limits import Limits
from tenuto.agent.model import Model
from tenuto.core.report import Report
from tenuto.core.signals import Usage
from tenuto.core.transcript import Transcript
from tenuto.wires.composing import Composed
from tenuto.wires.form import Declared, Opening


@dataclass(slots=True)
class Setup:
    """What a loop works with, the same for all turns of an agent.

    Attributes:
        models: whom to ask, the first one first; the others where it fails (P4).
        system: the system prompt.
        tools: the tools as the model is told of them.
        hints: what a cut call of a tool is answered with, by the tool's name.
        limits: how far a turn may go.
        stream: whether answers come as streams.
        now: a monotonic clock, in seconds.
    """

    models: Sequence[Model]
    system: str
    tools: Sequence[Declared]
    hints: dict[str, str]
    limits: Limits
    stream: bool
    now: Callable[[], float]


class Requests:
    """The requests of a conversation; of each candidate's only what is new is written.

    Args:
        setup: whom it is with, and the tools.
        transcript: the conversation; it grows.
    """

    def __init__(self, setup: Setup, transcript: Transcript) -> None:
        self._setup = setup
        self._transcript = transcript
        self._written: dict[int, tuple[Composed, int]] = {}
        # Of the last answer that told its usage: the candidate, tokens in all, the request's bytes.
        self._measured = _NOTHING

    def forget(self) -> None:
        """The conversation is another one now, or another candidate's turn has come."""
        self._written, self._measured = {}, _NOTHING

    def to(self, at: int) -> Composed:
        """The conversation for the candidate of this number."""
        setup, model = self._setup, self._setup.models[at]
        if at not in self._written:
            self._written[at] = self.opened(model, setup.system, setup.tools), 0
        request, written = self._written[at]
        for number in range(written, len(self._transcript)):
            row = self._transcript[number]
            request.add(text_calls.textual(row) if model.text_calls else row)
        self._written[at] = request, len(self._transcript)
        return request

    def opened(self, model: Model, system: str, tools: Sequence[Declared]) -> Composed:
        """A request without rows yet."""
        stream = self._setup.stream
        if model.text_calls:
            system, tools = text_calls.described(system, tools), ()
        limit = model.max_output_tokens
        opening = Opening(model.id, system, tools, limit, stream, model.options)
        path = model.form.path(model.id, stream).partition("?")[0]
        return Composed(model.wire, model.provider.dialect, path, opening)

    def answered(self, at: int, report: Report) -> None:
        """Note what the answer says of the request's size, where it does."""
        if tokens := _tokens(report):
            self._measured = at, tokens, len(self.to(at))

    def is_long(self, at: int) -> bool:
        """Whether the next request would fill more of the window than is allowed: by the usage of
        the last one, and what was added since by its size."""
        window_tokens, share = self._setup.models[at].window_tokens, self._setup.limits.compact_at
        if not window_tokens or not share:
            return False
        _, tokens, size = self._measured if self._measured[0] == at else _NOTHING
        added = len(self.to(at)) - size
        return tokens + max(added, 0) // CHARS_PER_TOKEN > share * window_tokens


_NOTHING = (-1, 0, 0)


def _tokens(report: Report) -> int:
    """Tokens of the last attempt: what was asked and what came."""
    last = next((usage for usage in reversed(report.usage) if usage is not None), Usage())
    return (last.input_tokens or 0) + (last.output_tokens or 0)
