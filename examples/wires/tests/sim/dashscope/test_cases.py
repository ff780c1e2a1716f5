"""Every case does to a bare reader what it says, or it proves nothing; and what breaks the
provider's rules is refused in its words."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from support.asking.openai_chat import verdicts
from support.pairing import in_every_mode

from examples.wires.tests.asking.dashscope import CASES, WIRE
from tenuto_sim import TABLES_ON, Bare, Simulator

USER: Any = {"role": "user", "content": "Hi"}
CALL: Any = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLED: Any = {"role": "assistant", "content": "", "tool_calls": [CALL]}


@in_every_mode(CASES.values())
def test_a_bare_reader_makes_of_a_case_what_the_case_says(bare, case, mode):
    got = bare.ask_case(case, mode)
    assert case.bare in verdicts(bare, got, case), (got.error, got.finish, got.message)


def test_each_table_holds_only_what_its_name_says():
    tables = TABLES_ON[WIRE]
    assert {case.bare for case in tables["faults"].values()} <= {Bare.SILENT, Bare.HARMFUL}
    assert {case.bare for case in tables["http_faults"].values()} == {Bare.RAISES}
    assert {case.bare for case in tables["quirks"].values()} == {Bare.FINE}
    assert not any(case.recoverable for case in tables["blocked"].values())


@pytest.mark.parametrize(
    ("asked", "parameters", "said"),
    [
        ({}, {}, 'Either "prompt" or "messages" must exist and cannot both be none'),
        ({"messages": [USER, CALLED, USER]}, {}, 'An assistant message with "tool_calls" must be'),
        ({"messages": [USER, {"role": "tool", "tool_call_id": "c", "content": "1"}]}, {},
         'messages with role "tool" must be a response to a preceeding message'),
        ({"messages": [USER | {"partial": True}]}, {}, "only supported in the last message"),
        ({"messages": [USER, {"role": "assistant", "content": " "}, USER]}, {},
         "Content length must be greater than 0"),
        ({"messages": [USER]}, {"max_tokens": 999_999}, "Range of max_tokens should be [1, "),
        ({"messages": [USER]}, {"enable_thinking": True}, "must be set to false for non-streaming"),
        ({"messages": [USER], "prompt": "Hi"}, {}, "cannot both be given"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused_in_dashscopes_words(
    sim: Simulator, asked: Any, parameters: Any, said: str
) -> None:
    url = f"{sim.root_url}/api/v1/services/aigc/text-generation/generation"
    answer = httpx.post(url, json={"model": "sim", "input": asked, "parameters": parameters})
    told = answer.json()
    assert (answer.status_code, told["code"]) == (400, "InvalidParameter")
    assert said in told["message"]
    assert told.keys() == {"code", "message", "request_id"}
