"""An attempt that broke off and only repeats adds nothing (behaviour S3b)."""

from __future__ import annotations

import pytest

from tenuto.core.seam.seam import Seam

SAID = (
    "# Tides\n\nThe moon pulls the sea towards it, and the sea follows.\n\n"
    "A second bulge stands on the far side, where the pull is weakest. The shore turns under both"
)
PREFACE = "The shore turns under both"


def told(said: str, came: str, *, exact: bool, size: int, broke_off: bool = True) -> str:
    seam = Seam(said, exact=exact)
    pieces = [came[at : at + size] for at in range(0, len(came), size)]
    return said + "".join(map(seam.feed, pieces)) + seam.finish(broke_off=broke_off)


@pytest.mark.behaviour("S3b")
@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    "came",
    [
        SAID[:90],  # the beginning
        SAID[40:120],  # from the middle of a word on
        SAID[-60:-10],  # the last words, but not to the end
        SAID[SAID.index("A second") :][:50],
        "\n" + SAID[:39],
    ],
)
def test_what_only_repeats_and_breaks_off_adds_nothing(came: str, exact: bool, size: int) -> None:
    assert told(SAID, came, exact=exact, size=size) == SAID


@pytest.mark.behaviour("S3b", "C14b", "C14a")
@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("said", "came"),
    [
        (SAID, " where the coast is steep, the pull is weak"),  # said in other words
        ("0" * 300, "0" * 60),
        ("- item\n" * 40 + "-", " item\n- item\n- item\n- item\n-"),
        ("ha " * 100 + "ha", " ha ha ha ha ha ha ha ha ha ha"),
    ],
)
def test_of_a_passage_that_may_be_said_again_all_is_kept_in_doubt(
    said: str, came: str, exact: bool, size: int
) -> None:
    assert told(said, came, exact=exact, size=size) == said + came


AGAIN = {
    "everything": SAID,
    "the last line": SAID.rpartition("\n")[2],
    "the last words": SAID[-40:],
    "words from the middle": SAID[SAID.index(" and the sea") :],
    "everything, behind a preamble": f"Sure, here is the rest:\n\n{SAID}",
    "the last line, behind one": f"好的，继续：\n\n{SAID.rpartition(chr(10))[2]}",
}


@pytest.mark.behaviour("S3b", "S4a")
@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("came", AGAIN.values(), ids=AGAIN)
def test_a_repetition_that_breaks_off_adds_nothing_however_soon(came: str, size: int) -> None:
    """What is too short to tell is not taken for new text: a further attempt says it anyway."""
    for end in range(1, min(len(came), 81)):
        assert told(SAID, came[:end], exact=False, size=size) == SAID, came[:end]


@pytest.mark.behaviour("C14a")
def test_after_a_prefill_what_is_too_short_to_tell_is_text() -> None:
    assert told(SAID, " and the sea", exact=True, size=1) == SAID + " and the sea"


@pytest.mark.behaviour("S3b", "C14a")
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_what_ends_by_itself_may_say_a_passage_again(size: int) -> None:
    came = SAID[40:120]
    assert told(SAID, came, exact=True, size=size, broke_off=False) == SAID + came


@pytest.mark.behaviour("S3b", "C16")
@pytest.mark.parametrize("exact", [False, True])
def test_at_most_four_kilobytes_are_held_meanwhile(exact: bool) -> None:
    said = "".join(f"The tide of day {day} came {day % 7} minutes late.\n" for day in range(900))
    seam, held = Seam(said, exact=exact), 0
    came = said[-3_900:-1]
    for at, char in enumerate(came, 1):
        seam.feed(char)
        held = max(held, len(seam._held))
        assert at - seam.new_chars <= 4_096
    assert held <= 4_096


@pytest.mark.parametrize("at_limit", [False, True])
@pytest.mark.parametrize("torn", ["\ufffd", "\ufffd\ufffd", chr(0xD83D), " \ufffd"])
@pytest.mark.parametrize(
    "before", ["Answer 1: ", "Answer 1:", "", "\ufffd", "A text of some length."]
)
def test_an_attempt_of_which_one_torn_character_came_ends(
    before: str, torn: str, at_limit: bool
) -> None:
    for size in (1, len(torn)):
        seam = Seam(before)
        came = "".join(seam.feed(torn[at : at + size]) for at in range(0, len(torn), size))
        came += seam.finish(broke_off=True, at_limit=at_limit)
        assert came.strip() in ("", torn.strip())
