"""Reasoning in an answer that is put together: OpenAI refuses it without the item that followed it."""

from __future__ import annotations

from typing import Any

import pytest
from support.asking.openai_responses import CASES

THOUGHT = [name for name in CASES if name.startswith(("think", "reasoning", "hidden_reasoning"))]


@pytest.mark.behaviour("C20", "H4", "P1a")
@pytest.mark.parametrize("name", THOUGHT)
def test_a_stream_ends_with_the_items_of_a_body(wrapped: Any, way: str, name: str) -> None:
    asker = wrapped()
    body, stream = (asker.ask_case(CASES[name], mode, way) for mode in ("body", "stream"))
    kinds = [item["type"] for item in body.items]
    assert [item["type"] for item in stream.items] == kinds
    assert "reasoning" not in kinds[-1:] or set(kinds) == {"reasoning"}
