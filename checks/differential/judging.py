"""The table that judges a pair, written before the first run (issue: never worse than without it).

`ROWS` is read from the top, and the first row whose test holds gives the verdict. Each row says which
pairs it is for: those whose first answer was whole (behaviour P10), or those where it was not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Final, Literal

from checks.differential.sdks import Seen
from checks.differential.truth import State, Truth, meant

Verdict = Literal["worse", "better", "equal", "open"]
"""`open` is a pair that no other row judges: it is listed by hand, or it fails the run."""


@dataclass(frozen=True, slots=True)
class Both:
    """A pair as it is judged: what both programs saw, and the truth.

    `raises` says that the policy was `on_incomplete="error"`, `hosts` that some hosts of the wire
    mark no end of any answer.
    """

    truth: Truth
    bare: Seen
    wrapped: Seen
    complete: frozenset[str]
    requests: tuple[list[Any], list[Any]]
    raises: bool = False
    hosts: bool = False

    def readable(self, seen: Seen) -> int:
        """How many characters of what the model said stand where it said them."""
        text = _read(seen.text)
        return max(_same(text, each) for each in (self.truth.text, *self.truth.others))

    def calls(self, seen: Seen) -> int:
        """How many of the model's calls came as it made them."""
        left = [*self.truth.calls]
        for name, given in seen.calls:
            if (call := (name, meant(given))) in left:
                left.remove(call)
        return len(self.truth.calls) - len(left)

    def right(self, seen: Seen) -> bool:
        """Whether all that the model said came, and nothing else."""
        said = not seen.error and _read(seen.text) in (self.truth.text, *self.truth.others)
        return bool(said and self.calls(seen) == len(self.truth.calls) == len(seen.calls))

    def claims(self, seen: Seen) -> bool:
        """Whether a program takes it for a complete answer by its stop."""
        return bool(not seen.error and seen.stop in self.complete)

    def told(self, seen: Seen) -> bool:
        """Whether a program is told that it is not complete: by an error, or by a stop."""
        return bool(seen.error) or (seen.stop is not None and seen.stop not in self.complete)

    def raised(self, seen: Seen) -> bool:
        """Whether there was an error. Cohere's streams tell one by a stop: they have no other way."""
        return bool(seen.error) or seen.stop == "ERROR"

    @property
    def same(self) -> bool:
        """Whether both programs saw the same text, calls, stop and usage."""
        return bool(_members(self.bare) == _members(self.wrapped))

    @property
    def more_requests(self) -> bool:
        """Whether Tenuto asked again."""
        return len(self.requests[1]) > len(self.requests[0])


_AROUND: Final = re.compile(r"\A\s*<think>.*?(?:</think>\s*|\Z)", re.DOTALL)


def _read(text: str) -> str:
    """Return a text as a person reads it: without a chain of thought, and a broken character."""
    text = _AROUND.sub("", text)
    return "" if not text.strip() else text.removesuffix("\ufffd")


def _same(text: str, said: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, said, strict=False)))


def _members(seen: Seen) -> Any:
    error = seen.kinds[:1] or seen.error.partition(":")[0]
    return seen.text, [(n, meant(a)) for n, a in seen.calls], seen.stop, seen.usage, error


def _sound(seen: Seen) -> bool:
    """Whether each call's arguments are an object as the wire has it, or the text of one."""
    parsed = (given if isinstance(given, dict) else _parsed(given) for _, given in seen.calls)
    return all(isinstance(each, dict) for each in parsed)


def _parsed(given: Any) -> Any:
    once = meant(f"[{given}]") if isinstance(given, str) else None
    return once[0] if isinstance(once, list) and len(once) == 1 else None


def _less_usage(both: Both) -> bool:
    shown, given = both.wrapped.usage, both.bare.usage
    return given is not None and (shown is None or shown[1] < given[1] or shown[0] < given[0])


def _other_error(both: Both) -> bool:
    bare, wrapped = both.bare, both.wrapped
    if not (bare.error and wrapped.error):
        return False
    crash = bare.kinds[:1] and bare.kinds[0].partition(".")[0] in ("builtins", "json")
    if bare.kinds and not crash and not both.raises:  # a crash of the SDK is nothing to catch
        return bare.kinds[0] not in wrapped.kinds or bare.status != wrapped.status
    return False


def _wrong_text(both: Both) -> bool:
    """Whether text stands there that the model did not say there, and the bare SDK has none such."""
    text, bare = _read(both.wrapped.text), _read(both.bare.text)
    said = both.truth.text, *both.truth.others
    if not text or text == bare or any(each.startswith(text) for each in said):
        return False
    tail = text[both.readable(both.wrapped) :]
    return not _repeats(text, tail) and not bare.endswith(tail)


def _repeats(text: str, tail: str) -> bool:
    """Whether a tail says again what stands before it: up to three times is text (C13)."""
    before = text[: len(text) - len(tail)]
    return tail.strip() in before or tail.strip()[:40] in before


Test = Callable[[Both], bool]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table. `of` says for which pairs it is."""

    name: str
    of: Literal["whole", "not whole", "both"]
    verdict: Verdict
    says: str
    test: Test


ROWS: Final[tuple[Row, ...]] = (
    # Whole answers.
    Row("asked again", "whole", "worse", "A further request, although the end was marked.",
        lambda b: b.more_requests),
    Row("refused answer raises", "whole", "equal",
        'Under `on_incomplete="error"`, what was refused or blocked is an error.',
        lambda b: b.raises and b.raised(b.wrapped) and b.truth.state is State.BLOCKED),
    Row("error over a whole answer", "whole", "worse", "Tenuto raises, and the bare SDK does not.",
        lambda b: bool(b.wrapped.error) and not b.bare.error),
    Row("same error", "whole", "equal", "Both raise, and the same class.",
        lambda b: bool(b.wrapped.error and b.bare.error) and not _other_error(b)),
    Row("other error", "whole", "worse", "Both raise, and the caller's `except` misses Tenuto's.",
        lambda b: bool(b.wrapped.error) and _other_error(b)),
    Row("text differs", "whole", "worse", "The text is another one.",
        lambda b: b.wrapped.text not in (b.bare.text, b.truth.text)
        or (bool(b.bare.error) and b.wrapped.text != b.truth.text)),
    Row("calls differ", "whole", "worse", "The calls are other ones.",
        lambda b: _called(b.wrapped) != _called(b.bare) and not b.right(b.wrapped)),
    Row("repaired", "whole", "better", "The bare SDK breaks on the whole answer, or shows it wrong.",
        lambda b: b.right(b.wrapped) and (bool(b.bare.error) or not b.right(b.bare))),
    Row("put right", "whole", "better", "Ids, types, indexes or arguments are put right (T13, T12).",
        lambda b: b.truth.odd and b.right(b.wrapped) and b.wrapped.dump != b.bare.dump
        and b.wrapped.stop == b.bare.stop and b.wrapped.usage == b.bare.usage),
    Row("told which stop counts", "whole", "better", "Ends contradict each other; the right one is shown.",
        lambda b: b.wrapped.stop != b.bare.stop and b.wrapped.stop in b.truth.stops),
    Row("ends put in order", "whole", "equal",
        'Under `on_incomplete="error"`, a whole answer ends in one stop that says so.',
        lambda b: b.raises and b.right(b.wrapped) and b.claims(b.wrapped)
        and (b.bare.stop in (None, "", "null") or b.claims(b.bare))
        and b.wrapped.usage == b.bare.usage),
    Row("stop differs", "whole", "worse", "The stop is another one.",
        lambda b: b.wrapped.stop != b.bare.stop),
    Row("usage differs", "whole", "worse", "The usage is another one.",
        lambda b: b.wrapped.usage != b.bare.usage),
    Row("first request differs", "whole", "open", "Tenuto changed the request.",
        lambda b: not b.truth.refuses and b.requests[0][:1] != b.requests[1][:1]),
    Row("a byte differs", "whole", "worse", "What the SDK gives differs elsewhere.",
        lambda b: b.wrapped.dump != b.bare.dump and not b.raises),
    Row("unchanged", "whole", "equal", "Everything is the same.", lambda b: b.same),
    # Answers that were not whole.
    Row("error over an unmarked answer", "not whole", "worse",
        "All of the text came, as hosts that mark no end send it, and Tenuto raises.",
        lambda b: b.hosts and b.truth.state is State.UNMARKED and not b.raises
        and bool(b.wrapped.error) and not b.bare.error),
    Row("unmarked", "not whole", "equal", "All of the text came, and nothing says that it is all.",
        lambda b: b.truth.state is State.UNMARKED and b.right(b.wrapped) and b.right(b.bare)
        and not _less_usage(b)),
    Row("raised by policy", "not whole", "equal",
        'Under `on_incomplete="error"`, the unfinished answer is an error.',
        lambda b: b.raises and b.raised(b.wrapped) and b.told(b.bare)),
    Row("finished", "not whole", "better", "All that the model said came, and nothing else.",
        lambda b: b.right(b.wrapped) and not _less_usage(b)
        and (not b.right(b.bare) or (b.claims(b.wrapped) and not b.claims(b.bare)))),
    Row("less text", "not whole", "worse", "Less of the text can be read.",
        lambda b: b.readable(b.wrapped) < b.readable(b.bare)
        and not (b.raises and b.wrapped.error)),
    Row("fewer calls", "not whole", "worse", "Fewer of the model's calls came.",
        lambda b: b.calls(b.wrapped) < b.calls(b.bare)
        and not (b.raises and b.told(b.wrapped))),
    Row("cut told as complete", "not whole", "worse",
        "The bare SDK raises, or shows a cutting stop or none; Tenuto shows a stop of a whole answer.",
        lambda b: b.claims(b.wrapped) and not b.right(b.wrapped) and not b.claims(b.bare)),
    Row("complete under error", "not whole", "worse",
        'Under `on_incomplete="error"` something shows that it is unfinished, and nothing is raised.',
        lambda b: b.raises and not b.told(b.wrapped) and not b.right(b.wrapped)
        and b.truth.state in (State.CUT, State.ERROR, State.EMPTY)),
    Row("error swallowed", "not whole", "worse", "The bare SDK raises; Tenuto ends without a word.",
        lambda b: bool(b.bare.error) and not b.wrapped.error and b.wrapped.stop is None
        and not b.right(b.wrapped)),
    Row("wrong text", "not whole", "worse", "Text stands where the model said another.", _wrong_text),
    Row("less usage", "not whole", "worse", "The usage shown is less than that of the first attempt.",
        lambda b: not b.wrapped.error and _less_usage(b) and not (b.raises and b.told(b.wrapped))),
    Row("other error class", "not whole", "worse",
        "Both raise, and the class or the status is not the bare SDK's.", _other_error),
    Row("more of it", "not whole", "better", "More of the text or of the calls came.",
        lambda b: b.readable(b.wrapped) > b.readable(b.bare) or b.calls(b.wrapped) > b.calls(b.bare)),
    Row("told", "not whole", "better", "The bare SDK is silent; Tenuto tells that it is unfinished.",
        lambda b: b.told(b.wrapped) and not b.told(b.bare)),
    Row("same", "not whole", "equal", "Text, calls, stop and usage are the same.",
        lambda b: b.same or (b.raises and _members(b.bare)[:2] == _members(b.wrapped)[:2]
                             and b.claims(b.bare) and b.claims(b.wrapped))),
    Row("broken calls withheld", "not whole", "better",
        "A call that is not whole is never shown; the bare SDK shows it.",
        lambda b: not _sound(b.bare) and _sound(b.wrapped) and not b.claims(b.wrapped)),
    Row("told otherwise", "not whole", "equal",
        "The same can be read, and both tell that it is unfinished.",
        lambda b: b.told(b.wrapped) and b.told(b.bare)),
    Row("same, more usage", "not whole", "equal",
        "A further request was allowed and brought nothing.",
        lambda b: _members(b.bare)[:3] == _members(b.wrapped)[:3] and not b.wrapped.error),
    Row("nothing else", "both", "open", "No other row judges it.", lambda b: True),
)  # fmt: skip


def _called(seen: Seen) -> Any:
    return [(name, meant(given)) for name, given in seen.calls]


def judge(both: Both) -> Row:
    """Return the row that judges a pair, by its deltas and, where there is one, by its end."""
    first = _row(both)
    bare, wrapped = both.bare.final, both.wrapped.final
    if bare is None or wrapped is None:
        return first
    ends = (replace(end, error=seen.error, kinds=seen.kinds, status=seen.status)
            for end, seen in ((bare, both.bare), (wrapped, both.wrapped)))  # fmt: skip
    end = _row(replace(both, bare=next(ends), wrapped=next(ends)))
    order = ("worse", "open", "better", "equal")
    return min(first, end, key=lambda row: order.index(row.verdict))


def _row(both: Both) -> Row:
    of = ("both", "whole" if both.truth.whole else "not whole")
    return next(row for row in ROWS if row.of in of and row.test(both))
