"""Who speaks which wire, in which dialect: one row of data a provider.

A provider is recognized by the host of its base URL, or by a `server` header of its responses; who
is not recognized gets the safe defaults of `UNKNOWN`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import urlsplit

from tenuto.core.stop import StopReason
from tenuto.wire.base import Dialect
from tenuto.wire.names import Names, key_of

Overrides = Mapping[str, StopReason]


def _none() -> Overrides:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Provider:
    """One row.

    Attributes:
        dialect: what its form of the wire allows; carries the provider's name.
        wire: the name of the wire that it speaks.
        hosts: host names, with a port where only that port is meant; a leading dot stands for any
            sub-domain.
        server: the beginning of its `server` response header, "" where that tells nothing.
        source: where the row's facts stand, and the day they were read.
        version: tells rows of one name apart, "" for the one that counts where none is asked for.
        overrides: native stop values that mean something else with this provider than its wire
            says, such as a `stop` for answers that were cut (N11). No row that ships has any: an
            answer that was whole would be continued too, so it is for the user to say.
    """

    dialect: Dialect
    wire: str
    hosts: tuple[str, ...] = ()
    server: str = ""
    source: str = ""
    version: str = ""
    overrides: Overrides = field(default_factory=_none)


UNKNOWN = Provider(Dialect(), "openai-chat")

PROVIDERS: tuple[Provider, ...] = (
    Provider(
        Dialect("openai", prefill=False, output_key="max_completion_tokens"),
        "openai-chat",
        hosts=("api.openai.com", ".api.openai.com"),
        source="https://platform.openai.com/docs/api-reference/chat 2026-11-21",
    ),
    Provider(
        Dialect("azure-openai", prefill=False, output_key="max_completion_tokens"),
        "openai-chat",
        hosts=(".openai.azure.com", ".services.ai.azure.com"),
        source="https://learn.microsoft.com/azure/ai-foundry/openai/reference 2026-11-21",
    ),
    Provider(
        # In thinking mode every assistant row must carry its reasoning.
        Dialect("deepseek", reasoning_key="reasoning_content"),
        "openai-chat",
        hosts=("api.deepseek.com",),
        source="https://api-docs.deepseek.com/guides/thinking_mode 2026-11-21",
    ),
    Provider(
        Dialect("moonshot", reasoning_key="reasoning_content"),
        "openai-chat",
        hosts=("api.moonshot.ai", "api.moonshot.cn"),
        source="https://platform.kimi.ai/docs 2026-11-21",
    ),
    Provider(
        # A trailing assistant message is continued by default (`--prefill-assistant`), and in every
        # case where the request says so; without that a server that has it off begins anew.
        Dialect(
            "llama.cpp",
            prefill=True,
            prefill_members=(("continue_final_message", True), ("add_generation_prompt", False)),
        ),
        "openai-chat",
        server="llama.cpp",
        source="https://github.com/ggml-org/llama.cpp/tree/master/tools/server 2026-11-21",
    ),
)


def _shipped() -> dict[str, Provider]:
    return {key_of(row.dialect.name, row.version): row for row in PROVIDERS}


ROWS: Names[Provider] = Names(_shipped)
"""The rows in force: those above, and what `tenuto.register` added."""


def by_url(url: str) -> Provider:
    """The provider behind a URL, `UNKNOWN` where no row names its host.

    >>> by_url("https://api.openai.com/v1/chat/completions").dialect.name
    'openai'
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    here = (host, parts.netloc.rpartition("@")[2].lower())
    for row in ROWS.all().values():
        if any(h in here or (h.startswith(".") and host.endswith(h)) for h in row.hosts):
            return row
    return UNKNOWN


def by_server(server: str) -> Provider:
    """The provider that a response's `server` header names, `UNKNOWN` where no row has it.

    >>> by_server("llama.cpp").dialect.prefill
    True
    """
    word = server.lower()
    found = (row for row in ROWS.all().values() if row.server and word.startswith(row.server))
    return next(found, UNKNOWN)
