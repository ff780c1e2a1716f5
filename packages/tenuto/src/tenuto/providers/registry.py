"""Look up the wire and the provider of a URL or a name, among built-in and registered ones.

Results for URLs are cached until either table changes, so a wrapped client uses a registration from
its next request on.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

from tenuto.core.errors import PolicyError
from tenuto.core.settings.rule import shown
from tenuto.providers.provider import Overrides, Row
from tenuto.providers.table import ROWS, UNKNOWN, by_url, own_row
from tenuto.wires.base import Wire
from tenuto.wires.outside import tell_shared
from tenuto.wires.registry import OUTSIDE, WIRES, wires, wires_for_path


def named(name: object) -> tuple[Wire | None, Wire | None, Overrides]:
    """Return the wire of this name, the likely wire of the provider of this name, and that
    provider's overrides. An unknown name gives none of them."""
    if not isinstance(name, str):
        return None, None, UNKNOWN.overrides
    row = ROWS.find(name)
    if row is not None:
        return None, WIRES.find(row.wire), row.overrides
    return WIRES.find(name), None, UNKNOWN.overrides


def route(url: str, speaks: str = "") -> tuple[Wire | None, Row, str]:
    """Return the wire, the provider and the path of a URL. Clients use the same few URLs again and
    again, so results are cached.

    Args:
        speaks: the name of the SDK's wire, if several have the same paths. "": the wire of a known
            provider, else the first one.
    """
    return _route(url, speaks, WIRES.changes + ROWS.changes)


@lru_cache(maxsize=256)
def _route(url: str, speaks: str, changes: int) -> tuple[Wire | None, Row, str]:
    parts = urlsplit(url)
    path = parts.path
    found = [(wire, by_url(url, wire.name)) for wire in _wires_at(parts, speaks)]
    if not found:
        return None, UNKNOWN, path
    named = (one for one in found if not one[1].unknown)
    spoken = (one for one in found if one[0].name == speaks)
    told = next(spoken, next(named, None))
    wire, provider = told or found[0]
    if told is None and len(found) > 1 and OUTSIDE.brings(wire):
        tell_shared(path, wire.name, found[1][0].name)
    own = WIRES.find(provider.wire)  # a version of the wire that only this provider speaks
    return own if own is not None and own.is_request(path) else wire, provider, path


def _wires_at(url: SplitResult, speaks: str) -> list[Wire]:
    """Return the wires that requests to a URL may use: those with its path, and those of other
    packages that an SDK or a provider's row names."""
    found, known = wires_for_path(url.path), wires()
    rows = (row for row in ROWS.all().values() if row.wire not in known and row.serves(url))
    for name in (*(row.wire for row in rows), speaks):
        wire = WIRES.find(name) if name and name not in known else None
        if wire is not None and wire not in found and wire.is_request(url.path):
            found.append(wire)
    return found


def behind(url: str) -> list[Row]:
    """Return the rows of a URL's provider: one for a request's URL, each API's for a base URL, or
    the unknown row if none names the host.

    Raises:
        ValueError: it is not a valid URL.

    >>> [row.dialect.name for row in behind("https://api.openai.com/v1")]
    ['openai', 'openai-completions', 'openai-responses']
    >>> [row.dialect.name for row in behind("https://nobody.example/v1")]
    ['unknown']
    """
    host = urlsplit(url).hostname
    if not host:
        raise ValueError("it has no host")
    wire, provider, path = route(url)
    if wire is not None and not provider.unknown:
        return [provider]
    names = dict.fromkeys(row.wire.partition("@")[0] for row in ROWS.all().values())
    names |= dict.fromkeys(OUTSIDE.all())
    rows = [row for row in (by_url(url, name) for name in names) if not row.unknown]
    # A row that names the host itself is more specific than one that names a domain.
    named = [row for row in rows if any(named.partition("/")[0] == host for named in row.hosts)]
    # A host alone says nothing about its wire, even though some wire has requests at "/".
    return named or rows or [provider if path.strip("/") else UNKNOWN]


def check_providers(names: Iterable[str]) -> None:
    """Check the names of providers that a policy has settings for.

    Raises:
        PolicyError: a name is not that of a provider known by its base URL, among the built-in ones
            and those registered so far.

    >>> check_providers(["groq", "unknown"])
    """
    known = _told_by_url(ROWS.changes)
    for name in names:
        if name not in known and own_row(name) is None:
            raise PolicyError(
                f"providers.{shown(name, str)} is not a provider with a known base URL; those are "
                f"{', '.join(sorted(known))}; for one of your own, call tenuto.register_provider "
                "first"
            )


@lru_cache(maxsize=1)
def _told_by_url(_: int) -> frozenset[str]:
    """Return the names of the providers that are known by their hosts, and the names for unknown
    providers."""
    rows = ROWS.all().values()
    return frozenset({UNKNOWN.dialect.name, *(row.dialect.name for row in rows if row.hosts)})
