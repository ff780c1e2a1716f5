"""`tenuto check` in an installation without the extra `cli`: the same options, read by argparse."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from tenuto.cli.checked import Wanted, run_check


def check_plain(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code.

    Raises:
        CommandError: an option is wrong, or a file cannot be read.
        SystemExit: the arguments are wrong, or ask for help.
    """
    about = "Show how many stored answers are cut, empty or broken."
    parser = argparse.ArgumentParser(prog="tenuto check", description=about, allow_abbrev=False)
    parser.add_argument("paths", nargs="*", help="files and folders")
    parser.add_argument("--requests", help="a file with the requests of the rows")
    parser.add_argument("--limit", type=int, help="the output limit in tokens of all answers")
    parser.add_argument("--kind", help="the kind of all rows")
    parser.add_argument("--out", help="a folder for rows.jsonl and report.json")
    parser.add_argument("--fail-over", help="the share that may be cut or broken, such as 1%%")
    parser.add_argument("--processes", type=int, help="how many processes to use")
    parser.add_argument("--json", action="store_true", help="print the counts as one JSON object")
    given = parser.parse_args(arguments)
    wanted = Wanted(
        given.requests, given.limit, given.kind, given.out, given.fail_over, given.processes
    )
    as_json = (lambda report: print(json.dumps(report))) if given.json else None
    return run_check(given.paths, wanted, print, as_json)
