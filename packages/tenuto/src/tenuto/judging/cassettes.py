"""Read the bodies of recorded exchanges in YAML: VCR's cassettes, and those of httpmock.

Only the scalars that hold bodies are read, in the styles in which these tools write them. No
library reads YAML here: a cassette's other parts say nothing of an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from tenuto.judging.held import Held
from tenuto.judging.opening import opened_text, unpacked

_key = re.compile(r"^([ ]*)(?:- )?([ ]*)([A-Za-z_]+):[ ]*(.*)$")
_ASKED = frozenset({"request", "when"})
_SAID = frozenset({"response", "then"})
_BODIES = frozenset({"body", "string", "base64_string"})


def exchanges(text: str) -> Iterator[Held]:
    """Return each answer of a cassette, with its request.

    >>> held = next(exchanges("when:\\n  body: '{}'\\nthen:\\n  body: '{\\"choices\\": []}'\\n"))
    >>> held.answer, held.request
    ({'choices': []}, {})
    """
    asked: object = None
    for side, body in _bodies(text.splitlines()):
        if side in _ASKED:
            asked = opened_text(body)
        elif (answer := opened_text(body)) is not None:
            yield Held(answer=answer, request=asked, request_at="request.body" if asked else "")


def _bodies(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    side, number = "", 0
    while number < len(lines):
        found = _key.match(lines[number])
        number += 1
        if found is None:
            continue
        name, rest = found[3], found[4]
        if name in _ASKED | _SAID:
            side = name
        elif name in _BODIES and rest and side:
            indent = len(found[1]) + len(found[2]) + (2 if "- " in lines[number - 1][:12] else 0)
            text, number = _scalar(rest, lines, number, indent)
            yield side, text


def _scalar(rest: str, lines: Sequence[str], number: int, indent: int) -> tuple[str, int]:
    """Return the text of a scalar, and the line behind it."""
    binary = rest.startswith("!!binary")
    rest = rest.removeprefix("!!binary").strip() if binary else rest
    if rest[:1] in ("|", ">"):
        text, number = _block(lines, number, indent)
    elif rest[:1] in ("'", '"'):
        text, number = _quoted(rest, lines, number)
    else:
        text = rest
    if binary:
        text = (unpacked("".join(text.split())) or b"").decode("utf-8", "replace")
    return text, number


def _block(lines: Sequence[str], number: int, indent: int) -> tuple[str, int]:
    taken: list[str] = []
    inner = -1
    while number < len(lines):
        line = lines[number]
        if line.strip():
            width = len(line) - len(line.lstrip(" "))
            if inner < 0:
                inner = width
            if width < inner or width <= indent:
                break
        taken.append(line[max(inner, 0) :])
        number += 1
    return "\n".join(taken) + "\n", number


def _quoted(rest: str, lines: Sequence[str], number: int) -> tuple[str, int]:
    mark = rest[0]
    pieces = [rest[1:]]
    while not _ends(pieces[-1], mark) and number < len(lines):
        pieces.append(lines[number].strip())
        number += 1
    pieces[-1] = _without_mark(pieces[-1], mark)
    if mark == "'":
        return _folded(pieces).replace("''", "'"), number
    text = _folded(pieces, escapes=True)
    try:
        return str(json.loads(f'"{text}"', strict=False)), number
    except ValueError:
        return _unescaped(text), number


def _ends(line: str, mark: str) -> bool:
    bare = line.rstrip()
    if not bare.endswith(mark):
        return False
    run = len(bare) - len(bare.rstrip(mark)) if mark == "'" else 1
    if mark == '"':
        slashes = len(bare[:-1]) - len(bare[:-1].rstrip("\\"))
        return slashes % 2 == 0
    return run % 2 == 1


def _without_mark(line: str, mark: str) -> str:
    bare = line.rstrip()
    return bare[:-1] if bare.endswith(mark) else line


def _folded(pieces: Sequence[str], *, escapes: bool = False) -> str:
    """Join the lines of a quoted scalar: a line end is a space, an empty line is a line end."""
    text = pieces[0]
    blanks = 0
    for piece in pieces[1:]:
        if not piece:
            blanks += 1
            continue
        if escapes and text.endswith("\\") and not text.endswith("\\\\"):
            text = text[:-1] + piece.removeprefix("\\" if piece.startswith("\\ ") else "")
        else:
            text += ("\\n" if escapes else "\n") * blanks if blanks else " "
            text += piece
        blanks = 0
    return text


_escape = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f"}


def _unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        code = found[1]
        if code[0] in "xuU" and len(code) > 1:
            return chr(min(int(code[1:], 16), 0x10FFFF))
        return _NAMED.get(code, code)

    return _escape.sub(one, text)
