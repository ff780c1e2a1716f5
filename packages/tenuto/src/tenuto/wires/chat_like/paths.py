"""The paths of Chat Completions, and the models in them.

Nearly all providers have one path. Databricks has another one for each of its endpoints, which
carry the name of the model:
https://docs.databricks.com/aws/en/machine-learning/foundation-model-apis
/api-reference (2026-11-22). Requests there with other members than `messages` (a prompt, inputs to
embed) are no chat, and pass unchanged.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

_ENDPOINT = re.compile(r"/serving-endpoints/([^/]+)/invocations/?\Z")


def is_request(path: str) -> bool:
    """Return whether the path is the chat endpoint, below any base URL.

    >>> is_request("/v1/chat/completions"), is_request("/serving-endpoints/llama/invocations")
    (True, True)
    >>> is_request("/endpoints/llama/invocations")
    False
    """
    return path.rstrip("/").endswith("/chat/completions") or _ENDPOINT.search(path) is not None


def model_in(path: str) -> str:
    """Return the model in a path; "": it has none.

    >>> model_in("/serving-endpoints/databricks-claude-sonnet-4-5/invocations")
    'databricks-claude-sonnet-4-5'
    """
    found = _ENDPOINT.search(path)
    return unquote(found[1]) if found else ""
