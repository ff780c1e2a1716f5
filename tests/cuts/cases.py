"""Continuations in the six ways in which models continue, at cuts of any text.

A `Case` is one cut and one continuation, and what the whole text must be. What is not taken here is
what has no right answer: where a person who sees the same could not tell either
(docs/seams.md names these cases).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from cuts import code
from cuts.announcements import PARAGRAPHS
from cuts.texts import KINDS, Texts
from cuts.words import paragraph
from tenuto.core.seam import trailing_space

SEAMS = ("exact", "overlap", "restart", "line", "preamble", "fence")
_LEAST_VISIBLE_CHARS = 3
_MOST_REPEATED_CHARS = 400
_MOST_LINE_CHARS = 1_900
_REST_CHARS = 1_200


@dataclass(frozen=True, slots=True)
class Case:
    """One cut of one text, and how a model went on.

    Attributes:
        text: the whole text, which is to come out.
        said: what came before the cut, without white space at its end.
        space: the white space that stood there.
        given: how much of that white space (characters) the client has got.
        continuation: what the model said then.
        repeated: what it said again.
    """

    kind: str
    seam: str
    text: str
    said: str
    space: str
    given: int
    continuation: str
    repeated: str

    @property
    def rest(self) -> str:
        """What was not said before."""
        return self.text[len(self.said) :]


def cases(texts: Texts, rng: random.Random, kind: str, seam: str, number: int) -> list[Case]:
    """`number` cases of one kind of text and one kind of seam."""
    found: list[Case] = []
    while len(found) < number:
        # A text gives a few cases, since to make one costs more than to cut it.
        text = texts.text(kind)
        for _ in range(4):
            case = _HOW[seam](rng, kind, text)
            if case is not None and len(found) < number:
                found.append(case)
    return found


def every_case(*, seed: int, number: int, real: bool) -> list[Case]:
    """`number` cases for each kind of seam, the kinds of text in turn."""
    rng = random.Random(seed)
    texts = Texts(rng, real=real)
    share = -(-number // len(KINDS))
    return [
        case for seam in SEAMS for kind in KINDS for case in cases(texts, rng, kind, seam, share)
    ]


def _case(
    rng: random.Random, kind: str, seam: str, text: str, at: int, continuation: str, repeated: str
) -> Case:
    said, space = trailing_space(text[:at])
    return Case(kind, seam, text, said, space, rng.randint(0, len(space)), continuation, repeated)


def _cut(rng: random.Random, text: str, least: int = 20) -> tuple[int, str, str, str]:
    """(Where, what was said, the rest with the white space before it, without it)."""
    at = rng.randrange(least, len(text) - 20)
    said, space = trailing_space(text[:at])
    return at, said, space + text[at:], text[at:]


def _resumed(rng: random.Random, space_and_rest: str, rest: str) -> str:
    """The rest as a model begins it: sometimes without the white space that was held back."""
    return rest if rng.random() < 0.25 and not rest[:1].isspace() else space_and_rest


def _shortened(text: str, at: int) -> str:
    return text[: at + _REST_CHARS]


def _tells(repeated: str) -> bool:
    """Whether a repetition can be told from a text that goes on alike: a row of marks cannot."""
    visible = "".join(repeated.split())
    return len(visible) >= _LEAST_VISIBLE_CHARS and any(map(str.isalnum, visible))


def _exact(rng: random.Random, kind: str, text: str) -> Case | None:
    at, said, spaced, rest = _cut(rng, text)
    if not said:
        return None
    whole = _shortened(text, at)
    spaced, rest = spaced[: len(whole) - len(said)], rest[: len(whole) - at]
    return _case(rng, kind, "exact", whole, at, _resumed(rng, spaced, rest), "")


def _overlap(rng: random.Random, kind: str, text: str) -> Case | None:
    at, said, spaced, _ = _cut(rng, text)
    repeated = said[-rng.randint(3, _MOST_REPEATED_CHARS) :]
    if not said or not _tells(repeated):
        return None
    whole = _shortened(text, at)
    continuation = repeated + spaced[: len(whole) - len(said)]
    return _case(rng, kind, "overlap", whole, at, continuation, repeated)


def _restart(rng: random.Random, kind: str, text: str) -> Case | None:
    at = min(_cut(rng, text)[0], int(20 * 300 ** rng.random()) + 1)
    said, _ = trailing_space(text[:at])
    whole = _shortened(text, at)
    if not _tells(said) or len(whole) == at:
        return None
    lead = rng.choice(("", "", "", "\n"))
    begun = said.lstrip()
    return _case(rng, kind, "restart", whole, at, lead + begun + whole[len(said) :], begun)


def _line(rng: random.Random, kind: str, text: str) -> Case | None:
    at, said, _, _ = _cut(rng, text)
    line = said[said.rfind("\n") + 1 :]
    if len(line) > _MOST_LINE_CHARS:  # longer than what is held, so nobody can tell
        return None
    if "\n" in text[len(said) : at] or not _tells(line):
        return None
    whole = _shortened(text, at)
    again = rng.choice((line, line, line.lstrip()))
    return _case(rng, kind, "line", whole, at, again + whole[len(said) :], again)


def _preamble(rng: random.Random, kind: str, text: str) -> Case | None:
    case = _line(rng, kind, text)
    if case is None:
        return None
    repeated = case.repeated
    if rng.random() < 0.25:  # the lines before it too
        begin = case.said.rfind("\n", 0, max(0, len(case.said) - rng.randint(40, 300))) + 1
        repeated = case.said[begin:] if len(case.said) - begin <= _MOST_REPEATED_CHARS else repeated
    announced = rng.choice(PARAGRAPHS)
    break_ = rng.choice(("\n\n", "\n\n", "\n", "\n\n---\n\n"))
    if announced[-1] not in ":：" and break_ == "\n":
        break_ = "\n\n"
    continuation = announced + break_ + repeated + case.rest
    return _case(
        rng, kind, "preamble", case.text, len(case.said) + len(case.space), continuation, repeated
    )


def _fence(rng: random.Random, kind: str, text: str) -> Case | None:
    if kind == "Markdown" or "```" in text or "~~~" in text:
        text = code.snippet(rng)[1] + "\n" + code.snippet(rng)[1]
    mark = rng.choice(("```", "```", "```", "````", "~~~"))
    indent = rng.choice(("", "", "", "  ", "   "))
    info = rng.choice(_INFO.get(kind, ("", "text")))
    opening = f"{indent}{mark}{info}\n"
    block = text[text.find("\n") + 1 :][:3_000].rstrip() + "\n"
    before = paragraph(rng) + "\n\n" + opening
    whole = before + block + f"{indent}{mark}\n\n" + paragraph(rng) + "\n"
    if len(block) < 40:
        return None
    at = len(before) + rng.randrange(5, len(block) - 10)
    said, space = trailing_space(whole[:at])
    line = said[said.rfind("\n") + 1 :]
    in_line = "\n" not in space
    whole = whole[: at + _REST_CHARS]
    rest = whole[len(said) :]
    shape = rng.randrange(4)
    if len(line) > _MOST_LINE_CHARS:
        return None
    if in_line and _tells(line) and shape < 2 and len(said) > len(before):
        repeated, after = line, line + rest  # the unfinished line again
    elif shape == 2 and len(said) - len(before) > 60:
        repeated = said[said.rfind("\n", len(before) - 1, len(said) - rng.randint(20, 200)) + 1 :]
        if not _tells(repeated) or len(said) - len(repeated) < len(before):
            return None
        after = repeated + rest
    elif info and len(said) > len(before):
        repeated, after = "", rest.removeprefix(space[: space.rfind("\n") + 1])
    else:
        return None
    again = opening if rng.random() < 0.7 else opening.lstrip()
    return _case(rng, kind, "fence", whole, at, again + after, again + repeated)


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

_HOW: dict[str, Callable[[random.Random, str, str], Case | None]] = {
    "exact": _exact,
    "overlap": _overlap,
    "restart": _restart,
    "line": _line,
    "preamble": _preamble,
    "fence": _fence,
}
