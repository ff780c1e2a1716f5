"""`tenuto policy`: every setting, and what is in force here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from tenuto.command_kit.command_error import one_line
from tenuto.command_kit.docstrings import attributes
from tenuto.command_kit.printing import JsonFlag, print_rows
from tenuto.config import Settings, load_settings
from tenuto.core.errors import PolicyError
from tenuto.core.settings.policy import EXCEPTIONS, GROUPS, RULES, Policy, plain
from tenuto.providers.registry import check_providers
from tenuto.turn.settings.switch import is_off_in

EXAMPLES = (
    "tenuto policy",
    "TENUTO_CONTINUATION_MAX_ATTEMPTS=5 tenuto policy",
    "tenuto policy --json",
)


def policy(*, json: JsonFlag = False) -> None:
    """List every setting with its value here, where that comes from, and what it means.

    Settings come from a preset, [tool.tenuto] in pyproject.toml, tenuto.toml and the environment;
    each of these overrides those before it.

    Args:
        json: print one JSON object, with a key for each setting. Values for single providers and
            models are under `exceptions`.
    """
    settings = load_settings(any_provider=True)
    if is_off_in(os.environ):
        print("tenuto: the variable TENUTO switches Tenuto off here", file=sys.stderr)
    for name in settings.policy.providers:
        try:
            check_providers([name])
        except PolicyError as error:  # a program may register it, which cannot be seen from here
            print(f"tenuto: {one_line(str(error))}", file=sys.stderr)
    told = described(settings)
    columns = ("group", "value", "from", "default", "allowed", "variable", "meaning")
    print_rows(
        told,
        (
            "setting",
            "group",
            "in force",
            "from",
            "default",
            "allowed",
            "environment variable",
            "meaning",
        ),
        _rows(told, columns),
        json=json,
    )


def described(settings: Settings) -> dict[str, dict[str, Any]]:
    """The settings by name, as plain values.

    >>> told = described(Settings(Policy(backoff_s=2.0), {"backoff_s": "tenuto.toml"}, None))
    >>> told["backoff_s"]["value"], told["backoff_s"]["from"], told["backoff_max_s"]["from"]
    (2.0, 'tenuto.toml', 'default')
    """
    default, meanings = Policy(), attributes(Policy.__doc__)
    exceptions = [
        (f"{table}.{whose}", changes)
        for table in EXCEPTIONS
        for whose, changes in getattr(settings.policy, table).items()
    ]
    return {
        name: {
            "group": GROUPS[rule.group],
            "value": plain(getattr(settings.policy, name)),
            "from": settings.sources.get(name, "default"),
            "exceptions": {
                whose: {
                    "value": plain(changes[name]),
                    "from": settings.sources.get(f"{whose}.{name}", "preset"),
                }
                for whose, changes in exceptions
                if name in changes
            },
            "default": plain(getattr(default, name)),
            "allowed": rule.allowed,
            "variable": f"TENUTO_{name.upper()}",
            "meaning": meanings.get(name, ""),
        }
        for name, rule in RULES.items()
    }


def _rows(told: dict[str, dict[str, Any]], columns: Sequence[str]) -> Iterator[list[str]]:
    """A row for each setting, and one below it for each exception."""
    for name, of in told.items():
        yield [name, *(_shown(of[column]) for column in columns)]
        for whose, other in of["exceptions"].items():
            cells = {"value": _shown(other["value"]), "from": other["from"]}
            yield [f"{name} for {whose}", *(cells.get(column, "") for column in columns)]


def _shown(value: object) -> str:
    """A value as TOML and the environment spell it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(value) or "[]"
    return "none" if value is None else str(value)
