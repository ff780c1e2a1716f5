"""Every case does to the bare SDK what it says, or it proves nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from google.genai import errors
from support.asking.gemini_generate import CASES, WIRE, GeminiAsker, verdicts
from support.pairing import in_every_mode

from tenuto_sim import CASES_ON, TABLES_ON, Bare, Case

OWN = {
    "malformed_function_call", "malformed_function_call_always", "unexpected_tool_call",
    "too_many_tool_calls", "missing_thought_signature", "unexpected_call_carried",
    "malformed_response", "other_empty", "other_mid_text", "continuation_then_length",
    "continuation_no_token", "think_then_length", "think_then_call_cut", "event_not_json",
    "error_internal_mid_text", "http_504_once", "continuation", "continuation_before_text",
    "continuation_twice", "think_then_text", "think_then_call", "data_lines", "prompt_blocked",
    "safety_empty", "recitation",
}  # fmt: skip
NOT_HERE = {
    # Calls come whole, as objects, without types and numbers; the stop never names them.
    "call_cut_tool_calls", "call_missing", "call_missing_always", "call_malformed",
    "call_malformed_always", "call_no_type", "call_no_index", "call_null_arguments",
    "call_object_arguments", "calls_interleaved", "malformed_stop",
    # There is no end mark, no refusal, and no error in another provider's shape.
    "double_done", "refusal", "content_filter_prompt_400", "error_object", "error_groq",
    "error_openrouter", "error_chunk_then_done", "moderation_frame",
    "http_400_could_not_finish", "http_400_tool_use_failed",
    "length_foreign_spelling",
    # Its own form shows an end: these hosts speak like OpenAI's chat.
    "host_marks_nothing", "host_has_no_mark", "host_has_no_stop", "host_counts_alone", "host_closes",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:[\\s\\S]* is not a valid FinishReason")
@in_every_mode(CASES.values())
def test_the_bare_sdk_makes_of_a_case_what_the_case_says(
    bare: GeminiAsker, case: Case, mode: str
) -> None:
    said = bare.ask_case(case, mode)
    assert case.bare in verdicts(bare, said, case), (said.error, said.stop, said.message)


def test_each_table_holds_only_what_its_name_says() -> None:
    tables = TABLES_ON[WIRE]
    assert {case.bare for case in tables["faults"].values()} == {Bare.SILENT, Bare.HARMFUL}
    assert {case.bare for case in tables["http_faults"].values()} == {Bare.RAISES}
    assert {case.bare for case in tables["quirks"].values()} == {Bare.FINE}
    assert {case.bare for case in tables["normal"].values()} == {Bare.FINE}
    assert not any(case.recoverable for case in tables["blocked"].values())


def test_this_wire_shares_all_cases_of_chat_but_those_that_are_named_here() -> None:
    chat = CASES_ON["openai-chat"]
    assert set(chat) - set(CASES) == NOT_HERE
    assert set(CASES) - set(chat) - set(CASES_ON["anthropic-messages"]) <= OWN
    assert set(CASES) >= OWN
    for name in set(chat) & set(CASES):
        assert WIRE in chat[name].wires
        # Decoded arguments have no text that is cut, so there the usage shows it.
        plan = tuple(replace(step, usage_at_limit=False) for step in CASES[name].plan)
        assert chat[name].plan == plan


def test_a_case_of_another_wire_is_refused(bare: GeminiAsker) -> None:
    said = bare.ask([{"role": "user", "parts": [{"text": "x"}]}], model="sim/error_groq")
    assert isinstance(said.error, errors.ClientError)
    assert (said.error.code, said.error.status) == (404, "NOT_FOUND")


@pytest.mark.parametrize("mode", ["body", "stream"])
def test_the_sdk_goes_on_by_itself_where_it_is_given_a_token(bare: GeminiAsker, mode: str) -> None:
    before = len(bare.sim.requests)
    said = bare.ask_case(CASES["continuation_twice"], mode)
    asked = [request.json for request in bare.sim.requests[before:]]
    assert ["continuationToken" in body for body in asked] == [False, True, True]
    assert said.stop == "STOP"
