"""Calls of Gemini: none that is cut, malformed or unexpected is ever handed on."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import errors, types
from support.asking.gemini_generate import model, result, user
from support.replay.gemini_generate import END, FILES, MALFORMED, MAX, R, call, said

from tenuto.core import hints

MODES = pytest.mark.parametrize("mode", ["body", "stream"])
WHOLE = call(path="a.txt", content="x")


@pytest.mark.behaviour("T14", "T1", "T16")
@MODES
@pytest.mark.parametrize(
    "broken",
    [
        R("", MALFORMED, beside={"finishMessage": "Malformed function call: print("}),
        R("", "UNEXPECTED_TOOL_CALL"),
        R([call("delete_all")], "UNEXPECTED_TOOL_CALL"),
        R("", "function_call_filter: MALFORMED_FUNCTION_CALL"),
    ],
)
@pytest.mark.filterwarnings("ignore:[\\s\\S]* is not a valid FinishReason")
def test_a_call_that_the_provider_cannot_read_is_asked_for_again(
    play: Any, mode: str, way: str, broken: R
) -> None:
    asker = play(broken, R([WHOLE], END))
    said_ = asker.tell(mode, way, **FILES)
    assert said_.inputs == [{"path": "a.txt", "content": "x"}]
    assert said_.stop == END
    assert asker.added(1) == [user(hints.REPAIR_CALL)]


@pytest.mark.behaviour("T14", "T5")
@MODES
def test_words_may_answer_a_call_that_the_provider_refused(play: Any, mode: str) -> None:
    asker = play(R([call("delete_all")], "UNEXPECTED_TOOL_CALL"), R("I can't delete.", END))
    said_ = asker.tell(mode, **FILES)
    assert (said_.text, said_.inputs, said_.stop) == ("I can't delete.", [], END)
    assert asker.ending["status"] == "complete"


@pytest.mark.behaviour("T3", "T5", "T16")
@MODES
@pytest.mark.parametrize("args", [{"path": "a"}, {"path": "a.txt", "content": "x"}, {}])
def test_a_call_on_a_turn_that_the_limit_cut_is_never_handed_on(
    play: Any, mode: str, way: str, args: dict[str, Any]
) -> None:
    cut = {"functionCall": {"name": "write_file", "args": args}, "thoughtSignature": "c2ln"}
    asker = play(R([said("So: "), cut], MAX), R([WHOLE], END))
    said_ = asker.tell(mode, way, max_output_tokens=100, **FILES)
    assert (said_.text, said_.inputs) == ("So: ", [{"path": "a.txt", "content": "x"}])
    assert asker.added(1) == [model("So:"), user(hints.REPEAT_CALL)]
    assert asker.budgets == [100, 200]


@pytest.mark.behaviour("T12b")
@MODES
def test_a_call_that_lacks_what_its_function_requires_is_the_models_own(
    play: Any, mode: str
) -> None:
    asker = play(R([call(path="a.txt")], END), R([WHOLE], END))
    assert asker.tell(mode, **FILES).inputs == [{"path": "a.txt"}]
    assert len(asker.bodies) == 1


@pytest.mark.behaviour("T5", "T8", "C20")
@MODES
def test_a_call_that_is_cut_again_is_answered_as_failed_and_keeps_its_signature(
    play: Any, mode: str
) -> None:
    cut = call(signature="c2lnMg==", path="a.txt")
    cut["functionCall"]["id"] = "call-1"
    second = call("write_file", "", path="b.txt", content="y")
    asker = play(R([cut, second], MAX), R([cut, second], MAX), R([WHOLE], END))
    assert len(asker.tell(mode, **FILES).calls) == 1
    called, answered = asker.added(2)
    assert called["parts"] == [
        {
            "functionCall": {"id": "call-1", "name": "write_file", "args": {}},
            "thoughtSignature": "c2lnMg==",
        },
        second,
    ]
    names = [part["functionResponse"] for part in answered["parts"]]
    assert [(n.get("id"), n["name"]) for n in names] == [
        ("call-1", "write_file"), (None, "write_file"),
    ]  # fmt: skip
    assert all("error" in n["response"] for n in names)


@pytest.mark.behaviour("T8", "P1a", "T16")
@MODES
def test_where_no_call_comes_out_right_the_turn_ends_truthfully(
    play: Any, mode: str, way: str
) -> None:
    asker = play(*[R("", MALFORMED)] * 3)
    said_ = asker.tell(mode, way, **FILES)
    assert isinstance(said_.error, errors.ServerError)
    assert asker.ending["reason"] == "tool_call_malformed"
    asker = play(R("So: ", MALFORMED), R("", MALFORMED))
    said_ = asker.tell(mode, way, **FILES)
    assert (said_.text.strip(), said_.calls, said_.stop) == ("So:", [], MALFORMED)


@pytest.mark.behaviour("N3", "T13", "P8")
@MODES
def test_calls_without_ids_are_handed_on_as_they_came(play: Any, mode: str, way: str) -> None:
    second = call("write_file", "", path="b.txt", content="y")
    asker = play(R([WHOLE, second], END))
    said_ = asker.tell(mode, way, **FILES)
    assert [part.get("thoughtSignature") for part in said_.message["parts"]] == ["c2ln", None]
    assert all("id" not in call for call in said_.calls)
    assert asker.of("stop_reason_observed")[0]["anomalies"] == []


@pytest.mark.behaviour("C24", "C28a")
@MODES
def test_a_continuation_that_comes_back_with_a_call_keeps_its_prefix(play: Any, mode: str) -> None:
    asker = play(R("I shall ", MAX), R([said("write."), WHOLE], END))
    forced = {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["write_file"]}}
    said_ = asker.tell(mode, tool_config=forced, **FILES)
    assert (said_.text, len(said_.calls)) == ("I shall write.", 1)
    assert said_.message["parts"][-1]["thoughtSignature"] == "c2ln"
    assert asker.bodies[1]["toolConfig"]["functionCallingConfig"] == {"mode": "AUTO"}


# --- the SDK's own automatic calls ------------------------------------------------------------


def automatic(run: Any) -> dict[str, Any]:
    """The config of a program that lets the SDK run its functions."""
    off = types.AutomaticFunctionCallingConfig(disable=False)
    return {"tools": [run], "automatic_function_calling": off}


@pytest.mark.behaviour("T1", "T16", "P8")
@MODES
def test_the_sdk_runs_a_function_once_and_never_for_a_call_that_was_cut(
    play: Any, mode: str, way: str
) -> None:
    ran: list[tuple[str, str]] = []

    def write_file(path: str, content: str) -> str:
        """Write a text file."""
        ran.append((path, content))
        return "written"

    asker = play(R([call(path="a.txt")], MAX), R([WHOLE], END), R("Half of ", MAX), R("it.", END))
    said_ = asker.tell(mode, way, **automatic(write_file))
    assert ran == [("a.txt", "x")]
    assert said_.text == "Half of it."
    assert asker.sent == 4
    turns = dict.fromkeys(event.turn for event in asker.events)
    assert len(turns) == 2, "one for each request of the SDK's"
    answered = asker.bodies[2]["contents"]
    assert answered[-2]["parts"][0]["thoughtSignature"] == "c2ln"
    assert answered[-1] == user(result("write_file", result="written"))
