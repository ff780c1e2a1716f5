"""The distributions beside this one whose names stand in it too (`tenuto.sim`, `tenuto.agent`)."""

from __future__ import annotations

from typing import Final

MEMBERS: Final = {"agent": "tenuto_agent", "sim": "tenuto_sim"}
"""The package of each, by the extra that installs it."""


def why_missing(extra: str, error: ModuleNotFoundError) -> ImportError:
    """Return what to raise where the package of an extra can't be imported: an error that says what
    to install, or the same error if something else is missing.

    >>> print(why_missing("sim", ModuleNotFoundError("No module", name="tenuto_sim")))
    tenuto.sim needs the package tenuto-sim; install it with: pip install 'tenuto[sim]'
    """
    package = MEMBERS[extra]
    if error.name != package:
        return error
    return ImportError(f"tenuto.{extra} {needs(extra)}", name=package)


def needs(extra: str) -> str:
    """Return the words that say which package is missing, and how to install it."""
    return (
        f"needs the package {MEMBERS[extra].replace('_', '-')}; "
        f"install it with: pip install 'tenuto[{extra}]'"
    )
