"""Every case does to bare boto3 what it says, or it proves nothing."""

from __future__ import annotations

import pytest
from support.asking.bedrock_invoke import CASES, WIRE
from support.asking.openai_chat import verdicts
from support.pairing import in_every_mode

from tenuto_sim import TABLES_ON, Bare


@pytest.mark.parametrize("maker", ["", "mistral.mistral-large-2407-v1:0/"])
@in_every_mode(CASES.values(), both=["reasoning_only_stop"])
def test_bare_boto3_makes_of_a_case_what_the_case_says(bare, case, mode, maker):
    bare.maker = maker
    said = bare.ask_case(case, mode)
    assert case.bare in verdicts(bare, said, case), (said.error, said.finish, said.message)


def test_each_table_holds_only_what_its_name_says():
    tables = TABLES_ON[WIRE]
    assert {case.bare for case in tables["faults"].values()} <= {Bare.SILENT, Bare.HARMFUL}
    assert {case.bare for case in tables["http_faults"].values()} == {Bare.RAISES}
    assert {case.bare for case in tables["quirks"].values()} == {Bare.FINE}
    assert {case.bare for case in tables["normal"].values()} == {Bare.FINE}
    assert not any(case.recoverable for case in tables["blocked"].values())
