"""A cut JSON document: asked for again with its schema, or continued and checked (C27a)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.replay.openai_chat import END, MAX, R, Refused

both = pytest.mark.parametrize("mode", ["body", "stream"])
streams = pytest.mark.parametrize(
    "policy", [{}, {"structured_streams": "hold"}], ids=["flow", "hold"]
)

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "kind": {"enum": ["spring", "neap"]},
        "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
    },
    "required": ["name", "kind"],
    "additionalProperties": False,
    "$defs": {"row": {"type": "object", "properties": {"n": {"type": "integer"}}}},
}
FORM = {"type": "json_schema", "json_schema": {"name": "tide", "schema": SCHEMA, "strict": True}}
WHOLE = '{"name": "Bay", "kind": "spring", "rows": [{"n": 1}, {"n": 22}]}'
OTHER = '{ "kind": "neap", "name": "Fundy" }'
CUTS = {"string": '{"name": "Ba', "enum": WHOLE[:24], "row": WHOLE[:52], "number": WHOLE[:-4]}
AT_CEILING = {"hard_max_tokens": 100}
"""The limit of the request can't be raised, so that the document is continued at once."""


def asked(turn: Any, mode: str, way: str, **more: Any) -> Any:
    return turn.tell(mode, way, response_format=FORM, **more)


def ended(turn: Any) -> tuple[str, str]:
    return turn.ending["status"], turn.ending["reason"]


@pytest.mark.behaviour("C27a")
@both
@streams
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
def test_a_cut_document_is_requested_again_with_its_schema(
    play, mode, way, policy, cut, on_incomplete
):
    turn = play(R(CUTS[cut], MAX), R(WHOLE), on_incomplete=on_incomplete, **policy)
    got = asked(turn, mode, way, max_tokens=100)
    assert (got.text, got.finish, got.error) == (WHOLE, "stop", None)
    assert turn.bodies[1] == turn.bodies[0] | {"max_tokens": turn.bodies[1]["max_tokens"]}
    assert 200 < turn.bodies[1]["max_tokens"] <= 400
    assert ended(turn) == ("complete", "completed")


@pytest.mark.behaviour("C27a")
def test_a_document_in_other_words_serves_where_nothing_was_shown(play, way):
    for mode, policy in (("body", {}), ("stream", {"structured_streams": "hold"})):
        turn = play(R(CUTS["row"], MAX), R(OTHER), **policy)
        assert (asked(turn, mode, way).text, turn.sent) == (OTHER, 2)


@pytest.mark.behaviour("C27a")
@pytest.mark.parametrize("cut", CUTS)
def test_a_shown_document_goes_on_if_another_does_not_begin_like_it(play, way, cut):
    said = CUTS[cut]
    shown = said.removesuffix(" 2") if cut == "number" else said.rstrip()
    turn = play(R(said, MAX), R(OTHER), R(WHOLE[len(shown) :]))
    got = asked(turn, "stream", way)
    assert (got.text, got.finish, turn.sent) == (WHOLE, "stop", 3)
    assert "response_format" not in turn.bodies[2]
    assert turn.added(2)[0] == {"role": "assistant", "content": shown}


WRONG = {
    "other types": '", "kind": "spring", "rows": [{"n": "one"}]}',
    "other keys": '", "kind": "neap", "height": 3}',
    "a word of the enum that is none": '", "kind": "storm"}',
    "prose": " is what I meant to write. Shall I go on?",
    "nothing": "",
}


@pytest.mark.behaviour("C27a")
@both
@streams
@pytest.mark.parametrize("rest", WRONG)
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
def test_what_does_not_match_the_schema_is_never_complete(
    play, mode, way, policy, rest, on_incomplete
):
    cut = R('{"name": "Bay', MAX)
    turn = play(cut, *[R(WRONG[rest])] * 4, on_incomplete=on_incomplete, **AT_CEILING, **policy)
    got = asked(turn, mode, way, max_tokens=100)
    status, reason = ended(turn)
    assert (status, reason in ("document_cut", "document_invalid")) == ("partial", True)
    if on_incomplete == "error":
        assert got.error is not None
    else:
        assert (got.text, got.finish) == ('{"name": "Bay', "length")


@pytest.mark.behaviour("C21")
@both
@streams
def test_no_notice_stands_in_a_document(play, mode, way, policy):
    prose = [R("I can't do that.")] * 4
    turn = play(R(CUTS["enum"], MAX), *prose, on_incomplete="notice", **policy)
    got = asked(turn, mode, way)
    assert (got.text, got.finish, ended(turn)[0]) == (CUTS["enum"], "length", "partial")


@pytest.mark.behaviour("C27a")
@both
@pytest.mark.parametrize("again", [[], [R(OTHER[:9], MAX)]], ids=["at its ceiling", "may rise"])
def test_a_document_that_goes_on_in_white_space_alone_is_told_as_cut(play, mode, way, again):
    limits = {} if again else AT_CEILING
    turn = play(R(CUTS["string"], MAX), *again, *[R(" \n", MAX)] * 4, **limits)
    got = asked(turn, mode, way, max_tokens=100)
    assert (got.text, got.finish, ended(turn)) == (
        CUTS["string"],
        "length",
        ("partial", "document_cut"),
    )


@pytest.mark.behaviour("C27a")
@both
@pytest.mark.parametrize("rest", ["22}]}", " 22 } ] }", "2}]}", "}]}"], ids=str)
def test_a_number_at_the_end_is_written_anew(play, mode, way, rest):
    """Digits may go on or come again, and both match the schema."""
    said = '{"name": "Bay", "kind": "spring", "rows": [{"n": 22'
    turn = play(R(said, MAX), *[R(rest)] * 3, **AT_CEILING)
    got = asked(turn, mode, way, max_tokens=100)
    assert turn.added(1)[0]["content"] == said.removesuffix(" 22")
    if mode == "body" and rest == "2}]}":
        assert json.loads(got.text)["rows"] == [{"n": 2}], "as the model wrote it last"
    elif rest.strip().startswith("22"):
        assert json.loads(got.text)["rows"] == [{"n": 22}]
    else:
        assert (got.text, got.finish) == (said, "length")


@pytest.mark.behaviour("C27a")
@both
def test_a_document_that_comes_whole_as_its_own_continuation_is_the_answer(play, mode, way):
    said = "Here is all of it:\n```json\n" + OTHER + "\n```"
    hold = {"structured_streams": "hold"}
    turn = play(R(CUTS["string"], MAX), R(said), **AT_CEILING, **hold)
    got = asked(turn, mode, way, max_tokens=100)
    assert (got.text, got.finish, turn.sent) == (OTHER, "stop", 2)


@pytest.mark.behaviour("C27a")
@both
@streams
def test_a_document_that_needed_nothing_is_handed_on_as_it_came(play, mode, way, policy):
    turn = play(R('{"name": 3}', END), on_incomplete="error", **policy)
    got = asked(turn, mode, way)
    assert (got.text, got.finish, turn.sent) == ('{"name": 3}', "stop", 1)
    (seen,) = [event for event in turn.events if event.name == "stop_reason_observed"]
    assert "document_invalid" in seen.data["anomalies"]


@pytest.mark.behaviour("C27a")
@both
def test_a_document_that_does_not_match_can_be_requested_again(play, mode, way):
    hold = {"structured_streams": "hold", "invalid_documents": "ask_again"}
    turn = play(R('{"name": 3}'), R(WHOLE), **hold)
    got = asked(turn, mode, way)
    assert (got.text, got.finish, turn.sent) == (WHOLE, "stop", 2)
    assert turn.bodies[1]["response_format"] == FORM
    never = play(*[R('{"name": 3}')] * 4, **hold)
    got = asked(never, mode, way)
    assert (got.text, got.finish, ended(never)) == (
        '{"name": 3}',
        "length",
        ("partial", "document_invalid"),
    )
    fails = play(R('{"name": 3}'), *[Refused(500)] * 4, **hold)
    got = asked(fails, mode, way)
    assert (got.text, got.finish, ended(fails)[0]) == ('{"name": 3}', "length", "partial")


@pytest.mark.behaviour("C27a")
@both
def test_only_what_is_known_not_to_match_is_called_invalid(play, mode, way):
    hold = {"structured_streams": "hold"}
    whole = play(R(CUTS["row"], MAX), R('{"name": 3}'), continuation_max_attempts=1, **hold)
    got = asked(whole, mode, way)
    assert (got.text, ended(whole)) == (CUTS["row"], ("partial", "document_invalid"))
    loop = {"type": "json_schema", "json_schema": {"name": "t", "schema": {"$ref": "#"}}}
    unknown = play(R(CUTS["row"], MAX), R(WHOLE[len(CUTS["row"]) :]), **AT_CEILING)
    got = unknown.tell(mode, way, response_format=loop, max_tokens=100)
    assert (got.text, ended(unknown)) == (CUTS["row"], ("partial", "document_cut"))


@pytest.mark.behaviour("C27a")
@both
def test_the_rest_of_a_document_is_no_invalid_document(play, mode, way):
    turn = play(R(CUTS["row"], MAX), R(WHOLE[len(CUTS["row"]) :]), **AT_CEILING)
    assert asked(turn, mode, way, max_tokens=100).text == WHOLE
    seen = [event.data for event in turn.events if event.name == "stop_reason_observed"]
    assert [data["anomalies"] for data in seen] == [[], []]


@pytest.mark.behaviour("C27a")
@both
def test_a_document_that_does_not_match_can_be_an_error(play, mode, way):
    turn = play(R('{"name": 3}'), invalid_documents="error")
    got = asked(turn, mode, way)
    assert (got.error is not None, turn.sent) == (True, 1)
    assert asked(play(R(OTHER), invalid_documents="error"), mode, way).text == OTHER


@pytest.mark.behaviour("C27a")
@both
@streams
def test_a_document_that_broke_off_is_requested_again(play, mode, way, policy):
    turn = play(R(CUTS["row"], dropped=True), R(WHOLE), **policy)
    got = asked(turn, mode, way)
    assert (got.text, got.finish, turn.sent) == (WHOLE, "stop", 2)
    assert turn.bodies[1] == turn.bodies[0]


@pytest.mark.behaviour("C27a")
@both
def test_a_long_document_is_put_together_from_several_parts(play, mode, way):
    parts = [WHOLE[:12], WHOLE[12:30], WHOLE[30:51], WHOLE[51:]]
    turn = play(*[R(part, MAX) for part in parts[:-1]], R(parts[-1]), **AT_CEILING)
    got = asked(turn, mode, way, max_tokens=100)
    assert (got.text, got.finish) == (WHOLE, "stop")
    broken = play(*[R(part, MAX) for part in parts], R("!"), **AT_CEILING)
    got = asked(broken, mode, way, max_tokens=100)
    assert got.text == WHOLE


SWITCHES: Any = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"t": {"enum": ["on", "off"]}, "v": {"type": "integer"}},
                "required": ["t", "v"],
            },
        }
    },
    "required": ["rows"],
}
OFF = '{"t":"off","v":0}'
TWICE = '{"rows":[{"t":"on","v":1},' + f"{OFF},{OFF}" + ',{"t":"on","v":2}]}'


@pytest.mark.behaviour("C27a", "C14")
@both
@streams
@pytest.mark.parametrize("at", [44, 35, 47])
@pytest.mark.parametrize("least", [0, 4])
def test_an_element_that_equals_the_one_before_it_is_not_lost(play, mode, way, policy, at, least):
    schema = {
        **SWITCHES,
        "properties": {"rows": SWITCHES["properties"]["rows"] | {"minItems": least}},
    }
    form = {"type": "json_schema", "json_schema": {"name": "t", "schema": schema}}
    turn = play(R(TWICE[:at], MAX), *[R(TWICE[at:])] * 3, **AT_CEILING, **policy)
    got = turn.tell(mode, way, response_format=form, max_tokens=100)
    if got.finish == "stop":
        assert json.loads(got.text) == json.loads(TWICE)
        assert ended(turn) == ("complete", "completed")
    else:
        assert (got.finish, least) == ("length", 0), "the schema tells which reading is right"
        assert ended(turn) == ("partial", "document_cut")
    parts = [R(part, MAX) for part in (TWICE[:at], TWICE[at : at + 20])]
    several = play(*parts, R(TWICE[at + 20 :]), *[R("")] * 3, **AT_CEILING, **policy)
    got = several.tell(mode, way, response_format=form, max_tokens=100)
    assert got.finish == "length" or json.loads(got.text) == json.loads(TWICE)


@pytest.mark.behaviour("C27a", "C14")
@both
def test_a_string_whose_words_come_again_has_them_once(play, mode, way):
    form = {"type": "json_schema", "json_schema": {"name": "t", "schema": {"type": "object"}}}
    said = '{"title":"The moon pulls the sea towards it and the'
    more = 'pulls the sea towards it and the earth turns."}'
    turn = play(R(said, MAX), R(more), **AT_CEILING)
    got = turn.tell(mode, way, response_format=form, max_tokens=100)
    assert got.text == '{"title":"The moon pulls the sea towards it and the earth turns."}'


@pytest.mark.behaviour("C27a")
@both
@pytest.mark.parametrize(
    "schema", [{"type": 3}, {"$ref": "https://example.com/tide"}, {"x": "y" * 300_000}], ids=str
)
def test_without_a_schema_that_can_be_read_nothing_is_put_together(play, mode, way, schema):
    form = {"type": "json_schema", "json_schema": {"name": "t", "schema": schema}}
    turn = play(R(CUTS["row"], MAX), R("never asked for"), **AT_CEILING)
    got = turn.tell(mode, way, response_format=form, max_tokens=100)
    assert (got.text, got.finish, turn.sent) == (CUTS["row"], "length", 1)
    again = play(R(CUTS["row"], MAX), R(WHOLE))
    got = again.tell(mode, way, response_format=form, max_tokens=100)
    assert (got.text, got.finish, again.sent) == (WHOLE, "stop", 2)


@pytest.mark.behaviour("C27a")
@both
def test_json_mode_wants_an_object_and_the_keys_that_were_begun(play, mode, way):
    form = {"type": "json_object"}
    inner = play(R('{"rows": ', MAX), *[R('{"n": 1}')] * 4, **AT_CEILING)
    got = inner.tell(mode, way, response_format=form, max_tokens=100)
    assert (got.text.rstrip(), got.finish) == ('{"rows":', "length")
    rest = play(R('{"rows": ', MAX), R('{"n": 1}}'), **AT_CEILING)
    got = rest.tell(mode, way, response_format=form, max_tokens=100)
    assert json.loads(got.text) == {"rows": {"n": 1}}
