"""Says what is wrong with the arguments of a command, and what is allowed."""

from __future__ import annotations

from cyclopts import App, CycloptsError, UnknownCommandError
from cyclopts.exceptions import UnusedCliTokensError

from tenuto.command_kit.command_error import one_line
from tenuto.core.answer.stop import printable


def why_wrong(error: CycloptsError, app: App) -> str:
    """Return what is wrong with the arguments, in one line.

    Args:
        error: why they were not accepted.
        app: the whole command, `tenuto`.
    """
    if not isinstance(error, UnknownCommandError | UnusedCliTokensError):
        return one_line(str(error))
    given = printable((error.unused_tokens or [""])[0])
    called = " ".join((*app.name, *(error.command_chain or ())))
    for name in error.command_chain or ():
        app = app[name]
    taken = sorted(name for name in app if not name.startswith("-"))
    if app.default_command is not None:
        found = app.assemble_argument_collection()
        taken += [
            one.name.lstrip("-").upper() if one.index is not None else one.name for one in found
        ]
    what = "unknown command" if isinstance(error, UnknownCommandError) else "unexpected argument"
    return f"{what} {given!r}: {called} takes {', '.join(taken)}"
