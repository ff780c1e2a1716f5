"""Runs a command and returns its exit code: 0 success, 1 failure, 2 wrong usage, 3 partial
success."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from tenuto.command_kit.command_error import INTERRUPTED, CommandError, is_of_output, one_line
from tenuto.members import needs

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    import cyclopts

COMMANDS = (
    "check",
    "demo",
    "detect",
    "doctor",
    "explain",
    "policy",
    "providers",
    "tail",
    "watch",
)
"""Each is a module of this package with a function of the same name."""

OF_MEMBERS: Mapping[str, str] = {"faults": "sim", "run": "agent", "sim": "sim"}
"""The commands of this repository's other members, by the extra that installs the member. They are
found like those of anybody: by the entry points of `GROUP`."""

GROUP = "tenuto.commands"
"""The entry points that add a command. Each names a function, whose module has `EXAMPLES`."""


def main(
    arguments: Sequence[str] | None = None, on_loaded: Callable[[], None] | None = None
) -> int:
    """Run the command and return its exit code.

    Args:
        arguments: its arguments; None: those of the process.
        on_loaded: is called when all is loaded, before the command begins.
    """
    if sys.stdout is None:  # `tenuto policy >&-`
        return _say("standard output is closed", 1)
    _allow_every_character()
    if not os.environ.get("COLUMNS", "").strip("0"):  # a width of 0 shows nothing
        os.environ.pop("COLUMNS", None)
    try:
        code = _run(arguments, on_loaded or (lambda: None))
        sys.stdout.flush()
    except KeyboardInterrupt:  # while it loads
        return _say("interrupted", INTERRUPTED)
    except OSError as error:
        if not is_of_output(error):
            raise
        sys.stdout = None  # there is nothing to flush at exit
        if isinstance(
            error, BrokenPipeError
        ):  # `tenuto faults | head`: the reader has stopped reading
            return 0
        return _say(f"cannot write to standard output: {error.strerror}", 1)
    return code


def _run(arguments: Sequence[str] | None, on_loaded: Callable[[], None]) -> int:
    try:
        import cyclopts
        import rich  # noqa: F401 - loaded here, so that it is reported as missing before any work
    except ModuleNotFoundError as error:
        given = sys.argv[1:] if arguments is None else list(arguments)
        if given[:1] == ["check"]:
            return _check(given[1:], on_loaded)
        extras = ",".join(["cli", *filter(None, [_missing(given[:1])])])
        return _say(
            f"the command needs the package {error.name}; install it with: "
            f"pip install 'tenuto[{extras}]'",
            2,
        )
    from tenuto.core.errors import TenutoError

    given = sys.argv[1:] if arguments is None else list(arguments)
    if extra := _missing(given[:1]):
        return _say(f"the command {given[0]} {needs(extra)}", 2)
    try:
        app = build(given[:1])
    except CommandError as error:
        return _say(one_line(str(error)), error.exit_code)
    on_loaded()
    try:
        code = app(
            given,
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except cyclopts.CycloptsError as error:
        from tenuto.cli.wrong_usage import why_wrong

        return _say(f"{why_wrong(error, app)} (see tenuto --help)", 2)
    except CommandError as error:
        return _say(one_line(str(error)), error.exit_code)
    except TenutoError as error:
        return _say(one_line(str(error)), 2)
    except KeyboardInterrupt:
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def _check(arguments: Sequence[str], on_loaded: Callable[[], None]) -> int:
    """Run the one command that the base install has."""
    from tenuto.cli.check_plain import check_plain

    on_loaded()
    try:
        return check_plain(arguments)
    except CommandError as error:
        return _say(one_line(str(error)), error.exit_code)
    except SystemExit as error:  # argparse has said why
        return error.code if isinstance(error.code, int) else 2
    except KeyboardInterrupt:
        return INTERRUPTED


@cache  # finding them takes 40 ms
def _added() -> dict[str, EntryPoint]:
    """Return the commands that installed packages add, by their names. Ours come first."""
    from importlib.metadata import entry_points

    return {found.name: found for found in entry_points(group=GROUP) if found.name not in COMMANDS}


def _missing(wanted: Sequence[str]) -> str:
    """Return the extra that would bring a command which is not installed; "" if that is not why."""
    known = [OF_MEMBERS[name] for name in wanted if name in OF_MEMBERS]
    return known[0] if known and wanted[0] not in _added() else ""


def build(wanted: Sequence[str] = ()) -> cyclopts.App:
    """Return the command with its sub-commands.

    Args:
        wanted: sub-commands to load without the others, since loading all of them takes most of the
            time of a short command. If it is empty or names anything else, all are loaded.
    """
    from cyclopts import App

    import tenuto

    app = App(
        name="tenuto",
        help="Finds out why a language model's turn ended, and finishes it.",
        help_epilogue=_examples("tenuto demo", "tenuto detect answer.json", "tenuto policy --json"),
        help_format="plaintext",
        version=f"tenuto {tenuto.__version__}",
        version_format="plaintext",
        suppress_keyboard_interrupt=False,
    )
    if wanted and {*wanted} <= {*COMMANDS}:
        for name in wanted:
            _add(app, *_own(name))
        return app
    added = _added()
    chosen = wanted if wanted and {*wanted} <= {*added} else sorted({*COMMANDS, *added})
    for name in chosen:
        if name in COMMANDS:
            _add(app, *_own(name))
            continue
        if command := _loaded(added[name], asked=name in wanted):
            _add(app, command, sys.modules[command.__module__])
    return app


def _loaded(point: EntryPoint, *, asked: bool) -> Any:
    """Return the command that a package adds; None if it can't be loaded, which is then said. The
    other commands work without it.

    Raises:
        CommandError: it can't be loaded, and the user asked for it."""
    try:
        return point.load()
    except Exception as error:
        package = point.dist.name if point.dist else point.value
        problem = f"the command {point.name} of the package {package} cannot be loaded: {error!r}"
        if asked:
            raise CommandError(problem, 2) from error
        _say(one_line(problem), 2)
        return None


def _own(name: str) -> tuple[Any, Any]:
    module = importlib.import_module(f"tenuto.cli.{name}")
    return getattr(module, name), module


def _add(app: cyclopts.App, command: Any, module: Any) -> None:
    from cyclopts import App

    from tenuto.command_kit.docstrings import unwrapped

    name = command.__name__
    command.__doc__ = unwrapped(command.__doc__)
    if name != "demo":
        app.command(command, help_epilogue=_examples(*module.EXAMPLES))
        return
    demos = App(name="demo", help_epilogue=_examples(*module.EXAMPLES))
    module.agent.__doc__ = unwrapped(module.agent.__doc__)
    demos.default(command)
    demos.command(module.agent, help_epilogue=_examples(*module.AGENT_EXAMPLES))
    app.command(demos)


def _examples(*lines: str) -> str:
    return "\n".join(("Examples:", *(f"  {line}" for line in lines)))


def _allow_every_character() -> None:
    """Write characters that the terminal's encoding lacks as escapes, unless the user asked for
    something else (PYTHONIOENCODING=ascii:replace)."""
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper) and out.errors in ("strict", "surrogateescape"):
        out.reconfigure(errors="backslashreplace")


def _say(message: str, code: int) -> int:
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"tenuto: {message}", file=sys.stderr)
    return code
