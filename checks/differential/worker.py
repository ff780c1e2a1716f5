"""A process that plays pairs and prints a line of JSON for each way of each.

    python -m checks.differential.worker SDK,SDK NUMBER OF [PART ...]

It plays every pair of these SDKs whose place in the list is NUMBER modulo OF, and whose key has each
PART; the part `slice` stands for the pairs that `make test` plays. The first line has the versions of the SDKs.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

from checks.differential.pairs import drawn, pairs
from checks.differential.playing import WAYS, Pair, Played, Player, judged, shown
from checks.differential.sdks import SDKS


def chosen(sdks: Sequence[str], parts: Sequence[str]) -> list[Pair]:
    """Return the pairs of some SDKs whose keys have each of these parts; a whole key is one pair."""
    if list(parts) == ["slice"]:
        return [pair for pair in drawn() if pair.sdk in sdks]
    found = [p for p in pairs() if p.sdk in sdks and all(part in p.key for part in parts)]
    exact = [pair for pair in found if list(parts) == [pair.key]]
    return exact or found


def lines(player: Player, pair: Pair) -> Iterator[dict[str, Any]]:
    """Play a pair, and return a line for each wrapped way."""
    played = player.play(pair)
    for way, row in judged(pair, played).items():
        verdict = row.verdict
        made = {"key": pair.key, "sdk": pair.sdk, "kind": pair.kind, "way": way}
        yield made | {"verdict": verdict, "row": row.name} | _sides(played, way, verdict)


def _sides(played: dict[str, Played], way: str, verdict: str) -> dict[str, Any]:
    if verdict in ("equal", "better"):
        return {}
    one, bare = played[way], played["bare"]
    return {
        "truth": str(bare.truth)[:400],
        "bare": shown(bare.seen),
        "wrapped": shown(one.seen),
        "ended": one.ended,
        "requests": [len(bare.requests), len(one.requests)],
    }


def tell(pair: Pair, played: dict[str, Played]) -> None:
    """Print both sides of a pair in full."""
    print(f"== {pair.key}\ntruth: {played['bare'].truth}")
    for way in WAYS:
        one = played[way]
        print(f"\n-- {way} {one.ended}")
        for number, (request, sent) in enumerate(zip(one.requests, one.sent, strict=False)):
            print(f"request {number}: {json.dumps(request, ensure_ascii=False)}")
            print(f"answer {number}: {sent}")
        print(f"seen: {json.dumps(shown(one.seen), ensure_ascii=False)}")
    print()
    for way, row in judged(pair, played).items():
        print(f"{way}: {row.verdict}, by the row {row.name!r}: {row.says}")


def main(arguments: list[str]) -> None:
    """Play what the arguments say."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    sdks, number, of, *parts = arguments
    names = sdks.split(",")
    print(json.dumps({"versions": {name: version(SDKS[name].package) for name in names}}))
    player = Player()
    for place, pair in enumerate(chosen(names, parts)):
        if place % int(of) == int(number):
            try:
                made = [*lines(player, pair)]
            except Exception as error:  # noqa: BLE001 - the others go on, and the run fails
                why = {
                    "verdict": "open",
                    "row": "the laboratory failed",
                    "way": "",
                    "bare": repr(error),
                }
                made = [{"key": pair.key, "sdk": pair.sdk, "kind": pair.kind, **why}]
            for line in made:
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
