"""A text that ends in order without a stop or an end mark (S3a). If nobody knows whether the host
sends them, the text is complete only if the further answer confirms its end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.asking.wrapping import QUICK, Wrapped
from support.every_wire import At
from support.far_sides import DONE, FarSide, answer, event, json_answer, sse_answer

import tenuto

TEXT = (
    "The bells of the old town rang over the river, and the boats came home "
    "one by one from the far "
)
HALF = TEXT[:60]
ANOTHER = HALF + "bridge, while nobody on the banks had seen the ferry leave in the mist. It sank."
OTHER_BEGINNING = "Sure, here it is again:\n\n"


def unmarked(text: str) -> bytes:
    """A stream that ends in order behind its text."""
    cut = [text[at : at + 9] for at in range(0, len(text), 9)]
    pieces = [event(json.dumps(piece)[1:-1].encode()) for piece in cut]
    return sse_answer(b"".join(pieces or [event(b"")]))


def marked(text: str) -> bytes:
    return unmarked(text) + event(b"", b'"stop"') + DONE


def refused(status: str) -> bytes:
    return json_answer(b'{"error": {"message": "No.", "type": "invalid"}}', status=status)


def asked(far: FarSide, on_incomplete: Any, *, turns: int = 1) -> tuple[Any, Any]:
    asker = Wrapped(At(far), tenuto.Policy(**QUICK, on_incomplete=on_incomplete))
    for _ in range(turns):
        said = asker.ask([{"role": "user", "content": "Write it."}], "stream", "sync")
    asker.close()
    return asker, said


CUT: dict[str, tuple[bytes, ...]] = {
    "an earlier cut": (unmarked(HALF),),
    "an earlier cut, then the same": (unmarked(HALF), unmarked(TEXT)),
    "an earlier cut, announced": (unmarked(OTHER_BEGINNING + HALF),),
    "other words from the middle on": (unmarked(ANOTHER),),
    "other words from the middle on, and a stop": (marked(ANOTHER),),
    "an earlier cut, and a stop": (marked(HALF),),
}
"""Answers that add nothing, but end elsewhere."""


@pytest.mark.behaviour("S3a", "P1")
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
@pytest.mark.parametrize("further", CUT)
def test_a_text_is_partial_where_the_further_answer_shows_that_it_was_cut(
    further: str, on_incomplete: str
) -> None:
    with FarSide(unmarked(TEXT), *CUT[further]) as far:
        asker, said = asked(far, on_incomplete)
    assert (asker.ending["status"], asker.ending["reason"]) == ("partial", "provider_error")
    assert said.error is not None
    assert not asker.of("no_end_mark_learned")


ENDED = TEXT + "bank."
"""The same text with an end."""

WHOLE: dict[str, Any] = {
    "small talk": lambda text: unmarked("How can I help you?"),
    "the same text": unmarked,
    "the same text, announced": lambda text: unmarked(OTHER_BEGINNING + text),
    "its last words": lambda text: unmarked(text[-24:]),
    "nothing, and a stop": lambda text: marked(""),
    "small talk, and a stop": lambda text: marked("How can I help you?"),
    "the same text, and a stop": marked,
}


@pytest.mark.behaviour("S3a")
@pytest.mark.parametrize(
    ("text", "on_incomplete"), [(TEXT, "stop"), (ENDED, "stop"), (ENDED, "error")]
)
@pytest.mark.parametrize("further", WHOLE)
def test_a_text_is_whole_where_the_further_answer_confirms_its_end(
    further: str, text: str, on_incomplete: str
) -> None:
    with FarSide(unmarked(text), WHOLE[further](text)) as far:
        asker, said = asked(far, on_incomplete)
        assert len(far.requests) == 2
    assert asker.ending["status"] == "complete"
    assert (said.error, said.finish, said.text) == (None, None, text)


@pytest.mark.behaviour("S3c", "P1")
@pytest.mark.parametrize("on_incomplete", ["error", "notice"])
@pytest.mark.parametrize("further", WHOLE)
def test_who_asks_for_certainty_gets_no_text_as_whole_that_ends_inside_a_sentence(
    further: str, on_incomplete: str
) -> None:
    with FarSide(unmarked(TEXT), WHOLE[further](TEXT)) as far:
        asker, said = asked(far, on_incomplete)
    assert asker.ending["status"] == "partial"
    assert said.error is not None or "This answer is incomplete" in said.text
    assert said.finish is None, "no stop is invented"


@pytest.mark.behaviour("S3c")
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
def test_a_further_answer_without_a_word_or_a_mark_shows_nothing(on_incomplete: str) -> None:
    with FarSide(*[unmarked(TEXT), unmarked(""), unmarked("")] * 6) as far:
        asker, said = asked(far, on_incomplete, turns=6)
        assert len(far.requests) == 18, "each turn asks for the rest"
    assert (asker.ending["status"], asker.ending["reason"]) == ("partial", "end_unknown")
    assert (said.finish, said.error is None) == (None, on_incomplete == "stop")
    assert not asker.of("no_end_mark_learned")


SAYS_ITS_END = {
    "json": '{"bells": ["old", "new"], "boats": 3}',
    "fence": "```py\nprint(1)\n```",
    "markup": "<svg><g></g></svg>",
}


@pytest.mark.behaviour("S3c")
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
@pytest.mark.parametrize("text", SAYS_ITS_END.values(), ids=SAYS_ITS_END)
def test_texts_that_say_that_they_are_whole_teach_and_no_stop_is_invented(
    text: str, on_incomplete: str
) -> None:
    with FarSide(unmarked(text)) as far:
        asker, said = asked(far, on_incomplete, turns=5)
        assert len(far.requests) == 8, "from the fourth turn on, it is asked no more"
    (learned,) = asker.of("no_end_mark_learned")
    assert learned["setting"] == "Provider(sends_stop=False)"
    assert (said.error, said.finish, said.text) == (None, None, text)


@pytest.mark.behaviour("S3c", "P1")
def test_what_was_learned_shows_no_half_sentence_as_whole() -> None:
    with FarSide(*[unmarked(SAYS_ITS_END["json"])] * 6, unmarked(TEXT)) as far:
        asker, said = asked(far, "error", turns=4)
        assert len(far.requests) > 7
    assert (asker.ending["status"], said.finish) == ("partial", None)
    assert said.error is not None


@pytest.mark.behaviour("S3a", "P1")
@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "404 Not Found"])
def test_a_text_that_the_provider_refuses_to_continue_is_shown_as_it_came_and_is_partial(
    status: str,
) -> None:
    answers = [unmarked(TEXT), refused(status)] * 4
    with FarSide(*answers) as far:
        asker, said = asked(far, "stop", turns=4)
        assert len(far.requests) == 8, "a refusal teaches nothing about the host's streams"
    assert (asker.ending["status"], asker.ending["reason"]) == ("partial", "end_unknown")
    assert (said.error, said.finish, said.text) == (None, None, TEXT)
    assert not asker.of("no_end_mark_learned")


@pytest.mark.behaviour("S3a", "P1")
@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized"])
def test_such_a_text_raises_for_those_who_ask_for_errors(status: str) -> None:
    with FarSide(unmarked(TEXT), refused(status)) as far:
        asker, said = asked(far, "error")
    assert asker.ending["status"] == "partial"
    assert said.error is not None
    assert "sends_stop=False" in str(said.error)


@pytest.mark.behaviour("S3a", "S2")
@pytest.mark.parametrize("whole", ["42", "Yes.", "[1]", "東"])
@pytest.mark.parametrize("ends", [marked, unmarked])
def test_a_short_text_that_is_said_again_is_there_once(whole: str, ends: Any) -> None:
    with FarSide(unmarked(whole), ends(whole)) as far:
        asker, said = asked(far, "stop")
    assert asker.ending["status"] == "complete"
    assert (said.error, said.finish, said.text) == (None, None, whole)


@pytest.mark.behaviour("S3a")
@pytest.mark.parametrize(
    "further",
    [
        sse_answer(b""),
        sse_answer(b": ping\n\n"),
        sse_answer(
            b'data: {"choices":[{"index":0,"delta":{"reasoning_content":"Hm, the user"}}]}\n\n'
        ),
    ],
    ids=["no bytes", "a comment", "cut reasoning"],
)
def test_an_answer_that_never_began_to_speak_confirms_nothing(further: bytes) -> None:
    with FarSide(unmarked(TEXT), further) as far:
        asker, said = asked(far, "error")
    assert asker.ending["status"] == "partial"
    assert said.error is not None


@pytest.mark.behaviour("S3a")
def test_reasoning_before_a_confirmation_is_no_part_of_it() -> None:
    further = unmarked("<think>It is whole.</think>That is everything.")
    with FarSide(unmarked(ENDED), further) as far:
        asker, said = asked(far, "error")
    assert asker.ending["status"] == "complete"
    assert (said.error, said.text) == (None, ENDED)


@pytest.mark.behaviour("S3a")
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
def test_ollama_streams_get_no_end_that_the_server_did_not_send(on_incomplete: Any) -> None:
    lines = b"".join(
        b'{"model":"m","message":{"role":"assistant","content":"%s"},"done":false}\n' % text
        for text in (b"All ", b"that ", b"came.")
    )
    stream = answer(lines, "content-type: application/x-ndjson", length=False)
    policy = tenuto.Policy(**QUICK, on_incomplete=on_incomplete)
    with FarSide(stream) as far, tenuto.http_client("httpx", policy=policy) as client:
        row = {"role": "user", "content": "Write it."}
        asked = {"model": "m", "stream": True, "messages": [row]}
        received = client.post(far.base_url.removesuffix("/v1") + "/api/chat", json=asked).content
        assert len(far.requests) == 2
    assert received == lines
