"""What is known of one provider: a row of the table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any
from urllib.parse import SplitResult

from tenuto.core.stop import StopReason
from tenuto.providers.models import (
    CLAUDE_TAKES_PREFILL,
    GEMINI_TAKES_PREFILL,
    QWEN_MAY_NOT_THINK,
)
from tenuto.wires.dialect import Dialect

Overrides = Mapping[str, StopReason]


def _none() -> Overrides:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes:
        dialect: what its form of the wire allows; carries the provider's name.
        wire: the name of the wire that the provider speaks.
        hosts: where its base URLs begin, without the scheme: host names, with a port where only
            that port is meant and with a path where only what lies below it is; a leading dot
            stands for any sub-domain. Of several rows that fit, the first one counts.
        server: the beginning of its `server` response header, "" where that tells nothing.
        authorization: the request header that carries the key, "" where the request is signed or
            nothing is asked for.
        stops: native stop values that it is known to send, beyond the wire's own.
        usage: where it counts tokens in other places than the wire, as paths from the top.
        quirks: what is odd about its answers, each as the name of a fixture that shows it.
        source: where the row's facts stand, and the day they were read.
        version: tells rows of one name apart, "" for the one that counts where none is asked for.
        sends_stop: whether its streams end with a mark: a stop, or the wire's own. True: a stream
            without one was cut. False: it is whole. None: that is not known yet, and is learned
            (S3a).
        overrides: native stop values that mean something else with this provider than its wire
            says, such as a `stop` for answers that were cut (N11). No row that ships has any: an
            answer that was whole would be continued too, so it is for the user to say.
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
        """Whether this is the row of those whom no row names."""
        return not self.hosts and not self.server

    def serves(self, url: SplitResult) -> bool:
        """Whether a URL lies at or below one of `hosts`.

        >>> from urllib.parse import urlsplit
        >>> beta = Row(Dialect("d"), "openai-chat", hosts=("api.d.example/beta",))
        >>> beta.serves(urlsplit("https://api.d.example/beta/chat/completions"))
        True
        >>> beta.serves(urlsplit("https://api.d.example/chat/completions"))
        False
        """
        host = (url.hostname or "").lower()
        here = (host, url.netloc.rpartition("@")[2].lower())
        path = f"{url.path}/".lower()
        for place in self.hosts:
            name, _, below = place.partition("/")
            at_host = name in here or (name.startswith(".") and host.endswith(name))
            if at_host and (not below or path.startswith(f"/{below}/")):
                return True
        return False


SPOKEN: dict[str, dict[str, Any]] = {
    "openai-chat": {},
    "anthropic-messages": {"prefill_models": CLAUDE_TAKES_PREFILL},
    # A prompt is the beginning of what the model writes.
    "openai-completions": {"prefill": True},
    # The last event of these says how the answer ended, and their SDKs rely on it.
    "openai-responses": {"sends_stop": True},
    "gemini-generate": {"prefill_models": GEMINI_TAKES_PREFILL},
    "gemini-interactions": {
        "output_key": "generation_config.max_output_tokens", "sends_stop": True,
    },
    # Nova takes a prefill too, but white space at the beginning of what it adds is trimmed:
    # whether a word goes on or another begins would be lost.
    "bedrock-converse": {
        "prefill_models": CLAUDE_TAKES_PREFILL, "output_key": "maxTokens", "sends_stop": True,
    },
    "bedrock-invoke": {"output_key": "maxTokens", "sends_stop": True},
    # A trailing assistant message is accepted, and not gone on with.
    "cohere": {},
    # Who is behind Mistral's SDK, serves Mistral's models.
    "mistral": {"prefill": True, "prefill_row": (("prefix", True),), "prefill_echoed": True},
    "watsonx": {"output_key": "max_completion_tokens"},
    # Whoever speaks it, speaks it for its models.
    "dashscope": {
        "prefill_models": QWEN_MAY_NOT_THINK, "prefill_row": (("partial", True),),
        "prefill_members": (("enable_thinking", False),),
    },
    # Ollama goes on with a trailing assistant message where it writes the prompt by itself, as for
    # these models, and where the model's own template leaves that message open, which nothing
    # tells. https://github.com/ollama/ollama/tree/main/model/renderers 2026-11-22
    "ollama": {
        "prefill_models": re.compile(r"\A(?:qwen3|olmo-?3|command-a|lfm2|laguna)"),
        "output_key": "options.num_predict",
    },
    # The last event of a stream holds the whole text, whoever runs the server.
    "tgi": {"prefill": True, "output_key": "parameters.max_new_tokens", "sends_stop": True},
}  # fmt: skip
"""By wire, what holds of whoever speaks it: columns of `Row` and of `Dialect`."""

_OWN = frozenset(each.name for each in fields(Row))


def row(wire: str, name: str, hosts: tuple[str, ...] = (), source: str = "", **columns: Any) -> Row:
    """Return a row of the table.

    Args:
        wire, name, hosts, source: what every row says.
        columns: what differs from `SPOKEN`, else from the defaults of `Row` and `Dialect`.

    >>> row("openai-chat", "acme", ("llm.acme.example",), prefill=True).dialect.prefill
    True
    """
    columns = {**SPOKEN.get(wire, {}), **columns}
    own = {key: columns.pop(key) for key in _OWN & columns.keys()}
    return Row(Dialect(name, **columns), wire, hosts, source=source, **own)
