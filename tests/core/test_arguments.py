"""The recognizer agrees with a strict parser on every cut, however the text is chunked."""

import json
import random
from typing import Any

import jiter
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenuto.core.answer.arguments import ArgumentTracker, Finding, Judgement, judge

DOCUMENTS = [
    "{}",
    " \t\r\n{ } \n",
    "[]",
    "[ [ ] , { } ]",
    '""',
    "true",
    " null ",
    "-0.1e+10",
    "[0, -0, 10, -0.1e+10, 1E5, 2e-3, 0.0, 123456789012345678901234567890, 1.5]",
    '{"a":true,"b":false,"c":null,"":{"":[[],{}]}}',
    r'"\"\\\/\b\f\n\r\t\u0000\u00e9\uD83D\uDE00"',
    '{"text": "naïve 漢字 かな 😀 \u2028 \x7f", "ключ": "значение"}',
    '{"path": "src/a.py", "content": "def f(x):\\n    return \\"x\\" + str(x)\\n\\n# \\u00fc\\n"}',
    '{"doubly": "{\\"a\\": [1, \\"b\\"]}"}',
    '[[[[[[1, [2, [3, {"a": {"b": {"c": [{}]}}}]]]]]], "end"]',
    '  [ 1 ,\n\t2\r\n, { "k" : 1.25E-7 , "l" : [ ] } ]  ',
]
WRONG = [
    "{'a': 1}",
    '{"a": 1,}',
    "[1,]",
    "[,1]",
    "[1 2]",
    "{1: 2}",
    '{"a" 1}',
    '{"a": }',
    '{"a": 1 "b": 2}',
    '{"a": 1}}',
    "[1}",
    '{"a": 1]',
    "]",
    "}",
    ":",
    ",",
    "NaN",
    "Infinity",
    "-Infinity",
    "[NaN]",
    "01",
    "-01",
    "00",
    "1.",
    "[1.]",
    ".5",
    "+1",
    "1e",
    "[1e]",
    "[1e+]",
    "1.e5",
    "--1",
    "0x10",
    "1_000",
    "truE",
    "nul1",
    "True",
    "None",
    "undefined",
    '"\n"',
    '"\t"',
    '"\x00"',
    r'"\x41"',
    r'"\u12G4"',
    r'"\'"',
    "// comment\n{}",
    "{} // comment",
    "/* */ 1",
    "{} {}",
    "1 2",
    '"a" "b"',
    "{}x",
    "\u00a0{}",
    "\ufeff{}",
    "[1,\u00a02]",
    "\x0b1",
    "[١]",
    "`{}`",
    "```json\n{}\n```",
]


def _scalar(rng: random.Random) -> Any:
    return rng.choice(
        [
            None,
            True,
            False,
            rng.randint(-(10**12), 10**12),
            rng.random() * 10 ** rng.randint(-20, 20),
            "".join(rng.choices('abc "\\/\n\t漢é😀{}[]:,\u2028', k=rng.randint(0, 12))),
        ]
    )


def _value(rng: random.Random, depth: int) -> Any:
    kind = rng.random()
    if depth == 0 or kind < 0.4:
        return _scalar(rng)
    if kind < 0.7:
        return [_value(rng, depth - 1) for _ in range(rng.randint(0, 5))]
    return {str(_scalar(rng)): _value(rng, depth - 1) for _ in range(rng.randint(0, 5))}


def documents(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [
        json.dumps(
            _value(rng, rng.randint(1, 6)),
            ensure_ascii=rng.random() < 0.5,
            indent=rng.choice([None, None, 1, 2]),
        )
        for _ in range(count)
    ]


def finding_of(text: str) -> Finding:
    tracker = ArgumentTracker()
    tracker.feed(text)
    return tracker.finding


def finding_by_jiter(text: str) -> Finding:
    """Strict; jiter would accept NaN and Infinity if it were not told otherwise."""
    if not text.strip(" \t\r\n"):
        return Finding.EMPTY
    try:
        jiter.from_json(text.encode(), allow_inf_nan=False, partial_mode=False)
    except ValueError as error:
        return Finding.TRUNCATED if "EOF while" in str(error) else Finding.MALFORMED
    return Finding.WHOLE


# Agreement with a strict parser ------------------------------------------------------------------


@pytest.mark.behaviour("T1", "T2")
@pytest.mark.parametrize("text", DOCUMENTS)
def test_every_cut_of_a_document_is_judged_as_jiter_judges_it(text):
    for end in range(len(text) + 1):
        assert finding_of(text[:end]) == finding_by_jiter(text[:end]), text[:end]


@pytest.mark.behaviour("T1", "T2")
@pytest.mark.slow
def test_forty_thousand_cuts_are_judged_as_jiter_judges_them():
    cuts = 0
    for text in documents(400, seed=1):
        tracker = ArgumentTracker()
        for end, char in enumerate(text[:400], 1):
            cuts += 1
            tracker.feed(char)
            assert tracker.finding == finding_by_jiter(text[:end]), text[:end]
            if cuts % 7 == 0:  # the start may be what was lost
                assert finding_of(text[end:]) == finding_by_jiter(text[end:]), text[end:]
    assert cuts >= 40_000


@pytest.mark.behaviour("T2")
@pytest.mark.parametrize("text", WRONG)
def test_wrong_syntax_is_malformed_or_an_early_end(text):
    assert finding_of(text) == finding_by_jiter(text)
    padded = f'[{" " * 600}"{"x" * 600}", {text}]'  # long enough for the parser in C
    tracker = ArgumentTracker()
    tracker.feed(padded)
    assert tracker.finding == Finding.MALFORMED


@pytest.mark.behaviour("T2")
@pytest.mark.slow
def test_one_changed_character_is_judged_as_jiter_judges_it():
    rng = random.Random(2)
    for text in documents(300, seed=3):
        if "\\ud83d" in text:  # half of the pair may be hit: see the next test
            continue
        for _ in range(30):
            at = rng.randrange(len(text))
            changed = text[:at] + rng.choice('{}[],:"\\ \n01-+.eEutfn\x00é') + text[at + 1 :]
            assert finding_of(changed) == finding_by_jiter(changed), changed


@pytest.mark.behaviour("T1")
def test_half_a_surrogate_pair_is_valid_as_an_escape():
    """RFC 8259 allows it (section 8.2); jiter, whose strings are UTF-8, refuses it."""
    text = r'{"a": "\ud83d"}'
    assert finding_by_jiter(text) == Finding.MALFORMED
    assert finding_of(text) == Finding.WHOLE


@pytest.mark.slow
def test_nesting_deeper_than_jiter_goes_is_only_memory():
    """jiter stops at 200 levels; an argument text is data and may not crash us at any depth."""
    for opening, closing, times in (
        ("[", "]", 1_000_000),
        ('{"a":', "}", 10_000),
        ("[[", "]]", 10_000),
    ):
        tracker = ArgumentTracker()
        tracker.feed(opening * times)
        assert tracker.finding == Finding.TRUNCATED
        assert tracker.depth == times * len(closing)
        tracker.feed("1" + closing * times)
        assert (tracker.finding, tracker.depth) == (Finding.WHOLE, 0)


# Any chunking ------------------------------------------------------------------------------------

_json_texts = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
).map(lambda value: json.dumps(value, ensure_ascii=False))
_near_json = st.text(alphabet='{}[]:," \\u0e+-.1truefalsn\n', max_size=30)


@given(text=_json_texts | _near_json, cuts=st.lists(st.integers(0, 1_000)))
@settings(max_examples=300)
def test_any_chunking_gives_the_same_finding(text, cuts):
    whole, in_pieces, by_char = ArgumentTracker(), ArgumentTracker(), ArgumentTracker()
    whole.feed(text)
    at = 0
    for cut in sorted(cut % (len(text) + 1) for cut in cuts):
        in_pieces.feed(text[at:cut])
        at = cut
    in_pieces.feed(text[at:])
    for char in text:
        by_char.feed(char)
    seen = [
        (one.finding, one.depth, one.error_at, one.fed_chars, one.done)
        for one in (whole, in_pieces, by_char)
    ]
    assert seen[0] == seen[1] == seen[2]


@given(text=_json_texts)
def test_no_prefix_of_a_valid_document_is_malformed(text):
    tracker = ArgumentTracker()
    for char in text:
        tracker.feed(char)
        assert tracker.finding != Finding.MALFORMED
    assert tracker.finding == Finding.WHOLE


@given(text=_near_json)
def test_the_first_wrong_character_is_where_no_continuation_helps(text):
    tracker = ArgumentTracker()
    tracker.feed(text)
    if (at := tracker.error_at) is not None:
        assert finding_of(text[:at]) != Finding.MALFORMED
        assert finding_of(text[: at + 1]) == Finding.MALFORMED


@pytest.mark.slow
def test_long_documents_in_one_piece_and_in_deltas_agree():
    for text in documents(60, seed=5):
        long_text = f"[{', '.join([text] * 20)}]"
        for changed in (long_text, long_text[:-1], long_text + "]", long_text.replace(" ", "x", 1)):
            tracker = ArgumentTracker()
            for at in range(0, len(changed), 7):
                tracker.feed(changed[at : at + 7])
            assert finding_of(changed) == tracker.finding


def test_a_tracker_can_be_used_again():
    tracker = ArgumentTracker()
    tracker.feed('{"a": x')
    assert (tracker.finding, tracker.error_at, tracker.fed_chars) == (Finding.MALFORMED, 6, 7)
    tracker.feed("more")
    assert tracker.fed_chars == 11
    tracker.reset()
    assert (tracker.finding, tracker.error_at, tracker.fed_chars) == (Finding.EMPTY, None, 0)
    tracker.feed("{}")
    assert tracker.finding == Finding.WHOLE


def test_a_number_is_whole_at_every_digit_where_it_may_end():
    tracker = ArgumentTracker()
    seen = []
    for char in "-10.5e+3 ":
        tracker.feed(char)
        seen.append(tracker.finding == Finding.WHOLE)
    assert seen == [False, True, True, False, True, False, False, True, True]


# judge -------------------------------------------------------------------------------------------


def encoded(text: str, times: int) -> str:
    for _ in range(times):
        text = json.dumps(text)
    return text


@pytest.mark.behaviour("T12")
@pytest.mark.parametrize(
    ("text", "finding", "detail"),
    [
        (None, Finding.EMPTY, ""),
        ("", Finding.EMPTY, ""),
        (" \n\u00a0", Finding.EMPTY, ""),
        ("null", Finding.EMPTY, "null"),
        (" null\n", Finding.EMPTY, "null"),
        ("{}", Finding.WHOLE, ""),
        (' {"a": [1, {"b": null}]}\n', Finding.WHOLE, ""),
        ("[]", Finding.MALFORMED, "not_an_object"),
        ("12", Finding.MALFORMED, "not_an_object"),
        ("true", Finding.MALFORMED, "not_an_object"),
        ('{"a": ', Finding.TRUNCATED, ""),
        ('{"a": 1', Finding.TRUNCATED, ""),
        ("[1, 2", Finding.TRUNCATED, ""),
        ("nul", Finding.TRUNCATED, ""),
        ('"{\\"a\\": ', Finding.TRUNCATED, ""),
        ("{'a': 1}", Finding.MALFORMED, "syntax"),
        ('{"a": 1,}', Finding.MALFORMED, "syntax"),
        ('{"a": 1} {"b": 2}', Finding.MALFORMED, "trailing"),
        ('{"a": 1}}', Finding.MALFORMED, "trailing"),
        ("hello", Finding.MALFORMED, "syntax"),
    ],
)
def test_arguments_are_judged(text, finding, detail):
    judgement = judge(text)
    assert (judgement.finding, judgement.detail, judgement.text) == (finding, detail, text or "")
    assert (judgement.error_at is None) == (detail not in {"syntax", "trailing"})


@pytest.mark.behaviour("T12")
def test_a_whole_object_is_handed_on_byte_for_byte():
    text = ' {"n": 1.0, "big": 123456789012345678901234567890, "e": 1e400, "u": "\\u00e9\\/"} '
    assert judge(text).text is text


@pytest.mark.behaviour("T12")
@pytest.mark.parametrize("inner", ['{"a": "\\"q\\" \\n \\\\"}', "{}", ' {"path": "漢字 😀"} '])
def test_doubly_encoded_arguments_are_decoded_at_most_twice(inner):
    decoded = Judgement(Finding.WHOLE, inner, "doubly_encoded")
    assert judge(encoded(inner, 1)) == decoded
    assert judge(encoded(inner, 2)) == decoded
    assert judge(encoded(inner, 3)).finding == Finding.MALFORMED
    assert judge(encoded(inner, 3)).detail == "not_an_object"


@pytest.mark.behaviour("T2", "T12")
def test_every_cut_of_doubly_encoded_arguments_is_truncated():
    text = encoded('{"path": "a\\n\\u00e9", "n": [1, 2.5]}', 1)
    for end in range(1, len(text)):
        assert judge(text[:end]).finding == Finding.TRUNCATED


@pytest.mark.behaviour("T2", "T12")
def test_what_is_inside_doubly_encoded_arguments_is_judged():
    assert judge(encoded('{"a": ', 1)).finding == Finding.TRUNCATED
    assert judge(encoded("{'a': 1}", 1)).detail == "syntax"
    assert judge(encoded("{'a': 1}", 1)).error_at == 1
    assert judge(encoded("[1]", 1)).detail == "not_an_object"
    assert judge(encoded("", 1)).finding == Finding.EMPTY
    assert judge(encoded("null", 2)).finding == Finding.EMPTY


def test_what_was_decoded_can_be_sent_as_utf_8():
    judgement = judge(r'"{\"a\": \"\ud83d \ud83d\ude00\"}"')
    assert judgement.finding == Finding.WHOLE
    assert judgement.text == '{"a": "\\ud83d 😀"}'
    judgement.text.encode()
