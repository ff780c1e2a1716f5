"""The paths of Bedrock's runtime, which name the model and whether to stream."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote

_PATH = re.compile(r"/model/(?P<model>.+)/(?P<what>converse|invoke)(?P<stream>-.*)?\Z")


def asked_at(pattern: str) -> Callable[[str], bool]:
    """Return a function that tells whether a path, whose model may be quoted, matches a pattern.

    >>> asked_at("/model/.+/converse")("/model/amazon.nova-lite-v1%3A0/converse")
    True
    """
    search = re.compile(rf"{pattern}\Z").search
    return lambda path: search(unquote(path).rstrip("/")) is not None


def path_model(path: str) -> tuple[str, bool]:
    """Return the model that a path names, and whether it asks for a stream.

    >>> path_model("/model/us.amazon.nova-pro-v1%3A0/converse-stream")
    ('us.amazon.nova-pro-v1:0', True)
    """
    found = _PATH.search(path.partition("?")[0].rstrip("/"))
    return (unquote(found["model"]), bool(found["stream"])) if found else ("", False)
