"""Every case does to the bare SDK what it says, or it proves nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import anthropic
import httpx
import pytest
from support.asking.anthropic_messages import CASES, TOOLS, WIRE, broken_call, verdicts
from support.pairing import in_every_mode

from tenuto_sim import CASES_ON, TABLES_ON, Bare, Case

OWN = [
    "think_then_length", "think_then_call_cut", "pause_turn", "pause_turn_before_text",
    "pause_turn_twice", "pause_turn_always", "pause_then_length", "compaction",
    "error_api_mid_text", "usage_missing", "event_not_json", "call_wrong_index", "http_529_once",
    "http_529_always", "stop_sequence", "think_signed", "think_then_call", "search_cited", "pings",
    "unknown_event", "data_lines",
]  # fmt: skip
NOT_HERE = {
    "call_no_type", "malformed_stop", "error_object", "error_groq", "error_openrouter",
    "http_400_could_not_finish", "http_400_tool_use_failed", "http_503_always",
    "empty_choices_frames", "moderation_frame",
    # Its own form shows an end: these hosts speak like OpenAI's chat.
    "host_marks_nothing", "host_has_no_mark", "host_has_no_stop", "host_counts_alone", "host_closes",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@in_every_mode(CASES.values())
def test_the_bare_sdk_makes_of_a_case_what_the_case_says(bare, case, mode):
    said = bare.ask_case(case, mode)
    assert case.bare in verdicts(bare, said, case), (said.error, said.stop, said.message)


def test_each_table_holds_only_what_its_name_says():
    tables = TABLES_ON[WIRE]
    harmful = {Bare.SILENT, Bare.HARMFUL}
    assert {case.bare for case in tables["faults"].values()} <= harmful
    assert {case.bare for case in tables["http_faults"].values()} == {Bare.RAISES}
    assert {case.bare for case in tables["quirks"].values()} == {Bare.FINE}
    assert {case.bare for case in tables["normal"].values()} == {Bare.FINE}
    assert not any(case.recoverable for case in tables["blocked"].values())


def test_the_two_wires_share_all_cases_but_those_that_are_named_here():
    chat = CASES_ON["openai-chat"]
    assert set(chat) - set(CASES) == NOT_HERE
    assert set(CASES) - set(chat) == set(OWN)
    for name in set(chat) & set(CASES):
        assert chat[name].wires == CASES[name].wires >= {WIRE, "openai-chat"}
        # Decoded arguments have no text that is cut, so there the usage shows it.
        plan = tuple(replace(step, usage_at_limit=False) for step in CASES[name].plan)
        assert chat[name].plan == plan


def test_a_case_of_the_other_wire_is_refused(bare):
    said = bare.ask([{"role": "user", "content": "x"}], model="sim/error_groq")
    assert isinstance(said.error, anthropic.NotFoundError)
    said = bare.ask([{"role": "user", "content": "x"}], extra_headers={"x-sim-fault": "nothing"})
    assert isinstance(said.error, anthropic.BadRequestError)


def test_the_tables_of_each_wire_can_be_read_over_http(sim):
    url = sim.root_url + "/sim/faults"
    listed = httpx.get(url, params={"wire": WIRE}).json()
    assert listed["wires"] == sorted(CASES_ON)
    for title, table in TABLES_ON[WIRE].items():
        assert set(listed[title]) == set(table)
    assert listed["faults"]["cut_off_mid_text"]["bare"] == "harmful"
    assert httpx.get(url).json()["wire"] == "openai-chat"
    assert httpx.get(url, params={"wire": "morse"}).status_code == 404


class Oracle:
    """A client that knows the right answer, and needs the simulator to give the rest of it."""

    def __init__(self, bare: Any, case: Case, mode: str) -> None:
        self.bare, self.case, self.mode = bare, case, mode
        prompt = bare.prompt_for(case)
        self.history = bare.history_for(case, prompt)
        self.more = dict(case.request) | ({"tools": TOOLS} if case.wants_tools else {})
        self.text, self.inputs = bare.wanted(type("Said", (), {"prompt": prompt}), case)
        self.said = ""
        self.resumed: list[Any] = []

    def run(self) -> int:
        """Ask until the answer is whole; return the number of requests (7: never)."""
        for number in range(1, 7):
            said = self.bare.ask(
                self._messages(number), self.mode, model=f"sim/{self.case.name}", **self.more
            )
            if said.error is not None:
                self._give_way(said.error)
                continue
            self._take(said.text.rstrip("\ufffd"))
            if said.stop in ("pause_turn", "compaction"):
                self.resumed += said.message["content"]
                continue
            self.resumed = []
            right = said.inputs == self.inputs and not broken_call(said, self.inputs)
            if self.said == self.text and right:
                return number
        return 7

    def _messages(self, number: int) -> list[Any]:
        if self.resumed:
            return [*self.history, {"role": "assistant", "content": self.resumed}]
        messages = list(self.history)
        if self.said.strip():
            messages.append({"role": "assistant", "content": self.said.rstrip()})
        if number > 1:
            messages.append({"role": "user", "content": "Continue exactly where you stopped."})
        return messages

    def _give_way(self, error: Exception) -> None:
        if isinstance(error, anthropic.BadRequestError) and self.case.recoverable:
            words = ("maximum allowed number of output tokens", "service_tier: Extra inputs")
            assert any(known in str(error) for known in words), error
        if "maximum allowed number of output tokens" in str(error):
            self.more["max_tokens"] = 900
        if "service_tier: Extra inputs" in str(error):
            del self.more["service_tier"]

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


# A client that mends these reads the wire itself; after the SDK too much is lost.
WIRE_ONLY = {
    "call_null_arguments", "call_double_encoded", "call_no_id", "call_no_index",
    "call_duplicate_ids", "call_wrong_index", "compaction",
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
        assert Oracle(bare, case, mode).run() == 7


def test_a_cut_call_looks_whole_once_it_is_decoded(bare):
    """Why nobody may judge a call by its decoded input."""
    for mode in ("body", "stream"):
        said = bare.ask_case(CASES["call_cut_tool_calls"], mode)
        assert said.stop == "tool_use"
        (given,) = said.inputs
        assert isinstance(given, dict)
        assert json.dumps(given)
        _, (whole,) = bare.wanted(said, CASES["call_cut_tool_calls"])
        assert given["path"] == whole["path"]
        assert given != whole
