"""Whether a text is the document that a request asks for (C27a)."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

from tenuto.schema import checking
from tenuto.schema.documents import MAX_SCHEMA_BYTES, Document

pytestmark = pytest.mark.behaviour("C27a")

NODE: dict[str, Any] = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["value", "children"],
            "additionalProperties": False,
        }
    },
}
TREE = '{"value": 1, "children": [{"value": 2, "children": []}]}'


def test_a_text_fits_if_it_parses_and_matches() -> None:
    tree = Document(NODE)
    assert tree.fits(TREE) is True
    assert tree.fits(f"\n {TREE}\n") is True
    assert tree.fits(f"<think>Hm.</think>\n{TREE}") is True
    for wrong in (TREE[:-1], f"{TREE}!", f"{TREE}{TREE}", TREE.replace("2", '"2"'), "", "null"):
        assert tree.fits(wrong) is False, wrong


def test_the_first_words_of_the_caller_belong_to_the_document() -> None:
    tree = Document(NODE, "{")
    assert tree.fits(TREE[1:]) is True
    assert tree.fits(TREE) is True, "some models write it anew"
    assert Document(NODE, "Here it is: ").fits(TREE) is True


def test_a_key_that_stands_twice_is_a_wrong_join() -> None:
    twice = '{"value": 1, "value": 2, "children": []}'
    assert (Document(NODE).fits(twice), Document(NODE).fits_together(twice)) == (True, False)
    assert Document(NODE).fits_together(TREE)
    assert Document(NODE, "{").fits_together(TREE[1:])
    assert not Document(NODE, "{").fits_together(twice[1:])


@pytest.mark.parametrize("cut", range(1, len(TREE)))
def test_the_value_that_was_due_is_not_taken_for_the_document(cut: int) -> None:
    part = '{"value": 2, "children": []}'
    tree = Document(NODE)
    taken = tree.fits_alone(part, TREE[:cut])
    assert taken is not TREE[:cut].rstrip().endswith((":", "[", ","))
    assert tree.fits_alone(TREE, TREE[:cut]) is (taken or cut >= 16)


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {"type": 3},
        {"$ref": "https://example.com/a"},
        {"$ref": "#/$defs/none"},
        {"pattern": "("},
        {"$schema": "https://json-schema.org/draft/2090-01/schema", "$ref": "#/x"},
        {"enum": ["x" * MAX_SCHEMA_BYTES]},
    ],
    ids=["none", "type", "address", "missing", "pattern", "draft", "large"],
)
def test_what_can_not_be_checked_is_neither_right_nor_wrong(
    schema: Any, caplog: pytest.LogCaptureFixture
) -> None:
    document = Document(schema)
    with caplog.at_level(logging.WARNING, "tenuto"):
        assert (document.is_checkable, document.fits("{}"), document.fits("{")) == (
            False,
            None,
            False,
        )
    assert len(caplog.records) <= 1, "said once"


def test_a_schema_without_an_end_is_given_up_in_bounded_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checking, "LIMIT_S", 0.2)
    doubled: dict[str, Any] = {"$defs": {"e0": {"type": "integer"}}, "$ref": "#/$defs/e40"}
    for n in range(1, 41):
        ref = {"$ref": f"#/$defs/e{n - 1}"}
        doubled["$defs"][f"e{n}"] = {"allOf": [ref, ref]}
    begun_s = time.thread_time()
    for schema in (doubled, {"$ref": "#"}, {"anyOf": [{"$ref": "#"}]}):
        document = Document(schema)
        assert document.is_checkable
        assert [document.fits(text) for text in ("1", "2", "3")] == [None] * 3
        assert not document.is_checkable
    assert time.thread_time() - begun_s < 10


def test_deep_and_odd_documents_raise_nothing() -> None:
    for text in (
        "[" * 100_000,
        "[" * 5_000 + "]" * 5_000,
        '"\\ud800"',
        "\ud800",
        "1e999",
        "9" * 5_000,
    ):
        assert Document(NODE).fits(text) in (False, None)
        assert Document({}).fits(text) is False
