"""Citations of an answer that was joined from several: each stands at the words it is of, in the part
of the content that it is of, or nowhere."""

from __future__ import annotations

import json
from typing import Any

import cohere
import pytest
from support.asking.wrapping import QUICK
from support.far_sides import FarSide, json_answer

import tenuto

Part = dict[str, str]
ROWS: Any = [{"role": "user", "content": "When is high tide?"}]


def text(said: str) -> Part:
    return {"type": "text", "text": said}


def thinking(said: str) -> Part:
    return {"type": "thinking", "thinking": said}


def cited(words: str, start: int, part: int, **more: Any) -> dict[str, Any]:
    span = {"start": start, "end": start + len(words), "text": words}
    return span | {"sources": [], "content_index": part} | more


def body(finish: str, *content: Part, citations: Any = (), **more: Any) -> bytes:
    message = {"role": "assistant", "content": content, "citations": citations, **more}
    value = {"id": "a", "message": message, "finish_reason": finish}
    return json_answer(json.dumps(value).encode())


def asked(*answers: bytes) -> Any:
    with FarSide(*answers) as far:
        root = far.base_url.removesuffix("/v1")
        bare = cohere.ClientV2(base_url=root, api_key="key", max_retries=0)
        client = tenuto.wrap(bare, policy=tenuto.Policy(**QUICK))
        made = client.chat(model="m", messages=ROWS)
        assert len(far.requests) == len(answers)
    return made.message


def told(message: Any) -> list[tuple[str, int | None]]:
    """The words that each citation points at, by the part that it names."""
    parts = [part.text if part.type == "text" else part.thinking for part in message.content or ()]
    for one in message.citations or ():
        place = message.tool_plan if one.type == "PLAN" else parts[one.content_index]
        assert place[one.start : one.end] == one.text
    return [(one.text, one.content_index) for one in message.citations or ()]


@pytest.mark.behaviour("C28a", "C19")
def test_those_of_thinking_stay_with_the_thinking() -> None:
    notes = [cited("Noon", 0, 0, type="THINKING_CONTENT"), cited("Noon", 0, 1)]
    half = body("MAX_TOKENS", thinking("Noon, I think."), text("Noon at"), citations=notes)
    later = [cited("Six", 0, 0, type="THINKING_CONTENT"), cited("quay", 5, 1)]
    rest = body("COMPLETE", thinking("Six words."), text(" the quay."), citations=later)
    assert told(asked(half, rest)) == [("Noon", 0), ("Noon", 1), ("quay", 1)]


@pytest.mark.behaviour("C28a", "C19")
def test_those_of_the_second_part_of_a_text_move_with_it() -> None:
    notes = [cited("High", 0, 0), cited("noon", 3, 1)]
    half = body("MAX_TOKENS", text("High tide is "), text("at noon"), citations=notes)
    rest = body("COMPLETE", text(", says Rook."), citations=[cited("Rook", 7, 0)])
    message = asked(half, rest)
    assert told(message) == [("High", 0), ("noon", 0), ("Rook", 0)]
    assert [part.text for part in message.content] == ["High tide is at noon, says Rook."]


@pytest.mark.behaviour("T13", "P8")
def test_parts_of_an_answer_whose_call_is_put_right_stay_as_they_are() -> None:
    call = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
    notes = [cited("noon", 3, 1), cited("look", 0, None, type="PLAN")]  # type: ignore[arg-type]
    given = {"tool_plan": "look", "tool_calls": [call], "citations": notes}
    message = asked(body("TOOL_CALL", text("High tide is "), text("at noon"), **given))
    assert message.tool_calls[0].id
    assert [part.text for part in message.content] == ["High tide is ", "at noon"]
    assert told(message) == [("noon", 1), ("look", None)]
