"""Every case does to the bare SDK what it says, or it proves nothing."""

from __future__ import annotations

from dataclasses import replace

from support.asking.ollama import CASES, WIRE, WITHOUT_TOOLS, OllamaAsker, PromptAsker, verdicts
from support.pairing import in_every_mode

from tenuto_sim import CASES_ON, TABLES_ON, Bare, Case

OWN = {
    "cut_call_error", "cut_call_error_mid_text", "line_not_json", "think_then_length",
    "think_then_text",
}  # fmt: skip


@in_every_mode(CASES.values())
def test_the_bare_sdk_makes_of_a_case_what_the_case_says(
    bare: OllamaAsker, case: Case, mode: str
) -> None:
    said = bare.ask_case(case, mode)
    assert case.bare in verdicts(bare, said, case), (said.error, said.stop, said.message)


@in_every_mode(WITHOUT_TOOLS.values())
def test_a_prompt_meets_the_same_faults(prompting: PromptAsker, case: Case, mode: str) -> None:
    said = prompting.ask_case(case, mode)
    # The answer to a prompt is one for the SDK where it holds nothing of an answer.
    bare = Bare.SILENT if case.name == "body_error_only" else case.bare
    assert bare in verdicts(prompting, said, case), (said.error, said.stop, said.message)


def test_each_table_holds_only_what_its_name_says() -> None:
    tables = TABLES_ON[WIRE]
    assert {case.bare for case in tables["faults"].values()} == {Bare.SILENT, Bare.HARMFUL}
    assert {case.bare for case in tables["http_faults"].values()} == {Bare.RAISES}
    assert {case.bare for case in tables["quirks"].values()} == {Bare.FINE}
    assert {case.bare for case in tables["normal"].values()} == {Bare.FINE}
    assert not any(case.recoverable for case in tables["blocked"].values())


def test_this_wire_has_cases_of_its_own_and_shares_the_plans_of_all_others() -> None:
    chat, others = (
        CASES_ON["openai-chat"],
        set().union(*(CASES_ON[w] for w in CASES_ON if w != WIRE)),
    )
    assert set(CASES) >= OWN
    assert set(CASES) - others <= OWN
    for name in set(chat) & set(CASES):
        assert WIRE in chat[name].wires
        # Decoded arguments have no text that is cut, so there the usage shows it.
        plan = tuple(replace(step, usage_at_limit=False) for step in CASES[name].plan)
        assert chat[name].plan == plan
