"""Register providers and wires at run time, beside the built-in ones (N8).

Each kind is in one mapping (`ROWS`, `WIRES`). An entry with the same name and version is replaced.
A wrapped client uses a registration from its next request on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from tenuto.core.answer.stop import StopReason
from tenuto.core.errors import RegistrationError
from tenuto.core.settings.names import refuses_unknown
from tenuto.providers.provider import Overrides, Row
from tenuto.providers.table import ROWS, own_row, unknown_of
from tenuto.wires.base import Wire
from tenuto.wires.dialect import Dialect
from tenuto.wires.names import key_of, wrong_name
from tenuto.wires.registry import WIRES
from tenuto.wires.usable import why_unusable

_HOST = re.compile(
    r"(?:\.?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?(?::[0-9]{1,5})?|[0-9a-f:]+"
    r"|\[[0-9a-f:]+\](?::[0-9]{1,5})?)(?:/[\w.~-]+)*",
    re.ASCII,
)

Members = Mapping[str, Any]
"""Members of a request, by name."""


@refuses_unknown(RegistrationError)
@dataclass(frozen=True, slots=True)
class Provider:
    """A description of a provider, for `register_provider`.

    Only the name and the wire are required. From `prefill` on, each field says what the provider's
    version of the wire allows; None takes the value from `like`, or else from the wire's defaults.

    Attributes:
        name: the provider's name: up to 64 letters, digits, dots, hyphens and underscores.
        wire: the name of the provider's wire, such as "openai-chat".
        version: distinguishes several of the same name, to look up as `name@version`. "": there is
            only one.
        like: the name of a known provider of the same wire to copy from, such as "vllm". "": none.
        hosts: the beginnings of its base URLs: host names, with a port or a path if those matter; a
            leading dot stands for any subdomain.
        server: the beginning of its `server` response header. "": not recognized by it.
        sends_stop: whether its streams end with a mark: a stop, or the wire's own. False: a stream
            without one is whole, and Tenuto makes no further request for it. None: as the provider
            in `like` or the wire has it, else Tenuto learns it.
        overrides: stop values that mean something else for this provider, each with its reason,
            such as {"budget_spent": "max_tokens"}. They apply to this provider only, and to all of
            its answers: {"stop": "max_tokens"} would have Tenuto continue whole answers too.
        prefill: whether models continue a trailing assistant message as the beginning of their
            answer.
        prefill_models: a pattern to search for in a model's name, if only some models do.
        prefill_row: further members of the message with the prefill.
        prefill_members: further top-level members of a request with a prefill.
        prefill_echoed: whether every answer to a prefill begins with it, however short it is.
        output_key: the key of the output limit, for requests that don't set one, on wires where
            providers differ in it: Chat Completions and those like it.
        reasoning_prefill: whether models that accept a prefill can also continue from reasoning.
        reasoning_members: further top-level members of a request with reasoning as its prefill.
        reasoning_echoed: whether answers without streaming repeat the reasoning that they continue
            from.
        reasoning_key: the key under which assistant rows must carry their reasoning back. "": the
            provider does not want it.
        refuses: a pattern to match the names of an answer's members beside its text and calls
            (reasoning, signatures) that the provider refuses in a history.
        most_id_chars: the most characters that the id of a call may have. 0: there is no limit.
        signed_calls: a pattern to search for in a model's name, if the provider refuses calls of
            its current turn without a signature.
        signed_thinking: whether the provider refuses thinking without a signature in a history.
        less_reasoning: top-level members by which any request asks for less reasoning.
        output_tokens: the largest output limit for every model. 0: it depends on the model.
        window_tokens: the context window, in tokens. 0: not known.

    Raises:
        RegistrationError: a value is not allowed; the message says what is.

    >>> Provider("gpu", "openai-chat", like="vllm", hosts=["gpu.lab:8000"]).hosts
    ('gpu.lab:8000',)
    >>> Provider("gpu", "openai-chat", hosts=["http://gpu.lab"])
    Traceback (most recent call last):
        ...
    tenuto.core.errors.RegistrationError: 'http://gpu.lab' is not a host name; leave out the scheme
    """

    name: str
    wire: str
    version: str = ""
    like: str = ""
    hosts: Collection[str] = ()
    server: str = ""
    sends_stop: bool | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)
    prefill: bool | None = None
    prefill_models: re.Pattern[str] | None = None
    prefill_row: Members | None = None
    prefill_members: Members | None = None
    prefill_echoed: bool | None = None
    output_key: str | None = None
    reasoning_prefill: bool | None = None
    reasoning_members: Members | None = None
    reasoning_echoed: bool | None = None
    reasoning_key: str | None = None
    refuses: re.Pattern[str] | None = None
    most_id_chars: int | None = None
    signed_calls: re.Pattern[str] | None = None
    signed_thinking: bool | None = None
    less_reasoning: Members | None = None
    output_tokens: int | None = None
    window_tokens: int | None = None

    def __post_init__(self) -> None:
        _check_name("name", self.name)
        _check_name("version", self.version, empty=True)
        _check_type("server", self.server, str, "a text")
        _check_type("sends_stop", self.sends_stop, bool | None, "True, False or None")
        object.__setattr__(self, "hosts", _checked_hosts(self.hosts))
        object.__setattr__(self, "overrides", _checked_overrides(self.overrides))
        for key, kind in _DIALECT.items():
            value = getattr(self, key)
            if value is None:
                continue
            number = kind is int
            if not isinstance(value, kind) or (number and (isinstance(value, bool) or value < 0)):
                raise RegistrationError(f"{key} is {value!r}, but it must be {_ALLOWED[kind]}")
        _like(self)  # reports an unknown name now, not with the first request

    def row(self) -> Row:
        """Return the row of the table for this provider."""
        given: dict[str, Any] = {
            key: tuple(value.items()) if kind is Mapping else value
            for key, kind in _DIALECT.items()
            if (value := getattr(self, key)) is not None
        }
        if "prefill" in given:  # it applies to all models
            given = {"prefill_models": None, **given}
        return Row(
            replace(_like(self).dialect, name=self.name, **given),
            self.wire,
            hosts=tuple(self.hosts),
            server=self.server.lower(),
            source="registered",
            version=self.version,
            sends_stop=_like(self).sends_stop if self.sends_stop is None else self.sends_stop,
            overrides=MappingProxyType({k: StopReason(v) for k, v in self.overrides.items()}),
        )


_KINDS: Mapping[type, type] = {tuple: Mapping, type(None): re.Pattern}
"""Fields of `Provider` that are members or a pattern in `Dialect`."""

_DIALECT: dict[str, Any] = {
    item.name: _KINDS.get(type(item.default), type(item.default))
    for item in fields(Dialect)
    if item.name != "name"
}

_ALLOWED: Mapping[Any, str] = {
    bool: "True, False or None",
    int: "a whole number, 0 or more, or None",
    str: "a text or None",
    Mapping: "a mapping of members by name, or None",
    re.Pattern: "a compiled pattern, or None",
}


def register_provider(provider: Provider) -> None:
    """Register a provider, so that Tenuto recognizes it by its hosts, its `server` header and its
    name.

    It replaces any provider of the same name and version, including built-in ones. Thread-safe;
    takes microseconds.

    Args:
        provider: its description.

    Raises:
        RegistrationError: the argument is not a `Provider`.

    >>> halting = Provider("halting", "openai-chat", overrides={"halt": "end_turn"})
    >>> register_provider(halting)
    >>> from tenuto import detect
    >>> body = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "halt"}]}
    >>> detect(body, wire="halting").reason.value, detect(body).reason.value
    ('end_turn', 'unknown')
    """
    if not isinstance(provider, Provider):
        given = type(provider).__name__
        raise RegistrationError(
            f"register_provider() was given an object of type {given}, but it must be a "
            "tenuto.Provider, such as tenuto.Provider('lab', wire='openai-chat')"
        )
    ROWS.add(key_of(provider.name, provider.version), provider.row())


def register_wire(wire: Wire, *, version: str = "") -> None:
    """Register a wire, which Tenuto tries before the built-in ones.

    At a host that a provider names, that provider's wire comes first if the path is one of its
    paths. The wire replaces any wire of the same name and version, including built-in ones.
    docs/guide/write-a-wire.md describes how to write one.

    Args:
        wire: the wire.
        version: distinguishes several of the same name, to look up as `name@version`. "": there is
            only one.

    Raises:
        RegistrationError: the argument is not a `Wire`, its name is not allowed, its table `shown`
            lacks an outcome, or it can't read the errors that it writes.

    >>> from dataclasses import replace
    >>> from tenuto.wires.openai_chat.wire import WIRE
    >>> its_own = {"is_request": "/acme/chat".__eq__, "looks_like": lambda value: "acme" in value}
    >>> register_wire(replace(WIRE, name="acme-chat", **its_own))
    """
    _check_name("version", version, empty=True)
    if wrong := why_unusable(wire):
        raise RegistrationError(wrong)
    WIRES.add(key_of(wire.name, version), wire)


# --- validation ---------------------------------------------------------------------------------


def _check_name(what: str, value: object, *, empty: bool = False) -> None:
    if value == "" and empty:
        return
    if wrong := wrong_name(what, value):
        raise RegistrationError(wrong)


def _check_type(key: str, value: object, kind: Any, allowed: str) -> None:
    if not isinstance(value, kind):
        raise RegistrationError(f"{key} is {value!r}, but it must be {allowed}")


def _unknown(wire: str) -> Row:
    """Return the row for unknown providers of a wire."""
    return unknown_of(wire.partition("@")[0])


def _like(provider: Provider) -> Row:
    """Return the row of the known provider that this one is like, or else that of unknown ones."""
    wire, name = provider.wire, provider.like
    if not isinstance(wire, str) or WIRES.find(wire) is None:
        raise RegistrationError(f"wire is {wire!r}, known are {', '.join(WIRES.all())}")
    if name == "":
        return _unknown(wire)
    spoken = wire.partition("@")[0]
    row = (ROWS.find(name) or own_row(name)) if isinstance(name, str) else None
    if row is None or row.wire.partition("@")[0] != spoken:
        known = [key for key, row in ROWS.all().items() if row.wire.partition("@")[0] == spoken]
        raise RegistrationError(
            f"like is {name!r}, but on {spoken} it must be one of {', '.join(known)}"
        )
    return row


def is_host(name: str) -> bool:
    """Return whether a name can stand in `hosts`.

    >>> is_host("gpu.lab:8000"), is_host("[::1]:8000"), is_host("two words"), is_host("")
    (True, True, False, False)
    """
    return _HOST.fullmatch(name.lower()) is not None


def _checked_hosts(hosts: object) -> tuple[str, ...]:
    if isinstance(hosts, str) or not isinstance(hosts, Collection):
        raise RegistrationError(f"hosts is {hosts!r}, but it must be a list of host names")
    for host in hosts:
        if not isinstance(host, str) or not is_host(host):
            raise RegistrationError(f"{host!r} is not a host name; {_why_no_host(host)}")
    return tuple(_LONE_IPV6.sub(r"\1", host.lower()) for host in hosts)


_LONE_IPV6 = re.compile(r"\A\[([^]]*)\](?!:)")
"""An IPv6 host without a port, which a row has without brackets."""

_NO_HOST = (
    (r"", "it is empty"),
    (r".*://.*", "leave out the scheme"),
    (r".*\s.*", "it contains white space"),
    (r".*\*.*", "it contains `*`; a leading dot, as in '.acme.example', stands for any subdomain"),
    (r".*@.*", "leave out the user before `@`"),
    (r".*[?#].*", "leave out the query"),
    (r".*//.*", "its path has an empty part"),
    (r".*/", "leave out the slash at the end"),
)
"""What is wrong with a host, by a pattern for all of it. The first match counts."""


def _why_no_host(host: object) -> str:
    given = host if isinstance(host, str) else "-"
    found = (why for wrong, why in _NO_HOST if re.fullmatch(wrong, given, re.DOTALL))
    return next(found, "it must be like 'acme.example', with a port or a path if those matter")


def _checked_overrides(overrides: Any) -> Overrides:
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
