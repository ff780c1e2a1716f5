"""Sources of an answer that was joined from several attempts stand at the words they are of."""

from __future__ import annotations

from typing import Any

import pytest
from support.replay.gemini_generate import END, MAX, R, said, thought

MODES = pytest.mark.parametrize("mode", ["body", "stream"])


def span(text: str, words: str) -> dict[str, int]:
    """Where words are in a text, in bytes of UTF-8."""
    start = len(text[: text.index(words)].encode())
    return ({"startIndex": start} if start else {}) | {"endIndex": start + len(words.encode())}


def grounded(text: str, *supports: tuple[str, int], chunks: str, **more: Any) -> dict[str, Any]:
    """What stands beside a stop: a source for each letter of `chunks`."""
    told = [
        {"segment": span(text, words) | {"text": words}, "groundingChunkIndices": [number]}
        for words, number in supports
    ]
    web = [{"web": {"uri": f"https://{name}.example", "title": name}} for name in chunks]
    return {"groundingMetadata": {"groundingChunks": web, "groundingSupports": told, **more}}


def told(asker: Any, mode: str) -> tuple[str, Any]:
    answer = asker.tell(mode)
    return answer.text, answer.last.candidates[0]


def sources(text: str, grounding: Any) -> set[tuple[str, str]]:
    """The words that each source is given for."""
    data, found = text.encode(), set()
    for support in grounding.grounding_supports or ():
        at = support.segment
        cited = data[at.start_index or 0 : at.end_index].decode()
        assert cited == at.text
        for number in support.grounding_chunk_indices:
            found.add((cited, grounding.grounding_chunks[number].web.title))
    return found


@pytest.mark.behaviour("C14", "C22")
@MODES
def test_each_segment_stands_at_its_words(play: Any, mode: str) -> None:
    one, two, three = "Über dem Meer kommt die Flut zwei", "zweimal am Tag 🌊 und ", "geht."
    asker = play(
        R(one, MAX, beside=grounded(one, ("Über", 0), chunks="a", webSearchQueries=["sea"])),
        R(two, MAX, beside=grounded(two, ("zweimal", 1), ("🌊", 0), chunks="ba")),
        R(three, END, beside=grounded(three, ("geht", 0), chunks="c", webSearchQueries=["tide"])),
    )
    text, candidate = told(asker, mode)
    assert text == "Über dem Meer kommt die Flut zweimal am Tag 🌊 und geht."
    grounding = candidate.grounding_metadata
    wanted = {("Über", "a"), ("zweimal", "a"), ("🌊", "b"), ("geht", "c")}
    assert sources(text, grounding) == wanted
    assert grounding.web_search_queries == ["sea", "tide"]
    assert [chunk.web.title for chunk in grounding.grounding_chunks] == ["a", "b", "c"]


@pytest.mark.behaviour("C14")
@MODES
def test_a_segment_is_left_out_whose_words_or_sources_are_not_there(play: Any, mode: str) -> None:
    two = "and the rest."
    beside = grounded(two, ("rest", 0), ("and", 5), chunks="a")
    supports = beside["groundingMetadata"]["groundingSupports"]
    supports.append({"segment": {"endIndex": 3, "text": "odd"}, "groundingChunkIndices": [0]})
    supports += [None, {"segment": None}, {"segment": {"endIndex": "3"}}]
    text, candidate = told(play(R("Half ", MAX), R(two, END, beside=beside)), mode)
    assert text == "Half and the rest."
    assert sources(text, candidate.grounding_metadata) == {("rest", "a")}


@pytest.mark.behaviour("C14")
def test_in_a_body_a_segment_counts_from_its_own_part(play: Any) -> None:
    beside = grounded("of it.", ("of it", 0), chunks="a")
    beside["groundingMetadata"]["groundingSupports"][0]["segment"]["partIndex"] = 1
    asker = play(
        R([said("Half ", "c2ln")], MAX), R([thought("hm"), said("of it.")], END, beside=beside)
    )
    candidate = asker.tell().last.candidates[0]
    (support,) = candidate.grounding_metadata.grounding_supports
    part = candidate.content.parts[support.segment.part_index or 0].text.encode()
    assert part[support.segment.start_index or 0 : support.segment.end_index] == b"of it"


@pytest.mark.behaviour("C14", "C22")
@MODES
@pytest.mark.parametrize("one", ["The tide comes twi", "The tide 🌊 comes twi"])
def test_quotations_stand_at_their_words(play: Any, mode: str, one: str) -> None:
    two = "twice a day."
    first, later = (
        {"citationMetadata": {"citationSources": [span(text, words) | {"uri": words}]}}
        for text, words in ((one, "tide"), (two, "a day"))
    )
    text, candidate = told(play(R(one, MAX, beside=first), R(two, END, beside=later)), mode)
    found = candidate.citation_metadata.citations
    at = {c.uri: text.encode()[c.start_index or 0 : c.end_index].decode() for c in found}
    assert at == {"tide": "tide", "a day": "a day"}
