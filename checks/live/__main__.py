"""`make live`: ask real services whether they do what Tenuto's rows say."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress

from checks.live.asking import Budget, Session
from checks.live.checks import CHECKS, Check, Found, Verdict, run
from checks.live.providers import MODELS, Target, WrongSetting, key_variables, targets
from checks.live.rehearsal import rehearsing
from checks.live.table import as_json, plan, plan_as_json, results

BUDGET_TOKENS = 5_000


def without_keys(missing: Iterable[str]) -> str:
    """What helps somebody whose key is not set; `missing`: the variables that were looked at."""
    return "\n".join(
        [
            "No key is set, so no service is asked. Set one and try again, for example:",
            f"    OPENAI_API_KEY=… make live             # at most {BUDGET_TOKENS:,} output tokens",
            "    make live ONLY=ollama MODEL_OLLAMA=…   # a server on this machine needs no key",
            "    make live REHEARSE=1                   # against the simulator and a small model",
            f"Keys are read from: {', '.join(missing)}.",
            "This is what would be asked:",
            "",
        ]
    )


def main(arguments: Sequence[str]) -> int:
    """Ask and print. 1: something differs; 2: a setting is wrong; else 0."""
    parser = argparse.ArgumentParser(prog="make live", description=__doc__)
    parser.add_argument("--budget", type=int, default=BUDGET_TOKENS, help="output tokens in all")
    parser.add_argument("--only", default="", help="names of providers, with commas between them")
    parser.add_argument("--dry-run", action="store_true", help="show what would be asked")
    parser.add_argument(
        "--rehearse", action="store_true", help="ask the simulator and a small model"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    try:
        if given.budget < 1:
            raise WrongSetting("BUDGET must be a whole number of tokens, 1 or more")
        if given.rehearse:
            with rehearsing(given.only) as rehearsed:
                return _asked(rehearsed, given)
        return _asked(targets(given.only), given)
    except WrongSetting as error:
        print(f"make live: {error}", file=sys.stderr)
        return 2


def _asked(named: Sequence[Target], given: argparse.Namespace) -> int:
    """Ask those that have a key, or show what would be asked."""
    budget = Budget(given.budget)
    able = [target for target in named if not target.lacks]
    lacking = dict.fromkeys(target.lacks for target in named if target.lacks)
    if able and not given.dry_run:
        for variable in lacking:
            print(f"make live: {variable} is not set", file=sys.stderr)
        return _ask(able, budget, json_wanted=given.json)
    if not able and not given.json:
        known = sorted({key_variables(name) for name in MODELS} - {""})
        print(without_keys(lacking or known))
    shown = able or named or targets("openai,anthropic")
    if given.json:
        print(json.dumps(plan_as_json(shown, CHECKS, budget), ensure_ascii=False, indent=1))
    else:
        print(plan(shown, CHECKS, budget))
    return 0


def _ask(able: Sequence[Target], budget: Budget, *, json_wanted: bool) -> int:
    """Run all checks on all providers, and print what was found, also where Ctrl-C ends it."""
    found: list[tuple[Target, list[tuple[Check, Found]]]] = []
    with suppress(KeyboardInterrupt):
        for target in able:
            print(f"asking {target.name}", file=sys.stderr, flush=True)
            found.append((target, run(Session(target, budget), CHECKS)))
    if json_wanted:
        print(json.dumps(as_json(found, budget), ensure_ascii=False, indent=1))
    else:
        print(results(found, budget))
    differs = any(one.verdict is Verdict.DIFFERS for _, made in found for _, one in made)
    return 1 if differs or len(found) < len(able) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
