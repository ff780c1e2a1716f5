"""Every case does to the bare SDK what it says, or it proves nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from support.asking.openai_chat import broken_call, verdicts
from support.asking.openai_completions import CASES as OF_PROMPTS
from support.asking.openai_completions import CompletionsAsker
from support.pairing import in_every_mode

from tenuto_sim import BLOCKED, CASES, FAULTS, HTTP_FAULTS, NORMAL, QUIRKS, Bare, Case, Simulator

REQUIRED = [
    "length_once", "length_twice", "length_three_times", "length_always", "length_mid_word",
    "length_after_newline", "length_in_multibyte", "length_no_usage", "length_foreign_spelling",
    "length_then_overlap", "length_then_restart", "length_then_preamble", "length_then_repeat",
    "length_then_500", "length_then_drop", "length_then_empty", "length_then_call",
    "length_then_filter", "length_json", "reasoning_only_length", "hidden_reasoning_length",
    "reasoning_only_stop", "think_tag_only", "think_tag_unclosed_length", "call_cut_length",
    "call_cut_tool_calls", "call_cut_stop", "call_cut_always", "call_cut_twice", "call_malformed",
    "call_malformed_always", "call_whole_length", "batch_one_broken",
    "call_empty_arguments_length", "call_array_arguments", "call_text_then_cut", "call_missing",
    "call_missing_always", "malformed_stop", "call_null_arguments", "call_object_arguments",
    "call_double_encoded", "call_no_type", "call_no_id", "call_no_index", "call_duplicate_ids",
    "calls_interleaved", "call_stop", "empty_once", "empty_always", "whitespace_once",
    "empty_after_tool_result", "empty_after_tool_result_always", "drop_before_text",
    "drop_mid_text", "drop_mid_text_always", "drop_mid_call", "eof_no_finish", "done_no_finish",
    "finish_no_done", "reset_mid_text", "error_chunk_mid_text", "error_chunk_then_done",
    "error_openrouter", "error_groq", "error_object", "body_cut", "body_short", "body_error_only",
    "body_empty", "unknown_stop", "unknown_stop_control", "finish_null_string",
    "finish_empty_string", "finish_upper", "finish_repeated", "finish_conflict",
    "content_after_finish", "usage_after_finish", "suspected_truncation", "abort",
    "content_filter", "content_filter_prompt_400", "refusal", "context_length_400",
    "length_context", "http_400_max_tokens_too_large", "http_400_unknown_key",
    "http_400_could_not_finish", "http_400_tool_use_failed", "http_429_once", "http_500_once",
    "http_503_always", "crlf", "bom", "comments", "no_space_after_data", "event_lines",
    "double_done", "empty_choices_frames", "moderation_frame", "multibyte_split", "tiny_writes",
    "one_write",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@in_every_mode(CASES.values(), both=["reasoning_only_stop"])
def test_the_bare_sdk_makes_of_a_case_what_the_case_says(bare, case, mode, way):
    got = bare.ask_case(case, mode, way)
    assert case.bare in verdicts(bare, got, case), (got.error, got.finish, got.text, got.calls)


@pytest.fixture(scope="module")
def prompting(sim: Simulator) -> Iterator[CompletionsAsker]:
    made = CompletionsAsker(sim)
    yield made
    made.close()


@in_every_mode(OF_PROMPTS.values())
def test_a_case_does_to_an_answer_to_a_prompt_what_it_says(prompting, case, mode):
    got = prompting.ask_case(case, mode)
    assert case.bare in verdicts(prompting, got, case), (got.error, got.finish, got.text)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@in_every_mode(case for case in FAULTS.values() if case.bare is Bare.HARMFUL and case.wants_tools)
def test_a_broken_call_can_be_told_from_its_own_fields_and_the_stop(bare, case, mode):
    got = bare.ask_case(case, mode)
    assert got.error is not None or broken_call(got)


def test_each_table_holds_only_what_its_name_says():
    assert {case.bare for case in FAULTS.values()} <= {Bare.SILENT, Bare.HARMFUL}
    assert {case.bare for case in HTTP_FAULTS.values()} == {Bare.RAISES}
    assert {case.bare for case in (QUIRKS | NORMAL).values()} == {Bare.FINE}
    assert not any(case.recoverable for case in BLOCKED.values())


def test_no_name_stands_in_two_tables():
    tables = (NORMAL, FAULTS, HTTP_FAULTS, QUIRKS, BLOCKED)
    assert sum(map(len, tables)) == len(CASES)
    assert all(name == case.name for name, case in CASES.items())


@pytest.mark.parametrize("name", REQUIRED)
def test_the_case_that_the_design_asks_for_is_there(name):
    assert name in CASES


def test_every_case_is_described():
    for case in CASES.values():
        assert case.summary.endswith(".")
        assert case.modes
        assert case.modes <= {"body", "stream"}


def test_the_tables_can_be_read_over_http(sim):
    listed = httpx.get(sim.base_url.removesuffix("/v1") + "/sim/faults").json()
    assert set(listed["faults"]) == set(FAULTS)
    assert listed["faults"]["call_cut_length"]["bare"] == "harmful"


class Oracle:
    """A client that knows the right answer, and needs the simulator to give the rest of it."""

    def __init__(self, bare: Any, case: Case, mode: str) -> None:
        self.bare, self.case, self.mode = bare, case, mode
        prompt = bare.prompt_for(case)
        self.history = bare.history_for(case, prompt)
        self.more = dict(case.request) | ({"tools": bare_tools()} if case.wants_tools else {})
        got = type("Got", (), {"prompt": prompt})
        self.text, self.arguments = bare.wanted(got, case)
        self.said = ""

    def run(self) -> int:
        """Ask until the answer is whole; return the number of requests (7: never)."""
        for number in range(1, 7):
            messages = list(self.history)
            if self.said.strip():
                messages.append({"role": "assistant", "content": self.said.rstrip()})
            if number > 1:
                messages.append({"role": "user", "content": "Continue exactly where you stopped."})
            got = self.bare.ask(messages, self.mode, model=f"sim/{self.case.name}", **self.more)
            if got.error is not None:
                self._give_way(got.error)
                continue
            self._take(got.text.rstrip("\ufffd"))
            calls_are_right = [call for call in got.calls if call["id"]] or not self.arguments
            if self.said == self.text and calls_are_right and not broken_call(got):
                assert got.raw_arguments == self.arguments
                return number
        return 7

    def _give_way(self, error: Exception) -> None:
        assert isinstance(error, openai.OpenAIError | TypeError | ValueError), error
        if "too large" in str(error):
            self.more["max_tokens"] = 900
        if "Unrecognized request argument" in str(error):
            del self.more["frequency_penalty"]

    def _take(self, text: str) -> None:
        line = "\n\n" + self.said[self.said.rfind("\n") + 1 :]
        if self.said and line in text and text.startswith("Sure"):
            text = text.partition("\n\n")[2]
        if not text.strip():
            return
        for at in (len(self.said.rstrip()), *range(len(self.said), -1, -1)):
            if self.text.startswith(text, at):
                self.said = self.text[: max(at + len(text), len(self.said))]
                return


def bare_tools() -> list[Any]:
    return [{"type": "function", "function": {"name": "write_file", "parameters": {}}}]


# A client that mends these reads the wire itself; after the SDK too much is lost.
WIRE_ONLY = {
    "call_null_arguments", "call_object_arguments", "call_double_encoded", "call_no_type",
    "call_no_id", "call_no_index", "call_duplicate_ids", "content_after_finish",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@in_every_mode(case for case in CASES.values() if case.recoverable and case.name not in WIRE_ONLY)
def test_a_client_that_knows_the_answer_can_complete_every_recoverable_case(bare, case, mode):
    oracle = Oracle(bare, case, mode)
    assert oracle.run() <= 5, (oracle.said, oracle.text)


ENDLESS = [case for case in CASES.values() if case.repeat_last and not case.recoverable]


@pytest.mark.parametrize("case", ENDLESS, ids=lambda case: case.name)
def test_a_case_that_is_not_recoverable_stays_so_when_asked_again(bare, case):
    for mode in sorted(case.modes):
        oracle = Oracle(bare, case, mode)
        assert oracle.run() == 7


def test_a_plan_starts_anew_after_forget():
    with Simulator() as sim:
        client = openai.OpenAI(base_url=sim.base_url, api_key="key", max_retries=0)
        ask: Any = {"model": "sim/length_once", "messages": [{"role": "user", "content": "x"}]}
        stops = [client.chat.completions.create(**ask).choices[0].finish_reason for _ in range(2)]
        sim.forget()
        stops.append(client.chat.completions.create(**ask).choices[0].finish_reason)
        client.close()
    assert stops == ["length", "stop", "length"]
