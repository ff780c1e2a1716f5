"""Who can be asked: by the name of a row, the cheap model that is asked unless one is named.

Addresses and the variables of keys are those that the agent uses; wires and dialects stand in the
rows. All are asked with plain HTTP requests: an SDK would hide what the service said.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import tenuto
from checks.live.wires import WIRES, Wire
from tenuto.providers.addresses import ADDRESSES, Address, Key
from tenuto.providers.provider import Row
from tenuto.providers.table import ROWS

MODELS: dict[str, str] = {
    "anthropic": "claude-haiku-4-5",
    "aws-converse": "amazon.nova-micro-v1:0",
    "cerebras": "llama3.1-8b",
    "cohere": "command-r7b-12-2024",
    "deepseek": "deepseek-chat",
    "deepseek-beta": "deepseek-chat",
    "fireworks": "accounts/fireworks/models/gpt-oss-20b",
    "gemini": "gemini-2.5-flash-lite",
    "gemini-interactions": "gemini-2.5-flash-lite",
    "groq": "llama-3.1-8b-instant",
    "mistral": "mistral-small-latest",
    "moonshot": "moonshot-v1-8k",
    "openai": "gpt-4.1-nano",
    "openai-responses": "gpt-4.1-nano",
    "openrouter": "openai/gpt-4.1-nano",
    "perplexity": "sonar",
    "together": "meta-llama/Llama-3.2-3B-Instruct-Turbo",
    "xai": "grok-3-mini",
    "zai": "glm-4.5-flash",
    # Servers of one's own: no key, so they are asked only where ONLY names them.
    "llama.cpp": "",
    "lm-studio": "",
    "ollama": "",
    "ollama-chat": "",
    "sglang": "",
    "vllm": "",
}
"""By the name of a row. "": whatever model the server has; MODEL_… says which."""

OWN: dict[str, Address] = {
    "deepseek-beta": Address("https://api.deepseek.com/beta", (Key("DEEPSEEK_API_KEY"),)),
    "llama.cpp": Address("http://127.0.0.1:8080/v1"),
    "lm-studio": Address("http://127.0.0.1:1234/v1"),
    "ollama-chat": Address("http://127.0.0.1:11434/v1"),
    "sglang": Address("http://127.0.0.1:30000/v1"),
    "vllm": Address("http://127.0.0.1:8000/v1"),
}
"""Addresses that the agent has no use for."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class WrongSetting(ValueError):
    """A setting cannot be used; the message says what is allowed."""


@dataclass(frozen=True, slots=True)
class Target:
    """One provider as it is asked.

    Attributes:
        name: the name of its row.
        model: the model.
        base_url: where requests go, without the path of the wire.
        key: its key, "" where it needs none. No `repr` shows it.
        elsewhere: whether the base URL is not the provider's own.
    """

    name: str
    model: str
    base_url: str
    key: str = field(repr=False)
    elsewhere: bool = False

    @property
    def row(self) -> Row:
        """What Tenuto knows of it."""
        return ROWS.all()[self.name]

    @property
    def wire(self) -> Wire:
        """How it is asked."""
        return WIRES[self.row.wire]

    @property
    def knows(self) -> tenuto.Capabilities:
        """What Tenuto's rows say of it and of the model."""
        return tenuto.capabilities(self.name, self.model)

    @property
    def on_loopback(self) -> bool:
        """Whether it is this machine."""
        return urlsplit(self.base_url).hostname in _LOOPBACK

    @property
    def lacks(self) -> str:
        """The variable of the key that it needs and does not have, "" where nothing is missing."""
        return "" if self.key or self.elsewhere else key_variables(self.name)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of its requests, the key among them."""
        made = {"content-type": "application/json", **(self.wire.headers or {})}
        name = self.row.authorization
        if name and self.key:
            made[name] = f"Bearer {self.key}" if name == "authorization" else self.key
        return made

    def register(self) -> None:
        """Let a turn at this base URL be one with this provider, where the base URL is another."""
        if self.elsewhere:
            row = self.row
            tenuto.register_provider(
                tenuto.Provider(
                    f"live-{row.wire}",
                    wire=row.wire,
                    like=self.name,
                    hosts=["".join(urlsplit(self.base_url)[1:3])],  # one host may serve several
                    sends_stop=row.sends_stop,
                    overrides=row.overrides,
                )
            )


def address(name: str) -> Address:
    """Where a provider is reached, and the variables of its key."""
    return OWN.get(name) or ADDRESSES[name]


def key_variables(name: str) -> str:
    """The variables of a provider's key, in words; "" where it needs none.

    >>> key_variables("gemini"), key_variables("ollama")
    ('GOOGLE_API_KEY or GEMINI_API_KEY', '')
    """
    known = address(name)
    return " or ".join(key.variable for key in known.keys if known.key_needed)


def setting(kind: str, name: str) -> str:
    """The variable that changes something about one provider.

    >>> setting("MODEL", "llama.cpp"), setting("BASE_URL", "openai-responses")
    ('MODEL_LLAMA_CPP', 'BASE_URL_OPENAI_RESPONSES')
    """
    return f"{kind}_{re.sub('[^A-Z0-9]', '_', name.upper())}"


def targets(only: str, variables: Mapping[str, str] | None = None) -> list[Target]:
    """Who is asked.

    Args:
        only: names, with commas between them, whether they have a key or not; "": whoever has one.
        variables: the environment; None: the process's own.

    Raises:
        WrongSetting: a name is not known, or a base URL is none that may be asked.

    >>> targets("", {"OPENAI_API_KEY": "k"})[0].base_url
    'https://api.openai.com/v1'
    >>> targets("", {})
    []
    """
    given = os.environ if variables is None else variables
    names = [name.strip() for name in only.split(",") if name.strip()]
    if unknown := [name for name in names if name not in MODELS]:
        known = ", ".join(MODELS)
        raise WrongSetting(f"ONLY names {', '.join(unknown)}, but it may name: {known}")
    made = (_target(name, given) for name in names or MODELS)
    return [one for one in made if names or (one.key and key_variables(one.name))]


def _target(name: str, given: Mapping[str, Any]) -> Target:
    known = address(name)
    own = known.own_url_in(given)
    elsewhere = given.get(setting("BASE_URL", name), "").rstrip("/")
    # A provider's key goes to that provider alone: another server has a variable of its own.
    key = given.get(setting("KEY", name), "") if elsewhere else known.key_in(given)[0]
    model = given.get(setting("MODEL", name)) or MODELS[name] or "default"
    made = Target(name, model, elsewhere or own, key.strip(), bool(elsewhere))
    parts = urlsplit(made.base_url)
    if parts.username or parts.query or parts.fragment:
        raise WrongSetting(f"{setting('BASE_URL', name)} may hold a host, a port and a path only")
    if parts.scheme != "https" and not (parts.scheme == "http" and made.on_loopback):
        raise WrongSetting(
            f"{setting('BASE_URL', name)} must begin with https://, or be http on this machine"
        )
    if not (made.key.isascii() and (made.key.isprintable() or not made.key)):
        raise WrongSetting(f"the key of {name} holds a line break or a character that is not ASCII")
    return made
