"""What only the rows of a file together show."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from support.stored import DONE, FENCE, OPEN, chat, conversation

from tenuto import Outcome, judge
from tenuto.judging.report import report_of
from tenuto.judging.tally import Tally, pile_in


def counted(rows: list[Any], limit: int | None = None) -> dict[str, Any]:
    tally = Tally()
    for row in rows:
        verdict = judge(row, limit=limit)
        tally.add(verdict)
        tally.learn(verdict)
    return report_of(tally)


def ray(tokens: int, text: str = DONE) -> dict[str, Any]:
    return {"prompt": "x", "generated_text": text, "num_generated_tokens": tokens}


def broken_off(number: int) -> str:
    """A text of its own that does not end like a whole one, as a limit leaves it."""
    return f"Tide {number}: {OPEN}"


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("share", [0.005, 0.02, 0.2])
def test_a_limit_that_no_row_tells_is_found_by_the_answers_that_pile_up(
    share: float, seed: int
) -> None:
    chance = random.Random(seed)
    cut = max(3, int(1_000 * share))
    tokens = [512] * cut + [
        min(511, int(chance.lognormvariate(5, 0.7))) for _ in range(1_000 - cut)
    ]
    rows = [
        ray(number, broken_off(at) if number == 512 else DONE) for at, number in enumerate(tokens)
    ]
    found = counted(rows)
    (pile,) = found["piled"]
    assert pile["tokens"] == 512
    assert found["outcomes"]["likely_cut"] == tokens.count(512)


@pytest.mark.parametrize("seed", range(20))
def test_answers_that_no_limit_cut_pile_up_nowhere(seed: int) -> None:
    chance = random.Random(seed)
    free = [int(chance.lognormvariate(5, 0.7)) for _ in range(1_000)]
    labels = [chance.choice([1, 2, 3]) for _ in range(1_000)]
    short = [chance.randint(14, 20) for _ in range(1_000)]
    for tokens in (free, labels, short):
        assert pile_in(Counter(tokens)) is None


def test_a_small_file_of_one_number_is_a_pile_up() -> None:
    assert pile_in(Counter([256] * 5)) == (256, 5)
    assert pile_in(Counter([256, 256])) is None


@pytest.mark.parametrize("seed", range(10))
def test_runs_under_several_limits_pile_up_at_each(seed: int) -> None:
    chance = random.Random(seed)
    rows, cut = [], Counter[int]()
    for limit in (256, 640):
        for number in range(1_000):
            wanted = int(chance.lognormvariate(5, 0.7))
            cut[limit] += wanted >= limit
            text = broken_off(number) if wanted >= limit else DONE
            rows.append(ray(min(wanted, limit), text))
    found = counted(rows)
    assert {pile["tokens"] for pile in found["piled"]} == {256, 640}
    assert sum(cut.values()) <= found["outcomes"]["likely_cut"] <= sum(cut.values()) + 5


@pytest.mark.parametrize("seed", range(10))
def test_answers_with_the_same_words_are_no_pile_up_among_longer_ones(seed: int) -> None:
    chance = random.Random(seed)
    rows = [ray(37, DONE) for _ in range(200)]
    rows += [ray(int(chance.lognormvariate(5, 0.7)), DONE) for _ in range(1_000)]
    assert counted(rows)["piled"] == []


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("rows", [40, 3])
@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        '{"place": "Dover", "height": %d, "ok": true}',
        '```json\n{"height": %d}\n```',
        "| port | high |\n|---|---|\n| Dover | %d |",
        "The tide at Dover comes in twice a day, and it is %d centimetres high.",
        "The tide comes in twice a day.%.0s",
        f"{OPEN}%.0s",
    ],
)
def test_answers_of_one_form_have_one_length_and_are_no_pile_up(
    text: str, above: bool, rows: int
) -> None:
    fixed = [ray(24, text % number) for number in range(100, 100 + rows)]
    shorter = [ray(17 + number % 6, DONE) for number in range(above * 200)]
    found = counted(fixed + shorter)
    assert found["piled"] == []
    assert set(found["outcomes"]) <= {"done", "open_end"}


def test_short_answers_pile_up_too_if_they_break_off() -> None:
    short = [ray(32, f"第{number}次涨潮时，月亮把海水拉向自己，而") for number in range(9)]
    found = counted(short + [ray(17 + number % 9) for number in range(200)])
    assert found["outcomes"] == {"done": 200, "likely_cut": 9}
    lines = [ray(20, f"[12:00:00] INFO tide {number}: started job") for number in range(40)]
    lines += [ray(17 + number % 3, f"[12:00:00] INFO {number}: boat") for number in range(30)]
    assert counted(lines)["outcomes"] == {"done": 70}
    labels = [ray(12, f"Harbour {number}") for number in range(40)]
    assert counted(labels)["outcomes"] == {"done": 40}


def test_a_few_that_break_off_among_documents_of_one_length_are_no_pile_up() -> None:
    whole = [ray(24, f'{{"height": {number}}}') for number in range(40)]
    cut = [ray(24, f'{{"height": {number}, "') for number in range(3)]
    found = counted(whole + cut)
    assert found["outcomes"] == {"done": 40, "likely_cut": 3}
    assert found["likely_cut"] == {"json_cut": 3}


def test_where_enough_answers_break_off_those_that_look_whole_are_cut_too() -> None:
    cut = [ray(300, broken_off(number)) for number in range(9)]
    found = counted([*cut, ray(300), *(ray(40 + number) for number in range(100))])
    assert found["outcomes"] == {"done": 100, "likely_cut": 10}


@pytest.mark.behaviour("J1")
def test_an_answer_with_a_stop_is_no_part_of_a_pile_up() -> None:
    found = counted([chat(DONE, "stop") for _ in range(50)])
    assert found["piled"] == []
    assert found["outcomes"] == {"done": 50}


def test_a_sign_that_more_than_a_tenth_shows_is_muted() -> None:
    whole = [{"messages": conversation(DONE)} for _ in range(80)]
    cut = [{"messages": conversation(FENCE)} for _ in range(20)]
    found = counted(whole + cut)
    assert found["muted"] == ["fence_open"]
    assert found["outcomes"] == {"done": 80, "open_end": 20}
    assert counted(whole + cut[:5])["outcomes"] == {"done": 80, "likely_cut": 5}


def test_an_open_end_beside_a_limit_is_likely_cut_if_it_is_long_enough() -> None:
    long = " ".join(f"{number} is {number * 7}, and so" for number in range(120))
    rows = [{"messages": conversation(long)}, {"messages": conversation(OPEN)}]
    assert counted(rows)["outcomes"] == {"open_end": 2}
    assert counted(rows, limit=400)["outcomes"] == {"likely_cut": 1, "open_end": 1}


@pytest.mark.parametrize("cut", [0, 10, 60])
def test_where_short_answers_end_openly_too_an_open_end_near_the_limit_says_nothing(
    cut: int,
) -> None:
    def code(lines: int) -> str:
        body = "".join(f"    total = total + tides[{n}] * weights[{n}]\n" for n in range(lines))
        return f"def height_of_all(tides, weights):\n{body}    return total"

    prose = "The tide comes in twice a day, and it goes out again. " * 3
    whole = [code(3), prose] * 40 + [code(9), " ".join(f"Tide {n}." for n in range(50))] * 10
    rows = [{"messages": conversation(text)} for text in whole]
    rows += [{"messages": conversation(code(9) + " + tides[9")}] * cut
    found = counted(rows, limit=110)["outcomes"]
    assert found.get("likely_cut", 0) == (cut if cut == 60 else 0)


def test_a_call_that_breaks_off_is_no_label_however_short() -> None:
    called = {"name": "write_file", "arguments": '{"path": "a.py", "te'}
    call = {"id": "c", "type": "function", "function": called}
    body = chat(None, "tool_calls", tool_calls=[call])
    body["usage"]["completion_tokens"] = 13
    assert counted([body])["outcomes"] == {"arguments_cut": 1}


def test_what_is_cut_at_the_size_of_a_label_stands_apart() -> None:
    body = chat("Y", "length")
    body["usage"]["completion_tokens"] = 1
    assert counted([body, chat()])["outcomes"] == {"text_cut": 1, "label_sized": 1}
    told = counted([ray(8, "Yes"), ray(20)], limit=8)
    assert told["outcomes"] == {"label_sized": 2}, "also where only the limit says so"


def test_two_tallies_add_up_in_any_order() -> None:
    rows = [
        chat(),
        chat(DONE, "stop"),
        ray(512, broken_off(1)),
        ray(512),
        ray(512, broken_off(2)),
        {"messages": conversation(OPEN)},
        {},
    ]
    whole = counted(rows)
    for at in range(len(rows)):
        parts = [Tally(), Tally()]
        for number, row in enumerate(rows):
            parts[number >= at].add(judge(row))
        parts[1].merge(parts[0])
        assert report_of(parts[1]) == whole
    assert whole["outcomes"]["likely_cut"] == 3
    assert sum(whole["outcomes"].values()) == whole["rows"] == len(rows)
    assert set(whole["outcomes"]) <= set(Outcome)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.4])
def test_documents_that_break_off_among_closed_ones_are_cut_however_many_they_are(
    share: float,
) -> None:
    cut = int(100 * share)
    rows = [{"messages": conversation('{"a": [1, 2')}] * cut
    rows += [{"messages": conversation('{"a": [1, 2]}')}] * (100 - cut)
    found = counted(rows)
    assert found["outcomes"] == {"done": 100 - cut, "likely_cut": cut}
    assert found["likely_cut"] == {"json_cut": cut}


def test_it_says_why_answers_are_likely_cut() -> None:
    cut = [ray(512, broken_off(number)) for number in range(3)]
    rows = [*cut, ray(40), {"messages": conversation(FENCE)}]
    assert counted(rows)["likely_cut"] == {"piled_up": 3, "fence_open": 1}
    assert counted([ray(300), ray(40)], limit=300)["likely_cut"] == {"tokens_at_limit": 1}


def test_answers_are_counted_by_the_day_that_they_tell() -> None:
    first, second = chat(DONE, "stop"), chat()
    first["created"], second["created"] = 1_764_962_401, 1_765_000_000
    days = counted([first, second, second])["days"]
    assert [(day["day"], day["outcomes"]) for day in days] == [
        ("2025-12-05", {"done": 1}),
        ("2025-12-06", {"text_cut": 2}),
    ]
    assert counted([chat()])["days"] == [], "1970 is no day of an answer"


def test_lengths_are_told_in_the_unit_that_most_answers_have() -> None:
    found = counted([ray(512, broken_off(n)) for n in range(5)] + [ray(300)] * 2)["lengths"]
    assert found["unit"] == "tokens"
    assert [one for one in found["bins"] if one["likely_cut"]] == [
        {"from": 512, "to": 608, "complete": 0, "likely_cut": 5}
    ]
    assert counted([{"messages": conversation(DONE)}])["lengths"]["unit"] == "characters"


def test_what_a_larger_limit_would_hold_is_estimated_from_the_whole_answers() -> None:
    chance = random.Random(4)
    wanted = [int(chance.lognormvariate(5.5, 0.8)) for _ in range(4_000)]
    rows = []
    for number in wanted:
        body = chat(DONE, "stop") if number < 512 else chat()
        body["usage"]["completion_tokens"] = min(number, 512)
        rows.append(body)
    (told,) = counted(rows)["larger_limits"]
    assert (told["limit"], told["cut"]) == (512, sum(number >= 512 for number in wanted))
    for larger in told["would_hold"]:
        really = sum(512 <= number < larger["limit"] for number in wanted)
        assert larger["answers"] == pytest.approx(really, rel=0.1)
    assert counted(rows[:20])["larger_limits"] == [], "too few to say"


ANYBODYS: tuple[dict[str, Any], ...] = (
    {"error": {"code": "401", "message": "Access denied due to an invalid key."}},
    {"message": "The security token included in the request is invalid."},
)


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("error", ANYBODYS)
def test_an_error_of_anybody_is_a_failure_among_answers_of_models(error: dict[str, Any]) -> None:
    among = counted([chat(DONE, "stop")] * 60 + [error] * 40)
    assert among["outcomes"] == {"done": 60, "fault": 40}
    assert (among["rows"], among["answers"]) == (100, 100)
    alone = counted([chat(DONE, "stop")] * 40 + [error] * 60)
    assert alone["outcomes"] == {"done": 40, "no_answer": 60}
    assert (alone["rows"], alone["answers"]) == (100, 40)
