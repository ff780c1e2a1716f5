"""A model and where to reach it: "provider:model" and what the table of providers knows of it."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import InitVar, dataclass, field, fields
from functools import cached_property
from typing import Any, cast
from urllib.parse import urlsplit

from tenuto.core.errors import AgentError
from tenuto.core.settings.names import refuses_unknown
from tenuto.providers.addresses import ADDRESSES, Address
from tenuto.providers.models import output_tokens
from tenuto.providers.provider import Row, row
from tenuto.providers.table import ROWS
from tenuto.wires.base import Wire
from tenuto.wires.form import Form, Opening
from tenuto.wires.json import encode
from tenuto.wires.registry import WIRES
from tenuto_agent.composing import Composed

log: logging.Logger = logging.getLogger("tenuto")

_NOWHERE = Address("")
_TYPES = (
    ("base_url", str, "a text"),
    ("api_key", str, "a text"),
    ("options", Mapping, "a mapping"),
    ("headers", Mapping, "a mapping of texts"),
    ("text_calls", bool, "True or False"),
)
_OURS = ("content-length", "transfer-encoding", "host", "connection")
"""Request headers that Tenuto sets itself."""


@refuses_unknown(AgentError)
@dataclass(frozen=True, eq=False)
class Model:
    """A model at a provider. Models are equal if all their arguments are, including the key.

    Args:
        name: `provider:model`, such as "anthropic:claude-sonnet-5-5". For an unknown server, use
            the name of a wire instead of the provider ("openai-chat:llama").
        base_url: the base URL; "": from the environment variables that the provider's SDK reads,
            such as `OPENAI_BASE_URL`, or else the provider's own.
        api_key: the key; "": from the environment variables that the provider's SDK reads, but only
            without a `base_url`. It is not a field, so `repr` and `dataclasses.asdict` don't show
            it; `dataclasses.replace`, `copy` and `pickle` keep it.
        max_output_tokens: the output limit of each request; None: the provider's own.
        context_window_tokens: the context window; None: as in the provider's row, if known.
        options: further members of each request's body, as the provider names them. The member
            that holds the conversation can't be one: Tenuto writes it.
        headers: further request headers; `repr` doesn't show them.
        text_calls: whether to describe and call tools in text, for a model or server without tool
            calls. It understands <tool_call>, <function=…>, [TOOL_CALLS] and JSON in a code fence.

    Raises:
        AgentError: the name is invalid, the provider is unknown or can't serve this model, there
            is no key, or another argument is not allowed.

    >>> Model("openai-chat:llama", base_url="http://127.0.0.1:8080/v1").wire.name
    'openai-chat'
    >>> Model("nobody:model")
    Traceback (most recent call last):
        ...
    tenuto.core.errors.AgentError: nobody is neither a provider nor a wire; see `tenuto providers`
    """

    name: str
    base_url: str = ""
    api_key: InitVar[str] = ""
    max_output_tokens: int | None = None
    context_window_tokens: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    text_calls: bool = False

    def __post_init__(self, api_key: str) -> None:
        vars(self)["api_key"] = api_key
        if not isinstance(self.name, str) or not all(self.name.partition(":")):
            raise AgentError(f"model is {self.name!r}, but it must be provider:model")
        self._check_types()
        for key in ("max_output_tokens", "context_window_tokens"):
            tokens = getattr(self, key)
            if tokens is not None and (type(tokens) is not int or tokens < 1):
                raise AgentError(
                    f"{key} is {tokens!r}, but it must be a whole number, 1 or more, or None"
                )
        url = self._check_url()
        if not url:
            known, variables = self.provider.dialect.name, " or ".join(self._address.url_variables)
            give = f"set {variables}, or give" if variables else "give"
            raise AgentError(f"{known} has no base URL of its own: {give} Model(…, base_url=…)")
        if elsewhere := self.form.instead(self.id):
            raise AgentError(
                f"the agent cannot call {self.id} on {self.wire.name}; call it as "
                f"{self._beside(elsewhere)}:{self.id}"
            )
        if self.form.rows in self.options:
            raise AgentError(
                f"options has {self.form.rows!r}, which Tenuto writes itself; give "
                "earlier rows to Agent.conversation(…)"
            )
        keys = " or ".join(key.variable for key in self._address.keys)
        if keys and self._address.key_needed and not self.base_url and not self._key[0]:
            who = self.provider.dialect.name
            raise AgentError(f"no key for {who}: set {keys}, or give Model(…, api_key=…)")

    def _check_types(self) -> None:
        for key, kind, allowed in _TYPES:
            check_type(key, vars(self)[key], kind, allowed)
        for name, value in (*self._environment_headers.items(), *self.headers.items()):
            if not (_is_token(name) and _is_printable(value)) or name.lower() in _OURS:
                raise AgentError(f"the header {name!r} is invalid, or Tenuto sets it itself")
        if not _is_printable(self._key[0]):
            raise AgentError("the key holds a line break or a character that is not ASCII")
        try:
            encode(self.options)
        except (TypeError, ValueError) as error:
            raise AgentError(f"options cannot be written as JSON: {error}") from None

    def _beside(self, wire: str) -> str:
        """Return the name of the provider that serves another wire at the same hosts; without one,
        the wire's own name."""
        here = self.provider.hosts
        rows = (each for each in ROWS.all().values() if each.wire == wire and each.hosts == here)
        return next((each.dialect.name for each in rows if here), wire)

    def __repr__(self) -> str:
        """Leave out what may be secret: headers, values of options, and user names in URLs."""
        limits = ("max_output_tokens", "context_window_tokens", "text_calls")
        told = {key: vars(self)[key] for key in limits if vars(self)[key]}
        if self.base_url:
            parts = urlsplit(self.base_url)
            told = {
                "base_url": parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl(),
                **told,
            }
        if self.options:
            told["options"] = list(self.options)
        return ", ".join([f"Model({self.name!r}", *(f"{k}={v!r}" for k, v in told.items())]) + ")"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash((self.name, self.base_url))  # options and headers may not be hashable

    def __getstate__(self) -> dict[str, Any]:
        """Return the arguments only: what was looked up since may not be copyable."""
        names = ("api_key", *(each.name for each in fields(self)))
        return {name: vars(self)[name] for name in names}

    def _check_url(self) -> str:
        """Return the base URL, checked; "" if there is none."""
        if not self.base_url and (variable := self._address.led_elsewhere_by(os.environ)):
            raise AgentError(
                f"{variable} leads requests for {self.provider.dialect.name} to another API, which "
                "the agent cannot call: unset it, or give Model(…, base_url=…)"
            )
        url, name = (self.base_url, "") if self.base_url else self._address.url_in(os.environ)
        try:
            parts = urlsplit(url)
            right = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            parts, right = None, False
        wrong = parts is None or not right or parts.query or parts.fragment
        if url and (wrong or not _is_printable(url)):
            named, given = name or "base_url", os.environ.get(name, url)
            raise AgentError(f"{named} is {given!r}, but it must be http(s)://host[:port][/path]")
        return url

    @property
    def id(self) -> str:
        """The name of the model at its provider."""
        return self.name.partition(":")[2]

    @cached_property
    def provider(self) -> Row:
        """The provider's row."""
        name = self.name.partition(":")[0]
        if (known := ROWS.find(name)) is not None:
            return known
        if (wire := WIRES.find(name)) is not None:
            return row(wire.name, "unknown")
        raise AgentError(f"{name} is neither a provider nor a wire; see `tenuto providers`")

    @cached_property
    def wire(self) -> Wire:
        """The wire that the provider speaks for this model."""
        wire = WIRES.find(self.provider.wire)
        if wire is None or wire.form is None or wire.only_read:
            raise AgentError(f"the agent does not support the wire {self.provider.wire}")
        return wire

    @property
    def form(self) -> Form:
        """How to write its requests."""
        assert self.wire.form is not None
        return self.wire.form

    @property
    def window_tokens(self) -> int | None:
        """The context window; None: unknown."""
        return self.context_window_tokens or self.provider.dialect.window_tokens or None

    @property
    def output_limit_tokens(self) -> int | None:
        """The output limit of one answer: the one that requests set, or else the model's own; None:
        unknown (T17)."""
        dialect = self.provider.dialect
        opening = Opening(self.id, max_tokens=self.max_output_tokens, options=self.options)
        asked = Composed(self.wire, dialect, self.form.path(self.id, True), opening)
        return asked.facts.max_tokens or dialect.output_tokens or output_tokens(self.id)

    def url(self, stream: bool) -> str:
        """Return the URL of a request."""
        return self._base_url.rstrip("/") + self.form.path(self.id, stream)

    def request_headers(self) -> dict[str, str]:
        """Return the headers of a request, including the key."""
        made = {"content-type": "application/json", **self.form.headers}
        key, header = self._key
        name = header or self.provider.authorization
        if key and name:
            made[name] = f"Bearer {key}" if name == "authorization" else key
        made |= self._environment_headers
        return {**made, **self.headers}

    @property
    def _address(self) -> Address:
        return ADDRESSES.get(self.provider.dialect.name, _NOWHERE)

    @property
    def _base_url(self) -> str:
        return self.base_url or self._address.url_in(os.environ)[0]

    # Where the environment doesn't say where to send it, its keys and headers don't go.

    @property
    def _key(self) -> tuple[str, str]:
        given: str = vars(self)["api_key"]
        return (given, "") if given or self.base_url else self._address.key_in(os.environ)

    @property
    def _environment_headers(self) -> dict[str, str]:
        return {} if self.base_url else self._address.headers_in(os.environ)


def _is_token(name: object) -> bool:
    return isinstance(name, str) and re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) is not None


def _is_printable(text: object) -> bool:
    return isinstance(text, str) and text.isascii() and (text.isprintable() or not text)


def check_type(key: str, value: object, kind: Any, allowed: str) -> None:
    """Check the type of a value.

    Raises:
        AgentError: the type is wrong; the message says what is allowed.
    """
    if not isinstance(value, kind):
        raise AgentError(f"{key} is of type {type(value).__name__}, but it must be {allowed}")


def model_of(given: object) -> Model:
    """Return the model for a `Model` or a name.

    Raises:
        AgentError: it is neither, or the name is invalid.
    """
    if isinstance(given, str):
        return Model(given)
    check_type("model", given, Model, "a tenuto.agent.Model or provider:model")
    return cast("Model", given)


def candidates(given: Iterable[object]) -> list[Model]:
    """Return the models to try, in order and without duplicates (P4). A name that can't be used
    (unknown provider, no key) is left out and logged.

    Raises:
        AgentError: no model is left, or an item is neither a model nor a name.

    >>> here = Model("openai-chat:llama", base_url="http://127.0.0.1:8080/v1")
    >>> [model.name for model in candidates([here, "nobody:model", here])]
    ['openai-chat:llama']
    """
    found: list[Model] = []
    faults: list[str] = []
    for each in given:
        try:
            model = model_of(each)
        except AgentError as error:
            if not isinstance(each, str):
                raise
            faults.append(str(error))
            continue
        if model not in found:
            found.append(model)
    if not found:
        raise AgentError("; ".join(faults) or "no model is given: give one as provider:model")
    for fault in faults:
        log.warning("a model is left out: %s", fault)
    return found
