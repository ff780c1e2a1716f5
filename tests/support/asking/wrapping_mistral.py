"""Asking a simulator through the wrapped SDK of Mistral."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from support.asking.mistral import MistralAsker
from support.asking.wrapping import Watching


class WrappedMistral(Watching, MistralAsker):
    """Asks through `tenuto.wrap`."""

    retries: ClassVar[Mapping[str, int]] = {}


def assert_one_message(told: list[Any]) -> None:
    """A stream is one message: one id, one stop, which has the usage and stands last, and a choice
    in every chunk."""
    assert len({chunk.id for chunk in told}) == 1
    assert all(chunk.choices for chunk in told)
    stops = [chunk for chunk in told if chunk.choices[0].finish_reason]
    assert stops == told[-1:]
    assert stops[0].usage is not None
