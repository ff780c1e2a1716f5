"""The fuzzer's targets hold for what they begin with, so that they stay right between its runs."""

import pytest

from fuzz.drawing import split
from fuzz.targets import names, target


@pytest.mark.behaviour("N6", "S8")
@pytest.mark.parametrize("name", names())
def test_what_a_target_says_holds_for_its_seeds(name):
    found = target(name)
    seeds = list(found.seeds())
    assert seeds
    for data in seeds:
        assert split(data)[1] in data
        found.check(data)
