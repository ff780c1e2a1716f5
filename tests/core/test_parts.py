"""Parts of an answer in groups, parts that are said once more, and calls among them."""

from __future__ import annotations

from typing import get_args

from tenuto.core.answer.parts import CallPiece, Kind, Message, Opened, Piece, Placed, Restated
from tenuto.core.answer.signals import CallDelta, OtherSeen, TextDelta

GROUP = Opened((0,), Kind.GROUP, {"type": "message"})
FIRST = Opened((0, 0), Kind.TEXT, {"text": ""}, "text")
SECOND = Opened((0, 1), Kind.TEXT, {"text": ""}, "text")


def test_the_parts_of_a_group_stand_in_it_and_give_their_signals():
    message = Message()
    assert message.take([GROUP, FIRST, Piece((0, 0), Kind.TEXT, "Hi")]) == [
        TextDelta(""),
        TextDelta("Hi"),
    ]
    (group,) = message.parts
    assert [part.whole() for part in group.parts.values()] == [{"text": "Hi"}]


def test_text_without_a_place_goes_on_in_the_last_part_of_its_kind_that_began():
    message = Message()
    message.take([GROUP, FIRST, SECOND, Opened((1,), Kind.OTHER, {})])
    message.flow(Kind.TEXT, "Hi")
    assert [part.text for part in message.parts[0].parts.values()] == ["", "Hi"]
    message.flow(Kind.REASONING, "nowhere")  # no part of it has begun
    assert [part.text for part in message.parts[0].parts.values()] == ["", "Hi"]


def test_a_group_that_is_said_once_more_holds_only_the_parts_that_follow():
    message = Message()
    message.take([GROUP, FIRST, SECOND, Piece((0, 1), Kind.TEXT, "Hi")])
    again = Restated((0, 1), Kind.TEXT, {"text": "", "id": 1}, "text")
    assert message.take([Restated((0,), Kind.GROUP, {"id": 2}), again]) == []
    (group,) = message.parts
    assert group.whole() == {"id": 2}
    assert [part.whole() for part in group.parts.values()] == [{"text": "Hi", "id": 1}]


def test_text_behind_a_part_that_was_said_once_more_as_a_whole_is_not_added_to_it():
    message = Message()
    message.take([FIRST, Restated((0, 0), Kind.TEXT, {"text": "Hi"}, "text")])
    message.take([Piece((0, 0), Kind.TEXT, " there")])
    assert [part.whole() for part in message.parts] == [{"text": "Hi"}]


def test_a_call_that_is_said_once_more_as_a_whole_is_one_call():
    message = Message()
    begun = CallPiece((0,), CallDelta(0, "c", "f", None))
    whole = CallPiece((0,), CallDelta(0, "c", "f", "{}", whole=True))
    message.take([begun, whole])
    assert [part.kind for part in message.parts] == [Kind.CALL]


def test_an_unread_part_within_a_group_hides_no_call_that_has_the_groups_number():
    message = Message()
    assert message.take([GROUP, Opened((0, 0), Kind.OTHER, {})]) == [OtherSeen()]


def test_each_kind_of_signal_about_parts_is_settled() -> None:
    assert {*get_args(Placed)} == {*Message._SETTLERS}
