"""Shows how far an installation is: reads what pip prints, and prints a line for each package.

    pip install -r requirements/dev.lock | python tools/progress.py requirements/dev.lock

On a terminal the line is written over, with the seconds that the step takes; elsewhere every tenth
package has a line, and so has every step that is silent for long. Whatever else pip prints,
warnings and errors, goes to standard error and is not touched.
"""

import queue
import re
import sys
import threading
import time
from pathlib import Path

_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==[^ ;]+", re.MULTILINE)
_COLLECTING = re.compile(r"^\s*(?:Collecting|Processing) (?:\S*/)?([^\s(]+)")
_EVERY = 10
_WIDTH = 79
_SILENT_S = 8.0
_FRAME_S = 1.0


def main(lock: str) -> None:
    """Follow one installation of the packages that a lock file pins."""
    total = len(_PINNED.findall(Path(lock).read_text("utf-8")))
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    is_terminal, done, step, begun_s = sys.stdout.isatty(), 0, "Starting pip", time.monotonic()
    while True:
        try:
            line = lines.get(timeout=_FRAME_S if is_terminal else _SILENT_S)
        except queue.Empty:
            _show(f"{step}, {time.monotonic() - begun_s:.0f} s", over=is_terminal)
            continue
        if not line:
            break
        if found := _COLLECTING.match(line):
            done += 1
            # A lock holds packages of other systems too, so the last number may not be reached.
            step = f"Fetching {min(done, total)} of up to {total} packages: {found[1]}"
            if is_terminal or done % _EVERY == 1:
                _show(step, over=is_terminal)
        elif line.startswith("Installing collected packages"):
            step = f"Unpacking {done} packages"
            _show(step, over=is_terminal)
        else:
            continue
        begun_s = time.monotonic()
    if is_terminal:
        print(f"\r{'':<{_WIDTH}}\r", end="", flush=True)


def _read(lines: "queue.Queue[str]") -> None:
    for line in sys.stdin:
        lines.put(line)
    lines.put("")


def _show(text: str, *, over: bool) -> None:
    print(f"\r{text[:_WIDTH]:<{_WIDTH}}" if over else text, end="" if over else "\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
