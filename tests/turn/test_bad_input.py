"""Wrong types at every place of a body and of an event: the turn ends, bounded, and its caller gets
what the official SDK reads or what the far side sent."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from support.pairing import some_or_every
from support.replacing import places, shape

from checks.fuzz.drawing import as_lines, fixtures, is_stream
from checks.fuzz.targets import target
from checks.fuzz.turns import BETWEEN
from examples.wires.tests import at_hand
from examples.wires.tests.at_hand import every_wire as wires

DEEP: Any = "deepest"
for _ in range(60):
    DEEP = [{"a": DEEP}]
ODD: list[Any] = [None, 5, -1, 1e300, True, [], {}, [None], "", "x" * 5_000, "\ud800\0\ufeff", DEEP]
_JSON = re.compile(rb"\{.*\}", re.DOTALL)


def mutations(
    data: bytes, *, without: bool = False, seen: Counter[str] | None = None
) -> Iterator[bytes]:
    """The same with one member of one object replaced by a value of another type, or `without` it;
    over all members every odd value comes many times. An object of a shape that was `seen` often
    enough is left as it is."""
    number, streams = len(data), is_stream(data)
    for part in data.split(b"\n"):
        found = _JSON.search(part if streams else data)
        try:
            value = json.loads(found[0]) if found else None
        except ValueError:
            value = None
        if not isinstance(value, dict):
            continue
        if seen is not None:
            seen[known := repr(shape(value))] += 1
            if seen[known] > ALIKE:
                continue
        for container, key in places(value):
            kept, number = container[key], number + 1
            container[key] = ODD[number % len(ODD)]
            whole = dict(container) if isinstance(container, dict) else None
            if without and whole is not None:
                del container[key]
            assert found is not None
            yield data.replace(found[0], json.dumps(value).encode(), 1)
            if whole is not None:
                container.clear()
                container.update(whole)
            container[key] = kept
        if not streams:
            return


ALIKE = 1
"""Of how many events of the same members each member is changed."""

READ = [("detecting", wire) for wire in wires()]
ASKED = [("turns", name) for name, wire in wires().items() if not wire.only_read]

LEAST = {"bedrock-converse": 300, "bedrock-invoke": 100, "ollama": 400, "openai-completions": 300}
LEAST |= {"dashscope": 200, "watsonx": 200}
LEAST |= dict.fromkeys((name for name, wire in wires().items() if wire.only_read), 20)
"""Wires with fewer members to change: how many changes there must be at least."""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.behaviour("N6", "P1")
@pytest.mark.parametrize(("kind", "wire"), READ + ASKED)
@some_or_every
def test_a_wrong_type_at_any_place_is_no_exception_and_no_hang(wire, kind, every):
    check = target(f"{kind}-{wire}").check
    all_here = every or ("turns", wire) not in ASKED
    # Else of four changes one is detected and another one asked; all of them are in `make heavy`.
    tried, seen = 0, None if every else Counter[str]()
    for data in fixtures(wire):
        stream = is_stream(data)
        for mutated in mutations(data, seen=seen):
            tried += 1
            if all_here or tried % 4 == 2 * (kind == "turns"):
                check(bytes([255, 255, 255, stream, not stream, 0, 0, 0]) + mutated)
    assert tried > LEAST.get(wire, 500) // (1 if every else 4)


CUT = {
    "anthropic-messages": "max-tokens-stream",
    "bedrock-converse": "max-tokens-stream",
    "bedrock-invoke": "nova-max-tokens-stream",
    "cohere": "max-tokens-stream",
    "cohere-v1": "max-tokens-stream",
    "dashscope": "length-stream",
    "gemini-generate": "max-tokens-stream",
    "gemini-interactions": "incomplete-stream",
    "mistral": "length-stream",
    "ollama": "length-stream",
    "openai-chat": "length-stream",
    "openai-completions": "length-stream",
    "openai-responses": "max-output-tokens-stream",
    "watsonx": "length-stream",
}
"""A stream that the output limit cut, on each wire: what follows it is written by the wire."""

LEAST_OF_STREAMS = LEAST | {"mistral": 250, "watsonx": 150}
"""The same as `LEAST` where only the recorded streams are changed."""


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.timeout(300)
@pytest.mark.behaviour("N6", "P1")
@pytest.mark.parametrize("wire", [wire for _, wire in ASKED])
@pytest.mark.parametrize("without", [False, True])
def test_a_wrong_type_in_a_continuation_is_no_exception_and_no_hang(wire, without):
    check = target(f"turns-{wire}").check
    (file,) = (at_hand.fixtures(wire) / CUT[wire]).glob("stream*")
    before = bytes([255, 255, 255, 1, 0, 0, 0, 0]) + as_lines(file.read_bytes()) + BETWEEN
    seen = 0
    for data in fixtures(wire):
        if is_stream(data):
            for mutated in mutations(data, without=without):
                check(before + mutated)
                seen += 1
    assert seen > LEAST_OF_STREAMS.get(wire, 500)
