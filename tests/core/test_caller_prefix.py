"""A continuation that repeats the words with which the caller began the answer."""

from __future__ import annotations

import pytest
from support.cuts.cases import every_case

from tenuto.core.seam.caller_prefix import CallerPrefix
from tenuto.core.seam.seam import Seam, join, trailing_space

TEXT = '"alpha": 1, "b'


def joined(begun: str, said: str, continuation: str, sizes: list[int] | None = None) -> str:
    """The model's whole text, of a continuation in pieces of these sizes."""
    base, space = trailing_space(said)
    stitcher = CallerPrefix(Seam(base, trimmed=space), Seam(begun + base, trimmed=space))
    out, at = [base], 0
    for size in [*(sizes or []), len(continuation)]:
        out.append(stitcher.feed(continuation[at : at + size]))
        at += size
    out.append(stitcher.finish())
    return "".join(out)


CASES = [
    ("{", TEXT, '{"alpha": 1, "b": 2}', '"alpha": 1, "b": 2}'),
    ("{", TEXT, 'Here is the JSON:\n\n{"alpha": 1, "b": 2}', '"alpha": 1, "b": 2}'),
    ("{", TEXT, '"alpha": 1, "b": 2}', '"alpha": 1, "b": 2}'),
    ("{", TEXT, '": 2}', '"alpha": 1, "b": 2}'),
    ("```json\n{", TEXT, '```json\n{"alpha": 1, "b": 2}', '"alpha": 1, "b": 2}'),
    ("The tide is ", "high at no", "The tide is high at noon.", "high at noon."),
    ("The answer is ", "wor", "The answer is world.", "world."),
    ("- item\n", "- item\n- item", "\n- item\n- item", "- item\n" * 3 + "- item"),  # C14b
    ("{", "One, two and ", "{three} four", "One, two and {three} four"),
]


@pytest.mark.behaviour("C14", "C14b")
@pytest.mark.parametrize(("begun", "said", "continuation", "whole"), CASES)
def test_a_restart_from_the_callers_own_words_is_recognized(
    begun: str, said: str, continuation: str, whole: str
) -> None:
    assert joined(begun, said, continuation) == whole
    assert joined(begun, said, continuation, [1] * len(continuation)) == whole
    for upto in range(len(continuation)):
        assert joined(begun, said, continuation, [upto]) == whole


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize("begun", ["{", "Sure. ", "```json\n{", "# Notes\n\n"])
def test_what_the_text_alone_shows_is_found_as_before(begun: str) -> None:
    for case in every_case(seed=7, number=40, real=False):
        whole = join(case.said, case.continuation, trimmed=case.space)
        if whole == case.text:
            assert joined(begun, case.said + case.space, case.continuation) == whole


@pytest.mark.behaviour("C14")
def test_a_restart_of_any_length_is_followed_and_not_held() -> None:
    text = "".join(f"{number} is the next of the numbers.\n" for number in range(9_000))
    stitcher = CallerPrefix(Seam(text[:-20]), Seam("Numbers: " + text[:-20]))
    again = f"Numbers: {text}"
    given = "".join(stitcher.feed(again[at : at + 500]) for at in range(0, len(again), 500))
    assert given + stitcher.finish() == text[-20:]
    assert stitcher.new_chars == 20
