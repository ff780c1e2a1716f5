"""What cannot be a repetition or a preamble is handed on at once: event n + 1 of a continuation is
only sent after event n was read (S4a)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.events.by_wire import WIRES

import tenuto
from tenuto.turn.drivers.scripted import Scripted, lost

SAID = {
    "a word": "The moon pulls the sea, and the far side of the ea",
    "a sentence": "The moon pulls the sea, and the far side of the earth",
    "Chinese": "月亮吸引海水，因此地球的另一",
    "code": "def tide(height):\n    if height > 2.0 and not lo",
    "JSON": '{"tide": {"height": 2.0, "place": "Bre',
    "Arabic": "القمر يجذب البحر، ولذلك فإن الجا",
    "a number": "The tide was higher than in 19",
}
GOES_ON = {
    "a word": ["rth", " rises", " as well", ", which", " is why"],
    "a sentence": [" bulges", " too", ", so", " that two"],
    "Chinese": ["侧", "也", "会", "涨潮", "。每天"],
    "code": ["gged", " and", " ready", ":\n", "        return"],
    "JSON": ["men", '", "', 'unit": ', '"m"}}'],
    "Arabic": ["نب", " الآخر", " يرتفع", " أيضا"],
    "a number": ["87", " and", " lower", " than now"],
}


def stream(text: str, *pieces: str) -> Any:
    """The events of a few deltas."""
    made = WIRES["openai-chat"]
    return [made.framed(made.events(piece))[0] for piece in (text, *pieces)]


@pytest.mark.behaviour("S4a")
@pytest.mark.parametrize("kind", SAID)
def test_a_continuation_flows_from_its_first_event_on(kind: str) -> None:
    first = Scripted.stream(*stream(SAID[kind]), lost())
    row = {"role": "user", "content": "Write it."}
    body = json.dumps({"model": "m", "messages": [row], "stream": True}).encode()
    turn = tenuto.sansio.Turn(
        "POST",
        "https://host/v1/chat/completions",
        [],
        body,
        policy=tenuto.Policy(backoff_s=0.0),
    )
    answers = [list(first.pieces), [*stream("", *GOES_ON[kind])[1:]]]
    got, sent, begun = "", "", -1
    reply: Any = None
    while (command := turn.next(reply)) is not None:
        reply = None
        match command:
            case tenuto.sansio.SendRequest():
                begun += 1
                reply = first.head
            case tenuto.sansio.ReadMore() if begun == 1:
                assert got.rstrip() == (SAID[kind] + sent).rstrip(), "read before the next is sent"
                if not answers[1]:
                    return
                reply = answers[1].pop(0)
                sent = "".join(GOES_ON[kind][: len(GOES_ON[kind]) - len(answers[1])])
            case tenuto.sansio.ReadMore():
                reply = answers[0].pop(0) if answers[0] else lost()
            case tenuto.sansio.SendData(data):
                got += "".join(_texts(data))
    raise AssertionError("the continuation was not read")


def _texts(data: bytes) -> list[str]:
    values = [line[6:] for line in data.decode().splitlines() if line.startswith("data: {")]
    found = [json.loads(value)["choices"] for value in values]
    return [choices[0]["delta"].get("content") or "" for choices in found if choices]
