"""How much of what a provider writes the events, reports and errors of a turn repeat: as much as
SECURITY.md says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import openai
import pytest
from support.asking.wrapping import QUICK
from support.events import openai_chat as chat
from support.every_wire import LIMITS, MAKERS, At, ask, made
from support.far_sides import FarSide, json_answer

import tenuto
from tenuto.core.answer.stop import printable
from tenuto.telemetry import redaction
from tenuto.turn.pipeline import error_end

PROMPT = "The spare key is under the third stone."
NEVER = {**QUICK, "continuation_max_attempts": 0}
PADDED = sorted(MAKERS.keys() - {"gemini-interactions", "openai-responses"})
"""Those two know their stops by a status, in which white space has no place."""


@pytest.mark.behaviour("N10")
@pytest.mark.parametrize("wire", PADDED)
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_a_known_stop_with_white_space_around_it_is_told_in_few_characters(
    wire: str, mode: str
) -> None:
    stop = LIMITS[wire] + "\n" * 5_000
    with FarSide(made(wire, "whole" if mode == "body" else mode, "The ti", stop)) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**NEVER))
        ask(asker, wire, mode)
        told = [event.as_dict() for event in asker.events]
        asker.close()
    (seen,) = [each for each in told if each["name"] == "stop_reason_observed"]
    assert seen["raw"].startswith(LIMITS[wire])
    for each in told:
        for value in each.values():
            assert not isinstance(value, str) or value == printable(value, 200)


@pytest.mark.behaviour("N10")
def test_a_report_holds_little_of_what_stands_beside_a_stop() -> None:
    body = chat.whole(chat.message("No."), "stop", usage=chat.usage_of(3, 5))
    body["choices"][0]["finish_details"] = {"type": "stop", "stop": "x" * 90_000}
    with FarSide(json_answer(json.dumps(body).encode())) as far:
        heard: list[tenuto.Event] = []
        bare = openai.OpenAI(base_url=far.base_url, api_key="k", max_retries=0)
        client = tenuto.wrap(bare, on_event=heard.append)
        answer: Any = client.chat.completions.with_raw_response.create(
            model="m", messages=[{"role": "user", "content": PROMPT}]
        )
    report = tenuto.report(answer)
    assert report is not None
    assert len(json.dumps(report.as_dict())) < 4_000
    assert "x" * 81 not in json.dumps([event.as_dict() for event in heard])


@pytest.mark.behaviour("N10")
def test_an_error_repeats_a_bounded_part_of_the_providers_and_no_event_does() -> None:
    said = f"Cannot go on behind: {PROMPT} " * 400
    refused = json.dumps({"error": {"message": said, "code": "odd", "type": "odd"}}).encode()
    cut = chat.whole(chat.message("The ti"), "length", usage=chat.usage_of(3, 5))
    with FarSide(
        json_answer(json.dumps(cut).encode()), json_answer(refused, status="400 No")
    ) as far:
        heard: list[tenuto.Event] = []
        bare = openai.OpenAI(base_url=far.base_url, api_key="k", max_retries=0)
        policy = tenuto.Policy(**QUICK, on_incomplete="error")
        client = tenuto.wrap(bare, policy=policy, on_event=heard.append)
        with pytest.raises(openai.APIStatusError) as raised:
            client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": PROMPT}]
            )
    error: Any = raised.value.body
    assert PROMPT in error["message"], "it may quote the prompt, as SECURITY.md says"
    assert len(error["message"]) < 2_500
    assert PROMPT not in json.dumps([event.as_dict() for event in heard])


@pytest.mark.behaviour("N10")
def test_the_numbers_of_the_security_policy_are_those_of_the_code() -> None:
    page = (Path(__file__).parents[2] / "SECURITY.md").read_text()
    promise = re.sub(r"\s+", " ", page.partition("5. **")[2].partition("6. **")[0])
    assert "at most 80 characters of each" in promise
    assert len(redaction.Redactor("", ()).brief("x" * 999)) <= 80
    assert promise.count("at most 2,000 characters") == 2
    assert vars(redaction)["_LOOKED_AT_CHARS"] == error_end.MESSAGE_CHARS == 2_000
