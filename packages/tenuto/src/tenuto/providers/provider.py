"""`Row`: what is known about one provider."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any
from urllib.parse import SplitResult

from tenuto.core.answer.stop import StopReason
from tenuto.providers.models import (
    CLAUDE_TAKES_PREFILL,
    GEMINI_SIGNS_CALLS,
    GEMINI_TAKES_PREFILL,
)
from tenuto.wires.dialect import Dialect

Overrides = Mapping[str, StopReason]


def _none() -> Overrides:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table of providers.

    Attributes:
        dialect: what its variant of the wire allows, with the provider's name.
        wire: the name of the wire that the provider speaks.
        hosts: the beginnings of its base URLs, without the scheme: host names, with a port or a
            path if those matter. A leading dot stands for any subdomain. The first of several
            matching rows counts.
        server: the beginning of its `server` response header; "": not recognized by it.
        authorization: the request header that carries the key; "": requests are signed, or need no
            key.
        stops: native stop values that it is known to send, beyond the wire's own.
        usage: paths of its token counts, if they differ from the wire's.
        quirks: what is odd about its answers, each as the name of a fixture that shows it.
        source: where this is documented, and the day it was read.
        version: distinguishes rows of one name; "": the row used if none is requested.
        sends_stop: whether its streams end with a mark: a stop, or the wire's own. True: a stream
            without one was cut. False: it is whole. None: not known yet; Tenuto learns it (S3a).
        overrides: native stop values that mean something else for this provider, such as a `stop`
            for cut answers (N11). No built-in row has any: complete answers would be continued too,
            so only the user can decide this.
    """

    dialect: Dialect
    wire: str
    hosts: tuple[str, ...] = ()
    server: str = ""
    authorization: str = "authorization"
    stops: tuple[str, ...] = ()
    usage: tuple[str, ...] = ()
    quirks: tuple[str, ...] = ()
    source: str = ""
    version: str = ""
    sends_stop: bool | None = None
    overrides: Overrides = field(default_factory=_none)

    @property
    def unknown(self) -> bool:
        """Whether this is the row for unknown providers."""
        return not self.hosts and not self.server

    def serves(self, url: SplitResult) -> bool:
        """Return whether a URL is at or below one of `hosts`.

        >>> from urllib.parse import urlsplit
        >>> beta = Row(Dialect("d"), "openai-chat", hosts=("api.d.example/beta",))
        >>> beta.serves(urlsplit("https://api.d.example/beta/chat/completions"))
        True
        >>> beta.serves(urlsplit("https://api.d.example/chat/completions"))
        False
        """
        return bool(self.place_of(url))

    def place_of(self, url: SplitResult) -> str:
        """Return the one of `hosts` at or below which a URL is; "": none."""
        host = (url.hostname or "").lower()
        here = (host, url.netloc.rpartition("@")[2].lower())
        path = f"{url.path}/".lower()
        for place in self.hosts:
            name, _, below = place.partition("/")
            at_host = name in here or (name.startswith(".") and host.endswith(name))
            if at_host and (not below or path.startswith(f"/{below}/")):
                return place
        return ""


SPOKEN: dict[str, dict[str, Any]] = {
    # A gateway that names the model as Google does expects Google's form of a signature.
    "openai-chat": {"signed_calls": GEMINI_SIGNS_CALLS},
    "anthropic-messages": {"prefill_models": CLAUDE_TAKES_PREFILL},
    # A prompt is the beginning of the model's text.
    "openai-completions": {"prefill": True},
    # The last event of these reports how the answer ended, and their SDKs rely on it.
    "openai-responses": {"sends_stop": True},
    "gemini-generate": {
        "prefill_models": GEMINI_TAKES_PREFILL, "signed_calls": GEMINI_SIGNS_CALLS,
    },
    "gemini-interactions": {"sends_stop": True},
    # Nova accepts a prefill too, but trims white space at the beginning of what it adds, so it
    # would be lost whether a word continues or another begins.
    "bedrock-converse": {
        "prefill_models": CLAUDE_TAKES_PREFILL, "sends_stop": True,
    },
    "bedrock-invoke": {"sends_stop": True},
    # A trailing assistant message is accepted, but not continued.
    "cohere": {},
    # Every host behind Mistral's SDK serves Mistral's models.
    "mistral": {"prefill": True, "prefill_row": (("prefix", True),), "prefill_echoed": True},
    # Ollama continues a trailing assistant message if it writes the prompt itself, as for these
    # models, or if the model's own template leaves that message open, which nothing reveals.
    # https://github.com/ollama/ollama/tree/main/model/renderers 2026-11-22
    "ollama": {
        "prefill_models": re.compile(r"\A(?:qwen3|olmo-?3|command-a|lfm2|laguna)"),
    },
}  # fmt: skip
"""Columns of `Row` and of `Dialect` that apply to every provider of a wire."""

_OWN = frozenset(each.name for each in fields(Row))


def row(wire: str, name: str, hosts: tuple[str, ...] = (), source: str = "", **columns: Any) -> Row:
    """Return a row of the table.

    Args:
        wire, name, hosts, source: the columns of every row.
        columns: columns that differ from `SPOKEN`, or else from the defaults of `Row` and
            `Dialect`.

    >>> row("openai-chat", "acme", ("llm.acme.example",), prefill=True).dialect.prefill
    True
    """
    columns = {**SPOKEN.get(wire, {}), **columns}
    own = {key: columns.pop(key) for key in _OWN & columns.keys()}
    return Row(Dialect(name, **columns), wire, hosts, source=source, **own)
