"""Every case does to bare boto3 what it says, or it proves nothing."""

from __future__ import annotations

from support.asking.bedrock_converse import CASES, WIRE, verdicts
from support.pairing import in_every_mode

from tenuto_sim import TABLES_ON, Bare


@in_every_mode(CASES.values())
def test_bare_boto3_makes_of_a_case_what_the_case_says(bare, case, mode):
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


def test_a_case_that_does_not_exist_is_refused(bare):
    asked = bare.ask([{"role": "user", "content": [{"text": "x"}]}], modelId="sim/error_groq")
    assert asked.error.response["Error"]["Code"] == "ResourceNotFoundException"
