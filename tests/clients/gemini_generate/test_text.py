"""Texts of Gemini that were cut, paused, or never came: what leaves, and what the caller sees."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel
from support.asking.gemini_generate import model, result, user
from support.replay.gemini_generate import (
    AFTER_RESULT,
    ASK,
    END,
    MAX,
    PAUSE,
    R,
    Refused,
    said,
    thought,
)

from tenuto.core import hints

MODES = pytest.mark.parametrize("mode", ["body", "stream"])
HINT = user(hints.CONTINUE)


@pytest.mark.behaviour("C1", "C7", "C9", "C17", "C19", "C22")
@MODES
def test_a_cut_text_is_continued_with_a_hint_and_comes_as_one_message(
    play: Any, mode: str, way: str
) -> None:
    asker = play(R("part 1 ", MAX, tokens=4), R("part 2", END, tokens=3, id="response-2"))
    said_ = asker.tell(mode, way, max_output_tokens=100)
    assert (said_.text, said_.stop) == ("part 1 part 2", END)
    assert asker.added(1) == [model("part 1"), HINT]
    assert asker.budgets == [100, 200]
    assert said_.usage.candidates_token_count == 7
    assert said_.usage.prompt_token_count == 20
    assert {told.response_id for told in asker.told} == {"response-1"}
    assert asker.ending["status"] == "complete"


@pytest.mark.behaviour("C8", "C14a")
@MODES
def test_a_model_that_takes_a_prefill_is_given_its_own_text_and_no_hint(
    play: Any, mode: str, way: str
) -> None:
    asker = play(R("The result is wor", MAX), R("ld.", END))
    said_ = asker.tell(mode, way, model="gemini-2.5-flash")
    assert said_.text == "The result is world."
    assert asker.added(1) == [model("The result is wor")]


@pytest.mark.behaviour("C8", "P8c")
@MODES
def test_a_model_that_refuses_a_prefill_is_asked_once_more_with_a_hint(
    play: Any, mode: str, way: str
) -> None:
    words = "Requests ending with a model turn are not supported."
    asker = play(R("One ", MAX), Refused(400, words), R("two.", END))
    assert asker.tell(mode, way, model="gemini-3-pro-preview").text == "One two."
    assert asker.added(1) == [model("One")]
    assert asker.added(2) == [model("One"), HINT]


@pytest.mark.behaviour("C2", "P1a")
@MODES
def test_a_text_that_is_always_cut_ends_as_cut(play: Any, mode: str, way: str) -> None:
    asker = play(R("A", MAX), R("B", MAX), R("C", MAX), R("D", MAX))
    said_ = asker.tell(mode, way)
    assert (said_.text, said_.stop, asker.sent) == ("ABCD", MAX, 4)
    assert asker.ending["reason"] == "retry_limit"


@pytest.mark.behaviour("C25", "P8")
@MODES
def test_a_normal_turn_is_the_same_bytes_in_both_directions(play: Any, mode: str) -> None:
    asker = play(R("Hello there.", END))
    method = "generateContent" if mode == "body" else "streamGenerateContent?alt=sse"
    client = asker.client._api_client._httpx_client
    body = b'{ "contents" : [{"parts":[{"text":"Hi", "x": 1e400}]}] , "other": 1.0}'
    url = f"{asker.replay.root_url}/v1beta/models/m:{method}"
    answer = client.post(url, content=body)
    assert asker.replay.requests[0].body == body
    given = R("Hello there.", END)
    assert answer.content == (given.body() if mode == "body" else given.stream())


@pytest.mark.behaviour("C7", "C17")
def test_keys_in_snake_case_are_edited_where_they_stand(play: Any) -> None:
    asker = play(R("One ", MAX), R("two.", END))
    client = asker.client._api_client._httpx_client
    row = b'{"role" : "user","parts":[{"text":"\\u0048i","n":1.0}]}'
    body = b'{"contents":[%b],"generation_config":{"max_output_tokens":50,"top_k":4.0}}' % row
    client.post(f"{asker.replay.root_url}/v1beta/models/m:generateContent", content=body)
    sent = asker.replay.requests[1].body
    assert sent.startswith(b'{"contents":[%b,{"role":"model"' % row)
    assert b'"generation_config":{"max_output_tokens":100,"top_k":4.0}' in sent


@pytest.mark.behaviour("S2", "C24")
@MODES
def test_the_pages_that_each_attempt_read_are_kept(play: Any, mode: str) -> None:
    pages = [{"retrievedUrl": f"https://example.com/{name}"} for name in "ab"]
    read = [{"urlContextMetadata": {"urlMetadata": [page]}} for page in pages]
    asker = play(R("Twice a ", MAX, beside=read[0]), R("day.", END, beside=read[1]))
    told = asker.tell(mode).last.candidates[0].url_context_metadata
    assert [page.retrieved_url for page in told.url_metadata] == [p["retrievedUrl"] for p in pages]


class Notes(BaseModel):
    title: str
    items: list[str]


@pytest.mark.behaviour("C27")
def test_a_cut_document_comes_back_whole_and_the_sdk_parses_it(play: Any, way: str) -> None:
    whole = json.dumps({"title": "Tides", "items": ["ebb", "flow"]})
    cut = R(whole[:25], MAX)
    asker = play(cut, cut, R(whole[25:], END))
    said_ = asker.tell(
        "body", way, response_mime_type="application/json", response_schema=Notes,
        model="gemini-2.5-flash",
    )  # fmt: skip
    assert said_.last.parsed == Notes(title="Tides", items=["ebb", "flow"])
    assert asker.added(1) == []
    assert asker.added(2) == [model(whole[:25].rstrip()), user(hints.CONTINUE_DOCUMENT)]
    assert asker.configs[1]["responseSchema"] == asker.configs[0]["responseSchema"]
    assert asker.configs[2].keys() == {"maxOutputTokens"}


@pytest.mark.behaviour("C27")
@MODES
def test_a_list_is_a_document_too(play: Any, mode: str) -> None:
    whole = json.dumps([{"title": "Tides", "items": []}, {"title": "Ebb", "items": ["flow"]}])
    cut = R(whole[:25], MAX)
    asker = play(cut, cut, R(f"```json\n{whole[25:]}\n```", END))
    said_ = asker.tell(mode, response_mime_type="application/json", response_schema=list[Notes])
    assert (said_.text, said_.stop) == (whole, "STOP")
    assert asker.ending["reason"] == "completed"


@pytest.mark.behaviour("C27")
@MODES
def test_a_document_that_is_whole_where_the_limit_cut_is_complete(play: Any, mode: str) -> None:
    whole = json.dumps({"title": "Tides", "items": ["ebb", "flow"]})
    asker = play(R(whole, MAX), R("never asked for", END))
    said_ = asker.tell(mode, response_mime_type="application/json")
    assert (said_.text, said_.stop) == (whole, "STOP")
    assert asker.ending["reason"] == "completed"


@pytest.mark.behaviour("C27")
@MODES
def test_a_document_that_never_gets_whole_is_partial(play: Any, mode: str) -> None:
    cut = R('{"title": "Ti', MAX)
    asker = play(cut, cut, *[R("and so on", END)] * 2)
    said_ = asker.tell(mode, response_mime_type="application/json")
    assert asker.ending["reason"] == "document_invalid"
    assert said_.text == '{"title": "Ti'


@pytest.mark.behaviour("C27", "C9")
@MODES
def test_one_of_some_words_is_no_document(play: Any, mode: str) -> None:
    words = {"type": "STRING", "enum": ["Percussion ensemble", "String quartet"]}
    asker = play(R("Percussion en", MAX), R("semble", END))
    said_ = asker.tell(mode, response_mime_type="text/x.enum", response_schema=words)
    assert (said_.text, asker.ending["status"]) == ("Percussion ensemble", "complete")
    assert asker.added(1) == [model("Percussion en"), HINT]
    assert asker.configs[1].keys() == {"maxOutputTokens"}


# --- thoughts ---------------------------------------------------------------------------------


@pytest.mark.behaviour("C11")
@MODES
@pytest.mark.parametrize(
    ("name", "asked", "sent"),
    [
        ("gemini-2.5-pro", None, {"thinkingBudget": 1024}),
        ("gemini-2.5-pro", {"thinking_budget": 4000}, {"thinking_budget": 2000}),
        ("gemini-2.5-pro", {"thinking_budget": -1}, {"thinking_budget": 1024}),
        ("gemini-3.6-flash", None, {"thinkingLevel": "low"}),
        ("gemini-3.6-flash", {"thinking_level": "HIGH"}, {"thinking_level": "LOW"}),
    ],
)
def test_thoughts_that_used_the_whole_limit_are_lowered_and_the_limit_is_raised(
    play: Any, mode: str, name: str, asked: Any, sent: Any
) -> None:
    asker = play(R("", MAX, tokens=0, thoughts=100), R("Here.", END))
    config = {"thinking_config": asked} if asked else {}
    said_ = asker.tell(mode, model=name, max_output_tokens=100, **config)
    assert said_.text == "Here."
    assert asker.added(1) == []
    assert asker.configs[1]["thinkingConfig"] == sent
    assert asker.budgets == [100, 200]


@pytest.mark.behaviour("C11")
@MODES
def test_where_no_knob_is_there_less_thinking_is_asked_for_in_words(
    play: Any, mode: str, way: str
) -> None:
    asker = play(R([thought("hm")], MAX, tokens=0, thoughts=9), R("Here.", END))
    said_ = asker.tell(mode, way, model="learnlm", max_output_tokens=100)
    assert said_.text == "Here."
    assert asker.added(1) == [user(hints.REASON_LESS)]


@pytest.mark.behaviour("C20", "C28a")
@MODES
def test_signed_parts_go_back_as_they_came_and_thoughts_stay_out(play: Any, mode: str) -> None:
    first = [thought("hm"), said("One ", "c2lnMQ=="), said("two "), said("thr")]
    asker = play(R(first, MAX), R("ee.", END))
    said_ = asker.tell(mode)
    assert said_.text == "One two three."
    assert asker.added(1) == [model(said("One ", "c2lnMQ=="), said("two thr")), HINT]
    signed = [part for part in said_.message["parts"] if "thoughtSignature" in part]
    assert [part["thoughtSignature"] for part in signed] == ["c2lnMQ=="]


# --- pauses -----------------------------------------------------------------------------------

TOKEN = {"continuationToken": "dG9rZW4x"}


@pytest.mark.behaviour("C26")
@MODES
def test_a_pause_goes_on_with_its_token_and_the_sdk_sees_none(
    play: Any, mode: str, way: str
) -> None:
    more = {"continuationToken": "dG9rZW4y"}
    asker = play(R("One ", PAUSE, beside=TOKEN), R("two ", PAUSE, beside=more), R("three.", END))
    said_ = asker.tell(mode, way)
    assert (said_.text, said_.stop, asker.sent) == ("One two three.", END, 3)
    assert [body.get("continuationToken") for body in asker.bodies] == [
        None, "dG9rZW4x", "dG9rZW4y",
    ]  # fmt: skip
    assert [asker.added(1), asker.added(2)] == [[], []]
    assert len({event.turn for event in asker.events}) == 1


@pytest.mark.behaviour("C26", "C1")
@MODES
def test_a_text_that_is_cut_after_a_pause_is_continued_from_all_of_it(play: Any, mode: str) -> None:
    asker = play(R("One ", PAUSE, beside=TOKEN), R("two ", MAX), R("three.", END))
    assert asker.tell(mode).text == "One two three."
    assert asker.added(2) == [model("One two"), HINT]
    assert "continuationToken" not in asker.bodies[2]


@pytest.mark.behaviour("C26", "C1")
@MODES
def test_a_pause_without_a_token_is_a_cut(play: Any, mode: str) -> None:
    asker = play(R("One ", PAUSE), R("two.", END))
    assert asker.tell(mode).text == "One two."
    assert asker.added(1) == [model("One"), HINT]


@pytest.mark.behaviour("C26", "C28")
@MODES
def test_a_request_that_resumes_by_itself_is_left_alone(play: Any, mode: str) -> None:
    asker = play(R("two ", MAX))
    said_ = asker.tell(mode, continuation_token=b"mine")
    assert (said_.text, said_.stop, asker.sent) == ("two ", MAX, 1)
    assert asker.of("left_alone")[0]["why"] == "resumption"


@pytest.mark.behaviour("C26", "P1")
@MODES
def test_pauses_beyond_the_cap_are_left_to_the_sdk_which_goes_on_where_we_stopped(
    play: Any, mode: str
) -> None:
    paused = [R(f"{n} ", PAUSE, beside={"continuationToken": "dG9r"}) for n in range(3)]
    asker = play(*paused, R("end.", END), pause_resumes=2)
    said_ = asker.tell(mode)
    assert said_.text == "0 1 2 end."
    assert asker.sent == 4
    assert asker.of("turn_ended")[0]["reason"] == "paused"


# --- empty, blocked, odd ----------------------------------------------------------------------


@pytest.mark.behaviour("E3", "E11")
@MODES
def test_after_a_result_the_nudge_stands_in_a_turn_of_its_own(
    play: Any, mode: str, way: str
) -> None:
    asker = play(R("", END), R("Done.", END))
    assert asker.ask(AFTER_RESULT, mode, way).text == "Done."
    assert asker.added(1) == [
        model(hints.EMPTY_WITH_TOOLS_NOTE), user(hints.AFTER_TOOL_RESULT)
    ]  # fmt: skip


@pytest.mark.behaviour("E1", "E5", "N6")
@MODES
@pytest.mark.parametrize(
    "empty",
    [
        R("", END), R("", "OTHER"), R([], END), R([said("")], END), R([said(" \n")], END),
        R("", END, around={"candidates": []}), R("", END, around={"candidates": None}),
    ],
)  # fmt: skip
def test_an_empty_answer_is_asked_for_again(play: Any, mode: str, empty: R) -> None:
    asker = play(empty, R("Here.", END))
    assert asker.tell(mode).text == "Here."
    assert asker.sent == 2


@pytest.mark.behaviour("S3", "C14")
def test_a_stream_that_breaks_off_goes_on_from_where_it_was(play: Any, way: str) -> None:
    asker = play(R("One two ", dropped=True), R("three.", END))
    assert asker.tell("stream", way).text == "One two three."
    assert asker.added(1) == [model("One two"), HINT]


@pytest.mark.behaviour("H2", "H5a")
@MODES
def test_a_history_with_an_open_call_is_put_right(play: Any, mode: str) -> None:
    call = {"functionCall": {"id": "c1", "name": "f", "args": {}}, "thoughtSignature": "c2ln"}
    asker = play(R("Fine.", END))
    asker.ask([ASK, model(call), user("And?")], mode)
    stub = result("f", error=hints.ORPHAN_RESULT)
    stub["functionResponse"] = {"id": "c1", **stub["functionResponse"]}
    assert asker.bodies[0]["contents"] == [ASK, model(call), user(stub), user("And?")]
    assert asker.of("history_repaired")
