"""Whether a text breaks off within a sentence, and what a file makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from tenuto import Outcome, judge
from tenuto.judging.report import report_of
from tenuto.judging.sentences import End, end_of, lacks_end
from tenuto.judging.tally import Tally

SHOWN = (End.OPEN_BRACKET, End.LEADS_ON, End.MID_SENTENCE)
FIRST = "The moon pulls the sea towards itself, and the earth as well. "


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("text", [
    f"{FIRST}On the far side the water lags behi",
    f"{FIRST}It weighs 5.3 km/h. On the far side",
    f"{FIRST}\n\nOn the far side of the earth the water lags",
    f"{FIRST}\n- The sun pulls the sea as well.\n- The wind drives it towards the lan",
    f"{FIRST}\n\n- The first tide comes at noon.\n- ",
    f"{FIRST}\n\n**Spring tid",
    f"{FIRST}\n\nRun `tides --pl",
    "The moon pulls the sea towards itself, the earth as well, and so the",
    "The moon pulls the sea towards itself, and it pulls the earth as well,",
    "Some tides are spring tides (those at the full moon and the new mo",
    "月亮牵引着海水和地球。在远离月亮的一侧，海水落后于地球，因此那里也会出现涨潮，而在月亮的那一侧海水被拉向月亮，所以每天都有两次涨潮和两次落",
    "Луна притягивает море и Землю. На дальней стороне вода отстаёт от Земли и потому там",
    "Der Mond zieht das Meer an, und auf der anderen Seite bleibt das Wasser zurück, weil die",
])  # fmt: skip
def test_a_text_that_breaks_off_within_a_sentence(text: str) -> None:
    verdict = judge({"prompt": "x", "completion": text})
    assert verdict.outcome is Outcome.OPEN_END, "one text alone is no verdict"
    assert not verdict.certain
    assert verdict.evidence[:2] == ("no_stop", "open_end")
    assert verdict.evidence[2:] in [(end.value,) for end in SHOWN]


@pytest.mark.parametrize("text", [
    "Add a guard for repeated prefill, and name the nearest options where none fits",
    "How St. Louis became a harbour: a short history of the river and its boats",
    "See i.e. the second part of the long page on tides, which begins at the moon",
    f"{FIRST}\n\nBest regards\nAda Lovelace",
    f"{FIRST}\n\nSource: https://example.org/tides/moon",
    f"{FIRST} Your code is PURPLE-ELEPHANT-42",
    f"{FIRST}\n\n| moon | tide |\n| --- | --- |\n| full | spring",
    f"{FIRST}\n\n- the moon of the earth, which is full\n- the sun, which is far away",
    f"{FIRST}\n\n## What comes next in this long page",
    "SELECT moon, tide FROM harbour WHERE moon = 'full' AND tide > 5 ORDER BY day LIMIT 20",
    "The moon was full, and the sea was high\nThe wind was still, and no one said goodbye",
])  # fmt: skip
def test_a_text_that_lacks_a_mark_for_another_reason(text: str) -> None:
    assert lacks_end(text), "the test's own text"
    assert end_of(text) not in (*SHOWN, None)


@pytest.mark.parametrize("text", ["\n" * 9_000, "x" * 9_000, "- " * 5_000, "a. " * 5_000, "(" * 9_000, "", " ", "好" * 9_000, "\ud83d" * 99])  # fmt: skip
def test_any_text_is_looked_at(text: str) -> None:
    assert end_of(text) in (None, *End)


# --- files

WORDS = [
    "moon",
    "tide",
    "harbour",
    "water",
    "wind",
    "season",
    "captain",
    "lantern",
    "northern",
    "quiet",
    "evening",
    "stone",
    "river",
    "letter",
    "window",
    "garden",
    "winter",
    "summer",
    "measure",
    "engine",
    "island",
    "market",
    "village",
    "morning",
]
SMALL = ["the", "of", "and", "to", "in", "a", "with", "for", "on"]


def sentence(chance: Random) -> str:
    said = [
        chance.choice(SMALL if n % 3 == 1 else WORDS) for n in range(3 * chance.randint(2, 6) + 1)
    ]
    return " ".join(said).capitalize() + "."


def answer(chance: Random) -> str:
    """Prose of one to four paragraphs."""
    paragraphs = (
        " ".join(sentence(chance) for _ in range(chance.randint(1, 5)))
        for _ in range(chance.randint(1, 4))
    )
    return "\n\n".join(paragraphs)


def title(chance: Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(3, 14))).title()


def subject(chance: Random) -> str:
    words = [chance.choice(WORDS if n % 3 else SMALL) for n in range(chance.randint(5, 14))]
    return " ".join(["Repair", *words, chance.choice(["in", "up", "tide", "engine"])])


def query(chance: Random) -> str:
    names = chance.sample(WORDS, 4)
    return f"SELECT {', '.join(names)} FROM {names[0]} WHERE {names[1]} = 'full' AND {names[2]} > 5"


def verse(chance: Random) -> str:
    lines = (" ".join(chance.choices([*WORDS, *SMALL], k=7)) for _ in range(8))
    return "\n".join(line.capitalize() + chance.choice([",", "", ""]) for line in lines)


def line_of_code(chance: Random) -> str:
    return f"{chance.choice(WORDS)} = {chance.choice(WORDS)}.{chance.choice(WORDS)}[" + ", ".join(
        chance.choices(WORDS, k=chance.randint(5, 9))
    ) + chance.choice(["]", "", ","])  # fmt: skip


def subtitle(chance: Random) -> str:
    said = " ".join(sentence(chance) for _ in range(2))
    return said if chance.random() < 0.6 else said[: -chance.randint(2, 20)].rsplit(" ", 1)[0]


def report(texts: Sequence[str]) -> dict[str, Any]:
    tally = Tally()
    for text in texts:
        verdict = judge({"prompt": "x", "completion": text})
        tally.add(verdict)
        tally.learn(verdict)
    return report_of(tally)


def cut(text: str, chance: Random) -> str:
    """A text that a limit cut, which is no short one: most tokens end where a word ends."""
    if len(text) <= 70:
        return text
    found = text[: chance.randint(60, len(text) - 1)]
    return found if chance.random() < 0.3 else found.rpartition(" ")[0]


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.02, 0.05, 0.2])
def test_in_a_file_of_prose_most_cut_answers_are_likely_cut(share: float, seed: int) -> None:
    chance = Random(seed)
    texts = [answer(chance) for _ in range(1_000)]
    wanted = [number for number in range(1_000) if chance.random() < share]
    for number in wanted:
        texts[number] = cut(texts[number], chance)
    lacking = sum(end_of(text) is not None for text in texts)
    found = report(texts)
    assert 0.6 * lacking <= found["outcomes"]["likely_cut"] <= lacking
    assert found["likely_cut"].keys() <= {*End}


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("whole", [title, subject, query, verse, line_of_code, subtitle, answer])
def test_in_a_file_of_whole_answers_none_is_likely_cut(whole: Callable[[Random], str]) -> None:
    chance = Random(3)
    found = report([whole(chance) for _ in range(1_000)])
    assert found["outcomes"].get("likely_cut", 0) <= 10, "1 % of the rows"


def test_where_tokens_and_a_limit_are_known_these_decide() -> None:
    chance = Random(5)
    rows = [
        {
            "prompt": "x",
            "completion": answer(chance) if number % 10 else f"{FIRST}The far si",
            "completion_tokens": 40,
            "max_tokens": 512,
        }
        for number in range(200)
    ]
    tally = Tally()
    for row in rows:
        tally.add(judge(row))
    assert report_of(tally)["outcomes"].get("likely_cut", 0) == 0
