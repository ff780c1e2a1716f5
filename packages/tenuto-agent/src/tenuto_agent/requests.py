"""The conversation as requests, in the format of each candidate, and their size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tenuto.core.answer.signals import Usage
from tenuto.core.events.report import Report
from tenuto.wires.form import Declared, Opening
from tenuto_agent import text_calls
from tenuto_agent.compaction import CHARS_PER_TOKEN
from tenuto_agent.composing import Composed
from tenuto_agent.files.words import guidance, is_told
from tenuto_agent.limits import Limits
from tenuto_agent.model import Model
from tenuto_agent.transcript import Transcript, User


@dataclass(slots=True)
class Setup:
    """The models, tools and limits of a loop, the same for all turns of an agent.

    Attributes:
        models: the candidates, in order; a later one is asked if those before it fail (P4).
        system: the system prompt.
        tools: the declarations of the tools.
        hints: the hint for a call that was cut, by the tool's name.
        limits: the limits of a turn.
        stream: whether to ask for streams.
        now: a monotonic clock, in seconds.
        writes_files: whether file tools that write are among the tools.
        call_first: for each candidate, whether its first answer in a turn has to call a tool.
    """

    models: Sequence[Model]
    system: str
    tools: Sequence[Declared]
    hints: dict[str, str]
    limits: Limits
    stream: bool
    now: Callable[[], float]
    writes_files: bool = False
    call_first: Sequence[bool] = ()

    def system_for(self, model: Model) -> str:
        """Return the system prompt of a candidate: with file tools, it has how much one message can
        hold, if that is known (T17)."""
        if not self.writes_files or is_told(self.system):
            return self.system
        told = guidance(model.output_limit_tokens)
        return "\n\n".join(filter(None, (self.system, told)))


class Requests:
    """The requests of a conversation. Each candidate's request grows by the new rows only.

    Args:
        setup: the models, tools and limits.
        transcript: the conversation, which grows.
    """

    def __init__(self, setup: Setup, transcript: Transcript) -> None:
        self._setup = setup
        self._transcript = transcript
        self._written: dict[int, tuple[Composed, int]] = {}
        # Of the last answer with usage: the candidate, all tokens, and the bytes of the request.
        self._measured = _NOTHING

    def forget(self) -> None:
        """Start over, after the conversation was replaced or the candidate changed."""
        self._written, self._measured = {}, _NOTHING

    def to(self, at: int) -> Composed:
        """Return the conversation as a request to the candidate with this index."""
        setup, model = self._setup, self._setup.models[at]
        if at not in self._written:
            self._written[at] = self.opened(model, setup.system_for(model), setup.tools), 0
        request, written = self._written[at]
        for number in range(written, len(self._transcript)):
            row = self._transcript[number]
            request.add(text_calls.textual(row) if model.text_calls else row)
        self._written[at] = request, len(self._transcript)
        return request

    def next(self, at: int) -> Composed:
        """Return the next request to the candidate with this index. The first one of a turn may
        demand a call; after results of tools, that would have no end."""
        setup, model = self._setup, self._setup.models[at]
        if not any(setup.call_first[at : at + 1]) or not isinstance(self._transcript[-1], User):
            return self.to(at)
        request = self.opened(model, setup.system_for(model), setup.tools, call_needed=True)
        for row in self._transcript:
            request.add(text_calls.textual(row) if model.text_calls else row)
        return request

    def opened(
        self, model: Model, system: str, tools: Sequence[Declared], *, call_needed: bool = False
    ) -> Composed:
        """Return a request without rows."""
        stream = self._setup.stream
        if model.text_calls:
            system, tools = text_calls.described(system, tools), ()
        limit = model.max_output_tokens
        opening = Opening(
            model.id, system, tools, limit, stream, model.options, call_needed=call_needed
        )
        path = model.form.path(model.id, stream).partition("?")[0]
        return Composed(model.wire, model.provider.dialect, path, opening)

    def answered(self, at: int, report: Report) -> None:
        """Note how many tokens the conversation has, if the answer reports it."""
        if tokens := _tokens(report):
            self._measured = at, tokens, len(self.to(at))

    def is_long(self, at: int) -> bool:
        """Return whether the next request would fill more of the context window than the limits
        allow. Counts the last request by its reported usage, and what was added since by its
        size."""
        window_tokens, share = self._setup.models[at].window_tokens, self._setup.limits.compact_at
        if not window_tokens or not share:
            return False
        _, tokens, size = self._measured if self._measured[0] == at else _NOTHING
        added = len(self.to(at)) - size
        return tokens + max(added, 0) // CHARS_PER_TOKEN > share * window_tokens


_NOTHING = (-1, 0, 0)


def _tokens(report: Report) -> int:
    """Return the input and output tokens of the last attempt that reported any."""
    last = next((usage for usage in reversed(report.usage) if usage is not None), Usage())
    return (last.input_tokens or 0) + (last.output_tokens or 0)
