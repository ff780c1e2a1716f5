"""A loss or a double of any passage shows, because no sentence stands twice."""

import json

from tenuto_sim import prose


def test_no_sentence_of_an_answer_stands_twice():
    for number in range(200):
        text = prose.prose(f"prompt {number}")
        sentences = text.replace("\n\n", " ").split(". ")
        assert len(set(sentences)) == len(sentences) == 10
        assert 480 <= len(text) <= 700


def test_arguments_hold_a_path_and_a_content_that_tempts_repairing_parsers():
    made = json.loads(prose.arguments("x"))
    assert sorted(made) == ["content", "path"]
    assert 250 <= len(made["content"]) <= 400
    assert all(sign in made["content"] for sign in '"{}\\\n')


def test_arguments_follow_a_schema_that_names_other_properties():
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "unit": {"enum": ["c", "f"]},
            "days": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "at": {"$ref": "#/$defs/Place"},
            "tags": {"type": ["array", "null"], "items": {"type": "boolean"}},
        },
        "$defs": {"Place": {"type": "object", "properties": {"lat": {"type": "number"}}}},
    }
    made = json.loads(prose.arguments("x", 0, schema))
    assert made["unit"] == "c"
    assert isinstance(made["days"], int)
    assert isinstance(made["at"]["lat"], float)
    assert len(made["tags"]) == 2


def test_a_schema_that_contains_itself_ends():
    node = {"type": "object", "properties": {"next": {"$ref": "#"}, "n": {"type": "integer"}}}
    assert prose.from_schema(node, "x")["n"] > 0
