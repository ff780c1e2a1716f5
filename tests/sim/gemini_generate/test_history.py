"""What the simulator refuses of Gemini, in the provider's own words."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from support.asking.gemini_generate import model, result, user

from tenuto_sim import Simulator
from tenuto_sim.gemini_generate.seals import FOREIGN, signature

CALL = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": signature("f")}
SECOND = {"functionCall": {"name": "f", "args": {"n": 1}}}
COUNTS = "number of function response parts is equal to the number of function call parts"


def asked(sim: Simulator, *contents: Any, **more: Any) -> tuple[int, str]:
    """Status and message of the answer."""
    name = more.pop("model", "sim")
    headers = more.pop("headers", {"x-goog-api-key": "key"})
    url = f"{sim.root_url}/v1beta/models/{name}:generateContent"
    answer = httpx.post(url, json={"contents": list(contents)} | more, headers=headers)
    return answer.status_code, answer.json().get("error", {}).get("message", "")


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ([user("x"), model(CALL)], COUNTS),
        ([user("x"), model(CALL, SECOND), user(result("f"))], COUNTS),
        ([user("x"), model(CALL), user(result("f"), result("f"))], COUNTS),
        ([user("x"), model(CALL), user(result("g"))], COUNTS),
        ([model(CALL), user(result("f"))], "function call turn comes immediately after a user"),
        ([user("x"), user(result("f"))], "function response turn comes immediately after"),
        ([user("x"), model("Half")], "Requests ending with a model turn are not supported."),
        ([user("x"), model(CALL), user(result("f"), "Go on.")], "ending with a model turn"),
        (
            [user("x"), model({"functionCall": {"name": "f", "args": {}}}), user(result("f"))],
            "missing a thought_signature in functionCall parts",
        ),
        (
            [user("x"), model(CALL | {"thoughtSignature": "Zm9y"}), user(result("f"))],
            "Corrupted thought signature.",
        ),
        ([user("x"), {"role": "model", "parts": []}], "contents.parts must not be empty"),
        ([{"role": "assistant", "parts": [{"text": "x"}]}], "valid role: user, model"),
        ([user({"thought": True})], "required oneof field 'data'"),
        ([user({"text": "x", "note": 1})], 'Unknown name "note" at \'contents[0].parts[0]\''),
        ([user("x") | {"_id": 1}], 'Unknown name "_id" at \'contents[0]\''),
    ],
)  # fmt: skip
def test_a_history_that_breaks_a_rule_is_refused_in_the_providers_words(
    sim: Simulator, contents: list[Any], words: str
) -> None:
    status, message = asked(sim, *contents)
    assert status == 400
    assert words in message


@pytest.mark.parametrize(
    "contents",
    [
        [user("x")],
        [user("x"), user("y")],
        [user("x"), model(CALL), user(result("f"))],
        [user("x"), model(CALL), model(SECOND), user(result("f")), user(result("f"))],
        [user("x"), model(CALL), user(result("f")), user("Go on.")],
        [user("x"), model(CALL | {"thoughtSignature": FOREIGN}), user(result("f"))],
        [user("x"), model("y"), user("z")],
    ],
)
def test_a_history_that_keeps_the_rules_is_answered(sim: Simulator, contents: list[Any]) -> None:
    assert asked(sim, *contents) == (200, "")


@pytest.mark.parametrize(("name", "status"), [("gemini-2.5-flash", 200), ("gemini-3.6-flash", 400)])
def test_the_models_name_tells_whether_it_goes_on_with_a_turn_of_its_own(
    sim: Simulator, name: str, status: int
) -> None:
    assert asked(sim, user("x"), model("Half"), model=name)[0] == status


def test_keys_are_read_in_both_spellings_and_unknown_ones_are_refused(sim: Simulator) -> None:
    assert asked(sim, user("x"), generation_config={"max_output_tokens": 50})[0] == 200
    assert asked(sim, user("x"), generationConfig={"maxOutputTokens": 50})[0] == 200
    status, message = asked(sim, user("x"), generationConfig={"max_tokens": 50})
    assert status == 400
    assert message == (
        "Invalid JSON payload received. Unknown name \"max_tokens\" at 'generation_config': "
        "Cannot find field."
    )


def test_a_request_without_a_key_is_not_answered(sim: Simulator) -> None:
    status, message = asked(sim, user("x"), headers={})
    assert (status, message[:43]) == (403, "Method doesn't allow unregistered callers (")


def test_more_output_than_the_model_has_is_refused_with_the_range(sim: Simulator) -> None:
    status, message = asked(sim, user("x"), generationConfig={"maxOutputTokens": 99_999})
    assert status == 400
    assert "from 1 (inclusive) to 16385 (exclusive)" in message
