"""The simulated model of `tenuto demo agent`: it writes a small project and edits it."""

from __future__ import annotations

from typing import Final

from tenuto_sim import Wanted, saying

_COUNTING: Final = '''\
"""Counts the words of a text."""

from collections import Counter


def count_words(text):
    return Counter(text.split())
'''
_COMMAND: Final = '''\
"""Prints the ten words that a file has most of."""

import sys

from counting import count_words

for word, times in count_words(open(sys.argv[1]).read()).most_common(10):
    print(times, word)
'''
_README: Final = """\
# Word counter

    python command.py README.md
"""
_NOTES: Final = "\nWords are told apart by white space, and “Résumé” is one of them.\n"
_TEST: Final = """\
from counting import count_words


def test_words_are_counted():
    assert count_words("a b a") == {"a": 2, "b": 1}
"""
_CHANGES: Final = "# Changes\n\n- `count_words` is called `word_counts`.\n"


def _renamed(path: str, before: str, after: str) -> tuple[str, dict[str, str]]:
    return "edit_file", {"path": path, "old_text": before, "new_text": after}


TURNS: Final[tuple[tuple[str, tuple[Wanted, ...]], ...]] = (
    (
        "Write a small word counter in Python, with a test.",
        (
            saying("I look at what is there.", ("list_files", {"pattern": "**"})),
            saying(
                "Nothing yet. I write the three files it needs.",
                ("create_file", {"path": "counting.py", "content": _COUNTING}),
                ("create_file", {"path": "command.py", "content": _COMMAND}),
                ("create_file", {"path": "README.md", "content": _README}),
            ),
            saying("", ("append_file", {"path": "README.md", "content": _NOTES})),
            saying(
                "Upper and lower case should not count apart.",
                ("read_file", {"path": "counting.py", "start_line": 6}),
            ),
            saying("", _renamed("counting.py", "text.split()", "text.lower().split()")),
            saying("", ("create_file", {"path": "tests/test_counting.py", "content": _TEST})),
            saying(
                "The word counter is written: `counting.py` counts, `command.py` prints the ten "
                "most frequent words of a file, and `tests/test_counting.py` tries it. Upper "
                "and lower case are the same word."
            ),
        ),
    ),
    (
        "Rename count_words to word_counts everywhere.",
        (
            saying("I look where it is used.", ("search", {"pattern": "count_words"})),
            saying(
                "In three files; each place is one small edit.",
                _renamed("counting.py", "def count_words(", "def word_counts("),
                _renamed("command.py", "import count_words", "import word_counts"),
                _renamed("command.py", "in count_words(", "in word_counts("),
                _renamed("tests/test_counting.py", "import count_words", "import word_counts"),
                _renamed("tests/test_counting.py", "assert count_words(", "assert word_counts("),
            ),
            saying(
                "",
                ("create_file", {"path": "CHANGES.md", "content": _CHANGES}),
                ("read_file", {"path": "command.py"}),
            ),
            saying("", ("search", {"pattern": "count_words", "glob": "**/*.py"})),
            saying(
                "`count_words` is `word_counts` now, in the three files that name it, and nothing "
                "of the old name is left in the code. `CHANGES.md` says so."
            ),
        ),
    ),
)
"""The user's message in each turn, and the answers to it."""

ANSWERS: Final = [answer for _, answers in TURNS for answer in answers]
