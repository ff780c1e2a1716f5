"""`tenuto providers`: which providers Tenuto knows, and what they can do."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any
from urllib.parse import urlsplit

from tenuto.command_kit.command_error import CommandError
from tenuto.command_kit.docstrings import attributes
from tenuto.command_kit.printing import JsonFlag, print_rows
from tenuto.core.answer.stop import printable
from tenuto.providers.capabilities import Capabilities, capabilities
from tenuto.providers.models import MODELS
from tenuto.providers.provider import Row
from tenuto.providers.registration import is_host
from tenuto.providers.registry import behind
from tenuto.providers.table import ROWS
from tenuto.wires.dialect import Dialect
from tenuto.wires.registry import WIRES

EXAMPLES = (
    "tenuto providers",
    "tenuto providers anthropic --model claude-haiku-4-5",
    "tenuto providers --url https://api.openai.com/v1",
    "tenuto providers --url https://api.deepseek.com/beta/chat/completions",
    "tenuto providers --json",
)


def providers(
    name: str | None = None,
    /,
    *,
    model: str | None = None,
    wire: str | None = None,
    url: str | None = None,
    json: JsonFlag = False,
) -> None:
    """List the known providers, with their wires and base URLs; or what Tenuto knows about one.

    Args:
        name: show what this provider can do, as `tenuto.capabilities()` returns it: the name of a
            provider, a base URL, or the URL of a request.
        model: the model that you ask about; only with a name. The default is what is true for every
            model.
        wire: the wire, for a base URL that serves several; only with a name. The default is the
            first one.
        url: list only the provider at this URL. A base URL may show several rows, one for each API
            that it serves; the URL of a request shows one.
        json: print one JSON object: with a name, its capabilities; else all columns of the
            providers, and the models.
    """
    if name is None:
        for option, value in (("--model", model), ("--wire", wire)):
            if value is not None:
                raise CommandError(f"{option} needs the name of a provider before it", 2)
        _list(url, json=json)
        return
    if url is not None:
        raise CommandError("give a name or --url, not both; a name may be a URL", 2)
    if ROWS.find(name) is None and "://" not in name and _looks_like_a_host(name):
        name = f"https://{name}"
    known = capabilities(name, model or "", wire=wire or "").as_dict()
    meanings = attributes(Capabilities.__doc__)
    print_rows(
        known,
        ("capability", "value", "meaning"),
        ((key, _shown(value), meanings.get(key, "")) for key, value in known.items()),
        json=json,
    )


def _list(url: str | None, *, json: bool) -> None:
    rows = list(ROWS.all().values()) if url is None else behind(_checked(url))
    models = [model._asdict() | {"name": model.name.pattern} for model in MODELS]
    print_rows(
        {"providers": {row.dialect.name: described(row) for row in rows}, "models": models},
        ("provider", "wire", "base URLs", "prefill", "output limit", "source"),
        (
            (
                row.dialect.name,
                row.wire,
                " ".join(row.hosts) or (f"server: {row.server}" if row.server else "–"),
                _prefill(row),
                _limit_key(row),
                row.source or "–",
            )
            for row in rows
        ),
        json=json,
    )


def _shown(value: object) -> str:
    """Return a value as the table shows it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{native}: {reason}" for native, reason in value.items()) or "–"
    return "none" if value is None else str(value) or "–"


def _looks_like_a_host(name: str) -> bool:
    """Return whether a name without a scheme is a host, and not a model such as gpt-5.4.

    >>> [_looks_like_a_host(name) for name in ("api.groq.com/v1", "localhost:1234", "10.0.0.7")]
    [True, True, True]
    >>> [_looks_like_a_host(name) for name in ("gpt-5.4", "claude-3.5-sonnet", "openai:gpt-5.4")]
    [False, False, False]
    """
    host, _, port = name.partition("/")[0].partition(":")
    labels = host.split(".")
    is_ip = len(labels) == 4 and all(label.isdecimal() for label in labels)
    named = bool(port) or is_ip or (len(labels) > 1 and labels[-1].isalpha())
    return named and (not port or port.isdecimal())


def _checked(given: str) -> str:
    """Return the URL that was given, with its scheme.

    Raises:
        CommandError: it is not a URL."""
    url = given if "://" in given else f"https://{given}"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    # A word is a host only if it has a scheme, a dot or a port, or if it is localhost.
    named = "://" in given or "." in host or ":" in host or port is not None
    if not is_host(host) or not (named or host == "localhost"):
        raise CommandError(
            f"--url is {printable(given)!r}, but it must be the URL of a provider or of a "
            "request, such as https://api.openai.com/v1 or localhost:11434",
            2,
        )
    return url


def described(row: Row) -> dict[str, Any]:
    """Return a row and what its dialect allows, by the names of the columns.

    >>> described(ROWS.all()["qwen"])["prefill_row"]
    {'partial': True}
    """
    dialect = row.dialect
    own = {item.name: getattr(row, item.name) for item in fields(Row)}
    form = {item.name: _plain(getattr(dialect, item.name)) for item in fields(Dialect)}
    members = {key: dict(form[key]) for key in _MEMBERS}
    told = {**own, **form, **members, "overrides": dict(row.overrides)}
    told["output_key"] = _limit_key(row)
    return {key: value for key, value in told.items() if key not in ("dialect", "name")}


def _limit_key(row: Row) -> str:
    wire = WIRES.find(row.wire)
    assert wire is not None  # registration checks it
    return wire.limit_key(row.dialect)


def _plain(value: Any) -> Any:
    return value.pattern if isinstance(value, re.Pattern) else value


_MEMBERS = ("prefill_row", "prefill_members", "less_reasoning")
"""Columns that are members of a request."""


def _prefill(row: Row) -> str:
    if row.dialect.prefill_models is not None:
        return "some models"
    return "yes" if row.dialect.prefill else "no"
