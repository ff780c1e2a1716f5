"""What a row says beside an answer is read: its stop, its tokens and its limit."""

from __future__ import annotations

from typing import Any

import pytest
from support.stored import ASK, DONE, FENCE, chat, conversation

from tenuto import Outcome, judge
from tenuto.judging.names import LIMITS, MODELS, SETTINGS, STOPS

CUT = "The tide comes in twi"
TURNS = conversation(CUT)
SAID = {"role": "assistant", "content": CUT}
SHAREGPT = [{"from": "human", "value": "x"}, {"from": "gpt", "value": CUT}]
BENCH = {"question_id": 1, "model_id": "m", "answer_id": "a"}


def rows(**more: Any) -> dict[str, dict[str, Any]]:
    """Rows of the kinds that store no stop, with something more in each."""
    return {
        "messages": {"messages": TURNS, **more},
        "messages with a model": {"messages": TURNS, "model": "m", "id": "r", **more},
        "messages of more turns": {"messages": [*conversation(DONE), *TURNS], **more},
        "messages with tools": {"messages": TURNS, "tools": [{"name": "add"}], **more},
        "sharegpt": {"conversations": SHAREGPT, **more},
        "preference": {"prompt": "x", "chosen": CUT, "rejected": DONE, **more},
        "preference of messages": {"chosen": TURNS, "rejected": TURNS, **more},
        "mt_bench": {**BENCH, "choices": [{"index": 0, "turns": [DONE, CUT]}], **more},
        "fastchat_answer": {**BENCH, "text": CUT, **more},
        "prompt_completion": {"prompt": "x", "completion": CUT, **more},
        "prompt_completion of messages": {"prompt": TURNS[:1], "completion": [SAID], **more},
        "alpaca": {"instruction": "x", "input": "", "output": CUT, **more},
        "alpaca_eval": {"instruction": "x", "output": CUT, "generator": "g", **more},
        "human_eval": {"task_id": "HumanEval/1", "completion": CUT, **more},
        "question and answer": {"question": "x", "answer": CUT, **more},
    }


OF_REQUESTS = ("options", "inferenceConfig")
"""Where requests keep a limit."""


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("kind", rows())
@pytest.mark.parametrize(
    "beside",
    [
        {"finish_reason": "length"},
        {"stop_reason": "max_tokens"},
        {"finishReason": "MAX_TOKENS"},
        {"finish_reasons": ["length"]},
        {"finish_reason": "length", "max_tokens": 512},
        {
            "finish_reason": "length",
            "temperature": 0.5,
            "max_tokens": 512,
            "completion_tokens": 512,
        },
        {"finish_reason": "length", "usage": {"completion_tokens": 512}},
        {"finish_reason": "length", "response_format": {"type": "text"}},
        *({name: "LENGTH"} for name in STOPS),
    ],
)
def test_a_stop_beside_an_answer_is_the_stop_of_the_answer(
    kind: str, beside: dict[str, Any]
) -> None:
    verdict = judge(rows(**beside)[kind])
    assert (verdict.outcome, verdict.certain) == (Outcome.TEXT_CUT, True)
    assert verdict.evidence[0] == "stop"


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("kind", sorted(rows().keys() - {"question and answer"}))
def test_a_stop_in_the_metadata_of_a_row_counts_too(kind: str) -> None:
    row = rows(metadata={"finish_reason": "length", "completion_tokens": 512})[kind]
    assert judge(row).outcome is Outcome.TEXT_CUT


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("more", [{}, {"max_tokens": 512}, {"model": "m", "temperature": 1}])
def test_a_stop_within_a_message_is_that_of_the_message(more: dict[str, Any]) -> None:
    for name, value in {"finish_reason": "length", "stop_reason": "max_tokens"}.items():
        cut = {**SAID, name: value}
        row = {"messages": [TURNS[0], cut], **more}
        assert judge(row).outcome is Outcome.TEXT_CUT
        earlier = {"messages": [TURNS[0], cut, TURNS[0], {**SAID, name: "stop"}], **more}
        verdict = judge(earlier)
        assert (verdict.outcome, verdict.choice, verdict.choices) == (Outcome.TEXT_CUT, 0, 2)
    assert judge([TURNS[0], {**SAID, "finish_reason": "length"}]).outcome is Outcome.TEXT_CUT


@pytest.mark.parametrize("name", MODELS)
def test_a_model_beside_an_answer_is_told_under_any_name(name: str) -> None:
    assert judge({"text": CUT, "finish_reason": "length", name: "m"}).model == "m"
    body = chat(CUT, "length")
    del body["model"]
    assert judge({**body, name: "m"}).model == "m"


@pytest.mark.behaviour("J1")
def test_words_that_only_models_on_bedrock_say_are_known() -> None:
    for word in ("FINISH", "FINISHED"):
        assert judge({"messages": TURNS, "completionReason": word}).outcome is Outcome.DONE


@pytest.mark.behaviour("J1")
def test_a_clean_stop_beside_an_answer_outweighs_its_text() -> None:
    fence = {"messages": conversation(FENCE), "finish_reason": "stop"}
    assert judge(fence).outcome is Outcome.DONE
    two = {"messages": [*conversation(FENCE), *conversation(DONE)], "finish_reason": "stop"}
    assert judge(two).outcome is Outcome.LIKELY_CUT, "the stop is that of the last turn"


@pytest.mark.behaviour("J1")
def test_a_stop_for_each_answer_is_given_to_each() -> None:
    turns = [{"from": "gpt", "value": text} for text in (DONE, CUT, DONE)]
    row = {"conversations": turns, "finish_reasons": ["stop", "length", "stop"]}
    verdict = judge(row)
    assert (verdict.outcome, verdict.choice) == (Outcome.TEXT_CUT, 1)
    row["finish_reasons"] = ["stop", "length"]
    assert judge(row).outcome is Outcome.TEXT_CUT, "whichever was cut"
    texts = {"prompt": "x", "completion": [DONE, CUT], "finish_reasons": ["stop", "length"]}
    assert judge(texts).outcome is Outcome.TEXT_CUT


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize(
    "name",
    ["model_answer", "llm_response", "gpt_output", "my_model_output", "predicted_answer",
     "generated_answer", "assistant_reply", "prediction", "final_answer", "completions"],
)  # fmt: skip
def test_a_text_beside_a_stop_may_have_a_name_that_says_whose_it_is(name: str) -> None:
    row = {"question": "Why do tides rise?", name: CUT, "finish_reason": "length"}
    assert (judge(row).outcome, judge(row).text) == (Outcome.TEXT_CUT, CUT)
    assert judge({**row, "text": "Why do tides rise?"}).text == CUT or name not in OF_MODELS
    assert judge({**row, "finish_reason": "stop"}).outcome is Outcome.DONE
    assert judge({"question": "Why?", name: CUT}).outcome is Outcome.NO_ANSWER
    asked = {"question": "Why?", "expected_answer": CUT, "user_response": CUT, "stop": "length"}
    assert judge(asked).outcome is Outcome.NO_ANSWER


OF_MODELS = ("model_answer", "llm_response", "gpt_output", "my_model_output")


@pytest.mark.behaviour("J1")
def test_a_list_of_texts_beside_one_of_stops_has_an_answer_for_each() -> None:
    row = {"prompt": "x", "completions": [DONE, CUT], "finish_reasons": ["stop", "length"]}
    verdict = judge(row)
    assert (verdict.outcome, verdict.choice, verdict.choices) == (Outcome.TEXT_CUT, 1, 2)
    assert verdict.text == CUT
    row["finish_reasons"] = ["stop", "stop"]
    assert (judge(row).outcome, judge(row).choices) == (Outcome.DONE, 2)


@pytest.mark.behaviour("J1")
def test_a_word_that_no_table_has_is_told_as_unknown() -> None:
    assert judge({"messages": TURNS, "finish_reason": "elsewhere"}).outcome is Outcome.UNKNOWN
    nothings: tuple[Any, ...] = (None, "", [], {})
    for nothing in nothings:
        assert judge({"messages": TURNS, "finish_reason": nothing}).outcome is Outcome.DONE


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize(
    "row",
    [
        ASK,
        {**ASK, "finish_reason": None},
        {"messages": TURNS, "max_tokens": 512},
        {"messages": TURNS, "model": "m", "temperature": 0, "metadata": {"user": "u"}},
        {"messages": TURNS, "response_format": {"type": "json_object"}, "stop": ["\n"]},
        {"messages": [*TURNS, TURNS[0]], "max_tokens": 9, "usage": {"completion_tokens": 9}},
        *({"messages": TURNS, name: 512} for name in LIMITS),
        {"messages": TURNS, "model": "m", "options": {"num_predict": 512, "num_ctx": 8_192}},
        {"messages": TURNS, "inferenceConfig": {"maxTokens": 512, "temperature": 0.5}},
    ],
)
def test_a_request_is_no_answer_even_if_it_ends_in_the_beginning_of_one(row: Any) -> None:
    assert judge(row).outcome is Outcome.NO_ANSWER


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("name", [name for name in SETTINGS if name not in OF_REQUESTS])
def test_a_conversation_that_keeps_what_it_was_made_with_is_an_answer(name: str) -> None:
    verdict = judge({"messages": TURNS, name: {"max_tokens": 512}})
    assert (verdict.outcome, verdict.limit) == (Outcome.DONE, 512)


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize(
    "beside",
    [
        {"metadata": {"max_tokens": 512}},
        {"options": ["tide", "moon"]},
        {"config": "base.yaml"},
        {"parameters": {"type": "object"}},
        {"params": None},
    ],
)
def test_a_conversation_without_a_limit_of_its_own_is_no_request(beside: dict[str, Any]) -> None:
    assert judge({"messages": TURNS, **beside}).outcome is Outcome.DONE


# --- tokens and limit

MORE_THAN_THE_LIMIT: dict[str, Any] = {
    "usage": {"output_tokens": 600},
    "sampling_params": {"max_tokens": 512},
}
COUNTED = [
    {"completion_tokens": 512, "max_tokens": 512},
    {"usage": {"completion_tokens": 512}, "max_tokens": 512},
    MORE_THAN_THE_LIMIT,
    {"output_tokens": 512, "max_new_tokens": 512},
    {"metadata": {"completion_tokens": 512, "max_tokens": 512}},
    {"completion_tokens": 512, "num_predict": 512},
    {"completion_tokens": 512, "options": {"num_predict": 512}},
    {"completion_tokens": 512, "config": {"maxOutputTokens": 512}},
    {"completion_tokens": 512, "inferenceConfig": {"maxTokens": 512}},
    {"completion_tokens": 512, "sampling_params": '{"max_tokens": 512}'},
]
ONE_ANSWER = sorted(rows().keys() - {"mt_bench", "preference", "preference of messages"})


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("kind", ONE_ANSWER)
@pytest.mark.parametrize("beside", COUNTED)
def test_tokens_at_the_limit_beside_an_answer_are_likely_a_cut(
    kind: str, beside: dict[str, Any]
) -> None:
    verdict = judge(rows(**beside)[kind])
    if kind == "messages of more turns" and beside == MORE_THAN_THE_LIMIT:
        assert (verdict.outcome, verdict.output_tokens) == (Outcome.DONE, None), (
            "those of all turns"
        )
        return
    assert (verdict.outcome, verdict.certain) == (Outcome.LIKELY_CUT, False)
    assert verdict.evidence == ("no_stop", "tokens_at_limit")
    assert verdict.limit == 512


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("kind", sorted(set(ONE_ANSWER) - {"messages of more turns"}))
def test_the_limit_may_come_from_the_caller_too(kind: str) -> None:
    row = rows(completion_tokens=512)[kind]
    assert judge(row).outcome is Outcome.DONE
    assert judge(row, limit=512).outcome is Outcome.LIKELY_CUT
    assert judge(row, limit=513).outcome is Outcome.DONE
    assert judge(row, request={**ASK, "max_tokens": 512}).outcome is Outcome.LIKELY_CUT


def test_the_text_of_ray_may_have_its_limit_beside_it() -> None:
    row = {"prompt": "x", "generated_text": CUT, "num_generated_tokens": 512, "max_tokens": 512}
    assert judge(row).outcome is Outcome.LIKELY_CUT


def test_the_tokens_of_several_answers_show_no_limit() -> None:
    turns = [*conversation(DONE), *conversation(DONE)]
    for row in (
        {"messages": turns, "completion_tokens": 900, "max_tokens": 512},
        {"prompt": "x", "completion": [DONE, DONE], "completion_tokens": 900, "max_tokens": 512},
    ):
        assert judge(row).outcome is Outcome.DONE
    assert judge({"messages": turns, "completion_tokens": 900}, limit=512).outcome is Outcome.DONE


@pytest.mark.parametrize(
    "row",
    [
        {"question": "x", "answer": CUT},
        {"question": "x", "answer": CUT, "max_tokens": 512},
        {"answer": CUT, "completion_tokens": 512},
        {"question": "x", "answer": CUT, "completion_tokens": "512"},
        {"input": "a.wav", "output": "b.mp3", "tokens": 3},
    ],
)
def test_a_text_is_no_answer_unless_a_prompt_and_its_tokens_stand_beside_it(row: Any) -> None:
    assert judge(row).outcome is Outcome.NO_ANSWER
