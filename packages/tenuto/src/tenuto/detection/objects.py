"""Turn objects of SDKs and frameworks into plain values.

Nothing here imports them: they are told apart by what they have. Nothing is read from a connection,
and no iterator is advanced, since both are the caller's.
"""

from __future__ import annotations

import dataclasses
import enum
import logging
from typing import Any

from tenuto.core.answer.stop import printable
from tenuto.detection.exceptions import of_exception
from tenuto.detection.replies import BrokeOff, Failure, Reply, Unread, reply_of

log: logging.Logger = logging.getLogger("tenuto")


def plain(item: object) -> object:
    """Return an object as plain values, as a `Reply`, `Failure`, `Unread` or `BrokeOff`, or as the
    object that it holds; anything else as None. If the object's own code raises, a log line says
    so."""
    if isinstance(item, dict):
        return Unread() if _has_unread_body(item) else item
    if item is None or isinstance(item, type | int | float | enum.Enum):
        return None
    try:
        if isinstance(item, BaseException):
            item = of_exception(item)
        if item is None or isinstance(item, Reply | Failure | Unread | BrokeOff):
            return item
        return _of_object(_unwrapped(item))
    except Exception as error:  # noqa: BLE001 - somebody else's object: whatever it raises
        _tell_raised(item, error)
        return None


def _tell_raised(item: object, error: Exception) -> None:
    """Say in the log that an object's own code raised. What it raised may hold content."""
    names = printable(type(item).__qualname__), printable(type(error).__qualname__)
    log.warning("detect could not read an object of the class %s: it raised %s", *names)


# --- SDKs and frameworks

_DUMPS: tuple[tuple[str, dict[str, object]], ...] = (
    ("model_dump", {"mode": "json", "warnings": False}),  # enums as their values (N4)
    ("model_dump", {"warnings": False}),
    ("to_dict", {}),
    ("dict", {}),
)
"""How objects become plain values, the first that works."""

_TELLING = frozenset(
    {"choices", "candidates", "outputs", "output", "message", "finish_reason", "stop_reason"}
    | {"parts", "raw", "generations", "response_metadata"}
)
"""An answer without any of these attributes is none that `detect` reads."""


def _of_object(item: object) -> object:
    if isinstance(item, dict | list):
        return item
    reply = reply_of(item)
    if reply is not None:
        return reply
    raised: Exception | None = None
    for name, given in _DUMPS:
        dump = getattr(item, name, None)
        if callable(dump):
            try:
                return dump(**given)
            except Exception as error:  # noqa: BLE001 - somebody else's object, as above
                raised = error
    if raised is not None:
        raise raised
    if any(callable(getattr(item, name, None)) for name in _READS) or _is_closable(item):
        if _is_request(item):
            return None
        return Unread()
    return _attributes_of(item) if not _TELLING.isdisjoint(_names_of(item)) else None


_READS = ("__next__", "__anext__", "read")


def _is_closable(item: object) -> bool:
    """Return whether an object is a stream that only makes iterators, as botocore's."""
    return callable(getattr(item, "__iter__", None)) and callable(getattr(item, "close", None))


def _is_request(item: object) -> bool:
    """Return whether an object is the request of an HTTP client, which has a body to read too."""
    return hasattr(item, "method") and hasattr(item, "url") and not hasattr(item, "status_code")


def _unwrapped(item: object) -> object:
    """The object that an SDK's event holds beside nothing else of the answer. The streaming helper
    of openai-python wraps each chunk (and adds events of its own):
    https://github.com/openai/openai-python/blob/main/helpers.md
    mistralai wraps each event of a stream:
    https://github.com/mistralai/client-python#server-sent-event-streaming
    The raw responses of the SDKs hold the HTTP client's.
    """
    if getattr(item, "type", None) == "chunk":
        return getattr(item, "chunk", item)
    if type(item).__name__ == "CompletionEvent":
        return getattr(item, "data", item)
    inner = getattr(item, "http_response", None)
    return item if inner is None else inner


_DEEPEST = 6
"""How deep objects without a dump are read, from the outside."""


def _names_of(item: object) -> list[str]:
    if dataclasses.is_dataclass(item):
        return [field.name for field in dataclasses.fields(item)]
    return list(getattr(item, "__dict__", ()))


def _attributes_of(item: object, depth: int = 0) -> Any:
    """Return the public attributes of an object as plain values. It may be of a data class, as
    those of pydantic-ai, or of a plain class, as those of vLLM."""
    if isinstance(item, enum.Enum):
        return item.value
    if item is None or isinstance(item, str | int | float | bytes):
        return item
    if depth == _DEEPEST:
        return None
    if isinstance(item, list | tuple):
        return [_attributes_of(inner, depth + 1) for inner in item]
    if isinstance(item, dict):
        return {key: _attributes_of(inner, depth + 1) for key, inner in item.items()}
    names = (name for name in _names_of(item) if not name.startswith("_"))
    return {name: _attributes_of(getattr(item, name, None), depth + 1) for name in names}


def _has_unread_body(item: dict[Any, Any]) -> bool:
    """Return whether it is boto3's answer with a stream that was not read."""
    if "ResponseMetadata" not in item:
        return False
    return any(hasattr(item.get(name), "close") for name in ("stream", "body"))
