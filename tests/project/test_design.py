"""docs/design.md follows one cut answer through the code: the answer has to go the same way."""

import re
from pathlib import Path

import members
from size import walked

ROOT = Path(__file__).resolve().parents[2]
DESIGN = (ROOT / "docs" / "design.md").read_text("utf-8")
STEPS = DESIGN.partition("## One cut answer")[2].partition("\n## ")[0]
BESIDE = {"turn/drivers/drive.py", "core/deciding/ladders.py"}
"""Files that the steps name and of which no function runs: a driver of sockets, and a table."""


def test_the_cut_answer_enters_every_file_that_the_steps_name() -> None:
    named = set(re.findall(r"\(\.\./packages/tenuto/src/tenuto/([\w/]+\.py)\)", STEPS))
    assert len(named) > 15
    assert named - set(walked()) == BESIDE


def test_every_function_that_the_page_names_is_where_it_says() -> None:
    pairs = re.findall(
        r"`(\w+)(?:\.(\w+))?`\s+(?:in\s+|\()\[`[^`]+`\]\(\.\./packages/tenuto/src/tenuto/([\w/]+\.py)\)",
        DESIGN,
    )
    assert len(pairs) > 10
    for name, member, file in pairs:
        source = (members.TENUTO.source / "tenuto" / file).read_text("utf-8")
        assert re.search(rf"\b(def|class) {name}\b|^{name}\b", source, re.MULTILINE), (name, file)
        assert not member or f"def {member}(" in source, (name, member, file)
