"""The tools behind `make check` and `make docs`, on small trees of their own."""

import subprocess
import sys
from pathlib import Path

import behaviours
import generate
import progress
import pytest

CLAIMED = """
[areas]
C = "Continuing"
[claimed.2]
C10 = "Tenth."
C2 = "Second."
C2a = "Second and a half."
[home]
C10 = "deep/test_x.py::TestB::test_c"
C2 = "deep/test_x.py"
[untested]
C2a = "A matter of taste."
"""


def tree(root: Path, claimed: str = CLAIMED, **tests: str) -> Path:
    (root / "docs/behaviours").mkdir(parents=True)
    (root / "tests/deep").mkdir(parents=True)
    (root / behaviours.CLAIMED).write_text(claimed)
    for name, text in tests.items():
        (root / f"tests/deep/{name}.py").write_text(text)
    return root


MARKED = """
import pytest
pytestmark = [pytest.mark.slow, pytest.mark.behaviour("C2")]
@pytest.mark.behaviour("C10", "C2")
async def test_a(): ...
class TestB:
    @pytest.mark.behaviour("C10")
    def test_c(self): ...
@pytest.mark.behaviour("C10")
def no_test(): ...
"""


def test_a_tree_whose_claims_all_have_a_test_or_a_reason_has_no_problems(tmp_path: Path) -> None:
    root = tree(tmp_path, test_x=MARKED)
    assert behaviours.problems(root) == []
    proofs, _ = behaviours.read_tests(root)
    assert proofs == {
        "C2": ["tests/deep/test_x.py", "tests/deep/test_x.py::test_a"],
        "C10": ["tests/deep/test_x.py::test_a", "tests/deep/test_x.py::TestB::test_c"],
    }


def test_the_page_is_in_the_order_of_the_ids_and_names_tests_and_reasons(tmp_path: Path) -> None:
    page = behaviours.render_page(tree(tmp_path, test_x=MARKED))
    rows = [line for line in page.splitlines() if line.startswith("| C")]
    assert [row.split(" ")[1] for row in rows] == ["C2", "C2a", "C10"]
    assert "A matter of taste." in rows[1]
    assert "`deep/test_x.py::TestB::test_c`" in rows[2]


def test_all_tests_of_an_id_are_listed_its_home_first_and_a_misprint_names_the_nearest(
    tmp_path: Path,
) -> None:
    root = tree(tmp_path, test_x=MARKED)
    assert behaviours.by_id(["C10"], root) == [
        "C10: Tenth.",
        "  tests/deep/test_x.py::TestB::test_c",
        "  tests/deep/test_x.py::test_a",
    ]
    (line,) = behaviours.by_id(["C11"], root)
    assert "no such id" in line
    assert "C10" in line


@pytest.mark.parametrize(
    ("claimed", "test", "problem"),
    [
        (CLAIMED, "", "C10 has no test and no reason"),
        (CLAIMED, MARKED.replace('"C10", "C2"', '"C3"'), "names C3"),
        (CLAIMED, MARKED.replace('"C10", "C2"', '*ids, "C2"'), "write the ids out"),
        (CLAIMED, MARKED.replace('"C10", "C2"', ""), "write the ids out"),
        (CLAIMED, MARKED.replace('"C2"', '"C2a"'), "C2a has a test, so it needs no reason"),
        (CLAIMED + 'C7 = "Why."', MARKED, "C7 has a reason but is not claimed"),
        (CLAIMED.replace('C10 = "Tenth."', 'X1 = "Tenth."'), MARKED, "X1 is no id of a known area"),
        (CLAIMED.replace('C2 = "deep/test_x.py"', ""), MARKED, "C2 needs one of its tests"),
        (CLAIMED.replace("TestB::test_c", "test_d"), MARKED, "C10 needs one of its tests"),
        (CLAIMED.replace("[home]", '[home]\nC5 = "x"'), MARKED, "C5 has a home but is not claimed"),
        (CLAIMED + '[claimed.3]\nC2 = "Again."', MARKED, "C2 is claimed twice"),
    ],
)
def test_each_kind_of_mismatch_is_told(
    tmp_path: Path, claimed: str, test: str, problem: str
) -> None:
    assert problem in "\n".join(behaviours.problems(tree(tmp_path, claimed, test_x=test)))


def test_pages_are_whole_and_blocks_stand_between_their_marks(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    hand = "before\n<!-- generated: x -->\nold\n<!-- end -->\nafter\n"
    (tmp_path / "docs/hand.md").write_text(hand)
    (tmp_path / "docs/plain.md").write_text("no blocks\n")
    texts = generate.wanted(tmp_path, {"docs/page.md": lambda: "page\n"}, {"x": lambda: "new\n"})
    assert texts == {
        tmp_path / "docs/page.md": generate.NOTE + "page\n",
        tmp_path / "docs/hand.md": hand.replace("old", "new"),
    }


def test_a_block_that_nobody_makes_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/hand.md").write_text("<!-- generated: y -->\n<!-- end -->\n")
    with pytest.raises(KeyError, match="y"):
        generate.wanted(tmp_path, {}, {})


def test_an_installation_shows_what_is_fetched_and_how_far_it_is(tmp_path: Path) -> None:
    lock = tmp_path / "some.lock"
    lock.write_text(
        "one==1 \\\n    --hash=sha256:0\ntwo==2 ; os_name == 'nt' \\\n    --hash=sha256:1\n"
    )
    printed = (
        "Collecting one==1 (from -r some.lock (line 1))\n"
        "  Downloading one-1-py3-none-any.whl (1 kB)\n"
        "Processing ./wheels/two-2-py3-none-any.whl (from -r some.lock (line 3))\n"
        "Installing collected packages: one, two\n"
    )
    done = subprocess.run(
        [sys.executable, progress.__file__, str(lock)],
        input=printed, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "Fetching 1 of up to 2 packages: one==1\nUnpacking 2 packages\n"


def test_a_step_of_an_installation_that_is_silent_for_long_is_told(tmp_path: Path) -> None:
    (tmp_path / "some.lock").write_text("one==1\n")
    with subprocess.Popen(
        [sys.executable, "-c", _IMPATIENT, str(Path(progress.__file__).parent), "some.lock"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path,
    ) as shown:  # fmt: skip
        assert shown.stdin is not None
        assert shown.stdout is not None
        shown.stdin.write("Collecting one==1\nInstalling collected packages: one\n")
        shown.stdin.flush()
        lines = [shown.stdout.readline() for _ in range(3)]
        shown.stdin.close()
    assert lines[:2] == ["Fetching 1 of up to 1 packages: one==1\n", "Unpacking 1 packages\n"]
    assert lines[2].startswith("Unpacking 1 packages, ")


_IMPATIENT = """
import sys
sys.path.insert(0, sys.argv[1])
import progress
progress._SILENT_S = 0.05
progress.main(sys.argv[2])
"""
