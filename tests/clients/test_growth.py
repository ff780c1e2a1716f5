"""A client that lives long keeps nothing of the turns that it has finished."""

from __future__ import annotations

import gc
import itertools
import tracemalloc
from collections import Counter
from collections.abc import Iterator

import pytest
from support.asking.anthropic_messages import AnthropicAsker
from support.asking.openai_chat import Asker
from support.pairing import WAYS, matrix, param

import tenuto
from tenuto.clients import exchange
from tenuto.core.answer.builder import Builder
from tenuto.core.answer.response import Response
from tenuto.frames.sse import SseDecoder
from tenuto.turn.drivers.drive import AsyncDrive, Drive
from tenuto.turn.record.attempt import Attempt
from tenuto.turn.record.recent import RecentTurns, recent
from tenuto.turn.record.turn_log import TurnLog
from tenuto.turn.record.turn_record import TurnRecord
from tenuto.turn.stream.client_stream import ClientStream
from tenuto_sim import Simulator

TURNS = 60
WARMING = 20
OF_A_TURN = (
    Attempt,
    AsyncDrive,
    Builder,
    Drive,
    ClientStream,
    Response,
    SseDecoder,
    TurnRecord,
    TurnLog,
)
KINDS: dict[str, type[Asker] | type[AnthropicAsker]] = {
    "openai": Asker,
    "anthropic": AnthropicAsker,
}
SOME = (("openai", "stream", "async"), ("anthropic", "body", "sync"))
LEAST_BYTES = 256
"""Texts, bodies and tables of a turn are larger; of what is smaller the interpreter keeps stocks."""

MODELS = ("sim/normal", "sim/length_once", "sim/drop_mid_text", "sim/empty_once")
"""A turn that needs nothing, and three that are mended."""


@pytest.fixture
def sim() -> Iterator[Simulator]:
    # Few events: they are traced one by one.
    with Simulator(token_chars=120) as running:
        yield running


def left() -> Counter[str]:
    """Objects of a turn that are alive, by class."""
    gc.collect()
    return Counter(type(o).__name__ for o in gc.get_objects() if type(o) in OF_A_TURN)


def ours_bytes() -> int:
    """What is held of all that was allocated in Tenuto's own files, the simulator's left out."""
    gc.collect()
    folder = tenuto.__path__[0]
    ours = tracemalloc.Filter(True, f"{folder}/*")
    sims = tracemalloc.Filter(False, f"{folder}/sim/*")
    found = tracemalloc.take_snapshot().filter_traces([ours, sims])
    return sum(trace.size for trace in found.traces if trace.size >= LEAST_BYTES)


def wrapped(kind: type[Asker] | type[AnthropicAsker], sim: Simulator) -> Asker | AnthropicAsker:
    asker = kind(sim)
    policy = tenuto.Policy(backoff_s=0.0)
    asker.client = tenuto.wrap(asker.client, policy=policy)
    asker.async_client = tenuto.wrap(asker.async_client, policy=policy)
    return asker


@pytest.mark.slow
@pytest.mark.behaviour("P9")
@matrix(
    ("kind", "mode", "way"),
    [
        param(*each, heavy=each not in SOME, id="-".join(each))
        for each in itertools.product(KINDS, ("body", "stream"), WAYS)
    ],
)
def test_sixty_turns_leave_nothing_behind(sim, kind, mode, way, monkeypatch):
    # A set of its own: with what abandoned streams of other tests left in it, its table is made anew
    # once in a while, and then counts as ours.
    monkeypatch.setattr(exchange, "_open", set())
    # What `tenuto.report` tells of is bounded: here by what the first turns fill.
    for name, value in vars(RecentTurns(most=4, most_ids=8)).items():
        monkeypatch.setattr(recent, name, value)
    asker = wrapped(KINDS[kind], sim)

    def turns(first: int, last: int) -> None:
        for number in range(first, last):
            model = MODELS[number % len(MODELS)]
            row = {"role": "user", "content": f"Tell me, take {number}."}
            said = asker.ask([row], mode, way, model=model)
            assert said.error is None, model
            sim.forget()
            sim.requests.clear()

    try:
        turns(0, WARMING)
        tracemalloc.start()
        turns(0, WARMING // 4)
        before, held_bytes, objects = left(), ours_bytes(), len(gc.get_objects())
        turns(WARMING, WARMING + TURNS)
        grown_bytes, grown = ours_bytes() - held_bytes, len(gc.get_objects()) - objects
        assert left() - before == Counter(), "objects of turns that are over"
        assert grown_bytes < LEAST_BYTES
        assert grown < TURNS, "not one object for each turn, whosever it is"
    finally:
        tracemalloc.stop()
        asker.close()
