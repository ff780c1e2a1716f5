"""Plays the documents of one framework: `python checks/frameworks/run_structured.py langchain figures.json`.

The figures are added to the file.
"""

import contextlib
import importlib
import importlib.metadata
import importlib.util
import json
import logging
import sys
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "tests"))

from structured import Provider, Result, played


def figures(results: list[Result]) -> dict[str, Any]:
    """The most that a question took in this way, and what came of all of them."""
    under = {
        name: max(r.requests for r in results if r.policy.startswith(name))
        for name in ("stop", "error")
    }
    return {
        "way": results[0].way,
        "sends": results[0].sends,
        "questions": len(results),
        "turns": max(r.turns for r in results),
        "requests_in_a_turn": max(r.requests_in_a_turn for r in results),
        "requests": under,
        "joined": sum(r.joined for r in results),
        "whole": sum(r.outcome == "whole" for r in results),
        "incomplete": sum(r.outcome == "incomplete" for r in results),
    }


def installed(package: str) -> bool:
    """Whether this environment has a package."""
    with contextlib.suppress(ModuleNotFoundError):  # of the package around it
        return importlib.util.find_spec(package) is not None
    return False


def main(name: str, to: str) -> int:
    """Play the ways whose packages are installed, keep the figures, and return 1 if any is wrong."""
    logging.disable()
    warnings.simplefilter("ignore")
    module: Any = importlib.import_module(f"structured_{name.replace('-', '_')}")
    ways, wrong = [], []
    with Provider() as provider:
        for way in module.WAYS:
            if not installed(way.package):
                print(f"{name:12} {way.name:28} left out: {way.package} is not installed")
                continue
            results = list(played(way, provider))
            wrong += [result for result in results if result.wrong]
            ways.append(found := figures(results))
            print(
                f"{name:12} {way.name:28} {found['sends']:7} at most"
                f" {found['requests_in_a_turn']} requests in a turn,"
                f" {max(found['requests'].values()):2} in all",
                flush=True,
            )
    for r in wrong:
        print(f"  {r.way}, {r.policy}, {r.rest}, {'stream' if r.stream else 'body'}: {r.wrong}")
    file = Path(to)
    kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    version = importlib.metadata.version(module.DISTRIBUTION)
    kept[name] = {"version": version, "date": f"{datetime.now(UTC):%Y-%m-%d}", "ways": ways}
    file.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    return int(bool(wrong) or not ways)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
