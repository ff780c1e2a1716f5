"""`register()`: providers and wires that are not in the tables, and the look-ups over both (N8).

Theory of operation
-------------------
What ships and what is registered stand in one mapping each (`ROWS`, `WIRES`);
what has the same name and version is replaced. Whatever was worked out from them before is
forgotten by a count of the changes, so that a client that is wrapped already sees a registration
with its next request.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from tenuto.core.errors import RegistrationError
from tenuto.core.outcome import Outcome
from tenuto.core.stop import StopReason
from tenuto.providers.provider import Overrides, Provider
from tenuto.providers.table import ROWS, UNKNOWN, UNKNOWN_OF, by_url
from tenuto.wires.base import Dialect, Wire
from tenuto.wires.names import key_of
from tenuto.wires.registry import WIRES, wires_for_path

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HOST = re.compile(
    r"(?:\.?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?(?::[0-9]{1,5})?|[0-9a-f:]+)(?:/[\w.~-]+)*", re.ASCII
)
_DIALECT: dict[str, type] = {
    item.name: re.Pattern if item.name == "prefill_models" else type(item.default)
    for item in fields(Dialect)
    if item.name != "name"
}


def register(
    name: str | None = None,
    *,
    wire: str | Wire,
    version: str = "",
    like: str = "",
    hosts: Collection[str] = (),
    server: str = "",
    sends_stop: bool | None = None,
    overrides: Mapping[str, str] | None = None,
    **dialect: Any,
) -> None:
    """Make a provider or a wire known; from here on it is found by name, URL and shape.

    One of the same name and version is replaced, those that ship included. Safe under threads; it
    takes microseconds.

    Args:
        name: the provider's name; None: only the wire is registered.
        wire: the name of the wire that the provider speaks, or a new wire as an object
            (`tenuto.wires.base.Wire`), which is asked before those that ship.
        version: tells several of one name apart; asked for as `name@version`.
        like: the name of a known provider of that wire whose dialect it speaks (`vllm`): what
            `dialect` does not say is as there. "": as with any unknown provider of that wire.
        hosts: where its base URLs begin: host names, with a port or a path where only what has them
            is meant; a leading dot stands for any sub-domain.
        server: the beginning of its `server` response header.
        sends_stop: whether its streams end with a mark: a stop, or the wire's own. False: a stream
            without one is whole, and no further request is made for it. None: as the wire has it,
            else it is learned.
        overrides: native stops that this provider means otherwise, each with the reason that it
            stands for, such as {"stop": "max_tokens"} for a back end that says so of answers that
            were cut. They hold for this provider alone.
        dialect: what its form of the wire allows: the columns of docs/providers.md.

    Raises:
        RegistrationError: something is not allowed; the message says what is.

    >>> register("halting", wire="openai-chat", overrides={"halt": "end_turn"})
    >>> from tenuto import detect
    >>> body = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "halt"}]}
    >>> detect(body, wire="halting").reason.value, detect(body).reason.value
    ('end_turn', 'unknown')
    """
    _check_name("version", version, empty=True)
    if name is not None:
        _check_name("name", name)
    elif (
        isinstance(wire, str)
        or any((like, hosts, server, overrides, dialect))
        or sends_stop is not None
    ):
        raise RegistrationError(
            "a provider needs a name; only a wire object can be registered without one"
        )
    wire_name = _checked_wire(wire)
    wire_key = wire_name if isinstance(wire, str) else key_of(wire_name, version)
    made = None
    if name is not None:
        _check_type("server", server, str, "a text")
        _check_type("sends_stop", sends_stop, bool | None, "True, False or None")
        made = Provider(
            _checked_dialect(name, dialect, _checked_like(like, wire_name)),
            wire_key,
            hosts=_checked_hosts(hosts),
            server=server.lower(),
            source="registered",
            version=version,
            sends_stop=_unknown(wire_name).sends_stop if sends_stop is None else sends_stop,
            overrides=_checked_overrides(overrides),
        )
    # Nothing is added before all of it was checked.
    if isinstance(wire, Wire):
        WIRES.add(wire_key, wire)
    if made is not None:
        ROWS.add(key_of(made.dialect.name, version), made)


def named(name: object) -> tuple[Wire | None, Wire | None, Overrides]:
    """What a name stands for: the wire that it names; the one that the provider of that name is
    likely to speak; and that provider's overrides. Nothing of a name that is not known."""
    if not isinstance(name, str):
        return None, None, UNKNOWN.overrides
    row = ROWS.find(name)
    if row is not None:
        return None, WIRES.find(row.wire), row.overrides
    return WIRES.find(name), None, UNKNOWN.overrides


def route(url: str, speaks: str = "") -> tuple[Wire | None, Provider, str]:
    """What a URL is about: the wire, who is behind it, and the path. A client asks the same few
    again and again.

    Args:
        speaks: the name of the wire that the asking SDK speaks where several have the same paths;
            "": that of whom a row names, else the one that they look like.
    """
    return _route(url, speaks, WIRES.changes + ROWS.changes)


@lru_cache(maxsize=256)
def _route(url: str, speaks: str, changes: int) -> tuple[Wire | None, Provider, str]:
    path = urlsplit(url).path
    found = [(wire, by_url(url, wire.name)) for wire in wires_for_path(path)]
    if not found:
        return None, UNKNOWN, path
    named = (one for one in found if not one[1].unknown)
    spoken = (one for one in found if one[0].name == speaks)
    wire, provider = next(spoken, next(named, found[0]))
    own = WIRES.find(provider.wire)  # a version of the wire that only this provider speaks
    return own if own is not None and own.is_request(path) else wire, provider, path


# --- what is allowed ----------------------------------------------------------------------------


def _check_name(what: str, value: object, *, empty: bool = False) -> None:
    if value == "" and empty:
        return
    if not isinstance(value, str) or not _NAME.fullmatch(value) or value == UNKNOWN.dialect.name:
        raise RegistrationError(
            f"{what} is {value!r}, but it must be up to 64 letters, digits, dots, hyphens and "
            f"underscores, and not {UNKNOWN.dialect.name!r}"
        )


def _check_type(key: str, value: object, kind: Any, allowed: str) -> None:
    if not isinstance(value, kind):
        raise RegistrationError(f"{key} is {value!r}, but it must be {allowed}")


def _checked_wire(wire: object) -> str:
    """The name of a wire that is known, or of one that is given as an object."""
    if isinstance(wire, str):
        if WIRES.find(wire) is None:
            raise RegistrationError(f"wire is {wire!r}, known are {', '.join(WIRES.all())}")
        return wire
    if not isinstance(wire, Wire):
        given = type(wire).__name__
        raise RegistrationError(f"wire is of type {given}, but it must be a tenuto.wires.base.Wire")
    _check_name("the wire's name", wire.name)
    unshown = [outcome.value for outcome in Outcome if outcome not in wire.shown]
    if unshown:
        raise RegistrationError(f"the wire's table `shown` lacks {', '.join(unshown)}")
    return wire.name


def _unknown(wire: str) -> Provider:
    """Whoever speaks a wire and is not known."""
    return UNKNOWN_OF.get(wire, UNKNOWN)


def _checked_like(name: object, wire: str) -> Dialect:
    """The dialect of a known provider, which speaks that wire; of "" that of an unknown one."""
    if name == "":
        return _unknown(wire).dialect
    row = ROWS.find(name) if isinstance(name, str) else None
    if row is None or row.wire.partition("@")[0] != wire:
        known = [key for key, row in ROWS.all().items() if row.wire.partition("@")[0] == wire]
        raise RegistrationError(
            f"like is {name!r}, but on {wire} it must be one of {', '.join(known)}"
        )
    return row.dialect


def _checked_dialect(name: str, dialect: Mapping[str, Any], like: Dialect) -> Dialect:
    for key, value in dialect.items():
        if key not in _DIALECT:
            raise RegistrationError(
                f"{key} is not a field of a provider, but it must be one of {', '.join(_DIALECT)}"
            )
        if not isinstance(value, _DIALECT[key]):
            kind = _DIALECT[key].__name__
            raise RegistrationError(f"{key} is {value!r}, but it must be a {kind}")
    if "prefill" in dialect:  # said of all models
        dialect = {"prefill_models": None, **dialect}
    return replace(like, name=name, **dialect)


def is_host(name: str) -> bool:
    """Whether this can stand in `hosts`.

    >>> is_host("gpu.lab:8000"), is_host("two words"), is_host("")
    (True, False, False)
    """
    return _HOST.fullmatch(name.lower()) is not None


def _checked_hosts(hosts: object) -> tuple[str, ...]:
    if isinstance(hosts, str) or not isinstance(hosts, Collection):
        raise RegistrationError(f"hosts is {hosts!r}, but it must be a list of host names")
    for host in hosts:
        if not isinstance(host, str) or not is_host(host):
            raise RegistrationError(f"{host!r} is not a host name; leave out the scheme")
    return tuple(host.lower() for host in hosts)


def _checked_overrides(overrides: Any) -> Overrides:
    if overrides is None:
        return UNKNOWN.overrides
    _check_type("overrides", overrides, Mapping, "a mapping")
    checked: dict[str, StopReason] = {}
    for native, reason in overrides.items():
        if not isinstance(native, str) or not native.strip():
            raise RegistrationError(f"{native!r} in overrides is not a native stop")
        if reason not in tuple(StopReason):
            words = ", ".join(StopReason)
            raise RegistrationError(
                f"{native!r} stands for {reason!r}, but it must stand for one of {words}"
            )
        checked[native.strip().lower()] = StopReason(reason)
    return MappingProxyType(checked)
