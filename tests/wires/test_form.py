"""Whole requests, as the agent composes them."""

from __future__ import annotations

import json

import pytest

from tenuto.core import hints
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.wires.form import Opening
from tenuto_agent import Model
from tenuto_agent.composing import Composed
from tenuto_agent.transcript import Assistant, Result, Results, User

CALL = ToolCall("call_1", "look", "{}", Finding.WHOLE)


@pytest.mark.behaviour("H3")
@pytest.mark.parametrize("text", ["", " \n"])
@pytest.mark.parametrize("wire", ["cohere", "openai-chat", "anthropic-messages", "gemini-generate"])
def test_a_result_without_text_stands_as_a_word(wire: str, text: str) -> None:
    model = Model(f"{wire}:m", base_url="http://127.0.0.1", api_key="none")
    path = model.form.path(model.id, False)
    made = Composed(model.wire, model.provider.dialect, path, Opening("m", stream=False))
    for row in (User("Go."), Assistant("", (CALL,)), Results((Result("call_1", "look", text),))):
        made.add(row)
    assert json.loads(made.body)
    assert made.body.count(hints.EMPTY_RESULT.encode()) == 1
