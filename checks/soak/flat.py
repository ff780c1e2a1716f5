"""What a process holds: memory, descriptors, threads. On other systems than Linux some are None."""

from __future__ import annotations

import resource
import threading
from pathlib import Path
from typing import Any

MEASURES = ("rss_mb", "descriptors", "threads")


def sample() -> dict[str, Any]:
    """What this process holds now."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        rss = pages * resource.getpagesize() / 1e6
        descriptors = sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError:
        return {"rss_mb": None, "descriptors": None, "threads": threading.active_count()}
    return {
        "rss_mb": round(rss, 1),
        "descriptors": descriptors,
        "threads": threading.active_count(),
    }


def growth(samples: list[dict[str, Any]]) -> dict[str, tuple[float, float, bool]]:
    """Each measure's median after the first third and in the last third, and whether it is flat:
    the caches of a client fill in the beginning, and nothing is to grow afterwards."""
    found = {}
    third = len(samples) // 3
    for name in MEASURES:
        values = [s[name] for s in samples if s[name] is not None]
        if third < 2 or len(values) < len(samples):
            continue
        before, after = _median(values[third : 2 * third]), _median(values[-third:])
        slack = {"rss_mb": 6.0 + before * 0.05, "descriptors": 12.0, "threads": 3.0}[name]
        found[name] = (before, after, after - before <= slack)
    return found


def _median(values: list[float]) -> float:
    return float(sorted(values)[len(values) // 2])
