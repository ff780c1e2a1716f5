"""Where the script `tenuto` begins. It is a module beside the package, since loading the package
takes most of the time of a short command, and Ctrl-C may come before it is loaded."""

from __future__ import annotations

import os
import signal


def main() -> int:
    """Run the command and return its exit code."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, _end)
    from tenuto.cli import main as run

    return run(on_loaded=_raise_interrupts if ours else None)


def _raise_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    """End at once. Nothing is begun yet, and an exception would leave as a traceback."""
    os.write(2, b"tenuto: interrupted\n")
    os._exit(130)
