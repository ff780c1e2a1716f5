"""Whether a text ends where a text can end, in any script (S3c)."""

from __future__ import annotations

import pytest

from tenuto.core.answer.closing import ends_closed, ends_its_format

CLOSED = (
    "It is done.", "Is it?", "Yes!", "And so on…", "It is done. \n", "好了。", "好吗？", "「好」",
    "完了しました。", "끝났습니다.", "यह हो गया।", "تم الأمر.", "هل تم؟", "ختم ہوا۔", "Ավարտ։",
    "ተፈጸመ።", "ပြီးပါပြီ။", "បានហើយ។", "བོད་ཡིག།", "จบแล้ว๛", "Τελείωσε\u037e", "He said “yes”",
    "Er sagte: „ja“", "Il dit « oui »", "Han sagde »ja«", 'He said "yes"', "Use `make test`",
    "This is **bold**", "(as before)", '{"a": 1}', "[1, 2]", "<svg></svg>",
    "```\nx\n```",
)  # fmt: skip
OPEN = (
    "The moon pulls the se", "First,", "namely:", "and;", "42", "東", "The list has 3", "",
    'He said "', "Er sagte: „", "Il dit «", "(as", "a -", "see `make", "This is **bold", "a & b &",
    '{"a": 1', "<svg><g>text", "第一，", "最初は、", "पहला", "foo/", "50%", "ราคา", "😊", "| a | b |",
)  # fmt: skip


@pytest.mark.behaviour("S3c")
@pytest.mark.parametrize("text", CLOSED)
def test_a_closing_mark_of_any_script_may_end_a_text(text: str) -> None:
    assert ends_closed(text)


@pytest.mark.behaviour("S3c")
@pytest.mark.parametrize("text", OPEN)
def test_a_word_or_a_mark_inside_a_sentence_may_not(text: str) -> None:
    assert not ends_closed(text)


@pytest.mark.behaviour("S3c")
@pytest.mark.parametrize(
    "text",
    [
        "<!DOCTYPE html>\n<html><body></body></html>\n",
        '<?xml version="1.0"?><a><b/></a>',
        "\\documentclass{article}\\begin{document}x\\end{document}",
        "~~~\ncode\n~~~",
    ],
)
def test_a_format_has_an_end_mark_of_its_own(text: str) -> None:
    assert ends_its_format(text)
    assert not ends_its_format(text.rstrip()[:-3])


@pytest.mark.behaviour("S3c")
@pytest.mark.parametrize(
    "text", ["Done.", "The tag </b>", "```py\nx\n```\nand then ```py\ny", "42"]
)
def test_prose_has_none(text: str) -> None:
    assert not ends_its_format(text)
