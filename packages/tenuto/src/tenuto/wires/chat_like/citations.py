"""The annotations of an OpenAI Chat message that was joined from several attempts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from tenuto.wires.answer import AttemptContent
from tenuto.wires.citations import Place, places
from tenuto.wires.json import JsonObject


def annotations_of(spoken: AttemptContent) -> list[Any]:
    """Return the annotations of one attempt, often none."""
    parts = spoken.message.parts if spoken.message is not None else []
    pieces = chain.from_iterable(part.grown.get("annotations", ()) for part in parts)
    return [annotation for piece in pieces if isinstance(piece, list) for annotation in piece]


def joined_annotations(
    spoken: Sequence[AttemptContent],
    given: Sequence[Any] = (),
    positions: tuple[str, str] = ("start_index", "end_index"),
) -> list[Any]:
    """Return the annotations of all attempts with positions in the whole text, without duplicates
    and those that have no place in it.

    Args:
        given: the annotations passed on with the first attempt, which are not repeated.
        positions: the members for the beginning and the end of an annotation.
    """
    found = list(map(annotations_of, spoken))
    if not any(found):
        return []
    found[0] = [annotation for annotation in found[0] if annotation not in given]
    out: list[Any] = []
    for place, of_one in zip(places(spoken), found, strict=True):
        for annotation in of_one:
            moved = _moved(annotation, place, positions)
            if moved is not None and moved not in out:
                out.append(moved)
    return out


def _moved(annotation: object, place: Place, positions: tuple[str, str]) -> JsonObject | None:
    """Return an annotation with moved positions, its own or those of a member (`url_citation`)."""
    if not isinstance(annotation, dict):
        return None
    moved = dict(annotation)
    for key, value in annotation.items():
        if isinstance(value, dict):
            moved[key] = _shifted(value, place, positions)
            if moved[key] is None:
                return None
    return _shifted(moved, place, positions)


def _shifted(value: JsonObject, place: Place, positions: tuple[str, str]) -> JsonObject | None:
    if not any(key in value for key in positions):
        return value  # such as a file
    start, end = (value.get(key) for key in positions)
    if type(start) is not int or type(end) is not int:
        return None
    span = place.moved((start, end))
    return None if span is None else value | dict(zip(positions, span, strict=True))
