"""What the header `x-tenuto` may do with each setting: as its row says, and as docs/policy.md shows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import openai
import pytest

import tenuto
from tenuto.core.settings.policy import FIXED, RULES, Policy
from tenuto.turn.settings.per_request import of_request
from tenuto_sim import Simulator

pytestmark = pytest.mark.behaviour("P3a")

ASK: Any = [{"role": "user", "content": "Why do tides come twice a day?"}]
URL = "https://host/v1/chat/completions"
BODY = json.dumps({"model": "m", "messages": ASK}).encode()

ANY = {"on_incomplete", "prefill", "structured_streams"}
RAISE = {"context_min_free_tokens", "probe_max_tokens"}
NONE = {"truncated_calls", "drop_unsupported", *FIXED}
# Every other setting may only be lowered.

# In force, lower, higher.
WORDS: dict[str, tuple[Any, list[str], list[str]]] = {
    "on_incomplete": ("notice", ["stop"], ["error"]),
    "prefill": ("always", ["auto"], ["never"]),
    "structured_streams": ("flow", [], ["hold"]),
    "invalid_documents": ("error", ["pass"], ["ask_again"]),
    "truncated_calls": ("refuse", [], ["execute_complete"]),
    "requests_may": ("listed", [], ["everything"]),
    "tool_choice": ("auto", [], ["required"]),
    "empty_recovery": (True, ["false"], []),
    "drop_unsupported": (frozenset({"seed"}), ["none"], ["seed user"]),
    "per_request": (frozenset(Policy().per_request), ["text", "none"], []),
    "capture": ("turns", ["off"], ["elsewhere"]),
    "events": ("events", ["off"], ["elsewhere"]),
    "capture_share": (0.5, ["0.25"], ["0.75"]),
}


def values(key: str) -> tuple[Any, dict[str, list[str]]]:
    """A value in force, and what a header may say beside it."""
    if key in WORDS:
        now, lower, higher = WORDS[key]
    else:
        now, lower, higher = 5, ["4", "1"], ["6"]
        higher += ["0"] if RULES[key].unlimited_at_0 else []
        higher += ["none"] if RULES[key].optional else []
    same = " ".join(sorted(now)) if isinstance(now, frozenset) else str(now)
    return now, {"lower": lower, "raise": higher, "same": [same], "nonsense": ["[?]", "-1 [?]"]}


def allowed(key: str, change: str) -> bool:
    if key in NONE or change == "nonsense":
        return False
    if key in ANY or change == "same":
        return True
    return change == ("raise" if key in RAISE else "lower")


def begun(header: str, policy: Policy) -> str:
    """The error of a turn with this header; "" if it begins."""
    try:
        turn = tenuto.sansio.Turn("POST", URL, [("x-tenuto", header)], BODY, policy=policy)
    except tenuto.PolicyError as error:
        return str(error)
    sent = turn.next()
    assert isinstance(sent, tenuto.sansio.SendRequest)
    assert (sent.headers, sent.body) == ((), BODY)
    return ""


@pytest.mark.parametrize("key", RULES)
def test_a_header_changes_a_setting_only_as_its_row_says(key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    now, changes = values(key)
    policy = Policy().changed({key: now})
    for change, texts in changes.items():
        for text in texts:
            error = begun(f"{key}={text}", policy)
            assert (not error) is allowed(key, change), (key, change, text, error)
            if not error:
                given = of_request(policy, f"{key}={text}")[0]
                assert getattr(given, key) == RULES[key].checked(key, RULES[key].read(text))
            elif change != "nonsense" and key not in FIXED:
                assert error.startswith(f"header x-tenuto: a request may {_only(key)}")
                assert "requests_may='everything'" in error


def _only(key: str) -> str:
    return f"not change {key};" if key in NONE else "only "


@pytest.mark.parametrize("key", RULES)
def test_everything_lets_a_header_change_what_a_block_around_the_request_may(
    key, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    now, changes = values(key)
    for change, texts in changes.items():
        for text in texts:
            policy = Policy().changed({"requests_may": "everything", key: now})
            error = begun(f"{key}={text}", policy)
            assert (not error) is (change != "nonsense" and key not in FIXED), (text, error)
            given: Any = {key: RULES[key].read(text)}
            if error:
                with pytest.raises(tenuto.PolicyError):
                    tenuto.policy(**given)
            else:
                with tenuto.policy(**given):
                    assert begun("", Policy().changed({key: now})) == ""


@pytest.mark.parametrize("key", [key for key, rule in RULES.items() if rule.optional])
def test_a_number_is_lower_than_none_and_none_is_not_lower_than_a_number(key):
    if key in NONE:
        return
    assert begun(f"{key}=1000000", Policy()) == ""
    assert begun(f"{key}=none", Policy()) == ""
    assert "only lower" in begun(f"{key}=none", Policy().changed({key: 5}))


def test_what_a_block_allows_is_what_a_header_starts_from():
    with tenuto.policy(truncated_calls="execute_complete", continuation_max_attempts=50):
        given, _ = of_request(Policy(), "continuation_max_attempts=40")
        assert (given.truncated_calls, given.continuation_max_attempts) == ("execute_complete", 40)
        assert "only lower" in begun("continuation_max_attempts=51", Policy())


def test_a_preset_needs_everything():
    assert begun("preset=chat", Policy()) == (
        "header x-tenuto: a request may not choose a preset; a policy with "
        "requests_may='everything' lets it do more"
    )
    assert begun("preset=chat", Policy(requests_may="everything")) == ""


def test_per_request_bounds_what_everything_opens():
    policy = Policy(requests_may="everything", per_request={"ending"})
    assert "may not change empty_retries" in begun("empty_retries=5", policy)
    assert begun("on_incomplete=error", policy) == ""


def test_an_sdk_sends_nothing_that_loosens_and_learns_what_would():
    with Simulator() as sim, openai.OpenAI(base_url=sim.base_url, api_key="none") as bare:
        client = tenuto.wrap(bare, policy=Policy(models={"sim/*": {"fault_retries": 8}}))
        ask: Any = {"model": "sim/normal", "messages": ASK}
        for header in ("truncated_calls=execute_complete", "drop_unsupported=seed"):
            with pytest.raises(tenuto.PolicyError, match="requests_may='everything'"):
                client.chat.completions.create(**ask, extra_headers={"x-tenuto": header})
        with pytest.raises(tenuto.PolicyError, match="only lower fault_retries, which is 8;"):
            client.chat.completions.create(**ask, extra_headers={"x-tenuto": "fault_retries=9"})
        assert sim.requests == []
        client.chat.completions.create(**ask, extra_headers={"x-tenuto": "fault_retries=7"})
        assert len(sim.requests) == 1


def test_the_page_shows_what_a_header_may_do_with_each_setting():
    page = (Path(__file__).parents[2] / "docs/policy.md").read_text()
    for key in RULES:
        row = re.search(rf"^\| `{key}` .*$", page, re.MULTILINE)
        assert row is not None
        said = row[0].split(" | ")[4]
        directions = {"any": key in ANY, "none": key in NONE, "raise": key in RAISE}
        assert said == next((word for word, holds in directions.items() if holds), "lower")
