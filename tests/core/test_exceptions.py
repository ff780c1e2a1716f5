"""Settings that hold for one provider or for some models."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from typing import Any

import pytest

from tenuto.config import load_policy
from tenuto.core.errors import PolicyError
from tenuto.core.settings.policy import Policy

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


def with_table(table: str, given: Any) -> Policy:
    arguments: dict[str, Any] = {table: given}
    return Policy(**arguments)


@pytest.mark.parametrize("table", ["providers", "models"])
def test_the_tables_of_a_policy_cannot_be_changed_past_its_checks(table) -> None:
    given = {"unknown": {"fault_retries": 1}}
    policy = with_table(table, given)
    held: Any = getattr(policy, table)
    for place in (held, held["unknown"]):
        before = dict(place)
        for change in (
            lambda it: it.__setitem__("fault_retries", "x"),
            lambda it: it.__delitem__(next(iter(it))),
            lambda it: it.update(fault_retries=-1),
            lambda it: it.setdefault("no_setting", 1),
            lambda it: it.pop(next(iter(it))),
            lambda it: it.popitem(),
            lambda it: it.clear(),
            lambda it: it.__ior__({"fault_retries": -1}),
        ):
            with pytest.raises(TypeError, match=r"^the tables of a policy are read-only; make"):
                change(place)
        assert place == before
    given["unknown"]["fault_retries"] = -1
    assert held == {"unknown": {"fault_retries": 1}}


@pytest.mark.parametrize("table", ["providers", "models"])
def test_a_policy_with_tables_is_copied_pickled_and_replaced_as_any_other(table) -> None:
    policy = with_table(table, {"unknown": {"drop_unsupported": ["seed"], "backoff_s": 2.0}})
    copies = (
        copy.copy(policy),
        copy.deepcopy(policy),
        pickle.loads(pickle.dumps(policy)),
        dataclasses.replace(policy),
        with_table(table, getattr(policy, table)),
        Policy(**dataclasses.asdict(policy)),
    )
    for other in copies:
        assert other == policy
        assert hash(other) == hash(policy)
        with pytest.raises(TypeError, match="read-only"):
            getattr(other, table)["unknown"]["backoff_s"] = -1
    changed: Any = {table: getattr(policy, table) | {"m": {}}}
    more = dataclasses.replace(policy, **changed)
    assert list(getattr(more, table)) == ["unknown", "m"]
    assert json.dumps(getattr(with_table(table, {"m": {"backoff_s": 2.0}}), table)) == (
        '{"m": {"backoff_s": 2.0}}'
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"body_max_bytes": -1}, "body_max_bytes is -1, but it must be a whole number, 0 or more"),
        ({"body_max_byte": 1}, "body_max_byte is not a setting; the nearest are body_max_bytes, "),
        ({"prefill": "x"}, "prefill is 'x', but it must be one of 'auto', 'always', 'never'"),
        ({"events": "x"}, "events cannot be set here: it holds for all of a client"),
    ],
)
@pytest.mark.parametrize("table", ["providers", "models"])
def test_a_table_in_code_is_checked_as_one_in_a_file(table, changes, said, tmp_path) -> None:
    with pytest.raises(PolicyError) as caught:
        with_table(table, {"unknown": changes})
    assert str(caught.value).startswith(f"{table}.unknown.{said}")
    [(key, value)] = changes.items()
    (tmp_path / "tenuto.toml").write_text(f"[{table}.unknown]\n{key} = {json.dumps(value)}\n")
    with pytest.raises(PolicyError) as in_file:
        load_policy(tmp_path, {})
    assert str(in_file.value) == f"tenuto.toml: {caught.value}"


@pytest.mark.parametrize("wrong", [3, None, "groq", ["groq"], {"groq": 3}])
def test_what_is_no_table_is_refused(wrong) -> None:
    with pytest.raises(PolicyError, match=r"^providers.* but it must be a table of "):
        Policy(providers=wrong)


@pytest.mark.parametrize("key", ["capture", "capture_share", "per_request", "requests_may"])
def test_what_observes_turns_and_what_requests_may_change_is_the_same_for_all(key) -> None:
    with pytest.raises(PolicyError, match=f"^models.m.{key} cannot be set here: it holds for all"):
        Policy(models={"m": {key: "x"}})
    with pytest.raises(PolicyError, match=r"^models.m.decide is not a setting"):
        Policy(models={"m": {"decide": print}})
