"""An error response, independent of the wire. Each wire's own texts are in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Failure:
    """An error response: status, JSON document and extra headers.

    A status of 200 means that the error interrupts a response that began successfully.

    >>> Failure(500, {"error": {"message": "No."}}).headers
    {}
    """

    status: int
    document: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
