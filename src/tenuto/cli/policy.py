"""`tenuto policy`: every setting, and what is in force here."""

from __future__ import annotations

from typing import Any

from tenuto.cli.docstrings import attributes
from tenuto.cli.printing import JsonFlag, print_rows
from tenuto.config import Settings, load_settings
from tenuto.core.policy import GROUPS, RULES, Policy, plain

EXAMPLES = (
    "tenuto policy",
    "TENUTO_CONTINUATION_MAX_ATTEMPTS=5 tenuto policy",
    "tenuto policy --json",
)


def policy(*, json: JsonFlag = False) -> None:
    """List all settings by group: the value in force here, where it comes from, the default, what
    is allowed, what it means.

    Settings come from a preset, from [tool.tenuto] in pyproject.toml, from tenuto.toml and from the
    environment; the later of these wins.

    Args:
        json: print one JSON object, with a key for each setting.
    """
    settings = described(load_settings())
    columns = ("group", "value", "from", "default", "allowed", "variable", "meaning")
    print_rows(
        settings,
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
        ((name, *(_shown(of[column]) for column in columns)) for name, of in settings.items()),
        json=json,
    )


def described(settings: Settings) -> dict[str, dict[str, Any]]:
    """The settings by name, as plain values.

    >>> told = described(Settings(Policy(backoff_s=2.0), {"backoff_s": "tenuto.toml"}, None))
    >>> told["backoff_s"]["value"], told["backoff_s"]["from"], told["backoff_max_s"]["from"]
    (2.0, 'tenuto.toml', 'default')
    """
    default, meanings = Policy(), attributes(Policy.__doc__)
    return {
        name: {
            "group": GROUPS[rule.group],
            "value": plain(getattr(settings.policy, name)),
            "from": settings.sources.get(name, "default"),
            "default": plain(getattr(default, name)),
            "allowed": rule.allowed,
            "variable": f"TENUTO_{name.upper()}",
            "meaning": meanings.get(name, ""),
        }
        for name, rule in RULES.items()
    }


def _shown(value: object) -> str:
    """A value as TOML and the environment spell it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(value) or "[]"
    return "none" if value is None else str(value)
