"""Runaway text is told from lists, tables and rows that merely resemble themselves."""

import random

import pytest

from tenuto.core.answer.runaway import is_runaway, suffix_borders

PASSAGES = [
    "I will now fix the bug and then run the tests. ",
    "Let me check the file again.\n",
    "    result.append(parse_row(line))\n",
    '  {"name": "value", "kind": "default"},\n',
    "我将再次检查这个文件，然后继续修复这个错误，请稍等。",
    "これから、もう一度ファイルを確認してから修正します。",
    "## Step\n\nFirst, open the settings. Then choose the profile.\n\n",
    "a long paragraph about nothing at all, " * 3 + "which ends here.\n\n",
]


@pytest.mark.behaviour("C13")
@pytest.mark.parametrize("passage", PASSAGES)
@pytest.mark.parametrize("cut_chars", [0, 1, 7])
@pytest.mark.parametrize("before", ["", "Here is the answer.\n\n", "word " * 3_000])
def test_a_passage_again_and_again_up_to_the_end_is_runaway(passage, cut_chars, before):
    repeated = passage * (1 + 1_100 // len(passage)) + passage * 4
    assert is_runaway(before + repeated[: len(repeated) - cut_chars])


@pytest.mark.behaviour("C13")
@pytest.mark.parametrize("passage", PASSAGES)
def test_a_loop_that_the_text_came_out_of_is_not_runaway(passage):
    assert not is_runaway(passage * 60 + "At last, this is the end of the answer.")


@pytest.mark.behaviour("C13")
@pytest.mark.parametrize(
    "mark", ["0", "ha ", "哈", "-", "A", "| --- ", "0, ", "na na ", "\\n", "=-", "😀"]
)
def test_marks_are_runaway_only_beyond_a_screenful(mark):
    assert not is_runaway(mark * (1_500 // len(mark)))
    assert is_runaway(mark * (2_100 // len(mark)))


@pytest.mark.behaviour("C13")
@pytest.mark.parametrize("cell", ["    <td>-</td><th>-</th>\n", '"x": null, ', "    pass\n\n"])
def test_cells_are_runaway_only_beyond_a_thousand_characters(cell):
    assert not is_runaway(cell * (900 // len(cell)))
    assert is_runaway(cell * (1_200 // len(cell)))


def _numbers(seed: int) -> str:
    rng = random.Random(seed)
    return "\n".join(" ".join(f"{rng.randint(0, 9)}" for _ in range(20)) for _ in range(200))


@pytest.mark.behaviour("C13")
@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n" * 4_000,
        "ha ha ha",
        "-" * 60,
        "1. a\n2. b\n",
        "".join(f"{number}. Open the file and read the next line.\n" for number in range(500)),
        "".join(f"- [ ] task {number}\n" for number in range(500)),
        "".join(f"| row {number} | open | 0 | 0 | 0 |\n" for number in range(500)),
        "| Name | Kind |\n" + "|------|------|" * 20,
        "".join(f"{number}\n" for number in range(5_000)),
        "".join(f"    assert f({number}) == {number * number}\n" for number in range(400)),
        "2026-11-21 00:00:00 INFO nothing to do\n" * 3,
        "0, 0, 0, 0,\n" * 40,
        "la la la la, " * 30,
        _numbers(1),
        "This paragraph is said twice, as a refrain may be, and holds a few sentences. " * 3,
        "\n".join(f'{{"id": {number}, "value": null}}' for number in range(300)),
    ],
)
def test_what_merely_resembles_itself_is_not_runaway(text):
    assert not is_runaway(text)


@pytest.mark.parametrize("text", ["", "a", "aa", "xabab", "abcabcab", "aabaaab"])
def test_suffix_borders_are_the_longest_that_there_are(text):
    for length, border in enumerate(suffix_borders(text)):
        suffix = text[len(text) - length :]
        borders = [n for n in range(length) if suffix[:n] == suffix[length - n :]]
        assert border == max(borders, default=0)
