"""An error response, whatever wire it is on. Each wire's own texts stand in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Failure:
    """An error response: status, JSON document and extra headers.

    A status of 200 means that the error comes inside of a response that began well.

    >>> Failure(500, {"error": {"message": "No."}}).headers
    {}
    """

    status: int
    document: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
