"""`tenuto check` in an installation without the extra `cli`: the same options, read by argparse."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any, Final

from tenuto.cli.checked import Wanted, run_check

_OPTIONS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "requests": ("a file with the requests of the rows", {}),
    "limit": ("the output limit in tokens of all answers, or a JSON pointer to each row's own", {}),
    "kind": ("the kind of all rows", {}),
    "answer": ("a JSON pointer to the answer in rows of your own, such as /result/text", {}),
    "stop": ("a JSON pointer to the stop in them", {}),
    "tokens": ("a JSON pointer to the number of the answer's tokens", {}),
    "out": ("a folder for report.html, report.json and rows.jsonl", {}),
    "show-text": (
        "write the ends of the rows' texts into the report",
        {"action": "store_true"},
    ),
    "fail-over": ("the share that may be cut or broken, such as 1%%", {}),
    "processes": ("how many processes to use", {"type": int}),
}
"""By name: what it is, and how argparse reads it."""


def check_plain(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code.

    Raises:
        CommandError: an option is wrong, or a file cannot be read.
        SystemExit: the arguments are wrong, or ask for help.
    """
    about = "Show how many stored answers are cut, empty or broken."
    parser = argparse.ArgumentParser(prog="tenuto check", description=about, allow_abbrev=False)
    parser.add_argument("paths", nargs="*", help="files and folders")
    for name, (help_, how) in _OPTIONS.items():
        parser.add_argument(f"--{name}", help=help_, **how)
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    given = vars(parser.parse_args(arguments))
    as_json = (lambda report: print(json.dumps(report))) if given.pop("json") else None
    return run_check(given.pop("paths"), Wanted(**given), print, as_json)
