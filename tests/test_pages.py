"""The pages that are made from the tables of the code."""

import page
import page_ladders
import page_policy
import page_stops

from tenuto.core.ladders import LADDERS
from tenuto.core.policy import RULES
from tenuto.wire import anthropic_messages, openai_chat


def test_the_attributes_of_a_docstring_are_read_over_their_lines_and_no_further() -> None:
    told = page.attributes("""One.

    Attributes:
        a, b: what
            goes on: here.
        c: more.

    Raises:
        No: never.
    """)
    assert told == {"a": "what goes on: here.", "b": "what goes on: here.", "c": "more."}


def test_a_cell_cannot_break_its_table() -> None:
    assert page.table(["a"], [["x|y\nz"]])[2] == r"| x\|y z |"


def test_every_rung_stands_in_the_diagram_and_in_the_table() -> None:
    text = page_ladders.render()
    for outcome, ladder in LADDERS.items():
        for number, rung in enumerate(ladder, 1):
            assert f": {number}. {rung.name}\n" in text
            assert f"| `{outcome}` | {number}. {rung.name} |" in text


def test_every_setting_and_every_stop_has_its_row() -> None:
    policy, stops = page_policy.render(), page_stops.render()
    assert all(f"| `{key}` | `TENUTO_{key.upper()}` |" in policy for key in RULES)
    assert all(
        f"| `{native}` |" in stops for native in openai_chat.STOPS | anthropic_messages.STOPS
    )


def test_pages_come_out_the_same_each_time() -> None:
    for made in (page_ladders, page_policy, page_stops):
        assert made.render() == made.render()
