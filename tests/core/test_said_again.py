"""Text beside a call that is asked for again: what is said a second time is there once."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tenuto.core.seam.seam import Seam, join, trailing_space


def told(said: str, *pieces: str, again: tuple[int, ...] = (0,)) -> str:
    """All that the caller reads, where nothing of the white space at the end was delivered."""
    base, space = trailing_space(said)
    seam = Seam(base, trimmed=space, again=again)
    return base + "".join(map(seam.feed, pieces)) + seam.finish()


@pytest.mark.behaviour("S2", "C14")
@pytest.mark.parametrize(
    ("said", "again", "whole"),
    [
        ("ok", "ok", "ok"),
        ("ok", " ok\n", "ok\n"),
        ("ok", "ok, now", "ok, now"),
        ("Now:\n\n", "Now:\n\n", "Now:\n\n"),
        ("Now:\n\n", "Now:", "Now:\n\n"),
        ("我来写。", "我来写。好", "我来写。好"),
        # Not the same: nothing is lost.
        ("ok", "okay", "ok\n\nokay"),
        ("ok\n\n", "ok, now", "ok\n\nok, now"),
        ("ok", "Ok", "ok\n\nOk"),
        ("It is done", "It is", "It is done\n\nIt is"),
        ("ok", "", "ok"),
    ],
)
def test_what_was_said_before_a_call_is_there_once_when_it_comes_again(
    said: str, again: str, whole: str
) -> None:
    assert told(said, again) == whole
    assert told(said, *again) == whole, "however it is cut into pieces"


@pytest.mark.behaviour("S2")
def test_what_one_attempt_said_counts_as_well_as_all_of_it() -> None:
    assert told("ok. Fine.", "Fine.", again=(0, 4)) == "ok. Fine."


@pytest.mark.behaviour("C15")
def test_of_a_continuation_short_repetitions_stay() -> None:
    assert told("ha", "ha", again=()) == "haha"


@example(said="a\n .", come=" .")
@example(said=". a. a", come=" a.")
@given(said=st.text("ab .\n", min_size=1, max_size=6), come=st.text("ab .\n", max_size=9))
def test_no_character_is_lost_that_was_not_said_twice(said: str, come: str) -> None:
    whole = told(said, *come)
    assert whole == told(said, come)
    bare = "".join(whole.split())
    before, after = "".join(said.split()), "".join(come.split())
    # A few words before all of it, in a paragraph of their own, are a preamble.
    words, again, rest = after.partition(before if len(before) > 2 else "\0")
    # An unfinished line that is indented and comes again, indentation and all, was said twice.
    line = said.rpartition("\n")[2]
    twice = line if line[:1].isspace() and come.startswith(line) else ""
    assert bare in (
        before + after,
        before + after.removeprefix(before),
        before + (rest if words and again and "\n" in come else after),
        before + "".join(come.removeprefix(twice).split()),
    )


@pytest.mark.behaviour("C15", "C24", "T5")
@pytest.mark.parametrize(
    ("said", "more", "whole"),
    [
        ("ok", "I will call it.", "ok\n\nI will call it."),
        ("ok", "ok, I will call it.", "ok, I will call it."),
        ("ok", ", and now the call.", "ok, and now the call."),
        ("ok", " then I call it.", "ok then I call it."),
        ("ok", "", "ok"),
        ("好", "我来调用。", "好\n\n我来调用。"),
    ],
)
def test_what_is_said_when_a_call_was_asked_for_is_a_paragraph_of_its_own(said, more, whole):
    for size in (1, 100):
        seam = Seam(said, again={0})
        pieces = [more[at : at + size] for at in range(0, len(more), size)]
        assert said + "".join(map(seam.feed, pieces)) + seam.finish() == whole
        assert seam.new_chars == len(whole.removeprefix(said).removeprefix("\n\n"))


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize(
    ("said", "again", "whole"),
    [
        ("Pi is 3.14", "3.14159.", "Pi is 3.14159."),
        ("The sum is 48201", "482013 euros", "The sum is 482013 euros"),
        ("The sum is 48201", "48201 euros", "The sum is 48201 euros"),
        ("It costs $482", "482.50", "It costs $482.50"),
        ("Total: 1,23", "1,234,567", "Total: 1,234,567"),
        ("<b>4821", "48213</b>", "<b>48213</b>"),
    ],
)
def test_a_number_that_was_cut_and_comes_again_is_one_number(
    said: str, again: str, whole: str
) -> None:
    assert told(said, again, again=()) == whole
    assert told(said, *again, again=()) == whole, "however it is cut into pieces"


@pytest.mark.behaviour("C14b", "C15")
@pytest.mark.parametrize(
    ("said", "goes_on"),
    [
        ("The sum is 12", "1234"),
        ("0 0 1000", "1000"),
        ("The row is 482482", "482"),
        ("x = 1234567890", "1234567890"),
        ("a7f-482", "482b"),
        ("openssl-4.0.31", "4.0.31"),
        ("The sum is 482 ", "482 more"),
    ],
)
def test_digits_that_prove_nothing_stay(said: str, goes_on: str) -> None:
    assert told(said, goes_on, again=()) == said + goes_on
    assert told(said, *goes_on, again=()) == said + goes_on


BEFORE = [
    "",
    "文字です。\n\n",
    "- item\n",
    "# Title\n\n",
    "The answer is ",
    "今天刮大",
    "  ",
    "| a | ",
]
ONES = [
    *("风", "人", "あ", "ー", "가", "a", "I", "я", "ع", "ל", "न", "1", "0", "é", "ß", "ん", "っ"),
    *("*", "#", "-", "|", "`", "_", "~", '"', "“", "「", "。", "…", "!", "(", "}", "/", "\\", ","),
    *("😀", "👩\u200d💻", "🇩🇪", "e\u0301", "ha", "**", "--", "哈哈"),
]


@pytest.mark.behaviour("C15", "C14b")
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("one", ONES)
def test_a_character_that_a_text_may_double_at_the_cut_stays(before: str, one: str) -> None:
    """Also one that is all of its line: 风 and 风船 make 风风船, in doubt."""
    for more in ("船来了。", " and so on.", "x", "\n", "1", "s"):
        said, goes_on = before + one, one + more
        assert told(said, goes_on, again=()) == said + goes_on
        assert told(said, *goes_on, again=()) == said + goes_on


@pytest.mark.behaviour("S2")
def test_what_one_attempt_said_counts_though_another_spoke_after_it() -> None:
    assert told("Let me look.\n\nI write.", "Let me look.", again=(0, 12)) == (
        "Let me look.\n\nI write."
    )


PARAGRAPH = (
    "The harbour log records two high tides on most days. Spring tides follow the full moon. "
)
ANNOUNCED = ("Sure, continuing:\n\n", "Here is the rest of the answer:\n\n", "接着写：\n\n")


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize("preamble", ANNOUNCED)
@pytest.mark.parametrize("sentences", ["", "Spring tides follow the full moon. "])
def test_the_last_sentences_of_a_paragraph_may_come_again_behind_a_preamble(
    preamble: str, sentences: str
) -> None:
    said = PARAGRAPH + "Storms can raise both by a me"
    rest = f"{preamble}{sentences}Storms can raise both by a metre."
    whole = PARAGRAPH + "Storms can raise both by a metre."
    assert join(said, rest) == whole
    seam = Seam(said)
    assert said + "".join(map(seam.feed, rest)) + seam.finish() == whole
    assert seam.kind == "preamble"


@pytest.mark.behaviour("C14", "C14b")
@pytest.mark.parametrize(
    ("said", "rest"),
    [
        (PARAGRAPH + "Ebb. Eb", "b.\n\nEbb. Eb"),  # too short to prove anything
        (PARAGRAPH * 2 + PARAGRAPH[:40], PARAGRAPH[40:] + "\n\n" + PARAGRAPH),  # the text does so
        (PARAGRAPH + "Storms can raise both by a me", "tre.\n\nStorms can raise both by an inch."),
    ],
)
def test_a_sentence_that_begins_a_paragraph_by_itself_stays(said: str, rest: str) -> None:
    assert join(said, rest) == said + rest


WATER = "The moon pulls the sea towards it, so that water rises below the moon and op"
LINES = [
    "Sure, here is the rest:",
    "Continuing:",
    "I'm sorry, my answer was cut off. Let me continue:",
    "Natürlich, hier geht es weiter:",
    "Voici la suite :",
    "Claro, aquí sigue el resto:",
    "Продолжаю:",
    "好的，继续：",
    "はい、続きです：",
    "네, 이어서 작성하겠습니다:",
    "[continued]",
]


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("breaks", ["\n", "\n\n"])
@pytest.mark.parametrize("again", ["", "moon and op", "water rises below the moon and op"])
def test_a_line_that_only_announces_the_rest_goes_whatever_comes_again(
    line: str, breaks: str, again: str
) -> None:
    come = f"{line}{breaks}{again}posite."
    assert told(WATER, come, again=()) == WATER + "posite."
    assert told(WATER, *come, again=()) == WATER + "posite."


MOON = "The moon pulls the se"
ON_ONE_LINE = [
    "Continuing: ",
    "Continuing:",
    "continuing: ",
    "Continuing: ...",
    "**Continuing:** ",
    "[continued] ",
    "Here is the rest: ",
    "Here's the rest of the answer — ",
    "Sure, continuing from where I left off: ",
    "Continuing from where I left off. ",
    "I apologize for the interruption. Continuing: ",
    "Natürlich, hier geht es weiter: ",
    "Voici la suite : ",
    "Claro, aquí sigue el resto: ",
    "Продолжаю: ",
    "接着写：",
    "はい、続きです：",
    "네, 이어서 작성하겠습니다: ",
    "Sure! ",
]


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize("words", ON_ONE_LINE)
@pytest.mark.parametrize("before", ["", "# Tides\n\n", "Tides come twice a day. "])
@pytest.mark.parametrize("again", [None, "\n", "pulls the se"])
def test_an_announcement_goes_with_the_repetition_on_its_line(
    words: str, before: str, again: str | None
) -> None:
    said = before + MOON
    repeated = said if again is None else said.rpartition(again)[2] if again == "\n" else again
    come = f"{words}{repeated}a, and the far side is left behind."
    assert told(said, come, again=()) == said + "a, and the far side is left behind."
    assert told(said, *come, again=()) == said + "a, and the far side is left behind."


@pytest.mark.behaviour("C15")
@pytest.mark.parametrize(
    ("said", "come"),
    [
        (MOON, "Continuing: the tide falls, and the moon pulls on."),
        ("let is", "Continuing: boolean = true; let isDone: boolean = false;"),
        ("She said: ", "Continuing: a word that she said often."),
        ("The label reads ", "Here is the rest: the label."),
        ("I know that you are mine, ", "oh yes! I know that you are."),
        ("The tide falls, and it", " continuing: The tide falls, and it rises."),
        (MOON, "Chapter two: The moon pulls the seaman."),
    ],
)
def test_words_that_announce_stay_with_text_that_goes_on(said: str, come: str) -> None:
    assert told(said, come, again=()) == said + come
    assert told(said, *come, again=()) == said + come


@pytest.mark.behaviour("C14", "S3b", "S4a")
@pytest.mark.parametrize("words", [*ON_ONE_LINE, "Continuing:\n\n", "[continued]\n\n"])
@pytest.mark.parametrize("said", [MOON, "Der überall Bäume auf", f"Tides come twice a day. {MOON}"])
def test_an_announcement_that_is_cut_or_whose_repetition_is_adds_nothing(
    words: str, said: str
) -> None:
    come = words + said
    for end in range(4, len(come) + 1):
        for size in (1, 100):
            pieces = [come[at : min(at + size, end)] for at in range(0, end, size)]
            for at_limit in (False, True):
                seam = Seam(said)
                came = "".join(map(seam.feed, pieces))
                came += seam.finish(broke_off=True, at_limit=at_limit)
                assert came == "", come[:end]


@pytest.mark.behaviour("C15")
@pytest.mark.parametrize(
    ("said", "come"),
    [
        (WATER, "Here is the list:\n\nposite."),
        (WATER, "Continue.\n\nposite."),
        ("The tide falls.", "Continuing the example:\n\nIt rises."),
        ("The tide falls.\n\n", "Here is the rest of the table:\n\n| 1 |"),
        (WATER, " Continuing:\n\nposite."),
    ],
)
def test_a_line_that_may_be_part_of_the_text_stays(said: str, come: str) -> None:
    assert told(said, come, again=()).replace("\n", "") == (said + come).replace("\n", "")


@pytest.mark.behaviour("C15")
def test_a_short_word_that_another_one_begins_with_stays() -> None:
    said = "It was their loss, and so was their gain. Some losses at our stations and the"
    assert told(said, " their maps, though.", again=()) == said + " their maps, though."
