"""The fuzzer's targets hold for what they begin with, so that they stay right between its runs."""

import itertools

import pytest
from support.pairing import some_or_every

from fuzz import edits
from fuzz.asked import asked
from fuzz.drawing import split
from fuzz.targets import names, target
from tenuto.wires.registry import wires

MANY = 100


@pytest.mark.behaviour("N6", "S8")
@pytest.mark.parametrize("name", names())
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


@pytest.mark.parametrize("wire", [w for n, w in wires().items() if f"edits-{n}" in names()])
def test_what_the_edits_begin_with_are_requests_and_most_need_repair(wire):
    bodies = [edits.body(wire, data) for data in edits.seeds(wire)]
    requests = [wire.request(body, 16, asked(wire).path, edits.DIALECTS[0]) for body in bodies]
    assert requests.count(None) == 1, "that with half a surrogate pair"
    broken = [request for request in requests if request and request.repairs]
    assert len(broken) > len(requests) / 2 or wire.name == "openai-completions"
