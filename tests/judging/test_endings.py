"""What the ends of the texts of a file say, if a limit may have cut some."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from random import Random

import pytest

from tenuto import judge
from tenuto.judging.brackets import is_open
from tenuto.judging.endings import WHOLE, cuts_among, pieces_of
from tenuto.judging.report import report_of
from tenuto.judging.sentences import End, end_of
from tenuto.judging.tally import Doubt, Group, Tally, seen_together

NAMES = ("tide", "moon", "harbour", "wind", "season", "lantern", "river", "stone")


@pytest.mark.parametrize(
    "text",
    [
        "def height(moon):\n    return tides[moon",
        "if (moon) {\n  rise(tide);\n",
        'text = """\nThe tide',
        "/* The tide comes in\n   twice",
        'say("(" + tide',
        "rise(tide); // (not now\nfall(",
    ],
)
def test_code_that_breaks_off_has_something_open(text: str) -> None:
    assert is_open(text)


@pytest.mark.parametrize(
    "text",
    [
        "def height(moon):\n    return tides[moon]",
        "say(':-(')",
        "say() # (see below",
        "The range is [0, 1) or (0, 1]",
        "Files: tides/*",
        "a) first\nb) second",
        "case x) ;;\nif (y {\n}",
        "(" * 30_000,
    ],
)
def test_whole_texts_have_nothing_open(text: str) -> None:
    assert not is_open(text)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("tides = {'noon': 3, 'night': 4, 'dawn': 1, 'dusk': 2, 'low': 0,", End.OPEN_BRACKET),
        (
            "Return the height of the tide.\n\n:param moon: the phase of the moon\n:return: metres",
            End.IN_LIST,
        ),
        (
            "The tide comes in twice a day.\n\nThe wind drives it to the shore\n\nYours\nAda",
            End.IN_LINES,
        ),
        (
            "first = tides.first\nsecond = tides.second\nreturn first_height - second",
            End.IN_CODE,
        ),
        (
            "The tables of the tides are on all systems of this harbour in `/usr/share/tides'",
            End.IN_PROSE,
        ),
        ("The tide is what the moon and the wind make of it\nif high\n    return a", End.IN_CODE),
        ("How the moon pulls the sea towards itself and so makes all the tides", End.IN_PROSE),
        ("The tide comes in. It goes out. Here is what drives it: **the mo", End.LEADS_ON),
        (
            "Pass the options of the tide on to the call with its **extra. Else none",
            End.MID_SENTENCE,
        ),
    ],
)
def test_an_end_is_of_one_kind(text: str, end: End) -> None:
    assert end_of(text) is end


@pytest.mark.parametrize("mark", ["(\n", "'(", '"(', "/*(*/", "`{", '\\"('])
def test_any_text_is_searched_in_milliseconds(mark: str) -> None:
    for text in (mark * (19_000 // len(mark)), mark + "\n" * 19_000, mark + " " * 19_000 + "x"):
        began = time.thread_time()
        is_open(text)
        assert time.thread_time() - began < 0.2


def test_pieces_are_the_same_each_time_and_shorter_than_their_text() -> None:
    text = "The tide comes in twice a day, and goes out again."
    assert list(pieces_of(text)) == list(pieces_of(text))
    assert all(text.startswith(piece) and piece for piece in pieces_of(text))


def spread(shares: Mapping[str, int], times: int = 1) -> Counter[tuple[int, str]]:
    return Counter({(8, end): number * times for end, number in shares.items()})


CUT: dict[str, int] = {End.LEADS_ON: 2, End.MID_SENTENCE: 5, End.IN_PROSE: 3}


def test_ends_that_are_spread_as_those_of_pieces_are_cuts() -> None:
    pieces = spread({**CUT, WHOLE: 5}, 20)
    assert cuts_among(spread(CUT, 2), pieces, closed=400) >= {*CUT}
    assert not cuts_among(spread(CUT, 2), Counter(), closed=400), "nothing is known of this file"
    assert not cuts_among(spread(CUT, 30), pieces, closed=400), "as many as whole ones"
    assert not cuts_among(Counter(), pieces, closed=400)


@pytest.mark.parametrize("habit", [*CUT, End.IN_CODE])
def test_an_end_that_is_far_more_frequent_is_a_habit(habit: End) -> None:
    pieces = spread({**CUT, End.IN_CODE: 1, WHOLE: 5}, 20)
    ends = spread(CUT, 2) + Counter({(8, habit): 60})
    assert cuts_among(ends, pieces, closed=400) & {*CUT, habit} == {*CUT} - {habit}


def test_a_habit_of_code_says_nothing_beside_a_limit_either() -> None:
    tally = Tally(
        pieces=spread({**CUT, End.IN_CODE: 1, WHOLE: 5}, 20),
        closed=Counter({"closed": 400}),
    )
    group, times = Group("", 100), {**CUT, End.IN_CODE: 60}
    for end, number in times.items():
        tally.doubts[group, "", Doubt("open_end", end, None, 400)] += number
    together = seen_together(tally)
    assert together.muted == {"in_code"}
    told = {end: together.revised(group, Doubt("open_end", end, None, 400)).word for end in times}
    assert told == {**dict.fromkeys(CUT, "likely_cut"), End.IN_CODE: "open_end"}


# --- files of code


def function(chance: Random) -> str:
    names = chance.choices(NAMES, k=12)
    calls = "".join(
        f"    if ({one}.height > {chance.randint(1, 99)}) {{\n        {one}.rise({chance.choice(names)}[{number}]);\n    }}\n"
        for number, one in enumerate(names)
    )
    return f"function {names[0]}Of({names[1]}) {{\n{calls}}}"


def assignment(chance: Random) -> str:
    one, *others = chance.choices(NAMES, k=9)
    return f"    {one}.first.height = {one}.rise({', '.join(others)}" + chance.choice(
        [")", ");", ",", ")"]
    )


def outcomes(texts: list[str]) -> dict[str, int]:
    tally = Tally()
    for text in texts:
        verdict = judge({"prompt": "x", "completion": text})
        tally.add(verdict)
        tally.learn(verdict)
    told: dict[str, int] = report_of(tally)["outcomes"]
    return told


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("share", [0.02, 0.05, 0.2])
def test_in_a_file_of_code_most_cut_answers_are_likely_cut(share: float) -> None:
    chance = Random(7)
    texts = [function(chance) for _ in range(1_000)]
    wanted = int(1_000 * share)
    texts[:wanted] = [text[: chance.randint(60, len(text) - 1)] for text in texts[:wanted]]
    assert 0.8 * wanted <= outcomes(texts)["likely_cut"] <= wanted


@pytest.mark.parametrize("whole", [function, assignment])
def test_in_a_file_of_whole_code_none_is_likely_cut(whole: Callable[[Random], str]) -> None:
    chance = Random(8)
    assert outcomes([whole(chance) for _ in range(1_000)]).get("likely_cut", 0) <= 10


def solution(chance: Random) -> str:
    steps = "".join(
        f"The {chance.choice(NAMES)} of {chance.choice(NAMES)} has {chance.randint(2, 99)} stones, and"
        f" {chance.choice(['more', 'some', 'few'])} of them lie by the {chance.choice(NAMES)}.\n"
        for _ in range(chance.randint(3, 6))
    )
    return f"{steps}#### {chance.randint(2, 999)}"


@pytest.mark.behaviour("J1")
def test_an_end_that_was_asked_for_is_that_of_a_whole_answer() -> None:
    chance = Random(9)
    texts = [solution(chance) for _ in range(500)]
    assert outcomes(texts).get("likely_cut", 0) == 0
    cut = [text[: chance.randint(70, len(text) - 12)] for text in texts[:50]]
    assert 30 <= outcomes([*texts[50:], *cut])["likely_cut"] <= 50
