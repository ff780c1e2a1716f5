"""Continuations in the six ways in which models continue, at cuts of any text.

A `Case` is one cut and one continuation, and what the whole text must be. What is not taken here is
what has no right answer: where a person who sees the same could not tell either
(docs/seams.md names these cases).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from support.cuts import code
from support.cuts.preambles import PREAMBLES
from support.cuts.texts import KINDS, Texts
from support.cuts.words import paragraph
from tenuto.core.seam.seam import trailing_space

SEAMS = ("exact", "overlap", "restart", "line", "preamble", "fence")
_LEAST_VISIBLE_CHARS = 3
_MOST_REPEATED_CHARS = 400
_MOST_LINE_CHARS = 1_900
_REST_CHARS = 1_200
_LEAST_SAID_CHARS = 12
_DOUBLED_CHARS = 20
_HALF_A_CHARACTER = "\ufffd"


@dataclass(frozen=True, slots=True)
class Case:
    """One cut of one text, and how a model went on.

    Attributes:
        text: the whole text, which is to come out.
        said: what came before the cut, without white space at its end.
        half: what shows of a character of several bytes that was cut, "" where none was.
        space: the white space that stood there.
        given: how much of that white space (characters) the client has got.
        continuation: what the model said then.
        repeated: what it said again.
        preamble: what it said before that, "" where it said nothing.
    """

    kind: str
    seam: str
    text: str
    said: str
    half: str
    space: str
    given: int
    continuation: str
    repeated: str
    preamble: str = ""

    @property
    def rest(self) -> str:
        """What was not said before."""
        return self.text[len(self.said) :]


def cases(
    texts: Texts, rng: random.Random, kind: str, seam: str, number: int, preambles: Sequence[str]
) -> list[Case]:
    """`number` cases of one kind of text and one kind of seam."""
    found: list[Case] = []
    while len(found) < number:
        # A text gives a few cases, since to make one costs more than to cut it.
        text = texts.text(kind)
        for _ in range(4):
            case = _HOW[seam](_Cut(rng, kind, text, preambles))
            if case is not None and len(found) < number:
                found.append(case)
    return found


def every_case(
    *,
    seed: int,
    number: int,
    real: bool,
    seams: Sequence[str] = SEAMS,
    preambles: Sequence[str] = PREAMBLES,
) -> list[Case]:
    """`number` cases for each kind of seam, the kinds of text in turn."""
    rng = random.Random(seed)
    texts = Texts(rng, real=real)
    share = -(-number // len(KINDS))
    return [
        case
        for seam in seams
        for kind in KINDS
        for case in cases(texts, rng, kind, seam, share, preambles)
    ]


class _Cut:
    """One cut of one text: anywhere, and more often where it is hard, which is in white space, at
    the end of a line, and inside of a character of several bytes."""

    def __init__(
        self, rng: random.Random, kind: str, text: str, preambles: Sequence[str], *, fenced: int = 6
    ) -> None:
        self.rng, self.kind, self.preambles = rng, kind, preambles
        if rng.randrange(fenced) == 0:
            text = _in_fence(rng, kind, text)
        self.text = text
        self.at, self.half = _place(rng, text)
        self._measure()

    def move(self, at: int) -> None:
        """Cut here instead."""
        self.at, self.half = at, ""
        self._measure()

    def _measure(self) -> None:
        self.said, self.space = trailing_space(self.text[: self.at])
        if self.half:
            self.said, self.space = self.text[: self.at], ""
        self.whole = self.text[: self.at + _REST_CHARS]
        self.line = self.said[self.said.rfind("\n") + 1 :]

    @property
    def rest(self) -> str:
        """All that was not said, the white space at the cut included."""
        return self.whole[len(self.said) :]

    def case(self, seam: str, continuation: str, repeated: str, preamble: str = "") -> Case:
        """The case, when a model goes on so."""
        given = self.rng.randint(0, len(self.space))
        return Case(
            self.kind,
            seam,
            self.whole,
            self.said,
            self.half,
            self.space,
            given,
            continuation,
            repeated,
            preamble,
        )


def _place(rng: random.Random, text: str) -> tuple[int, str]:
    """(Where to cut, what shows of a character that is cut there)."""
    places = range(_LEAST_SAID_CHARS, len(text) - 20)
    how = rng.randrange(8)
    if how == 0:
        some = [at for at in places if text[at - 1].isspace()]
    elif how == 1:
        some = [at for at in places if "\n" in text[at - 1 : at + 1]]
    elif how == 2:
        some = [at for at in places if text[at] >= "\x80" and not text[at - 1].isspace()]
    else:
        some = []
    at = rng.choice(some) if some else rng.choice(places)
    return at, (_HALF_A_CHARACTER if how == 2 and some else "")


def _in_fence(rng: random.Random, kind: str, text: str) -> str:
    if "```" in text or "~~~" in text:
        return text
    info = rng.choice(_INFO[kind])
    return f"{paragraph(rng)}\n\n```{info}\n{text.rstrip()}\n```\n\n{paragraph(rng)}\n"


def _tells(repeated: str) -> bool:
    """Whether a repetition can be told from a text that goes on alike: a row of marks cannot."""
    visible = "".join(repeated.split())
    return len(visible) >= _LEAST_VISIBLE_CHARS and any(map(str.isalnum, visible))


def _exact(cut: _Cut) -> Case | None:
    if not cut.said or _doubles(cut):
        return None
    rest = cut.whole[cut.at :]
    without = cut.rng.random() < 0.25 and not rest[:1].isspace()
    return cut.case("exact", rest if without else cut.rest, "")


def _overlap(cut: _Cut) -> Case | None:
    repeated = cut.said[-cut.rng.randint(3, _MOST_REPEATED_CHARS) :]
    if not cut.said or not _tells(repeated) or _is_twice(cut, repeated):
        return None
    return cut.case("overlap", repeated + cut.rest, repeated)


def _restart(cut: _Cut) -> Case | None:
    at = int(_LEAST_SAID_CHARS * 500 ** cut.rng.random()) + 1
    if at < cut.at:
        cut.move(at)
    begun = cut.said.lstrip()
    if not _tells(begun) or not cut.rest or _is_twice(cut, begun):
        return None
    lead = cut.rng.choice(("", "", "", "\n"))
    return cut.case("restart", lead + begun + cut.rest, begun)


def _line(cut: _Cut) -> Case | None:
    if len(cut.line) > _MOST_LINE_CHARS:  # longer than what is held, so nobody can tell
        return None
    if not _tells(cut.line) or _is_twice(cut, cut.line):
        return None
    again = cut.rng.choice((cut.line, cut.line, cut.line.lstrip()))
    return cut.case("line", again + cut.rest, again)


def _doubles(cut: _Cut) -> bool:
    """Whether the text itself says twice, exactly at the cut, what stands there: nobody can tell
    that from a repetition."""
    rest = cut.rest.lstrip()
    begin = cut.said.rfind(rest[:_DOUBLED_CHARS])
    if (
        "\n" in cut.text[len(cut.said) : cut.at + 1]
        and rest.partition("\n")[0] == cut.line.lstrip()
    ):
        return True
    return begin >= 0 and rest.startswith(cut.said[begin:])


def _is_twice(cut: _Cut, repeated: str) -> bool:
    """Whether the text itself says this twice in a row anywhere."""
    bare = repeated.strip()
    return re.search(re.escape(bare) + r"\s*" + re.escape(bare), cut.text) is not None


def _preamble(cut: _Cut) -> Case | None:
    case = _line(cut)
    if case is None:
        return None
    rng, said, repeated = cut.rng, cut.said, case.repeated
    if rng.random() < 0.25:  # the lines before it too
        begin = said.rfind("\n", 0, max(0, len(said) - rng.randint(40, 300))) + 1
        repeated = said[begin:] if len(said) - begin <= _MOST_REPEATED_CHARS else repeated
    announced = rng.choice(cut.preambles)
    break_ = rng.choice(("\n\n", "\n\n", "\n", "\n\n---\n\n"))
    if announced[-1] not in ":\uff1a" and break_ == "\n":
        break_ = "\n\n"
    return cut.case("preamble", announced + break_ + repeated + cut.rest, repeated, announced)


def _fence(cut: _Cut) -> Case | None:
    rng, kind, text = cut.rng, cut.kind, cut.text
    if kind == "Markdown" or "```" in text or "~~~" in text:
        text = code.snippet(rng)[1] + "\n" + code.snippet(rng)[1]
    mark = rng.choice(("```", "```", "```", "````", "~~~"))
    indent = rng.choice(("", "", "", "  ", "   "))
    info = rng.choice(_INFO[kind])
    opening = f"{indent}{mark}{info}\n"
    block = text[text.find("\n") + 1 :][:3_000].rstrip() + "\n"
    if len(block) < 60:
        return None
    before = paragraph(rng) + "\n\n" + opening
    at, cut.half = _place(rng, block)
    cut.text = before + block + f"{indent}{mark}\n\n" + paragraph(rng) + "\n"
    cut.at = len(before) + at
    cut._measure()
    said, space, line, rest = cut.said, cut.space, cut.line, cut.rest
    if len(line) > _MOST_LINE_CHARS:
        return None
    shape = rng.randrange(5)
    repeated = ""
    if shape < 2 and _tells(line):
        repeated = line  # the unfinished line again
    elif shape == 2 and len(said) - len(before) > 60:
        repeated = said[said.rfind("\n", len(before) - 1, len(said) - rng.randint(20, 200)) + 1 :]
        if not _tells(repeated) or len(said) - len(repeated) < len(before):
            return None
    elif not info:
        return None
    elif shape == 3:  # the fence ends the line, so the line break that stood there is left out
        broken = rest[: len(rest) - len(rest.lstrip())]
        if "\n" in broken and broken.count("\n") == space.count("\n"):
            rest = rest.lstrip("\n")
    if repeated and _is_twice(cut, repeated):
        return None
    again = opening if rng.random() < 0.7 else opening.lstrip()
    return cut.case("fence", again + repeated + rest, again + repeated)


_INFO = {
    "prose": ("text", "", "markdown", "txt"),
    "code": ("python", "py", "js", "c++", "", "rust,ignore", "c", 'js title="main.js"', "objective-c"),
    "JSON, TOML": ("json", "json5", "toml", "", "jsonc"),
    "Markdown": ("python", "bash", "", "sql"),
    "tables": ("csv", "text", "", "markdown"),
    "logs": ("log", "console", "", "text"),
    "Chinese": ("text", "文本", ""),
    "Japanese": ("text", "", "markdown"),
}  # fmt: skip

_HOW: dict[str, Callable[[_Cut], Case | None]] = {
    "exact": _exact,
    "overlap": _overlap,
    "restart": _restart,
    "line": _line,
    "preamble": _preamble,
    "fence": _fence,
}
