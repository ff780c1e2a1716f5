"""What the model reads of a tool's result."""

import dataclasses
import enum
from datetime import date
from pathlib import Path

import msgspec
import pydantic
import pytest

from tenuto_agent.shown import RESULT_LIMIT_CHARS, shown


@dataclasses.dataclass
class Point:
    x: int


class Span(msgspec.Struct):
    start: int


class User(pydantic.BaseModel):
    name: str


class Color(enum.Enum):
    RED = "red"


class Mute:
    def __str__(self):
        raise ValueError("no")


class AttemptContent:
    def __str__(self):
        return "spoken"


CIRCLE: list[object] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n", "as it is\n"),
        (None, ""),
        ("", ""),
        (True, "true"),
        (1.5, "1.5"),
        ({"é": [1, None]}, '{"é":[1,null]}'),
        (Point(1), '{"x":1}'),
        ([Span(1), User(name="Ada"), Color.RED], '[{"start":1},{"name":"Ada"},"red"]'),
        ({1, }, "[1]"),
        (date(2026, 11, 22), '"2026-11-22"'),
        (Path("a/b"), '"a/b"'),
        (b"caf\xc3\xa9 \xff", "café \N{REPLACEMENT CHARACTER}"),
        ({(1, 2): 3}, '{"(1, 2)":3}'),
        (CIRCLE, "[[...]]"),
        (AttemptContent(), '"spoken"'),
        (Mute(), '"<Mute, whose text cannot be had: ValueError>"'),
        ("a\udcff", "a\N{REPLACEMENT CHARACTER}"),
        ("\ud83d\ude00", "\N{GRINNING FACE}"),
    ],
)  # fmt: skip
def test_a_value_is_shown_as_text(value, text):
    assert shown(value) == text
    shown(value).encode()


@pytest.mark.behaviour("T15")
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no such thing"), "ValueError: no such thing"),
        (ValueError(), "ValueError"),
        (KeyError("a"), "KeyError: 'a'"),
        (ExceptionGroup("two", [ValueError("a"), OSError("b")]), "ValueError: a; OSError: b"),
        (ValueError(Mute()), "ValueError: <ValueError, whose text cannot be had: ValueError>"),
    ],
)
def test_an_error_is_shown_by_its_type_and_message(error, text):
    assert shown(error) == text


def test_what_is_beyond_the_limit_is_left_out_and_the_text_says_so():
    text = shown("a" * RESULT_LIMIT_CHARS + "\nthe end")
    assert len(text) < RESULT_LIMIT_CHARS + 80
    assert "[… 8 of 50,008 characters left out here …]" in text
    assert text.endswith("\nthe end")
    assert shown("a" * 60_000, limit_chars=0) == "a" * 60_000
