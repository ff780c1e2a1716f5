"""The presets: their table, their constructors, and what they change."""

from __future__ import annotations

from typing import Any

import pytest

from tenuto.core.errors import PolicyError
from tenuto.core.settings.policy import RULES, Policy
from tenuto.core.settings.presets import PRESETS, values_of

pytestmark = pytest.mark.behaviour("P3")

MADE: dict[str, Any] = {name: getattr(Policy, f"for_{name}") for name in PRESETS}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_differs_from_the_defaults_in_what_its_table_lists_and_says_why(name) -> None:
    made, default = MADE[name](), Policy()
    differs = {
        key: getattr(made, key) for key in RULES if getattr(made, key) != getattr(default, key)
    }
    assert differs == values_of(name)
    for choice in PRESETS[name].choices.values():
        assert choice.why.endswith(".")
        assert len(choice.why) > 20
    assert PRESETS[name].about.endswith(".")


@pytest.mark.parametrize("name", PRESETS)
def test_what_the_caller_adds_outweighs_the_preset(name) -> None:
    changed = MADE[name](on_incomplete="stop", empty_nudges=0, decide=print)
    assert (changed.on_incomplete, changed.empty_nudges, changed.decide) == ("stop", 0, print)
    left = values_of(name).keys() - {"on_incomplete"}
    assert {key: getattr(changed, key) for key in left} == {
        key: value for key, value in values_of(name).items() if key in left
    }


@pytest.mark.parametrize("name", PRESETS)
def test_what_a_preset_cannot_take_is_named(name) -> None:
    with pytest.raises(PolicyError) as caught:
        MADE[name](empty_retires=1)
    assert str(caught.value) == (
        "empty_retires is not a setting; the nearest are empty_retries, empty_recovery, "
        "empty_nudges"
    )
    with pytest.raises(PolicyError, match=r"^empty_retries is 11, but"):
        MADE[name](empty_retries=11)


def test_who_waits_waits_less_and_who_does_not_is_patient() -> None:
    chat, default, batch = Policy.for_chat(), Policy(), Policy.for_batch()
    for key in ("turn_timeout_s", "backoff_max_s", "retry_after_max_s", "fault_retries"):
        assert getattr(chat, key) < getattr(default, key) < getattr(batch, key)
    assert chat.continuation_max_attempts < batch.continuation_max_attempts


@pytest.mark.parametrize("name", ["agents", "batch"])
def test_a_program_that_nobody_watches_is_given_an_error(name) -> None:
    assert MADE[name]().on_incomplete == "error"
