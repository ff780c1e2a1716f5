"""Settings of the policy on Gemini: notices, errors, whole calls of a cut answer, switching off."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import errors, types
from support.asking.gemini_generate import model, user
from support.replay.gemini_generate import ASK, END, FILES, MAX, R, call, said

MODES = pytest.mark.parametrize("mode", ["body", "stream"])
WHOLE = call(path="a.txt", content="x")


@pytest.mark.behaviour("C21", "P1a")
@MODES
def test_a_notice_is_added_once_and_taken_out_of_the_history_again(
    play: Any, mode: str, way: str
) -> None:
    asker = play(*[R("A", MAX)] * 4, on_incomplete="notice")
    said_ = asker.tell(mode, way)
    assert said_.text.count("[This answer is incomplete: retry limit.]") == 1
    assert said_.stop == MAX
    asker.replay.say(R("Fine.", END))
    asker.ask([ASK, said_.message, user("And?")], mode, way)
    kept = [part["text"] for part in asker.bodies[0]["contents"][1]["parts"]]
    assert "".join(kept) == "AAAA"


@pytest.mark.behaviour("T3")
@MODES
def test_whole_calls_of_a_cut_answer_are_handed_on_where_the_policy_says_so(
    play: Any, mode: str, way: str
) -> None:
    asker = play(
        R([WHOLE, call("write_file", "", path="b")], MAX), truncated_calls="execute_complete"
    )
    said_ = asker.tell(mode, way, **FILES)
    assert said_.inputs == [{"path": "a.txt", "content": "x"}]
    assert said_.message["parts"][-1]["thoughtSignature"] == "c2ln"


@pytest.mark.behaviour("C28", "C17a")
@MODES
def test_a_request_can_be_switched_off(play: Any, mode: str, way: str) -> None:
    asker = play(R("Half", MAX))
    off = types.HttpOptions(headers={"x-tenuto": "off"})
    said_ = asker.tell(mode, way, http_options=off)
    assert (said_.text, said_.stop, asker.sent) == ("Half", MAX, 1)
    assert not any(name.startswith("x-tenuto") for name in asker.replay.requests[0].headers)


@pytest.mark.behaviour("C17", "C17a")
@MODES
def test_a_hard_limit_holds_for_every_request(play: Any, mode: str) -> None:
    asker = play(R("A", MAX), R("B", MAX), R("C", END), hard_max_tokens=150)
    assert asker.tell(mode, max_output_tokens=100).text == "ABC"
    assert asker.budgets == [100, 150, 150]


@pytest.mark.behaviour("P1a", "C5")
@MODES
def test_an_error_holds_what_came(play: Any, mode: str, way: str) -> None:
    asker = play(*[R("A", MAX)] * 4, on_incomplete="error")
    said_ = asker.tell(mode, way)
    assert isinstance(said_.error, errors.ServerError)
    about = said_.error.details["error"]
    assert (said_.error.code, about["details"][0]["reason"]) == (520, "retry_limit")
    if mode == "body":
        assert about["partial"] == {"text": "AAAA"}


@pytest.mark.behaviour("C8")
@MODES
def test_prefills_can_be_switched_off(play: Any, mode: str) -> None:
    asker = play(R([said("One ")], MAX), R("two.", END), prefill="never")
    assert asker.tell(mode, model="gemini-2.5-flash").text == "One two."
    assert [row["role"] for row in asker.added(1)] == ["model", "user"]
    assert asker.added(1)[0] == model("One")
