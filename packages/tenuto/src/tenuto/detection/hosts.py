"""Which URLs are of APIs of models: a provider's host may serve much else."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from tenuto.providers.registry import behind
from tenuto.wires.registry import wires_for_path

_OF_WORKSPACES = r"[^/]+/(?:serving-endpoints|ai-gateway)(?:/|\Z)"
_OF_FOUNDRY = r"[^/]+/(?:openai|anthropic|models|api/projects)(?:/|\Z)"

_MODELS_AT: dict[str, str] = {
    ".googleapis.com": r"(?:[a-z0-9-]+-)?(?:aiplatform|generativelanguage)\.(?!storage\.)",
    ".amazonaws.com": r"(?:[^/]+\.)?bedrock-(?:\w+-)*(?:runtime|mantle)(?:-fips)?\.[a-z]+-",
    ".cloud.databricks.com": _OF_WORKSPACES,
    ".gcp.databricks.com": _OF_WORKSPACES,
    ".azuredatabricks.net": _OF_WORKSPACES,
    ".snowflakecomputing.com": r"[^/]+/api/v2/cortex/",
    ".services.ai.azure.com": _OF_FOUNDRY,
    ".cognitiveservices.azure.com": _OF_FOUNDRY,
    ".huggingface.co": r"(?:router|api-inference)\.",
    ".ollama.com": r"[^/]+/(?:api|v1)(?:/|\Z)",
    ".openrouter.ai": r"[^/]+/api(?:/|\Z)",
}
"""Hosts of the providers' rows that serve more than models, with what matches the URLs of models
there, without a scheme. Whoever sends a request to one of them says by its path what it is."""

_may_be_others = re.compile(
    r"(?!.*/(?:v\d[^/]*|openai|anthropic)/[a-z]+/?\Z).*/(?:messages|responses|interactions)/?\Z"
).match
"""Matches paths by which mail, chats and forms have theirs: `/me/messages`. A model's stand below a
version or an API's name."""


def is_of_api(url: str) -> bool:
    """Return whether a URL is one of an API of models that is known, by its path or its host.

    >>> is_of_api("https://api.openai.com/v1/files"), is_of_api("https://b.s3.amazonaws.com/k")
    (True, False)
    """
    parts = urlsplit(url)
    path = parts.path
    if path.strip("/") and wires_for_path(path) and not _may_be_others(path):  # "/" may be any
        return True
    host = (parts.hostname or "").lower()
    places = [row.place_of(parts) for row in behind(url)] if host else []
    if any(place and f".{place.lstrip('.')}" not in _MODELS_AT for place in places):
        return True
    told = (told for place, told in _MODELS_AT.items() if f".{host}".endswith(place))
    return any(re.match(each, f"{host}{path}") for each in told)
