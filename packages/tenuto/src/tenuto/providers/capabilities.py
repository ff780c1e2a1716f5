"""`capabilities()`: what a provider and a model can do, as the tables and registrations say."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from tenuto.core.errors import RegistrationError
from tenuto.core.settings.rule import shown
from tenuto.providers.models import output_tokens
from tenuto.providers.provider import Row
from tenuto.providers.registry import behind
from tenuto.providers.table import ROWS, own_row
from tenuto.wires.names import key_of
from tenuto.wires.registry import WIRES


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What Tenuto knows about a provider and a model before the first request.

    Attributes:
        provider: the provider's name; "unknown" if no row names the host.
        wire: the name of the wire that the provider speaks.
        model: the model that you asked about; "" if none.
        finishes: whether Tenuto finishes turns on this wire. False: it only detects why they ended.
        continues_by: how Tenuto asks for the rest of a cut text: "prefill" sends the text back as
            the beginning of the model's answer, "hint" asks in a user message.
        continues_reasoning: whether the model can continue from reasoning without an answer.
        output_tokens: the largest output limit that the provider accepts; None: not known.
        body_output_tokens: the largest output limit without streaming; None: the same as
            `output_tokens`.
        window_tokens: the context window; None: not known.
        output_key: the path of the output limit that Tenuto writes, for requests that don't set
            one, such as "generationConfig.maxOutputTokens". For "aws-invoke", it is the path in
            Nova's requests, whatever the model: in requests in the shape of OpenAI's chat, Tenuto
            writes "max_completion_tokens" for OpenAI's models and "max_tokens" for others.
        signed_thinking: whether the provider refuses thinking without a signature in a history.
        sends_stop: whether its streams end with a mark; None: Tenuto learns it.
        stops: the provider's own stop values, each with the reason that it means.

    >>> capabilities("anthropic", "claude-haiku-4-5").as_dict()["output_tokens"]
    64000
    """

    provider: str
    wire: str
    model: str
    finishes: bool
    continues_by: Literal["prefill", "hint"]
    continues_reasoning: bool
    output_tokens: int | None
    body_output_tokens: int | None
    window_tokens: int | None
    output_key: str
    signed_thinking: bool
    sends_stop: bool | None
    stops: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """Return all fields by name, as JSON has them."""
        return asdict(self)


def capabilities(provider: str, model: str = "", *, wire: str = "") -> Capabilities:
    """Return what Tenuto knows about a provider and a model, from its tables and from what you
    registered.

    This leaves out what Tenuto learned from a provider's errors in this process.

    Args:
        provider: a name (`tenuto providers` lists them), a base URL, or the URL of a request.
        model: the model's name, as in requests. "": what is true for every model.
        wire: the name of a wire, for a base URL that serves several. "": the first one.

    Raises:
        RegistrationError: no provider has this name, the provider doesn't speak this wire (the
            message names the providers at its host that do), the URL is not valid, or an argument
            has the wrong type.

    >>> capabilities("openai", "gpt-5.4").continues_by
    'hint'
    >>> capabilities("https://api.deepseek.com/beta").continues_by
    'prefill'
    >>> capabilities("nobody")
    Traceback (most recent call last):
        ...
    tenuto.core.errors.RegistrationError: no provider is named 'nobody'; `tenuto providers` lists \
those that are known, and tenuto.register_provider adds one
    """
    if not isinstance(model, str):
        raise RegistrationError(f"model is {shown(model)}, but it must be a text")
    rows = _rows(provider)
    fitting = [row for row in rows if wire == "" or _speaks(row, wire)]
    if not fitting:
        spoken = ", ".join(dict.fromkeys(row.wire for row in rows))
        beside = " or ".join(repr(name) for name in _beside(rows, wire))
        hint = f"; for that wire at the same host, ask about {beside}" if beside else ""
        raise RegistrationError(f"{provider} speaks {spoken}, and not the wire {wire!r}{hint}")
    return _of(fitting[0], model)


def _speaks(row: Row, wire: str) -> bool:
    return wire in (row.wire, row.wire.partition("@")[0])


def _beside(rows: list[Row], wire: str) -> list[str]:
    """Return the names of the providers that speak a wire at a host of these rows."""
    hosts = {place.partition("/")[0] for row in rows for place in row.hosts}
    return [
        name
        for name, row in ROWS.all().items()
        if _speaks(row, wire) and any(place.partition("/")[0] in hosts for place in row.hosts)
    ]


def _rows(provider: str) -> list[Row]:
    if not isinstance(provider, str) or not provider.strip():
        raise RegistrationError(f"provider is {shown(provider)}, but it must be a name or a URL")
    known = ROWS.find(provider)
    if known is None and "://" not in provider:
        known = own_row(provider)
    if known is not None:
        return [known]
    if "://" in provider:
        try:
            return behind(provider)
        except ValueError as error:
            raise RegistrationError(f"{shown(provider)} is not a URL: {error}") from None
    raise RegistrationError(
        f"no provider is named {shown(provider)}; `tenuto providers` lists those that are known, "
        "and tenuto.register_provider adds one"
    )


def _of(row: Row, model: str) -> Capabilities:
    wire, dialect = WIRES.find(row.wire), row.dialect
    assert wire is not None  # registration checks it
    stops = {native: reason.value for native, (reason, _) in wire.stops.items()}
    return Capabilities(
        provider=key_of(dialect.name, row.version),
        wire=row.wire,
        model=model,
        finishes=not wire.only_read,
        continues_by="prefill" if dialect.takes_prefill(model) else "hint",
        continues_reasoning=dialect.reasoning_prefill and dialect.takes_prefill(model),
        output_tokens=dialect.output_tokens or output_tokens(model),
        body_output_tokens=wire.body_ceiling_tokens(model),
        window_tokens=dialect.window_tokens or None,
        output_key=wire.limit_key(dialect),
        signed_thinking=dialect.signed_thinking,
        sends_stop=row.sends_stop,
        stops={**stops, **{native: reason.value for native, reason in row.overrides.items()}},
    )
