"""What a text shows of its end."""

from __future__ import annotations

import time

import pytest

from tenuto.judging.sentences import end_of
from tenuto.judging.signs import cut_structure, runs_away


@pytest.mark.parametrize(
    ("text", "shows"),
    [
        ("```python\nprint(1)\n", "fence_open"),
        ("Text\n\n```json\n{", "fence_open"),
        ("1. Do\n   ```sh\n   ls", "fence_open"),
        ("~~~\nx", "fence_open"),
        ("```py\nx\n```\nand\n```py\ny", "fence_open"),
        ('{"a": {"b": "c', "json_cut"),
        ('[{"a": 1}, {"a"', "json_cut"),
        ("[1, 2, 3", "json_cut"),
        ("Yes.\n<think>\nhm", "think_open"),
        ("```python\nprint(1)\n```", ""),
        ("```python\nprint(1)```", ""),
        ("Use ``` to open a fence.", ""),
        ("```print(1)```", ""),
        ("```markdown\n# T\n```sh\nls\n```\nmore\n```", ""),
        ("text\n```", ""),
        ("{braces} of a template", ""),
        ("[Note] this is text", ""),
        ("[1] is a reference", ""),
        ('{"a": 1}', ""),
        ("{'a': 1", ""),
        ("Write <think> to think.", ""),
        ("<think>hm</think>Yes.", ""),
        ("<think> is a tag.\n\nUse it well.", ""),
        ("Title\n~~~~~\n\nText.", ""),
        ("Title\n~~~~~~~~\nText.\n", ""),
        ("One\n~~~\n\na\n\nTwo\n~~~\n\nb\n\nThree\n~~~~~\n\nc", ""),
        ("A longer title\n~~~~~~~~~~~~\n\nText.", ""),
        ("This is it:\n~~~~\n\ncode", "fence_open"),
        ("~~~~~\nTitle\n~~~~~\n\nText.", ""),
        ("Text.\n\n~~~~~~\n\nText.", ""),
        ("Title\n~~~~~\n\n~~~\ncode\n}\n~~~\n", ""),
        ("Title\n~~~~~\n\n~~~\ncode", "fence_open"),
        ("This is it:\n~~~\ncode", "fence_open"),
        ("So:\n~~~\ncode", "fence_open"),
        ("Title\n~~~~~\n\n```\ncode", "fence_open"),
        ("Sure\n~~~~python\ncode", "fence_open"),
        ("~~~\n\ncode", "fence_open"),
        # A fence inside of another one
        ("````markdown\nUse it:\n\n```python\nx = 1", "fence_open"),
        ("````markdown\nUse it:\n\n```python\nx = 1\n```\nso", "fence_open"),
        ("````markdown\n```python\nx = 1\n```\n````", ""),
        ("````markdown\n```\nx = 1\n````\n\nThat is all.", ""),
        ("````markdown\nUse it:\n\n```python\nx = 1\n```", "fence_open"),
        ("````markdown\nUse it:\n\n```", "fence_open"),
        ("~~~md\n```\nopen", "fence_open"),
        ("~~~md\n```\nopen\n~~~", ""),
        ("```md\n~~~\nopen\n```", ""),
        ("```\na\n`````", ""),
        # Code that is indented, and shows a fence
        ("Type this:\n\n    ```\n    code\n\nand then close it.", ""),
        ("Type this:\n\n\t```\n\tcode", ""),
        ("1. Do this:\n\n    ```sh\n    ls", "fence_open"),
        ("- Do this:\n\n    ```sh\n    ls\n    ```\n- And", ""),
        ("- ```sh\n  ls", "fence_open"),
        # JSON that breaks off inside a number, a literal, a name
        ('{"a": 0.', "json_cut"),
        ('{"a": -', "json_cut"),
        ('{"a": 12e', "json_cut"),
        ("[1, 2, 0.", "json_cut"),
        ('{"ä": 0.', "json_cut"),
        ('{"a": tr', "json_cut"),
        ('{"m', "json_cut"),
        ('{"a": 0.x', ""),
        ('{"a": 0.}', ""),
        ("plain", ""),
        ("", ""),
    ],
)
def test_structure_shows_a_cut(text: str, shows: str) -> None:
    assert cut_structure(text) == shows


PROSE = "The moon pulls the sea towards itself, and the water on the far side lags behind"


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        (PROSE, True),
        (PROSE + ",", True),
        (PROSE + ".", False),
        (PROSE + "!", False),
        (PROSE + ". 😊", False),
        (PROSE + "。", False),
        (PROSE + ' ("tides").', False),
        (PROSE + "**", False),
        (PROSE + ":", False),
        (PROSE + "\n\n```py\nx = 1\n\nprint(x)\n```", False),
        (PROSE + "\n\n```py\nreturn x\n```", False),
        (PROSE + "\n\n```py\nreturn x\n``` 😊", False),
        (PROSE + " `", True),
        ("The moon pulls", False),
        ("", False),
    ],
)
def test_the_end_of_prose_is_a_fact(text: str, is_open: bool) -> None:
    assert (end_of(text) is not None) is is_open


@pytest.mark.parametrize("size", [1_200, 5_000, 200_000])
def test_a_runaway_is_found_whatever_its_length_and_phase(size: int) -> None:
    for passage in ("I will now fix that bug, too. ", "a line of code;\n", "\\n## Step\n" * 3):
        for shift in range(len(passage)):
            text = ("Let me see. " + passage * size)[: size + shift]
            assert runs_away(text), (passage, shift)


@pytest.mark.parametrize("text", ["x" * 300, "ha " * 50, PROSE, "| a | b |\n" * 20])
def test_what_repeats_a_little_does_not_run_away(text: str) -> None:
    assert not runs_away(text)


def test_signs_take_milliseconds_whatever_the_text() -> None:
    for text in (
        "```" * 100_000,
        "<think>" * 50_000,
        "```a\n" * 20_000 + "```\n" * 20_000,
        "~~~a\n````\n" * 20_000,
        "    ```a\n" * 40_000,
        "[" + "-" * 200_000,
        "[" * 200_000,
        "a " * 500_000,
        "{" * 9,
        "~" * 500_000,
        "a\n~~~\n" * 50_000,
    ):
        began = time.thread_time()
        cut_structure(text)
        end_of(text)
        runs_away(text)
        assert time.thread_time() - began < 0.5
