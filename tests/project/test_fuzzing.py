"""The fuzzer's targets hold for what they begin with, so that they stay right between its runs."""

import itertools

import pytest
from support.pairing import some_or_every

from checks.fuzz import edits
from checks.fuzz.asked import asked
from checks.fuzz.drawing import split
from checks.fuzz.targets import names, target, wires_of

MANY = 100
OF_A_WIRE = [f"{name}-{wire.name}" for name in names() for wire in wires_of(name)]


@pytest.mark.behaviour("N6", "S8")
@pytest.mark.parametrize("name", [*(n for n in names() if not wires_of(n)), *OF_A_WIRE])
@some_or_every
def test_what_a_target_says_holds_for_its_seeds(name, every):
    """For each of few, and for one in four of many; all of them are heavy."""
    found = target(name)
    seeds = list(found.seeds())
    assert seeds
    if not every and len(seeds) > MANY:
        seeds = list(itertools.islice(seeds, 0, None, 4))
    for data in seeds:
        assert split(data)[1] in data
        found.check(data)


@pytest.mark.parametrize("name", [name for name in names() if wires_of(name)])
def test_the_first_byte_of_an_input_chooses_its_wire(name):
    drawn = target(name)
    inputs = iter(drawn.seeds())
    for number, wire in enumerate(wires_of(name)):
        own = list(target(f"{name}-{wire.name}").seeds())
        assert list(itertools.islice(inputs, len(own))) == [bytes([number]) + d for d in own]
        drawn.check(bytes([number]) + own[0])
    assert not list(inputs)
    drawn.check(b"")


@pytest.mark.parametrize("wire", wires_of("edits"))
def test_what_the_edits_begin_with_are_requests_and_most_need_repair(wire):
    bodies = [edits.body(wire, data) for data in edits.seeds(wire)]
    requests = [wire.request(body, 16, asked(wire).path, edits.DIALECTS[0]) for body in bodies]
    assert requests.count(None) == 1, "that with half a surrogate pair"
    broken = [request for request in requests if request and request.repairs]
    assert len(broken) > len(requests) / 2 or wire.name == "openai-completions"
