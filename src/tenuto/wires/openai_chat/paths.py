"""Where Chat Completions are asked for, and what stands there that the body does not say.

Nearly all have one path. Databricks has it too, and beside it one for each of its endpoints, whose
name is that of the model: https://docs.databricks.com/aws/en/machine-learning/foundation-model-apis
/api-reference (2026-11-22). What is asked for there with other members than `messages` (a prompt,
inputs to embed) is no chat, and passes untouched.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

_ENDPOINT = re.compile(r"/serving-endpoints/([^/]+)/invocations/?\Z")


def is_request(path: str) -> bool:
    """Whether the path is the chat endpoint, below whatever base URL.

    >>> is_request("/v1/chat/completions"), is_request("/serving-endpoints/llama/invocations")
    (True, True)
    >>> is_request("/endpoints/llama/invocations")
    False
    """
    return path.rstrip("/").endswith("/chat/completions") or _ENDPOINT.search(path) is not None


def model_in(path: str) -> str:
    """The model that a path names; "" where it names none.

    >>> model_in("/serving-endpoints/databricks-claude-sonnet-4-5/invocations")
    'databricks-claude-sonnet-4-5'
    """
    found = _ENDPOINT.search(path)
    return unquote(found[1]) if found else ""
