"""Settings that hold for one provider or for some models."""

from __future__ import annotations

import pickle

import pytest

from tenuto.core.errors import PolicyError
from tenuto.core.policy import Policy

pytestmark = pytest.mark.behaviour("P3")


def test_a_policy_without_exceptions_is_the_same_for_all() -> None:
    policy = Policy(fault_retries=1)
    assert policy.resolved("openai", "gpt-4o") is policy


def test_models_outweigh_the_provider_and_later_patterns_outweigh_earlier_ones() -> None:
    policy = Policy(
        providers={"groq": {"fault_retries": 3, "empty_retries": 3, "empty_nudges": 3}},
        models={"qwen*": {"empty_retries": 4, "empty_nudges": 4}, "*32b": {"empty_nudges": 5}},
    )
    assert policy.resolved("groq", "qwen-32b") == Policy(
        fault_retries=3, empty_retries=4, empty_nudges=5
    )
    assert policy.resolved("groq", "llama") == Policy(
        fault_retries=3, empty_retries=3, empty_nudges=3
    )
    assert policy.resolved("openai", "QWEN-7B") == Policy(empty_retries=4, empty_nudges=4)
    assert policy.resolved("openai", "") == Policy()
    assert policy.resolved("groq", "qwen").resolved("groq", "qwen-32b").empty_nudges == 4


def test_a_preset_stands_for_its_settings_which_others_beside_it_outweigh() -> None:
    policy = Policy(models={"m": {"preset": "agents", "empty_retries": 0}})
    assert policy.resolved("unknown", "m") == Policy.for_agents(empty_retries=0)


def test_exceptions_stay_when_something_else_changes_and_are_no_part_of_the_hash() -> None:
    given = {"groq": {"drop_unsupported": ["seed"]}}
    policy = Policy(providers=given)
    given["groq"]["drop_unsupported"] = ["user"]
    assert policy.providers == {"groq": {"drop_unsupported": frozenset({"seed"})}}
    changed = policy.changed({"fault_retries": 1})
    assert changed.resolved("groq", "m").drop_unsupported == {"seed"}
    assert hash(policy) == hash(Policy(providers={"groq": {"drop_unsupported": {"seed"}}}))
    assert policy != Policy()
    assert pickle.loads(pickle.dumps(policy)) == policy


@pytest.mark.parametrize("wrong", [3, None, "groq", ["groq"], {3: {}}, {"groq": 3}])
def test_what_is_no_table_is_refused(wrong) -> None:
    with pytest.raises(PolicyError, match=r"^providers.* but it must be a table of "):
        Policy(providers=wrong)


@pytest.mark.parametrize("key", ["capture", "capture_share", "per_request"])
def test_what_observes_turns_and_what_requests_may_change_is_the_same_for_all(key) -> None:
    with pytest.raises(PolicyError, match=f"^models.m.{key} cannot be set here: it holds for all"):
        Policy(models={"m": {key: "x"}})
    with pytest.raises(PolicyError, match=r"^models.m.decide is not a setting"):
        Policy(models={"m": {"decide": print}})
