"""A text that was cut while a call is owed is gone on with, on every wire: the rest first, then the
call, in one request (C24a)."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import (
    DECODED,
    LIMITS,
    MAKERS,
    At,
    arguments_of,
    ask,
    cut_text,
    streamed,
    whole,
)
from support.far_sides import FarSide
from support.pairing import every_pair

import tenuto
from tenuto.core import hints

WANTED = {"path": "a.txt", "content": "x"}


def called(wire: str, mode: str, text: str, *, cut: bool = False) -> bytes:
    """An answer with a text and a call, which the limit cuts."""
    decoded = wire in DECODED
    given: Any = WANTED if decoded else json.dumps(WANTED)
    if cut:
        given = 5 if decoded else given[:14]
    stop = LIMITS[wire] if cut else None
    if mode == "whole":
        return whole(wire, given if not cut else _broken(wire), text=text, stop=stop)
    return streamed(wire, given, text=text, stop=stop)


def _broken(wire: str) -> Any:
    """Arguments that are no whole object, as a body of the wire has them."""
    return 5 if wire in (*DECODED, "anthropic-messages", "bedrock-converse") else '{"path": "a.t'


def hint_of(body: bytes) -> str:
    """The last hint of a request."""
    said = json.dumps(json.loads(body))
    found = [
        name for name in dir(hints) if name.isupper() and name.startswith(("CON", "CALL", "R"))
    ]
    told = {name: said.rfind(json.dumps(getattr(hints, name))[1:-1]) for name in found}
    return max(told, key=lambda name: told[name])


HALVES = ("Now I read the wea", "ther of the har", "bour.")


@pytest.mark.behaviour("C24a")
@every_pair(
    wire=sorted(MAKERS),
    mode=["stream", "whole"],
    by=["limit", "break"],
    before=["", "ok."],
    pieces=[2, 3],
    between=[False, True],
)
def test_a_text_that_was_cut_while_a_call_is_owed_is_one_text(
    wire: str, mode: str, by: str, before: str, pieces: int, between: bool
) -> None:
    """`between`: an attempt that makes only the call, which is cut again."""
    if mode == "whole" and by == "break":
        by = "limit"  # of a body that breaks off nothing can be read
    texts = [*HALVES[: pieces - 1], "".join(HALVES[pieces - 1 :])]
    answers: list[Any] = [called(wire, mode, before, cut=True)]
    answers += [cut_text(wire, mode, text, by) for text in texts[:-1]]
    answers += [called(wire, mode, "", cut=True)] * between
    answers += [called(wire, mode, texts[-1])]
    policy = tenuto.Policy(
        **QUICK,
        continuation_tool_repair_attempts=3,
        continuation_max_total_completion_tokens=0,
        prefill="never",
    )
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), policy)
        said = ask(asker, wire, "stream" if mode == "stream" else "body")
        asker.close()
        asked = [hint_of(body) for _, body in far.requests[2:]]
    whole_text = "".join(HALVES)
    assert said.error is None
    assert said.text == (f"{before}\n\n{whole_text}" if before else whole_text)
    assert arguments_of(said) == [WANTED]
    assert asker.ending["status"] == "complete"
    assert set(asked) == {"REST_THEN_CALL"}


@pytest.mark.behaviour("C24a", "P10")
@every_pair(
    wire=sorted(MAKERS),
    mode=["stream", "whole"],
    on_incomplete=["stop", "error"],
    owed=[False, True],
)
def test_a_call_beside_half_a_sentence_is_handed_on_and_never_completes_the_turn(
    wire: str, mode: str, on_incomplete: Literal["stop", "error"], owed: bool
) -> None:
    """The model makes only the call, although it was asked for the rest of its text first."""
    answers: list[Any] = [called(wire, mode, "", cut=True)] * owed
    answers += [cut_text(wire, mode, HALVES[0], "limit"), called(wire, mode, "")]
    policy = tenuto.Policy(
        **QUICK,
        on_incomplete=on_incomplete,
        continuation_max_total_completion_tokens=0,
        prefill="never",
    )
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), policy)
        said = ask(asker, wire, "stream" if mode == "stream" else "body")
        asker.close()
    assert (asker.ending["status"], asker.ending["reason"]) == ("partial", "text_unfinished")
    if on_incomplete == "error":
        assert said.error is not None
        return
    assert (said.error, said.text) == (None, HALVES[0])
    assert arguments_of(said) == [WANTED]


@pytest.mark.behaviour("C24")
@pytest.mark.parametrize("text", ["Now I read the weather.", "Now I read it:", "好了。"])
def test_a_sentence_that_was_cut_at_its_end_is_whole_beside_the_call(text: str) -> None:
    answers = [
        cut_text("openai-chat", "stream", text, "limit"),
        called("openai-chat", "stream", ""),
    ]
    with FarSide(*answers) as far:
        asker = MAKERS["openai-chat"](At(far), tenuto.Policy(**QUICK, prefill="never"))
        said = ask(asker, "openai-chat", "stream")
        asker.close()
    assert (said.text, arguments_of(said)) == (text, [WANTED])
    assert asker.ending["status"] == "complete"
