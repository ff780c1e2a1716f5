"""`tenuto doctor`: which clients of a program are covered, and the line that covers the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any, Final

from tenuto.cli.program.judging import Judged, judged
from tenuto.cli.program.reading import Reader
from tenuto.cli.program.sources import Sources, read_sources
from tenuto.command_kit.command_error import CommandError
from tenuto.command_kit.printing import (
    BAD_FILE,
    FileName,
    JsonFlag,
    print_json,
    print_words,
    visible,
    why_unread,
)

EXAMPLES = ("tenuto doctor", "tenuto doctor src/agent.py", "tenuto doctor --json src")

UNCOVERED = 1
UNSURE = 3

_ORDER: Final = ("not covered", "partly covered", "unknown", "left bare", "covered", "no turns")

_LIMITS: Final = (
    "It reads the source and runs none of it. It does not see what the environment or a request "
    "switches off, what installed packages do, or whether the program takes a path."
)

_OF_FRAMEWORKS: Final = (
    'A framework may take an unfinished answer for a whole one. Set on_incomplete to "error" for '
    "it, in the policy of its line or by TENUTO_ON_INCOMPLETE=error."
)


def doctor(*paths: FileName, json: JsonFlag = False) -> int:
    """Show which model clients of a program Tenuto covers, and the line that covers the others.

    It reads the Python files as one program, and runs none of it. A client whose line has the
    comment "# tenuto: bare" is left out of the judgement. The exit code is 0 if every other client
    is covered, 1 if one is not, 2 if a file cannot be read, and 3 if the source does not show
    whether one is covered.

    Args:
        paths: files and folders of one program; the default is the current folder. Hidden folders,
            virtual environments and node_modules are left out.
        json: print one JSON object.
    """
    sources = _sources(paths or (".",))
    reader = Reader(sources)
    reader.read()
    clients = list(judged(reader))
    if json:
        print_json(_plain(sources, reader, clients))
    else:
        _print(sources, reader, clients)
    return _exit_code(sources, reader, clients)


def _sources(paths: tuple[str, ...]) -> Sources:
    for path in paths:
        try:
            found = read_sources(paths)
        except OSError as error:
            name = str(error.filename or path)
            raise CommandError(
                f"{name!r} cannot be read: {why_unread(name, error)}", BAD_FILE
            ) from error
        if found.modules or found.unread or found.notebooks:
            return found
    raise CommandError(f"there is no Python file in {', '.join(paths)}", BAD_FILE)


def _exit_code(sources: Sources, reader: Reader, clients: list[Judged]) -> int:
    verdicts = {client.verdict for client in clients}
    if verdicts & {"not covered", "partly covered"}:
        return UNCOVERED
    if sources.unread:
        return BAD_FILE
    return UNSURE if "unknown" in verdicts or reader.gave_up else 0


def _unseen(sources: Sources, reader: Reader) -> list[str]:
    """Return what was not read, one sentence each."""
    found = [f"{file} was not read: {why}." for file, why in sources.unread.items()]
    found += [f"{file} is a notebook, and was not read." for file in sources.notebooks]
    if reader.gave_up:
        found.append("The program is too large to be followed to its end. Name a part of it.")
    return found


def _advice(clients: list[Judged]) -> list[str]:
    """Return what the policy should say; it is not judged."""
    return [_OF_FRAMEWORKS] if any(client.section for client in clients) else []


def _plain(sources: Sources, reader: Reader, clients: list[Judged]) -> dict[str, Any]:
    counts = Counter(client.verdict for client in clients)
    return {
        "files": len(sources.modules),
        "verdicts": {name: counts[name] for name in _ORDER},
        "clients": [asdict(client) for client in clients],
        "not_read": _unseen(sources, reader),
        "advice": _advice(clients),
        "limits": _LIMITS,
    }


def _print(sources: Sources, reader: Reader, clients: list[Judged]) -> None:
    for client in clients:
        where = f"{client.file}:{client.line}: {client.what} ({client.client})"
        print_words(visible(f"{where}: {client.verdict}"))
        if client.verdict in ("covered", "left bare", "no turns"):
            continue
        print_words(visible(f"  {client.why}"))
        # What is to be copied is not wrapped.
        for title, code in (("write", client.replace), ("add", client.add)):
            for line in code.splitlines():
                print(visible(f"  {title}: {line}"))
        if client.replace or client.add:
            print(visible(f"  with: {'; '.join(client.imports)}"))
        if client.section:
            print_words(f"  see docs/frameworks.md, {client.section}")
    counts = Counter(client.verdict for client in clients)
    told = ", ".join(f"{counts[name]} {name}" for name in _ORDER if counts[name])
    files = f"{len(sources.modules)} file{'s' * (len(sources.modules) != 1)}"
    print_words(f"{files}: {told}." if told else f"{files}: no client of a model was found.")
    for sentence in (*_unseen(sources, reader), *_advice(clients), _LIMITS):
        print_words(visible(sentence))
