"""What the text of an answer shows of its end.

Structure shows a cut: an open fence, an open block of thinking, JSON that breaks off. The end of
prose does not: titles, labels and commit subjects all end like a sentence that was cut. So it is
told as a fact (`open_end`), and only somebody who sees the whole file can judge it.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from tenuto.core.answer.response import leading_thought
from tenuto.core.answer.runaway import is_runaway
from tenuto.core.deciding.outcome import Sign
from tenuto.judging.sentences import End, end_of

_decode = msgspec.json.Decoder().decode
_fence_lines = re.compile(
    r"^(?P<indent>[ \t]*)(?P<mark>[-*+] |\d+[.)] |> ?)?[ \t]*(?P<fence>```+|~~~+)(?P<told>[^\n]*)",
    re.MULTILINE,
)


def cut_structure(text: str) -> str:
    """Return what is open at the end of a text: "fence_open", "json_cut" or "think_open"; "": no
    structure shows a cut.

    >>> cut_structure("Here:\\n```python\\nprint("), cut_structure('{"a": [1, 2')
    ('fence_open', 'json_cut')
    >>> cut_structure('[1] is a reference'), cut_structure("```\\nx\\n```")
    ('', '')
    """
    if is_json_cut(text):
        return "json_cut"
    if ("```" in text or "~~~" in text) and _fence_is_open(text):
        return "fence_open"
    if "<think" in text and _think_is_open(text):
        return "think_open"
    return ""


def closed_structure(text: str) -> str:
    """Return which of the same is closed in a text: the counterpart of a sign of a cut; "": none.

    >>> closed_structure('{"a": 1}'), closed_structure("```\\nx\\n```"), closed_structure("Hi.")
    ('json_cut', 'fence_open', '')
    """
    if text[:1] in ("{", "[") and text.rstrip()[-1:] in ("}", "]"):
        return "json_cut"
    if "```" in text:
        return "fence_open"
    return "think_open" if text.startswith("<think") else ""


def is_json_cut(text: str) -> bool:
    """Return whether a text is the beginning of a JSON object or array that breaks off.

    >>> is_json_cut('{"a": "b'), is_json_cut('{"a": 1}'), is_json_cut("{braces}"), is_json_cut("[")
    (True, False, False, False)
    """
    bare = text[leading_thought(text) :].strip()
    if bare[:1] not in ("{", "[") or len(bare) < _LEAST_JSON_CHARS or bare[1:2] not in _INNER:
        return False
    try:
        _decode(bare)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        return "truncated" in str(error) or _is_in_number(bare, str(error))
    return False


def _is_in_number(text: str, error: str) -> bool:
    """Return whether a number that cannot be read is the last thing in a text, as `-` and `0.` are:
    the decoder names the byte behind it."""
    return error.endswith(f"invalid number (byte {len(text.encode())})")


_LEAST_JSON_CHARS: Final = 3
_INNER: Final = tuple('"{[ \n\r\t-0123456789tfn')
"""What may follow the first bracket of a document."""


def _fence_is_open(text: str) -> bool:
    """Return whether a fence of a text has no end. A fence that begins inside of another one, in
    an example of Markdown, needs an end of its own, unless the outer one ends first."""
    fences: list[str] = []  # those that are open, the innermost last
    last = None
    list_at = found.start() if (found := _list_mark(text)) else len(text)
    for line in _fence_lines.finditer(text):
        fence, told = line["fence"], line["told"].strip()
        if fence[0] * 3 in told or (line.start() < list_at and _is_literal(line)):
            continue
        if not fences and _is_heading(text, line):
            continue
        last = line
        ended = None if told else _ended_by(fence, fences)
        if ended is not None:
            del fences[ended:]
        elif len(fences) < _DEEPEST:
            fences.append(fence)
    if not fences or last is None:
        return False
    behind = text[last.end() :]
    if not behind.strip():
        # A fence line without a language is the last thing: more likely an end than a beginning.
        if last["told"].strip() or not last["fence"].startswith(fences[0]):
            return True
        return text[: last.start()].rstrip().endswith(_LEADS_TO_CODE) and behind.endswith("\n")
    # The end of a fence may stand behind the last line of the code.
    return last["fence"] not in behind


_DEEPEST: Final = 16
"""No example has more fences within each other."""


_LEADS_TO_CODE: Final = (":", "：")


def _ended_by(fence: str, fences: list[str]) -> int | None:
    """Return which open fence a line ends, with those inside of it: the innermost of its length,
    or else the innermost that is shorter; None: it ends none."""
    alike = [at for at, each in enumerate(fences) if each[0] == fence[0]]
    same = [at for at in alike if len(fences[at]) == len(fence)]
    shorter = [at for at in alike if len(fences[at]) < len(fence)]
    return next(reversed(same or shorter), None)


def _is_literal(line: re.Match[str]) -> bool:
    """Return whether a line outside of a list shows a fence and is none, since it is indented as
    code is: by four characters and more."""
    indent = line["indent"].expandtabs(_INDENT_OF_CODE)
    return len(indent) >= _INDENT_OF_CODE and not line["mark"]


_INDENT_OF_CODE: Final = 4
_list_mark = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE).search


def _is_heading(text: str, line: re.Match[str]) -> bool:
    """Return whether a line of tildes underlines a heading of reStructuredText, or parts two
    paragraphs. It opens no fence then."""
    tildes = line["fence"]
    if tildes[0] != "~" or line["told"].strip():
        return False
    end = max(line.start() - 1, 0)
    title = text[text.rfind("\n", 0, end) + 1 : end].strip()
    if title.endswith(":"):
        return False
    if title and len(title) <= len(tildes):
        return True
    return len(tildes) > _LEAST_FENCE and text.startswith("\n\n", line.end())


_LEAST_FENCE: Final = 3


def names_tag(text: str) -> bool:
    """Return whether a text begins with the name of the tag of thinking, and is no thinking.

    >>> names_tag("<think> is a tag."), names_tag("<think>hm"), names_tag("<think> so the tide")
    (True, False, False)
    """
    return text.lstrip()[:1] == "<" and _tag_as_subject.match(text) is not None


_tag_as_subject = re.compile(
    r"\s*<think(?:ing)?> (?:is|are|was|were|means|tags?|blocks?|marks?|opens?|begins?|starts?)\b"
)


def _think_is_open(text: str) -> bool:
    if names_tag(text):
        return False
    for tag in ("think", "thinking"):
        begin = text.rfind(f"<{tag}>")
        if begin >= 0 and f"</{tag}>" not in text[begin:]:
            before = text[:begin].rstrip(" \t")
            return not before or before.endswith("\n")
    return False


_RUNAWAY_CHARS: Final = 400


def runs_away(text: str) -> bool:
    """Return whether a text has become one passage, repeated many times.

    >>> runs_away("I will now fix that bug, too. " * 20), runs_away("Let me see.")
    (True, False)
    """
    # A passage that stands four times in 400 to 8,000 characters is at most 2,000 long, and so are
    # the steps by which the last 48 characters come again. This spares nearly all texts the whole
    # look.
    if len(text) < _RUNAWAY_CHARS:
        return False
    tail = text[-_TAIL_CHARS:].rstrip()
    last = tail[-_LAST_CHARS:]
    return tail.find(last, 0, -1) >= 0 and is_runaway(text)


_LAST_CHARS: Final = 48
_TAIL_CHARS: Final = 2_100


def starts_call(text: str) -> bool:
    """Return whether a text begins with a notation of calls. Where the tools are not known, it may
    stand elsewhere in a text about one.

    >>> starts_call('<tool_call>{"name": "add"}'), starts_call("A <tool_call> is a call.")
    (True, False)
    """
    return text.lstrip().startswith(_CALLS)


_CALLS: Final = (
    "<tool_call>", "<function_calls>", "<function=", "<invoke name=", "<|tool_call|>",
    "<|tool_calls_section_begin|>", "<|python_tag|>", "[TOOL_CALLS]", "<|tool_call_begin|>",
    "<minimax:tool_call>", "<TOOLCALL>",
)  # fmt: skip

_AT_LIMIT: Final = ("tokens_at_limit",)
_OPEN_ENDS: Final = {end: ("open_end", end.value) for end in End}


def at_end(text: str, *, stored: bool, at_limit: bool) -> tuple[Sign, tuple[str, ...]]:
    """Return what the end of a text shows, and words for it. No rule on the text overrules a stop
    that is stored.

    >>> at_end("```", stored=False, at_limit=True)[0].value
    'likely_cut'
    """
    seen = _AT_LIMIT if at_limit else ()
    if stored or not text:
        return Sign.NONE, seen
    structure = cut_structure(text)
    if seen or structure:
        return Sign.LIKELY_CUT, (*seen, structure) if structure else seen
    end = end_of(text)
    return (Sign.NONE, ()) if end is None else (Sign.OPEN_END, _OPEN_ENDS[end])
