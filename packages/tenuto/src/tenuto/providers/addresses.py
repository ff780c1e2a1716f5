"""Base URLs, keys and headers of providers, for agents, which have no SDK of their own.

Theory of operation
-------------------
Whoever runs a program may have pointed the provider's SDK at a gateway, by the environment
variables that this SDK reads. An agent reads the same variables, so that its prompts and its key go
where the SDK's would. `tests/agent/test_environment.py` compares what both of them send.

A test checks each address against its row. Addresses are those of the providers' quick starts, read
2026-11-22; the links stand in the rows (`Row.source`). The variables are those that the SDKs of our
extras read in the code of their clients, read 2026-11-28.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

_variables_in = re.compile(r"\{([\w|]+):?([^}]*)\}").finditer
_TRUE = frozenset({"true", "1"})


class Key(NamedTuple):
    """A variable that holds a key.

    Attributes:
        variable: its name.
        header: the header that carries the key; "": the one of the provider's row.
    """

    variable: str
    header: str = ""


class Address(NamedTuple):
    """Where to reach one provider. An empty variable counts as unset.

    Attributes:
        base_url: without the path that the wire adds. It may contain environment variables with
            their default, in braces: `{AWS_DEFAULT_REGION|AWS_REGION:us-east-1}`. Without a default
            there is no base URL if the variable is not set.
        keys: the variables for the key; the first that is set counts.
        key_needed: whether requests need a key.
        url_variables: the variables for another base URL; the first that is set counts.
        url_path: what the SDK adds to such a base URL, before the path that the wire adds.
        read_url: how the SDK reads such a base URL.
        url_switch: the variable that, if it is true, makes the SDK ignore `url_variables`.
        headers: further headers, each with its variable.
        headers_variable: the variable with further headers, one on each line.
        elsewhere: the variables that, if one is true, make the SDK use another API.
    """

    base_url: str
    keys: tuple[Key, ...] = ()
    key_needed: bool = True
    url_variables: tuple[str, ...] = ()
    url_path: str = ""
    read_url: Callable[[str], str] = str
    url_switch: str = ""
    headers: Mapping[str, str] = MappingProxyType({})
    headers_variable: str = ""
    elsewhere: tuple[str, ...] = ()

    def own_url_in(self, variables: Mapping[str, str]) -> str:
        """Return the provider's own base URL; "" if a variable in it is not set.

        >>> Address("https://llm.{REGION|PLACE:eu}.example").own_url_in({"PLACE": "us"})
        'https://llm.us.example'
        """
        url = self.base_url
        for found in _variables_in(self.base_url):
            value = _first(variables, found[1].split("|"))[1] or found[2]
            if not value:
                return ""
            url = url.replace(found[0], value)
        return url

    @property
    def own_url_variables(self) -> list[str]:
        """The variables in the provider's own base URL."""
        return [name for found in _variables_in(self.base_url) for name in found[1].split("|")]

    def url_in(self, variables: Mapping[str, str]) -> tuple[str, str]:
        """Return the base URL, and the name of the variable that it is from; "" if it is the
        provider's own."""
        name, value = _first(variables, self.url_variables)
        if not value or _is_true(variables, self.url_switch):
            return self.own_url_in(variables), ""
        return self.read_url(value).rstrip("/") + self.url_path, name

    def key_in(self, variables: Mapping[str, str]) -> tuple[str, str]:
        """Return the key, and the header that carries it; "" for that of the provider's row."""
        name, value = _first(variables, [key.variable for key in self.keys])
        return value, next((key.header for key in self.keys if key.variable == name), "")

    def headers_in(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return the further headers, their names in lower case."""
        found = {name: variables.get(of, "") for name, of in self.headers.items()}
        for line in variables.get(self.headers_variable, "").split("\n"):
            name, colon, value = line.partition(":")
            if colon:
                found[name.strip().lower()] = value.strip()
        return {name: value for name, value in found.items() if value}

    def led_elsewhere_by(self, variables: Mapping[str, str]) -> str:
        """Return the name of the variable that makes the SDK use another API; "" if none does."""
        return next((name for name in self.elsewhere if _is_true(variables, name)), "")


def _first(variables: Mapping[str, str], names: list[str] | tuple[str, ...]) -> tuple[str, str]:
    """Return the first of these variables that is set, and its value."""
    found = ((name, variables.get(name, "")) for name in names)
    return next(((name, value) for name, value in found if value), ("", ""))


def _is_true(variables: Mapping[str, str], name: str) -> bool:
    return variables.get(name, "").strip().lower() in _TRUE


def _of_ollama(host: str) -> str:
    """Return the base URL for `OLLAMA_HOST`, which needs neither a scheme nor a port. What is no
    host is returned as it is.

    >>> _of_ollama("10.0.0.5"), _of_ollama(":8080"), _of_ollama("https://llm.example/api")
    ('http://10.0.0.5:11434', 'http://127.0.0.1:8080', 'https://llm.example:443/api')
    """
    scheme, separator, rest = host.partition("://")
    if not separator:
        scheme, rest = "", host
    try:
        parts = urlsplit(f"{scheme or 'http'}://{rest}")
        port = parts.port or {"http": 80, "https": 443}.get(scheme, 11434)
    except ValueError:
        return host
    name = parts.hostname or "127.0.0.1"
    name = f"[{name}]" if ":" in name else name
    return f"{parts.scheme}://{name}:{port}{parts.path}"


def _of_cohere(url: str) -> str:
    """Return the base URL for `CO_API_URL`, which may name version 1 of Cohere's own API.

    >>> _of_cohere("https://api.cohere.com/v1")
    'https://api.cohere.com'
    """
    return url.replace("/v1", "") if "cohere.com" in url or "cohere.ai" in url else url


_OPENAI = Address(
    "https://api.openai.com/v1",
    (Key("OPENAI_API_KEY"),),
    url_variables=("OPENAI_BASE_URL",),
    headers={"openai-organization": "OPENAI_ORG_ID", "openai-project": "OPENAI_PROJECT_ID"},
    headers_variable="OPENAI_CUSTOM_HEADERS",
)
_AZURE_OPENAI = _OPENAI._replace(
    base_url="",
    keys=(Key("AZURE_OPENAI_AD_TOKEN", "authorization"), Key("AZURE_OPENAI_API_KEY")),
    url_variables=("AZURE_OPENAI_ENDPOINT",),
    url_path="/openai/v1",
)
_ANTHROPIC = Address(
    "https://api.anthropic.com",
    (Key("ANTHROPIC_API_KEY"), Key("ANTHROPIC_AUTH_TOKEN", "authorization")),
    url_variables=("ANTHROPIC_BASE_URL",),
    headers_variable="ANTHROPIC_CUSTOM_HEADERS",
)
_GEMINI = Address(
    "https://generativelanguage.googleapis.com",
    (Key("GOOGLE_API_KEY"), Key("GEMINI_API_KEY")),
    url_variables=("GOOGLE_GEMINI_BASE_URL",),
    elsewhere=("GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI"),
)
_BEDROCK = Address(
    "https://bedrock-runtime.{AWS_DEFAULT_REGION|AWS_REGION:us-east-1}.amazonaws.com",
    (Key("AWS_BEARER_TOKEN_BEDROCK"),),
    url_variables=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"),
    url_switch="AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    elsewhere=("AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT"),
)

ADDRESSES: dict[str, Address] = {
    "anthropic": _ANTHROPIC,
    "aws-converse": _BEDROCK,
    "aws-invoke": _BEDROCK,
    "azure-foundry": _ANTHROPIC._replace(
        base_url="https://{ANTHROPIC_FOUNDRY_RESOURCE}.services.ai.azure.com/anthropic",
        keys=(Key("ANTHROPIC_FOUNDRY_API_KEY"),),
        url_variables=("ANTHROPIC_FOUNDRY_BASE_URL",),
    ),
    "azure-openai": _AZURE_OPENAI,
    "azure-openai-responses": _AZURE_OPENAI,
    "cerebras": Address(
        "https://api.cerebras.ai/v1",
        (Key("CEREBRAS_API_KEY"),),
        url_variables=("CEREBRAS_BASE_URL",),
        url_path="/v1",
        headers_variable="CEREBRAS_CUSTOM_HEADERS",
    ),
    "cohere": Address(
        "https://api.cohere.com",
        (Key("CO_API_KEY"), Key("COHERE_API_KEY")),
        url_variables=("CO_API_URL",),
        read_url=_of_cohere,
    ),
    "deepseek": Address("https://api.deepseek.com/v1", (Key("DEEPSEEK_API_KEY"),)),
    "fireworks": Address("https://api.fireworks.ai/inference/v1", (Key("FIREWORKS_API_KEY"),)),
    "gemini": _GEMINI,
    "gemini-interactions": _GEMINI,
    "groq": Address(
        "https://api.groq.com/openai/v1",
        (Key("GROQ_API_KEY"),),
        url_variables=("GROQ_BASE_URL",),
        url_path="/openai/v1",
        headers_variable="GROQ_CUSTOM_HEADERS",
    ),
    "mistral": Address("https://api.mistral.ai/v1", (Key("MISTRAL_API_KEY"),)),
    "moonshot": Address("https://api.moonshot.ai/v1", (Key("MOONSHOT_API_KEY"),)),
    "ollama": Address(
        "http://localhost:11434",
        (Key("OLLAMA_API_KEY"),),
        key_needed=False,
        url_variables=("OLLAMA_HOST",),
        read_url=_of_ollama,
    ),
    "openai": _OPENAI,
    "openai-responses": _OPENAI,
    "openrouter": Address("https://openrouter.ai/api/v1", (Key("OPENROUTER_API_KEY"),)),
    "perplexity": Address("https://api.perplexity.ai", (Key("PERPLEXITY_API_KEY"),)),
    "together": Address(
        "https://api.together.xyz/v1",
        (Key("TOGETHER_API_KEY"),),
        url_variables=("TOGETHER_BASE_URL",),
        headers_variable="TOGETHER_CUSTOM_HEADERS",
    ),
    "xai": Address("https://api.x.ai/v1", (Key("XAI_API_KEY"),)),
    "zai": Address("https://api.z.ai/api/paas/v4", (Key("ZAI_API_KEY"),)),
}
"""Addresses by the name of the provider's row. All others need a base URL from the user."""
