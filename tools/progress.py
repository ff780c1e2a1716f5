"""Shows how far an installation is: reads what pip prints, and prints a line for each package.

    pip install -r requirements/dev.lock | python tools/progress.py requirements/dev.lock

On a terminal the line is written over; elsewhere every tenth package has one. Whatever else pip
prints, warnings and errors, goes to standard error and is not touched.
"""

import re
import sys
from pathlib import Path

_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==[^ ;]+", re.MULTILINE)
_COLLECTING = re.compile(r"^\s*(?:Collecting|Processing) (?:\S*/)?([^ (]+)")
_EVERY = 10
_WIDTH = 79


def main(lock: str) -> None:
    """Follow one installation of the packages that a lock file pins."""
    total = len(_PINNED.findall(Path(lock).read_text("utf-8")))
    is_terminal, done = sys.stdout.isatty(), 0
    for line in sys.stdin:
        if found := _COLLECTING.match(line):
            done += 1
            # A lock holds packages of other systems too, so the last number may not be reached.
            text = f"Fetching {min(done, total)} of up to {total} packages: {found[1]}"
            if is_terminal:
                print(f"\r{text[:_WIDTH]:<{_WIDTH}}", end="", flush=True)
            elif done % _EVERY == 1:
                print(text, flush=True)
        elif line.startswith("Installing collected packages"):
            end = f"\r{'':<{_WIDTH}}\r" if is_terminal else ""
            print(f"{end}Unpacking {done} packages", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
