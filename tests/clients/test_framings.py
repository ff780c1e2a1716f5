"""Answers whose framing, name and bytes do not fit each other, before every SDK: with Tenuto in front
the answer is right, or what is raised is what the SDK raises without it, or an error of the SDK's own
where there was something worse."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest
from support.far_sides import FarSide
from support.framing_matrix import (
    BYTES,
    MODES,
    NAMES,
    SDKS,
    WAYS,
    Asker,
    Changing,
    Got,
    response,
    shapes_of,
    verdict,
)
from support.pairing import every_pair

# aiohttp's own word on the class that google-genai makes of its session; and the SDKs of Anthropic,
# bare, leave the generators of a stream that is no event stream to the collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning"),
    pytest.mark.filterwarnings(
        "ignore:.*(BoundAsyncStream|aiter_raw):pytest.PytestUnraisableExceptionWarning"
    ),
]

Ask = Callable[[str, str, str, bytes], tuple[Got, Got]]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Asks an SDK bare and wrapped: by its name and way, the mode, and the bytes of the response."""
    loop = asyncio.new_event_loop()
    with ExitStack() as stack:
        stack.callback(loop.close)

        @cache
        def askers(name: str, way: str) -> tuple[Changing, list[Asker]]:
            given = Changing()
            far = stack.enter_context(FarSide(given))
            made = [Asker(name, way, far, loop, wrapped=wrapped) for wrapped in (False, True)]
            for asker in made:
                stack.callback(asker.close)
            return given, made

        def ask(name: str, way: str, mode: str, whole: bytes) -> tuple[Got, Got]:
            given, (bare, wrapped) = askers(name, way)
            given.given = whole
            return bare.ask(mode), wrapped.ask(mode)

        yield ask


def judge(ask: Ask, sdk: str, way: str, mode: str, named: str, each: Sequence[str] = BYTES) -> None:
    shapes = shapes_of(SDKS[sdk].wire)
    for name in each:
        bare, got = ask(sdk, way, mode, response(named, shapes[name]))
        assert verdict(SDKS[sdk], bare, got), (name, bare, got)


_PROVED = pytest.mark.behaviour("N6", "P8", "P1a", "S8")


@_PROVED
@every_pair(sdk=SDKS, mode=MODES, named=NAMES)
def test_an_answer_under_any_name_is_right_or_the_sdks_own_error(
    ask: Ask, sdk: str, mode: str, named: str
) -> None:
    """Each name in one of the ways, in turn, and bodies in another one than streams; half of what may
    come under it: all of it is heavy, and both ways."""
    place = list(NAMES).index(named)
    half = BYTES[(place // 2 + list(SDKS).index(sdk)) % 2 :: 2]
    judge(ask, sdk, WAYS[(place + MODES.index(mode)) % 2], mode, named, half)


@pytest.mark.heavy
@_PROVED
@pytest.mark.parametrize("sdk", SDKS)
def test_an_answer_under_any_name_is_right_or_the_sdks_own_error_in_both_ways(
    ask: Ask, sdk: str, way: str
) -> None:
    for mode, named in itertools.product(MODES, NAMES):
        judge(ask, sdk, way, mode, named)


READ_BY = {"converse": "messages", "invoke": "messages", "anthropic-bedrock": "messages"}
READ_BY |= {"ollama": "lines"}
"""What the streams of an SDK are; server-sent events where nothing is said."""


@pytest.mark.behaviour("P8", "N6")
@every_pair(sdk=SDKS, way=WAYS, named=NAMES)
def test_what_the_sdk_would_read_is_right_under_any_name(
    ask: Ask, sdk: str, way: str, named: str
) -> None:
    shapes: dict[str, Any] = shapes_of(SDKS[sdk].wire)
    for mode, name in (
        ("stream", READ_BY.get(sdk, "events")),
        ("stream", "body"),
        ("body", "body"),
        ("body", "events"),
    ):
        if not SDKS[sdk].reads(named, name):
            continue
        got = ask(sdk, way, mode, response(named, shapes[name]))[1]
        assert got.is_right, (mode, name, got)
