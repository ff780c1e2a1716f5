"""Tell a beginning of an answer by what only answers begin with."""

from __future__ import annotations

from tenuto.detection.envelopes import out_of_batch
from tenuto.detection.evidence import begins_answer
from tenuto.detection.foreign import unwrapped
from tenuto.detection.loose_json import begun


def is_begun(data: bytes) -> bool:
    """Return whether bytes that broke off are the beginning of an answer.

    >>> is_begun(b'{"id": "a", "object": "chat.completion", "choi'), is_begun(b'{"name": "x", "ver')
    (True, False)
    """
    value = begun(data)
    if isinstance(value, list):
        value = next(iter(value), None)
    return isinstance(value, dict) and begins_answer(unwrapped(out_of_batch(value)))
