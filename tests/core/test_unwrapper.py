"""A continuation in a think block or a code fence: what is taken away, and what never is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.core.seam.seam import Seam
from tenuto.core.seam.unwrapper import Unwrapper

TEXT = "The tides come twice a day, because of the ear"
DOCUMENT = '{"name": "Brest \\u00e9```", "heights": [7.25, -1], "notes": ["a", "b\\n\\"q\\""]}'


def joined(said: str, *pieces: str, document: bool = False, thinks: bool = True) -> str:
    stitcher = Unwrapper(Seam(said), said, thinks=thinks, document=document)
    return said + "".join(map(stitcher.feed, pieces)) + stitcher.finish()


@pytest.mark.behaviour("E13")
@pytest.mark.parametrize("tag", ["think", "thinking"])
@pytest.mark.parametrize("said", [TEXT, f"<think>Moon.</think>\n\n{TEXT}"])
def test_what_is_thought_before_a_continuation_is_no_part_of_the_text(said, tag):
    again = f"\n<{tag}>I go on with <b>earth</b>.</{tag}>\n\nth, which turns."
    assert joined(said, again) == f"{said}th, which turns."
    assert joined(said, *again) == f"{said}th, which turns."


@pytest.mark.behaviour("E13")
def test_a_continuation_that_is_cut_in_its_thoughts_adds_nothing():
    stitcher = Unwrapper(Seam(TEXT), TEXT)
    assert stitcher.feed("<think>I go on") + stitcher.feed(" with</thin") + stitcher.finish() == ""
    assert stitcher.new_chars == 0


@pytest.mark.behaviour("E13")
@pytest.mark.parametrize("rest", ["<thinker> is no tag.", "<", "<thin", "th <think>hm</think>"])
def test_what_only_resembles_a_think_block_is_text(rest):
    assert joined(TEXT, *rest) == TEXT + rest


@pytest.mark.behaviour("E13")
def test_an_answer_about_think_tags_goes_on_with_one():
    said = "Put your thoughts between <think> and its end, as in"
    assert joined(said, " <think>hm</think>.") == said + " <think>hm</think>."


@pytest.mark.behaviour("C14a")
def test_behind_a_prefill_a_think_block_is_text():
    assert joined(TEXT, "<think>hm</think>", thinks=False) == TEXT + "<think>hm</think>"


@pytest.mark.behaviour("C27")
@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("```json\n", "\n```"),
        ("```\n", "\n```\n\nThat is all of it."),
        ("Here's the rest:\n\n```json\n", "\n  ```\n"),
        ("<think>hm</think>\n\n```json\n", "\n```"),
        ("", "\n```"),
        ("~~~\n", "\n~~~"),
        ("```json\n", ""),
    ],
)
@pytest.mark.parametrize("cut", range(1, len(DOCUMENT), 3))
def test_the_rest_of_a_document_is_taken_out_of_its_fence(before, behind, cut):
    rest = before + DOCUMENT[cut:] + behind
    assert joined(DOCUMENT[:cut], rest, document=True) == DOCUMENT
    assert joined(DOCUMENT[:cut], *rest, document=True) == DOCUMENT


@pytest.mark.behaviour("C27")
def test_what_stands_behind_a_fence_is_kept_while_the_document_is_not_whole():
    said, rest = '{"a": "x', 'y"\n```\n, "b": 1}'
    assert joined(said, *rest, document=True) == said + rest


@pytest.mark.behaviour("C27")
@pytest.mark.parametrize("said", ["Half of", "```json\n{", '"a'])
def test_a_text_that_is_no_document_keeps_its_fences(said):
    rest = "\n```\nx"
    assert joined(said, rest, document=True) == said + rest


@pytest.mark.behaviour("C27", "S8")
@given(st.data())
def test_any_pieces_give_the_same_text_and_none_of_it_is_lost(data):
    cut = data.draw(st.integers(1, len(DOCUMENT) - 1))
    marks = st.sampled_from(["`", "```", "\n", "~~~", "<think>", "</think>", ":", "a b", '"', " "])
    rest = "".join(data.draw(st.lists(marks, max_size=12))) + DOCUMENT[cut:]
    ends = sorted(data.draw(st.lists(st.integers(0, len(rest)), max_size=8)))
    pieces = [rest[a:b] for a, b in zip([0, *ends], [*ends, len(rest)], strict=True)]
    whole = joined(DOCUMENT[:cut], rest, document=True)
    assert joined(DOCUMENT[:cut], *pieces, document=True) == whole
    if "think" not in rest and "```" not in rest and "~~~" not in rest:
        assert whole.endswith(DOCUMENT[cut:].lstrip())


@pytest.mark.behaviour("C16")
def test_a_long_announcement_is_not_held_back_for_ever():
    stitcher = Unwrapper(Seam('{"a": "'), '{"a": "', document=True)
    given = "".join(stitcher.feed("word ") for _ in range(1_000))
    assert len(given) > 4_500
    json.loads('{"a": "' + given + stitcher.finish() + '"}')
