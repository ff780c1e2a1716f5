"""Runs pyright over the code and over what programs get: `make check-pyright`.

Checks the members and the programs in `tests/typed` as the oldest and the newest Python that Tenuto
supports would run them, and then that each symbol of what is published has a type
that all checkers read alike (`pyright --verifytypes`). Types of other packages are theirs. Usage:

    python tools/type_check.py <pyright> <python>

where `<pyright>` is its command, and `<python>` the interpreter that the package and the SDKs are
installed for.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from members import PUBLISHED

PACKAGES = tuple(member.package for member in PUBLISHED)
VERSIONS = ("3.11", "3.14")
"""The oldest and the newest Python. What the standard library of a later one no longer has is an
error, though that Python may not be installed here."""


def incomplete(report: dict[str, Any], package: str) -> Iterator[str]:
    """Yield a line for each of the package's symbols whose type is not known, from a report of
    `pyright --verifytypes --outputjson`; one that inherits the fault from another type is named
    like that one.

    >>> fault = {"file": "/t/a.py", "range": {"start": {"line": 4}}, "message": "Unknown"}
    >>> symbol = {"name": "tenuto.a", "isTypeKnown": False, "diagnostics": [fault]}
    >>> list(incomplete({"typeCompleteness": {"symbols": [symbol]}}, "tenuto"))
    ['/t/a.py:5: tenuto.a: Unknown']
    """
    for symbol in report["typeCompleteness"]["symbols"]:
        if symbol["isTypeKnown"] or not symbol["name"].startswith(f"{package}."):
            continue
        for fault in symbol["diagnostics"]:
            line = fault.get("range", {"start": {"line": -1}})["start"]["line"] + 1
            yield f"{fault.get('file', '')}:{line}: {symbol['name']}: {fault['message']}"


def main(pyright: str, python: str) -> int:
    """Run all checks; return 0 where none finds anything."""
    # It looks for the package with the first `python` on the PATH, whatever else it is told.
    path = f"{Path(python).absolute().parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    failed = [
        version
        for version in VERSIONS
        if subprocess.run(
            [pyright, "--pythonpath", python, "--pythonversion", version],
            env=environment,
            check=False,
        ).returncode
    ]
    are_complete = [is_complete(package, pyright, environment) for package in PACKAGES]
    return int(bool(failed) or not all(are_complete))


def is_complete(package: str, pyright: str, environment: dict[str, str]) -> bool:
    """Whether each symbol of a package has a type; prints those that have none."""
    found = subprocess.run(
        [pyright, "--verifytypes", package, "--ignoreexternal", "--outputjson"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(found.stdout)
    for line in incomplete(report, package):
        print(line)
    for fault in report["generalDiagnostics"]:
        print(fault["message"])
    completeness = report["typeCompleteness"]
    counts = completeness["exportedSymbolCounts"]
    known, all_of_them = counts["withKnownType"], sum(counts.values())
    print(f"{package}: {known:,} of {all_of_them:,} symbols have a known type")
    return bool(known == all_of_them > 0 and not report["generalDiagnostics"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
