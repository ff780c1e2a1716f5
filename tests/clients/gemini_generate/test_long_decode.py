"""Gemini's own continuation: what the bare SDK resumes with a token, the wrapped one resumes alike."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.asking.gemini_generate import GeminiAsker, Said, model
from support.asking.wrapping import QUICK
from support.events import gemini_generate as gemini
from support.events.framing import sse
from support.replay.gemini_generate import (
    ASK,
    END,
    FILES,
    MAX,
    PAUSE,
    R,
    Refused,
    call,
    played,
    said,
    thought,
)
from support.replay.openai_chat import Replay, Reply

import tenuto
from tenuto.core import hints

pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")
"""What the bare SDK's own asynchronous transport is warned of."""

MODES = pytest.mark.parametrize("mode", ["body", "stream"])
HINT = {"role": "user", "parts": [{"text": hints.CONTINUE}]}

PIECES: list[dict[str, Any]] = [
    thought("First I count. "),
    thought("Then I tell."),
    said("One two "),
    said("three four "),
    said("five six."),
]
BREAKS = ("closed", "ended", "error")
"""How a stream breaks: in the middle of the transfer, in order but without a stop, by an event."""


def token(at: int) -> str:
    return base64.b64encode(b"at %d" % at).decode()


@dataclass
class LongDecode:
    """A model that keeps its state: each event has the token to go on from behind it, and a request
    with a token gets what follows there. The N-th request breaks behind the N-th number of events."""

    pieces: Sequence[dict[str, Any]] = field(default_factory=lambda: PIECES)
    breaks: Sequence[int] = ()
    how: str = "closed"
    every: int = 1
    """Only each so many-th event has a token."""
    wait_s: float = 0.0
    asked: int = 0

    def reply(self, asked: Any) -> Reply:
        given = asked.get("continuationToken")
        start = int(base64.b64decode(given).split()[1]) if given else 0
        ends = self.breaks[self.asked] if self.asked < len(self.breaks) else None
        self.asked += 1
        events = [self._event(at) for at in range(start, len(self.pieces))][:ends]
        if ends is not None and self.how == "error":
            events.append({"error": {"code": 503, "message": "Gone.", "status": "UNAVAILABLE"}})
        told = b"".join(sse(events, end="\r\n\r\n"))
        if ends is None or self.how != "closed":
            return Reply(200, "text/event-stream", told, {})
        cut = {"content-length": str(len(told) + 99), "connection": "close"}
        return Reply(200, "text/event-stream", told, cut)

    def _event(self, at: int) -> dict[str, Any]:
        last = at == len(self.pieces) - 1
        checkpoint = {"continuationToken": token(at + 1)}
        beside = {} if last or (at + 1) % self.every else checkpoint
        used = {"promptTokenCount": 9, "candidatesTokenCount": at + 1, "totalTokenCount": at + 10}
        return gemini.response(
            [self.pieces[at]],
            END if last else None,
            beside=beside,
            around={"usageMetadata": used, "responseId": "r"},
        )


@pytest.fixture
def both(stage: tuple[GeminiAsker, Replay]) -> Callable[..., tuple[Any, Any]]:
    """Asks the same bare and wrapped: for each, what was said, and the requests that left."""

    def ask(
        far: Callable[[], LongDecode], way: str, *, heard: bool = True, **more: Any
    ) -> tuple[Any, Any]:
        base, replay = stage
        settings = more.pop("settings", {})
        one = far()
        replay.say(*[one] * 12)
        bare = base.ask([ASK], "stream", way, **more), [r.json for r in replay.requests]
        one = far()
        asker = played(base, replay, *[one] * 12, **settings)
        if not heard:
            policy = tenuto.Policy(**QUICK | settings)
            asker.client = tenuto.wrap(base.client, policy=policy)
        return bare, (asker.tell("stream", way, **more), asker.bodies)

    return ask


def words(told: Said) -> tuple[str, str, str | None]:
    """The text, the thoughts and the stop of an answer."""
    parts = told.message.get("parts", [])
    thoughts = "".join(part["text"] for part in parts if part.get("thought"))
    return told.text, thoughts, told.stop


@pytest.mark.behaviour("C30", "P10")
@pytest.mark.parametrize("how", BREAKS)
@pytest.mark.parametrize("at", range(1, len(PIECES)))
def test_a_stream_that_breaks_at_any_event_goes_on_from_its_token_as_without_tenuto(
    both: Any, at: int, how: str, way: str
) -> None:
    bare, wrapped = both(lambda: LongDecode(breaks=[at], how=how), way)
    assert bare[0].error is None is wrapped[0].error
    assert words(bare[0]) == words(wrapped[0]) == (
        "One two three four five six.", "First I count. Then I tell.", END,
    )  # fmt: skip
    assert wrapped[1] == bare[1]
    assert [request.get("continuationToken") for request in wrapped[1]] == [None, token(at)]


@pytest.mark.behaviour("C30", "C14")
@pytest.mark.parametrize("how", BREAKS)
@pytest.mark.parametrize("at", [3, 5])
def test_what_came_behind_the_last_token_is_not_said_twice(
    both: Any, at: int, how: str, way: str
) -> None:
    pieces = [said(f"{word} ") for word in ["One", "two", "three", "four", "five", "six", "seven."]]
    bare, wrapped = both(lambda: LongDecode(pieces, breaks=[at], how=how, every=2), way)
    assert wrapped[0].text == "One two three four five six seven. "
    assert wrapped[1] == bare[1]
    assert bare[0].text != wrapped[0].text, "the SDK says what came behind the token twice"


@pytest.mark.behaviour("C30", "P10")
@pytest.mark.parametrize("how", BREAKS)
@pytest.mark.parametrize("at", range(1, len(PIECES)))
def test_nobody_has_to_listen_for_that(both: Any, at: int, how: str, way: str) -> None:
    bare, wrapped = both(lambda: LongDecode(breaks=[at], how=how), way, heard=False)
    assert words(wrapped[0]) == words(bare[0])
    assert wrapped[1] == bare[1]


@pytest.mark.behaviour("C30", "P10")
@pytest.mark.parametrize("how", BREAKS)
@pytest.mark.parametrize(
    "breaks", [[1, 1, 1, 1], [2, 0], [2, 0, 0], [3, 0, 1], [1] * 4, [2, 0, 0, 0, 0]]
)
def test_several_breaks_lose_no_more_than_without_tenuto(
    both: Any, breaks: list[int], how: str, way: str
) -> None:
    bare, wrapped = both(lambda: LongDecode(breaks=breaks, how=how), way)
    if bare[0].stop == END:
        assert words(wrapped[0]) == words(bare[0])
        assert wrapped[1] == bare[1]
    elif wrapped[0].error is None:
        assert wrapped[0].text == "One two three four five six."
    else:
        assert type(wrapped[0].error) is type(bare[0].error)


@pytest.mark.behaviour("C30", "P3")
@pytest.mark.parametrize("resumes", [0, 1])
def test_where_the_budget_ends_tenuto_asks_in_its_own_way(
    both: Any, resumes: int, way: str
) -> None:
    settings = {"pause_resumes": resumes}
    _, wrapped = both(lambda: LongDecode(breaks=[3, 1][: resumes + 1]), way, settings=settings)
    assert wrapped[0].error is None
    assert [body.get("continuationToken") is not None for body in wrapped[1]] == [
        False, *[True] * resumes, False,
    ]  # fmt: skip


@pytest.mark.behaviour("C30", "T4a", "P10")
@pytest.mark.parametrize("at", range(1, 5))
def test_calls_before_a_break_are_kept_and_not_asked_for_again(
    both: Any, at: int, way: str
) -> None:
    pieces = [
        thought("Two files. "),
        said("I write "),
        call(path="a", content="1"),
        call(path="b", content="2"),
        said(""),
    ]
    bare, wrapped = both(lambda: LongDecode(pieces, breaks=[at]), way, **FILES)
    assert wrapped[0].calls == bare[0].calls
    assert [made["args"] for made in wrapped[0].calls] == [
        {"path": "a", "content": "1"},
        {"path": "b", "content": "2"},
    ]
    assert words(wrapped[0]) == words(bare[0])
    assert wrapped[1] == bare[1]


@pytest.mark.behaviour("C30", "E10")
def test_the_usage_is_no_less_than_without_tenuto(both: Any, way: str) -> None:
    bare, wrapped = both(lambda: LongDecode(breaks=[2, 1]), way)
    for name in ("prompt_token_count", "candidates_token_count"):
        assert getattr(wrapped[0].usage, name) >= getattr(bare[0].usage, name)


TOKEN = {"continuationToken": token(1)}


@pytest.mark.behaviour("C30", "C17")
@MODES
@pytest.mark.parametrize("says", ["One ", [thought("Hm. ")], [call()]])
def test_at_the_limit_the_token_goes_back_with_a_limit_that_counts_what_came(
    play: Any, mode: str, way: str, says: Any
) -> None:
    asker = play(
        R(says, MAX, tokens=100, beside=TOKEN),
        R("two ", MAX, tokens=200, beside={"continuationToken": token(2)}),
        R("three.", END),
    )
    told = asker.tell(mode, way, max_output_tokens=100, **FILES)
    text, thoughts, stop = words(told)
    assert (text, stop) == ("One two three." if says == "One " else "two three.", END)
    assert thoughts == ("Hm. " if says == [thought("Hm. ")] else "")
    assert [made["args"] for made in told.calls] == [call()["functionCall"]["args"]] * (
        says == [call()]
    )
    tokens = [body.get("continuationToken") for body in asker.bodies]
    assert tokens == [None, token(1), token(2)]
    assert [asker.added(1), asker.added(2)] == [[], []]
    assert asker.budgets == [100, 100 + 200, 300 + 100]  # a turn has four times its limit (C4)


@pytest.mark.behaviour("C30", "C4a")
@MODES
def test_at_the_providers_own_limit_the_token_goes_back_with_a_limit(play: Any, mode: str) -> None:
    asker = play(R("One ", MAX, tokens=5000, beside=TOKEN), R("two.", END))
    assert asker.tell(mode, max_output_tokens=None).text == "One two."
    assert asker.budgets == [None, 5000 + 20_000]


@pytest.mark.behaviour("C30", "C5")
@MODES
@pytest.mark.parametrize("stop", [MAX, PAUSE, None])
def test_a_refused_token_is_followed_by_asking_in_words(
    play: Any, mode: str, way: str, stop: str | None
) -> None:
    refused = Refused(400, "The continuation token is not valid.")
    asker = play(R("One ", stop, beside=TOKEN), refused, R("two.", END))
    told = asker.tell(mode, way)
    assert (told.text, told.stop) == ("One two.", END)
    assert asker.bodies[1]["continuationToken"] == token(1)
    assert "continuationToken" not in asker.bodies[2]
    assert asker.added(2) == [model("One"), HINT]


@pytest.mark.behaviour("C30", "C5")
def test_a_refused_token_before_any_text_is_followed_by_the_request_itself(
    play: Any, way: str
) -> None:
    asker = play(R([thought("Hm.")], None, beside=TOKEN), Refused(404, "Unknown."), R("One.", END))
    assert asker.tell("stream", way).text == "One."
    assert asker.bodies[2] == asker.bodies[0]


@pytest.mark.behaviour("C30", "P10")
@MODES
def test_a_refused_token_and_refused_words_leave_what_came_with_its_stop(
    play: Any, mode: str
) -> None:
    asker = play(R("One ", MAX, beside=TOKEN), *[Refused(400, "No.")] * 6)
    told = asker.tell(mode)
    assert (told.error, told.text, told.stop) == (None, "One ", MAX)


@pytest.mark.behaviour("C30", "E1")
@MODES
@pytest.mark.parametrize("stop", [PAUSE, MAX, None])
def test_a_hop_that_adds_nothing_ends_the_answer(
    play: Any, mode: str, way: str, stop: str | None
) -> None:
    asker = play(R("One.", stop, beside=TOKEN), R("", END))
    told = asker.tell(mode, way)
    assert (told.error, told.text, told.stop, asker.sent) == (None, "One.", END, 2)
    assert asker.ending["status"] == "complete"


@pytest.mark.behaviour("C30", "C26")
@MODES
def test_a_pause_behind_a_raised_limit_keeps_the_limit(play: Any, mode: str) -> None:
    asker = play(
        R("One ", MAX, tokens=100, beside=TOKEN),
        R("two ", PAUSE, tokens=50, beside={"continuationToken": token(2)}),
        R("three.", END),
    )
    assert asker.tell(mode, max_output_tokens=100).text == "One two three."
    assert asker.budgets == [100, 300, 300]
    assert [body.get("continuationToken") for body in asker.bodies] == [None, token(1), token(2)]


@pytest.mark.behaviour("C30", "N3")
@MODES
@pytest.mark.parametrize("stop", ["SAFETY", "STOP", "OTHER"])
def test_an_answer_with_an_end_does_not_go_on(play: Any, stop: str, mode: str) -> None:
    asker = play(R("One.", stop, beside=TOKEN))
    assert (asker.tell(mode).stop, asker.sent) == (stop, 1)
