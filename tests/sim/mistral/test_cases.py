"""Every case does to the bare SDK what it says, or it proves nothing."""

from __future__ import annotations

import pytest
from support.asking.mistral import CASES, WIRE
from support.asking.openai_chat import verdicts
from support.pairing import in_every_mode

from tenuto_sim import TABLES_ON, Bare


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@in_every_mode(CASES.values())
def test_the_bare_sdk_makes_of_a_case_what_the_case_says(bare, case, mode):
    got = bare.ask_case(case, mode)
    assert case.bare in verdicts(bare, got, case), (got.error, got.finish, got.message)


def test_each_table_holds_only_what_its_name_says():
    tables = TABLES_ON[WIRE]
    harmful = {Bare.SILENT, Bare.HARMFUL}
    assert {case.bare for case in tables["faults"].values()} <= harmful
    assert {case.bare for case in tables["http_faults"].values()} == {Bare.RAISES}
    assert {case.bare for case in tables["quirks"].values()} == {Bare.FINE}
    assert {case.bare for case in tables["normal"].values()} == {Bare.FINE}
    assert not any(case.recoverable for case in tables["blocked"].values())
