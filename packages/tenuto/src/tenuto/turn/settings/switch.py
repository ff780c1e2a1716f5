"""The switch of the whole process: `tenuto.disable()`, and the variable `TENUTO`.

Once it is off, no request is read: each leaves as the program made it, and its answer arrives as
the provider sent it, through every client, transport and agent of the process. Nothing switches it
on again, so that whoever switched it off can rely on it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from tenuto.core.settings.policy import text_in
from tenuto.core.settings.rule import wrong_value

log: logging.Logger = logging.getLogger("tenuto")

OFF_WORDS = frozenset({"off", "false", "no", "0"})
ON_WORDS = frozenset({"", "on", "true", "yes", "1"})
VARIABLE = "TENUTO"

off: bool = False
"""Whether Tenuto is switched off in this process."""


def disable() -> None:
    """Switch Tenuto off in this process, for good: requests and answers pass through unchanged.

    It applies to all clients, transports and agents, also those made before, from their next
    request on. Turns that have begun are finished. The environment variable `TENUTO=off` does the
    same, from the first client on. Tenuto logs it once, as a warning. `detect()` works as before.

    >>> import subprocess, sys
    >>> code = "import tenuto; tenuto.disable(); tenuto.disable()"
    >>> run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    >>> run.stderr.strip()
    'Tenuto is switched off in this process (tenuto.disable()): no turn is finished'
    """
    _switch_off("tenuto.disable()")


def obey(variables: Mapping[str, str]) -> None:
    """Switch Tenuto off if the variable says so.

    Raises:
        PolicyError: it says neither "on" nor "off".
    """
    if is_off_in(variables):
        _switch_off(f"{VARIABLE}={text_in(variables, VARIABLE)}")


def is_off_in(variables: Mapping[str, str]) -> bool:
    """Return whether the variable says "off".

    Raises:
        PolicyError: it says neither "on" nor "off".

    >>> is_off_in({"TENUTO": "Off"}), is_off_in({})
    (True, False)
    """
    text = text_in(variables, VARIABLE)
    if text.lower() not in OFF_WORDS | ON_WORDS:
        raise wrong_value(VARIABLE, text, "'on' or 'off'")
    return text.lower() in OFF_WORDS


def _switch_off(by: str) -> None:
    global off  # noqa: PLW0603 - it is the process that is switched
    if not off:
        off = True
        log.warning("Tenuto is switched off in this process (%s): no turn is finished", by)
