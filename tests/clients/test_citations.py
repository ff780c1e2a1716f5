"""Citations of an answer that was joined from several attempts stand at the words they are of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.events import openai_chat as chat
from support.events.framing import sse
from support.replay.openai_chat import ASK, END, MAX, R

both = pytest.mark.parametrize("mode", ["body", "stream"])


@dataclass(frozen=True)
class Cited(R):
    """A response that cites sources: words of its text, by address."""

    sources: Mapping[str, str] = field(default_factory=dict)
    noted: tuple[Any, ...] = ()
    beside_stop: bool = False

    @property
    def annotations(self) -> list[Any]:
        made: list[Any] = list(self.noted)
        for url, words in self.sources.items():
            start = self.text.index(words)
            at = {"start_index": start, "end_index": start + len(words)}
            made.append({"type": "url_citation", "url_citation": at | {"title": url, "url": url}})
        return made

    def body(self, model: str) -> bytes:
        value = json.loads(super().body(model))
        value["choices"][0]["message"]["annotations"] = self.annotations
        return json.dumps(value).encode()

    def stream(self, model: str, *, include_usage: bool) -> bytes:
        told = self.events(model, include_usage=include_usage)
        at = next(n for n, event in enumerate(told) if "finish_reason" in event["choices"][0])
        noted = {"annotations": self.annotations}
        if self.beside_stop:
            told[at]["choices"][0]["delta"] |= noted
        else:
            told.insert(at, chat.chunk(noted, self._shared(model), {}))
        return b"".join(sse(told, done=True))


def told(turn: Any, mode: str) -> tuple[str, list[Any]]:
    """The text and the annotations that a program has of the real SDK."""
    if mode == "body":
        message = turn.client.chat.completions.create(model="m", messages=[ASK]).choices[0].message
        return message.content, [a.to_dict() for a in message.annotations or ()]
    text = ""
    found: list[Any] = []
    for chunk in turn.client.chat.completions.create(model="m", messages=[ASK], stream=True):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            found += getattr(choice.delta, "annotations", None) or []
    return text, found


def words(text: str, annotations: list[Any]) -> dict[str, str]:
    """The words that each source is cited for."""
    cited = [a["url_citation"] for a in annotations]
    return {c["url"]: text[c["start_index"] : c["end_index"]] for c in cited}


@pytest.mark.behaviour("C14", "C22")
@both
@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        (
            (Cited("The tide comes twi", MAX, sources={"a": "The tide"}),
             Cited("twice a day.", END, sources={"b": "twice a day."})),
            "The tide comes twice a day.",
        ),
        (
            (Cited("Über dem Meer ", MAX, sources={"a": "Über"}),
             Cited("zieht 🌊 die ", MAX, sources={"b": "🌊", "c": "zieht"}),
             Cited("Flut auf.", END, sources={"d": "Flut"})),
            "Über dem Meer zieht 🌊 die Flut auf.",
        ),
        (
            (Cited("One, two, three, ", MAX, sources={}),
             Cited("four.", END, sources={"d": "four"})),
            "One, two, three, four.",
        ),
        (
            (Cited("The tide comes ", MAX, sources={"a": "The tide"}, beside_stop=True),
             Cited("twice a day.", END, sources={"b": "twice"}, beside_stop=True)),
            "The tide comes twice a day.",
        ),
    ],
)  # fmt: skip
def test_each_citation_stands_at_its_words(play: Any, mode: str, parts: Any, whole: str) -> None:
    text, annotations = told(play(*parts), mode)
    assert text == whole
    assert words(text, annotations) == {k: v for part in parts for k, v in part.sources.items()}


@pytest.mark.behaviour("C14")
@both
def test_a_citation_of_words_that_the_seam_took_away_is_left_out(play: Any, mode: str) -> None:
    said = "The harbour has four old cranes and a lamp. The tide comes twi"
    again = "Sure, continuing where I stopped:\n\nThe tide comes twice a day."
    later = Cited(again, END, sources={"b": "Sure", "c": "twice a day"})
    text, annotations = told(play(Cited(said, MAX, sources={"a": "lamp"}), later), mode)
    found = words(text, annotations)
    assert found.pop("a") == "lamp"
    assert all(cited == later.sources[url] for url, cited in found.items())
    assert ("b" in found) == ("Sure" in text)


@pytest.mark.behaviour("C14", "N6")
@both
@pytest.mark.parametrize(
    "at",
    [None, {}, {"start_index": None, "end_index": 3}, {"start_index": 2, "end_index": 99},
     {"start_index": -3, "end_index": 2}, {"start_index": True, "end_index": 3}],
)  # fmt: skip
def test_a_citation_that_cannot_be_placed_costs_nothing(play: Any, mode: str, at: Any) -> None:
    odd = ({"type": "url_citation", "url_citation": at}, None, "x", [1])
    turn = play(Cited("Half of ", MAX), Cited("it.", END, noted=odd))
    text, annotations = told(turn, mode)
    assert text == "Half of it."
    assert not [a for a in annotations if (a.get("url_citation") or {}) and at]
