"""The pages that are made from the tables of the code."""

import re
from importlib import import_module
from types import FunctionType

import page
import page_ladders
import page_policy
import page_reference
import page_shown
import page_stops

import tenuto
from tenuto.command_kit import docstrings
from tenuto.core.deciding.endings import ENDINGS
from tenuto.core.deciding.ladders import LADDERS
from tenuto.core.deciding.outcome import Outcome
from tenuto.core.settings.policy import RULES
from tenuto.wires.anthropic_messages import wire as anthropic_messages
from tenuto.wires.chat_like import chat as chat_like
from tenuto.wires.registry import wires


def test_the_attributes_of_a_docstring_are_read_over_their_lines_and_no_further() -> None:
    told = docstrings.attributes("""One.

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


def test_code_may_hold_backticks() -> None:
    assert page.code("a") == "`a`"
    assert page.code("`a`|b") == "`` `a`|b ``"


def test_every_rung_stands_in_the_diagram_and_in_the_table() -> None:
    text = page_ladders.render()
    for outcome, ladder in LADDERS.items():
        for number, rung in enumerate(ladder, 1):
            assert f": {number}. {rung.sentence}\n" in text
            assert f"| `{outcome}` | {number}. `{rung.id}` | {rung.sentence} |" in text


def test_every_setting_and_every_stop_has_its_row() -> None:
    policy, stops = page_policy.render(), page_stops.render()
    assert all(f"| `{key}` | `TENUTO_{key.upper()}` |" in policy for key in RULES)
    assert all(f"| `{native}` |" in stops for native in chat_like.STOPS | anthropic_messages.STOPS)


def test_every_public_name_has_its_place_in_the_reference() -> None:
    text = page_reference.render()
    rooms = {"agent", "sansio"}
    public = {name: name for name in tenuto.__all__ if name not in rooms | {"__version__"}}
    for module in page_reference.MODULES[1:]:
        public = {name: f"{module}.{name}" for name in import_module(module).__all__} | public
    assert [title for title in public.values() if f"\n## {title}\n" not in text] == []
    assert "\n### tenuto.sim.Simulator.base_url\n" in text
    assert "\n- `keep`: Share of the remaining text" in text, "what is said below a field"
    assert "\nSteps by name, for the header" in text, "what is said below a constant"
    empty = re.findall(r"^## (\S+)\n+(?=## |\Z)", text, re.MULTILINE)
    assert empty == []
    assert "\n### tenuto.sansio.Turn.next\n" in text
    assert "('complete', 2)\n```\n" in text, "examples end where their output ends"


def test_every_public_class_and_function_has_a_docstring_of_its_own() -> None:
    public = [
        (f"{module}.{name}", getattr(import_module(module), name))
        for module in page_reference.MODULES
        for name in import_module(module).__all__
    ]
    # A dataclass without a docstring is given its signature as one.
    bare = [
        title
        for title, value in public
        if isinstance(value, type | FunctionType)
        if not (doc := value.__doc__) or doc.startswith(f"{value.__name__}(")
    ]
    assert bare == []


def test_a_call_stands_in_the_reference_as_its_source_says_it_in_each_of_its_forms() -> None:
    text = page_reference.render()
    assert "\ndetect(source: object, *, wire: str | None = None) -> Stop\n" in text
    assert "    library: Literal['httpx'],\n    *,\n" in text
    assert "    confidence: Confidence = Confidence.LOW,\n" in text
    assert "    env: Mapping[str, str] = …,\n" in text


def test_every_ending_has_its_row_in_what_the_caller_sees() -> None:
    text = page_shown.render()
    assert [each for each in ENDINGS if f"| `{each}`" not in text] == []
    kept, bare = (line for line in text.splitlines() if line.startswith("| `calls_missing`"))
    assert "by API" in kept
    assert bare.count("error `tool_calls_missing`") == 2, "without text no stop would be true"


def test_what_differs_between_apis_stands_in_a_table_of_each() -> None:
    general, own = page_shown.render(), page_shown.render_by_api()
    tables = {
        title: part
        for part in own.split("### ")[1:]
        for title in part.partition("\n")[0].split(", ")
    }
    known = {name: wire for name, wire in wires().items() if not wire.only_read}
    assert {page_shown.NAMES[name] for name in known} == tables.keys()
    for name, wire in known.items():
        table = tables[page_shown.NAMES[name]]
        native = wire.shown[Outcome.CALLS_MISSING].native
        assert f"| `calls_missing`, text kept | `{native}` |" in table, name
        assert f"| `text_cut` | `{wire.shown[Outcome.TEXT_CUT].native}` |" in table, name
        for row in re.findall(r"^\| (`.*?) \|.*by API", general, re.MULTILINE):
            assert f"| {row} |" in table, (name, row)


def test_no_table_of_what_the_caller_sees_is_wider_than_a_page() -> None:
    heads = re.findall(
        r"^(\|.*\|)\n\| ---", page_shown.render() + page_shown.render_by_api(), re.MULTILINE
    )
    assert len(heads) > 5
    assert max(head.count("|") - 1 for head in heads) <= 5


def test_pages_come_out_the_same_each_time() -> None:
    for made in (page_ladders, page_policy, page_reference, page_shown, page_stops):
        assert made.render() == made.render()
        assert " at 0x" not in made.render(), "an address is another one each time"
