"""How large the source is, and how much of it one answer meets.

    python tools/size.py            # lines of code by member and room, of wires by role
    python tools/size.py --walk     # the functions that one cut Chat answer enters, by file
    python tools/size.py --json     # both, for machines

Code is a line that holds neither nothing, nor a comment, nor a part of a docstring. The walk plays
a streamed Chat answer that the output limit cuts, and the rest of it, through `tenuto.sansio.Turn`,
after one such turn whose lessons and caches are kept, and counts each named function of the package
once.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any

from members import MEMBERS, TENUTO

SOURCE = TENUTO.source / TENUTO.package

COMMANDS = "cli", "command_kit"
"""The rooms of tenuto that are its command line."""

ROLES = {
    "content": "content",
    "body": "render",
    "render": "render",
    "request": "request",
    "paths": "request",
    "history": "history",
    "errors": "errors",
    "form": "form",
}
"""What a wire's file does, by the last word of its name; all others read."""

Size = tuple[int, int]
"""Lines of code, and lines of docstrings."""


def size_of(text: str) -> Size:
    """Return the lines of code and those of docstrings of one file.

    >>> size_of('# why\\n\\nx = 1\\ndef f():\\n    \"\"\"Return it.\"\"\"\\n    return x\\n')
    (3, 1)
    """
    told = set[int]()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for one in body if isinstance(body, list) else ():
            # Docstrings, and those that stand below a constant.
            value = one.value if isinstance(one, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                told.update(range(one.lineno, (one.end_lineno or one.lineno) + 1))
    code = set[int]()
    passed = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (*passed, tokenize.ENDMARKER):
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - told), len(told)


def _added(sizes: Iterable[Size]) -> Size:
    pairs = list(sizes)
    return sum(code for code, _ in pairs), sum(told for _, told in pairs)


def rooms() -> dict[str, dict[str, Size]]:
    """Return the size of each room of each member, in the order of their names."""
    return {member.name: _rooms(member.source) for member in MEMBERS}


def _rooms(source: Path) -> dict[str, Size]:
    found: dict[str, list[Size]] = {}
    for file in source.rglob("*.py"):
        _, *below = file.relative_to(source).parts
        room = below[0] if len(below) > 1 else "(top)"
        found.setdefault(room, []).append(size_of(file.read_text()))
    return {room: _added(found[room]) for room in sorted(found)}


WIRES = ("anthropic_messages", "openai_responses", "openai_chat", "chat_like", "gemini_generate")
"""The wires whose size is told by role."""


def wires() -> dict[str, dict[str, Size]]:
    """Return the size of each role of each of `WIRES`."""
    found: dict[str, dict[str, Size]] = {}
    for wire in WIRES:
        roles: dict[str, list[Size]] = {}
        for file in sorted((SOURCE / "wires" / wire).glob("*.py")):
            role = ROLES.get(file.stem, "read")
            roles.setdefault(role, []).append(size_of(file.read_text()))
        found[wire] = {role: _added(sizes) for role, sizes in sorted(roles.items())}
    return found


def walked() -> Counter[str]:
    """Return how many functions of each file one cut streamed Chat answer enters."""
    from tenuto import Policy
    from tenuto.sansio import Turn
    from tenuto.turn.drivers.scripted import Script, Scripted

    def chunk(delta: object, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        made = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return b"data: " + json.dumps({**made, "choices": [choice]}).encode() + b"\n\n"

    def answer(words: list[str], finish: str) -> Scripted:
        pieces = [chunk({"role": "assistant", "content": ""})]
        pieces += [chunk({"content": word}) for word in words]
        pieces += [chunk({}, finish), b"data: [DONE]\n\n"]
        return Scripted.stream(*pieces)

    first = ["The", "tide", "comes", "in", "twice", "a", "day", "because", "the", "Moon"]
    rest = ["pulls", "at", "the", "water", "and", "the", "Earth", "turns", "below", "it."]

    def play() -> None:
        provider = Script(
            answer([f"{word} " for word in first], "length"),
            answer([f"{word} " for word in rest], "stop"),
        )
        # A host and a model of its own: what others of the process taught is kept by these.
        asked = {"model": "walked", "stream": True, "max_tokens": 20}
        body = json.dumps(asked | {"messages": [{"role": "user", "content": "Why?"}]}).encode()
        turn = Turn("POST", "https://walked/v1/chat/completions", [], body, policy=Policy())
        reply: object = None
        while (command := turn.next(reply)) is not None:  # type: ignore[arg-type]
            reply = None
            match type(command).__name__:
                case "SendRequest":
                    upstream: Any = provider.connect(command)  # type: ignore[arg-type]
                    reply = upstream.head
                case "ReadMore":
                    reply = upstream.read()

    play()
    entered = set[tuple[str, str, int]]()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        named = not code.co_name.startswith("<")  # no comprehension, no lambda
        if event == "call" and named and code.co_filename.startswith(str(SOURCE)):
            entered.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    sys.setprofile(note)
    try:
        play()
    finally:
        sys.setprofile(None)
    files = (str(Path(file).relative_to(SOURCE)) for file, *_ in entered)
    counts = Counter(files)
    del counts["turn/drivers/scripted.py"]  # the provider
    return counts


def _row(name: str, size: Size) -> str:
    code, told = size
    return f"{name:36} {code:7,} {told:7,} {told / max(code, 1):6.0%}"


def main() -> None:
    """Print the sizes or the walk."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--walk", action="store_true", help="count the functions of one answer")
    parser.add_argument("--json", action="store_true", help="print sizes and walk as JSON")
    args = parser.parse_args()
    if args.json:
        print(json.dumps({"rooms": rooms(), "wires": wires(), "walk": walked()}, indent=1))
        return
    if args.walk:
        counts = walked()
        for file, number in counts.most_common():
            print(f"{number:5}  {file}")
        print(f"{counts.total()} functions in {len(counts)} files")
        return
    print(f"{'room':36} {'code':>7} {'doc':>7} {'share':>6}")
    by_member = rooms()
    for member, sizes in by_member.items():
        for room, size in sizes.items():
            print(_row(f"{member} {room}", size))
        print(_row(member, _added(sizes.values())))
        if member == TENUTO.name:
            library = [size for room, size in sizes.items() if room not in COMMANDS]
            print(_row(f"{member} without its commands", _added(library)))
        print()
    print(_row("all", _added(size for sizes in by_member.values() for size in sizes.values())))
    for wire, roles in wires().items():
        print()
        for role, size in roles.items():
            print(_row(f"{wire} {role}", size))
        print(_row(wire, _added(roles.values())))


if __name__ == "__main__":
    main()
