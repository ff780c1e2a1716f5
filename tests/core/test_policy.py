"""Every setting: its default, its bounds, and what it says about a bad value."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from tenuto.command_kit.docstrings import attributes
from tenuto.core.errors import PolicyError, TenutoError
from tenuto.core.settings.policy import GROUPS, MAY_CHANGE, OBSERVING, RULES, Policy

MANY = 10**12
UNBOUNDED = None

# key: default, least, most
NUMBERS: dict[str, tuple[Any, float, float | None]] = {
    "continuation_max_attempts": (3, 0, 100),
    "continuation_max_output_chars": (120_000, 0, UNBOUNDED),
    "continuation_max_total_completion_tokens": (None, 0, UNBOUNDED),
    "continuation_tool_repair_attempts": (1, 0, 20),
    "tool_answer_attempts": (2, 0, 20),
    "tool_shrink_attempts": (5, 0, 20),
    "empty_nudges": (1, 0, 10),
    "reasoning_prefills": (1, 0, 10),
    "empty_without_tools": (0, 0, 10),
    "empty_retries": (1, 0, 10),
    "thinking_retries": (1, 0, 10),
    "missing_call_retries": (1, 0, 10),
    "fault_retries": (2, 0, 20),
    "parameter_fixes": (2, 0, 10),
    "pause_resumes": (10, 0, 100),
    "hard_max_tokens": (None, 1, UNBOUNDED),
    "boost_max_tokens": (32_768, 1, UNBOUNDED),
    "default_max_tokens": (4_096, 1, UNBOUNDED),
    "context_window_tokens": (None, 1, UNBOUNDED),
    "context_min_free_tokens": (512, 0, UNBOUNDED),
    "probe_max_tokens": (16, 0, UNBOUNDED),
    "turn_timeout_s": (600.0, 0, UNBOUNDED),
    "backoff_s": (0.5, 0, 60),
    "backoff_max_s": (8.0, 0, 120),
    "retry_after_max_s": (120.0, 0, 3_600),
    "hold_max_bytes": (16_777_216, 0, UNBOUNDED),
    "event_max_bytes": (16_777_216, 0, UNBOUNDED),
    "body_max_bytes": (67_108_864, 0, UNBOUNDED),
    "capture_max_bytes": (16_777_216, 0, UNBOUNDED),
    "capture_max_files": (0, 0, UNBOUNDED),
    "capture_share": (1.0, 0, 1),
}
WORDS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "on_incomplete": ("stop", ("stop", "notice", "error")),
    "truncated_calls": ("refuse", ("refuse", "execute_complete")),
    "prefill": ("auto", ("auto", "always", "never")),
    "structured_streams": ("flow", ("flow", "hold")),
    "invalid_documents": ("pass", ("pass", "error", "ask_again")),
    "tool_choice": ("auto", ("auto", "required")),
    "requests_may": ("listed", ("listed", "everything")),
}
SWITCHES = {"empty_recovery": True}
TEXTS = {"capture": None, "events": None}
NAMES: dict[str, Any] = {"drop_unsupported": frozenset(), "per_request": frozenset(MAY_CHANGE)}
OPTIONAL = {
    "continuation_max_total_completion_tokens",
    "hard_max_tokens",
    "context_window_tokens",
}
FRACTIONS = {"capture_share", "turn_timeout_s", "backoff_s", "backoff_max_s", "retry_after_max_s"}


def made(**values: Any) -> Policy:
    return Policy(**values)


def refused(key: str, value: object) -> str:
    with pytest.raises(PolicyError) as caught:
        made(**{key: value})
    assert str(caught.value).startswith(f"{key} is {value!r}, but it must be ")
    return str(caught.value)


def test_every_setting_is_listed_here() -> None:
    assert set(NUMBERS) | set(WORDS) | set(SWITCHES) | set(TEXTS) | set(NAMES) == set(RULES)


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize("key", NUMBERS)
def test_a_number_has_its_default_and_its_bounds(key) -> None:
    default, least, most = NUMBERS[key]
    assert getattr(Policy(), key) == default
    for value in (least, MANY if most is None else most):
        assert getattr(made(**{key: value}), key) == value
    real = "a number" if most else "a finite number"
    word = real if key in FRACTIONS else "a whole number"
    bounds = f"{word} from {least} to {most}" if most else f"{word}, {least} or more"
    assert bounds in refused(key, -1)
    if most is not None:
        assert bounds in refused(key, most + 1)
    if least == 1:
        refused(key, 0)
    for wrong in ("3", True, [], float("nan"), float("inf"), *(() if key in FRACTIONS else (1.5,))):
        refused(key, wrong)
    if key in OPTIONAL:
        assert refused(key, -1).endswith(", or none")
        assert getattr(made(**{key: None}), key) is None
    else:
        refused(key, None)


@pytest.mark.behaviour("P3", "H5")
def test_names_of_keys_are_a_set_and_none_is_of_what_a_request_needs() -> None:
    wanted = frozenset({"temperature", "generation_config.seed"})
    assert Policy().drop_unsupported == frozenset()
    for given in (wanted, set(wanted), list(wanted), tuple(wanted)):
        assert made(drop_unsupported=given).drop_unsupported == wanted
    variables = {"TENUTO_DROP_UNSUPPORTED": " temperature, generation_config.seed,"}
    assert Policy().with_environment(variables).drop_unsupported == wanted
    assert Policy().with_environment({"TENUTO_DROP_UNSUPPORTED": ""}) == Policy()
    assert Policy().changed({"drop_unsupported": ["seed"]}).drop_unsupported == {"seed"}
    for wrong in (
        "temperature",
        None,
        1,
        True,
        [1],
        [["a"]],
        {"a b"},
        {""},
        {"messages"},
        {"model"},
    ):
        with pytest.raises(PolicyError, match="but it must be a set of names of keys"):
            made(drop_unsupported=wrong)


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize("key", WORDS)
def test_a_word_is_one_of_those_that_are_allowed(key) -> None:
    default, words = WORDS[key]
    assert getattr(Policy(), key) == default
    for word in words:
        assert getattr(made(**{key: word}), key) == word
    for wrong in ("loud", "", 0, None, True, ["stop"]):
        assert all(repr(word) in refused(key, wrong) for word in words)


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize("key", SWITCHES)
def test_a_switch_is_true_or_false(key) -> None:
    assert getattr(Policy(), key) is SWITCHES[key]
    assert getattr(made(**{key: not SWITCHES[key]}), key) is not SWITCHES[key]
    for wrong in (0, 1, "true", None):
        assert "true or false" in refused(key, wrong)


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize("key", TEXTS)
def test_a_text_is_a_text_or_none(key) -> None:
    assert getattr(Policy(), key) is TEXTS[key]
    assert getattr(made(**{key: "some/folder"}), key) == "some/folder"
    for wrong in (0, True, b"folder", ["folder"]):
        assert "a text, or none" in refused(key, wrong)


def test_settings_are_given_by_name_so_that_their_order_means_nothing() -> None:
    with pytest.raises(TypeError, match="positional argument"):
        Policy("error")  # type: ignore[call-arg]


def test_decide_is_a_callable() -> None:
    assert "a callable" in refused("decide", "stop")
    assert Policy(decide=print).decide is print


@pytest.mark.behaviour("P3")
def test_a_changed_policy_is_checked_and_the_old_one_stays() -> None:
    policy = Policy(empty_retries=2)
    changed = policy.changed({"fault_retries": 0, "turn_timeout_s": 5})
    assert (changed.empty_retries, changed.fault_retries, changed.turn_timeout_s) == (2, 0, 5)
    assert policy == Policy(empty_retries=2)
    for unknown in ("retries", "decide", "Empty_retries"):
        with pytest.raises(PolicyError, match=f"^{unknown} is not a setting; the nearest are "):
            policy.changed({unknown: 1})
    with pytest.raises(PolicyError, match=re.escape("fault_retries is 21, but it must be a whole")):
        policy.changed({"fault_retries": 21})
    assert issubclass(PolicyError, TenutoError)


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("TENUTO_FAULT_RETRIES", " 4 ", "fault_retries", 4),
        ("TENUTO_TURN_TIMEOUT_S", "1.5", "turn_timeout_s", 1.5),
        ("TENUTO_TURN_TIMEOUT_S", "0", "turn_timeout_s", 0.0),
        ("TENUTO_EMPTY_RECOVERY", "No", "empty_recovery", False),
        ("TENUTO_EMPTY_RECOVERY", "on", "empty_recovery", True),
        ("TENUTO_ON_INCOMPLETE", "error", "on_incomplete", "error"),
        ("TENUTO_HARD_MAX_TOKENS", "none", "hard_max_tokens", None),
        ("TENUTO_HARD_MAX_TOKENS", "", "hard_max_tokens", None),
        ("TENUTO_HARD_MAX_TOKENS", "100", "hard_max_tokens", 100),
        ("TENUTO_CAPTURE", " turns ", "capture", "turns"),
        ("TENUTO_CAPTURE", "Off", "capture", None),
        ("TENUTO_CAPTURE", "0", "capture", None),
        ("TENUTO_CAPTURE", "", "capture", None),
    ],
)
def test_a_variable_of_the_environment_sets_its_setting(variable, text, key, value) -> None:
    policy = Policy().with_environment({variable: text, "TENUTO_HOME": "/x", "PATH": "/bin"})
    assert getattr(policy, key) == value
    assert policy == made(**{key: value})


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("TENUTO_FAULT_RETRIES", "many"),
        ("TENUTO_FAULT_RETRIES", "1.5"),
        ("TENUTO_TURN_TIMEOUT_S", "nan"),
        ("TENUTO_EMPTY_RECOVERY", "maybe"),
        ("TENUTO_ON_INCOMPLETE", "ERROR!"),
    ],
)
def test_a_bad_variable_is_named_with_what_it_holds(variable, text) -> None:
    said = f"^{variable} is .*{re.escape(text)}.*, but it must be "
    with pytest.raises(PolicyError, match=said):
        Policy().with_environment({variable: text})


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize("word", ["none", " None ", "auto"])
@pytest.mark.parametrize("key", sorted(OPTIONAL | set(TEXTS)))
def test_a_word_for_none_means_it_in_code_in_tables_and_in_the_environment(key, word) -> None:
    policy = made(capture="turns", events="events", **dict.fromkeys(OPTIONAL, 7))
    for changed in (
        policy.changed({key: word}),
        policy.with_environment({f"TENUTO_{key.upper()}": word}),
    ):
        assert getattr(changed, key) is None
        assert changed == policy.changed({key: None})
    if key in OPTIONAL:  # a zero is a number there
        for wrong in ("off", "false", "0"):
            refused(key, wrong)
        assert made(models={"m": {key: word}}).resolved("x", "m") == Policy()


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize("text", ["off ending", "off,ending", " off,\tending ,"])
def test_the_names_of_a_set_are_separated_by_commas_or_white_space(text) -> None:
    assert Policy().with_environment({"TENUTO_PER_REQUEST": text}).per_request == {"off", "ending"}


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize(
    ("key", "text"), [("per_request", "off endings"), ("drop_unsupported", "seed, model")]
)
def test_an_error_about_a_set_shows_what_was_written(key, text) -> None:
    variable = f"TENUTO_{key.upper()}"
    with pytest.raises(PolicyError, match=f"^{variable} is '{text}', but it must be a set of "):
        Policy().with_environment({variable: text})
    with pytest.raises(PolicyError, match=rf"^{key} is \['model', 'x'\], but it must be a set of "):
        made(**{key: ["model", "x"]})


@pytest.mark.behaviour("P3")
def test_a_variable_that_is_no_text_is_named() -> None:
    with pytest.raises(PolicyError, match=r"^TENUTO_FAULT_RETRIES is 3, but it must be a text$"):
        Policy().with_environment({"TENUTO_FAULT_RETRIES": 3})  # type: ignore[dict-item]


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize("empty", ["", "  "])
@pytest.mark.parametrize("key", RULES)
def test_an_empty_variable_is_an_unset_one(key, empty):
    policy = Policy(capture="turns", hard_max_tokens=7, empty_recovery=False)
    assert policy.with_environment({f"TENUTO_{key.upper()}": empty}) == policy


@pytest.mark.behaviour("P3")
def test_every_setting_belongs_to_a_group_and_stands_beside_the_others_of_it() -> None:
    groups = [rule.group for rule in RULES.values()]
    assert list(dict.fromkeys(groups)) == list(GROUPS)
    assert groups == sorted(groups, key=list(GROUPS).index)
    assert set(OBSERVING) == {key for key in RULES if key.startswith("capture")} | {"events"}


@pytest.mark.behaviour("P3")
def test_the_docstring_shows_the_settings_below_the_titles_of_their_groups() -> None:
    doc = inspect.cleandoc(Policy.__doc__ or "")
    titles = [*GROUPS.values(), "In code only"]
    places = [doc.index(f"\n    {title}:\n") for title in titles]
    assert places == sorted(places)
    for key, rule in RULES.items():
        shown = list(GROUPS).index(rule.group)
        assert places[shown] < doc.index(f"\n    {key}: ") < places[shown + 1]
    assert set(RULES) < set(attributes(doc))


@pytest.mark.behaviour("P3")
def test_what_a_request_may_change_is_a_set_of_groups_and_off() -> None:
    assert {"agent", "observing"} == set(GROUPS) - set(MAY_CHANGE)
    assert made(per_request=["off", "tokens"]).per_request == {"off", "tokens"}
    assert made(per_request="none").per_request == made(per_request=[]).per_request == frozenset()
    variables = {"TENUTO_PER_REQUEST": "none"}
    assert Policy().with_environment(variables).per_request == frozenset()
    variables = {"TENUTO_PER_REQUEST": "ending, text"}
    assert Policy().with_environment(variables).per_request == {"ending", "text"}
    for wrong in ("off", None, ["observing"], ["on_incomplete"], [1], [["off"]]):
        with pytest.raises(
            PolicyError, match=r"^per_request is .*, but it must be a set of 'off', "
        ):
            made(per_request=wrong)


@pytest.mark.behaviour("P3")
def test_a_bracket_in_a_pattern_for_models_stands_for_itself() -> None:
    policy = Policy(models={"llama[70b]": {"fault_retries": 5}, "qwen[!a]?*": {"fault_retries": 6}})
    assert policy.resolved("unknown", "Llama[70B]").fault_retries == 5
    assert policy.resolved("unknown", "qwen[!a]-max").fault_retries == 6
    for other in ("llama7", "llama[7", "qwenb-max", "qwen[!a]"):
        assert policy.resolved("unknown", other) == Policy()


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize("table", ["models", "providers"])
def test_a_table_with_a_key_that_is_no_text_is_refused_by_the_key(table) -> None:
    with pytest.raises(PolicyError, match=f"^a key of {table} is 5, but it must be a text$"):
        made(**{table: {5: {}}})
