"""An empty answer that is asked for again without the tools, where the policy says so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import MAKERS, ROWS, TOOLS, At, made
from support.far_sides import FarSide
from support.replay.openai_chat import AFTER_RESULT, FILES, R

import tenuto
from tenuto.core import hints

pytestmark = pytest.mark.behaviour("E2a")

EMPTY = R("")
OFFERS = ("tools", "toolConfig", "tool_config", "tool_choice", "functions", "parallel_tool_calls")
"""What says anything about tools, on some wire."""


def offered(body: bytes) -> list[str]:
    value = json.loads(body)
    return [name for name in OFFERS if name in value]


@pytest.mark.parametrize("wire", sorted(MAKERS))
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_an_empty_answer_is_asked_for_again_without_the_tools(wire: str, mode: str) -> None:
    kind = "whole" if mode == "body" else mode
    policy = tenuto.Policy(**QUICK, empty_without_tools=1)
    with FarSide(made(wire, kind, " "), made(wire, kind, "It turns twice a day.")) as far:
        asker = MAKERS[wire](At(far), policy)
        row = ROWS.get(wire, {"role": "user", "content": "Why?"})
        said = asker.ask([row], mode, "sync", **TOOLS[wire])
        told = asker.of("empty_recovery")
        asker.close()
    assert said.text == "It turns twice a day."
    first, second = (body for _, body in far.requests)
    assert offered(first)
    assert not offered(second)
    assert hints.EMPTY in second.decode()
    assert [each["rung"] for each in told] == ["ask_without_tools"]


@pytest.mark.parametrize("wire", sorted(MAKERS))
def test_that_is_off_by_default(wire: str) -> None:
    with FarSide(made(wire, "whole", "")) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK))
        row = ROWS.get(wire, {"role": "user", "content": "Why?"})
        asker.ask([row], "body", "sync", **TOOLS[wire])
        asker.close()
    assert len(far.requests) > 1
    assert all(offered(body) for _, body in far.requests)


CALLS: dict[str, list[Any]] = {
    "anthropic-messages": [
        {"role": "user", "content": "Write it."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "write_file", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Done."}],
        },
    ],
    "bedrock-converse": [
        {"role": "user", "content": [{"text": "Write it."}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "t1", "name": "write_file", "input": {}}}],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "Done."}]}}],
        },
    ],
}


@pytest.mark.parametrize("wire", sorted(CALLS))
def test_tools_stay_where_the_provider_wants_them_beside_calls(wire: str) -> None:
    """Anthropic and Bedrock refuse a history with calls that comes without tools."""
    policy = tenuto.Policy(**QUICK, empty_without_tools=1)
    with FarSide(made(wire, "whole", ""), made(wire, "whole", ""), made(wire, "whole", "!")) as far:
        asker = MAKERS[wire](At(far), policy)
        asker.ask(CALLS[wire], "body", "sync", **TOOLS[wire])
        asker.close()
    assert len(far.requests) == 2, "the nudge after a tool result"
    assert all(offered(body) for _, body in far.requests)


@pytest.mark.parametrize("mode", ["body", "stream"])
def test_behind_a_tool_result_the_nudge_comes_first(play: Any, mode: str, way: str) -> None:
    turn = play(EMPTY, EMPTY, R("Done."), empty_without_tools=1)
    assert turn.ask(AFTER_RESULT, mode, way, **FILES).text == "Done."
    assert ["tools" in body for body in turn.bodies] == [True, True, False]
    assert hints.AFTER_TOOL_RESULT in str(turn.bodies[1])


def test_a_call_that_is_demanded_keeps_its_tools(play: Any, way: str) -> None:
    turn = play(*[EMPTY] * 9, empty_without_tools=2)
    turn.tell("body", way, **FILES, tool_choice="required")
    assert all("tools" in body for body in turn.bodies)


def test_the_setting_says_how_often(play: Any, way: str) -> None:
    turn = play(*[EMPTY] * 9, empty_without_tools=2, empty_nudges=0, empty_retries=0)
    turn.tell("body", way, **FILES)
    assert ["tools" in body for body in turn.bodies] == [True, False, False]


# --- the event of an empty answer ---------------------------------------------------------------


@pytest.mark.behaviour("E14")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_the_event_of_an_empty_answer_has_its_id(play: Any, mode: str, way: str) -> None:
    turn = play(EMPTY, R("Said."))
    turn.tell(mode, way)
    (told,) = turn.of("empty_recovery")
    assert told["response_id"].startswith("chatcmpl-")
