"""Asking a simulator through the wrapped SDK of Cohere on the API of version 1."""

from __future__ import annotations

from typing import Any

from support.asking.cohere_v1 import CohereV1Asker, kind_of
from support.asking.wrapping import Watching


class WrappedCohereV1(Watching, CohereV1Asker):
    """Asks through `tenuto.wrap`."""


def assert_one_message(told: list[Any]) -> None:
    """A stream is one message: one beginning, one end, which says all that was said before it and
    the caller's own rows alone."""
    kinds = [kind_of(event) for event in told]
    assert (kinds.count("stream-start"), kinds.count("stream-end")) == (1, 1)
    assert (kinds[0], kinds[-1]) == ("stream-start", "stream-end")
    end = told[-1]
    if getattr(end, "error", None):
        return
    whole = end.response
    said = [getattr(event, "text", None) or "" for event in told[:-1]]
    pieces = [
        text
        for text, kind in zip(said, kinds[:-1], strict=True)
        if kind in ("text-generation", "tool-calls-chunk")
    ]
    assert whole.text.strip() == "".join(pieces).strip()
    assert whole.generation_id == told[0].generation_id
    calls = [event.tool_calls for event in told if kind_of(event) == "tool-calls-generation"]
    assert (whole.tool_calls or []) == [call for some in calls for call in some]
    *before, last = whole.chat_history
    assert (last.role, last.message) == ("CHATBOT", whole.text)
    assert not any("[Your" in (getattr(row, "message", "") or "") for row in before)
