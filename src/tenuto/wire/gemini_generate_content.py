"""What a model said on Gemini, part by part, over all attempts of a turn.

A signature of a thought belongs to the part that it came with, so that parts with one are never
merged with others. Calls for the caller stay out: they are judged and written by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tenuto.core.actions import Content
from tenuto.core.white_space import space_behind
from tenuto.wire.base import JsonObject, Spoken
from tenuto.wire.json import decode_object

Part = Mapping[str, Any]

TOKEN = "continuationToken"
"""What goes on where the provider paused; it stands in the content as a part of its own."""

SIGNATURES = ("thoughtSignature", "thought_signature")


def member(value: JsonObject, *names: str) -> Any:
    """A member by any of its spellings: the APIs write camelCase, the SDK's objects snake_case.

    >>> member({"finish_reason": "STOP"}, "finishReason", "finish_reason")
    'STOP'
    """
    for name in names:
        if (found := value.get(name)) is not None:
            return found
    return None


def candidates_of(value: JsonObject) -> list[JsonObject]:
    """The candidates of a response or an event; often one, none of a blocked prompt."""
    found = value.get("candidates")
    return [c for c in found if isinstance(c, dict)] if isinstance(found, list) else []


def parts_of(candidate: JsonObject) -> list[JsonObject]:
    """The parts of a candidate's content, often none (Q12)."""
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return [p for p in parts if isinstance(p, dict)] if isinstance(parts, list) else []


def is_text(part: Part) -> bool:
    """Whether a part is text of the answer."""
    return isinstance(part.get("text"), str) and part.get("thought") is not True


def is_call(part: Part) -> bool:
    """Whether a part is a call for the caller."""
    return "functionCall" in part or "function_call" in part


def is_signed(part: Part) -> bool:
    """Whether a part has a signature."""
    return any(part.get(key) for key in SIGNATURES)


def merged_content(spoken: Sequence[Spoken]) -> Content:
    """The parts of all attempts in order, with the text that is kept of each; texts that follow
    each other are one, unless one is signed. Behind them the token of a pause, if the last of them
    paused.

    >>> half = {"candidates": [{"content": {"parts": [{"text": "Half of "}]}}]}
    >>> rest = {"candidates": [{"content": {"parts": [{"text": "half of it."}]}}]}
    >>> merged_content([Spoken(half, (), "Half "), Spoken(rest, (), "of it.")])
    ({'text': 'Half of it.'},)
    """
    merged = _joined(
        part
        for one in spoken
        for part in with_text(_joined(p for p in _parts(one) if not is_call(p)), one.text)
    )
    token = _token(spoken[-1]) if spoken else None
    return (*merged, {TOKEN: token}) if token else tuple(merged)


def without_token(content: Iterable[Part]) -> list[Part]:
    """The parts alone."""
    return [part for part in content if TOKEN not in part]


def token_in(content: Iterable[Part]) -> Any:
    """The token of a pause in a content, None where there is none."""
    return next((part[TOKEN] for part in content if TOKEN in part), None)


def with_text(parts: Sequence[Part], text: str) -> list[Part]:
    """The parts with `text` dealt out to those of text, from its end backwards and to each as much
    as it held: what a seam took away is missed where the seam was. What is more than they held
    begins the first; where there is none, it is a part of its own.

    >>> with_text([{"text": "ab"}, {"x": 1}, {"text": "cd"}], "bcd")
    [{'text': 'b'}, {'x': 1}, {'text': 'cd'}]
    """
    places = [number for number, part in enumerate(parts) if is_text(part)]
    dealt: dict[int, str] = {}
    rest = text
    surplus = len("".join(parts[n]["text"] for n in places)) - len(text)
    spaces = space_behind("".join(parts[n]["text"] for n in places))
    missing = min(max(surplus, 0), spaces) if not text[-1:].isspace() else 0
    for number in reversed(places):
        size = len(parts[number]["text"])
        less = min(missing, size)
        missing -= less
        cut = max(len(rest) - (size - less), 0) if number != places[0] else 0
        rest, dealt[number] = rest[:cut], rest[cut:]
    out: list[Part] = []
    for number, part in enumerate(parts):
        if number not in dealt:
            out.append(part)
        elif dealt[number] or is_signed(part):
            out.append({**part, "text": dealt[number]})
    return out if places or not text else [*out, {"text": text}]


def _parts(spoken: Spoken) -> list[JsonObject]:
    return [part for value in _values(spoken) for part in _first_parts(value)]


def _values(spoken: Spoken) -> list[JsonObject]:
    if spoken.value is not None:
        return [spoken.value]
    values = (decode_object(data) for data in spoken.events)
    return [value for value in values if isinstance(value, dict)]


def _first_parts(value: JsonObject) -> list[JsonObject]:
    return parts_of(candidates_of(value)[0]) if candidates_of(value) else []


_LAST_EVENTS = 4
"""The stop, and whatever a provider says behind it."""


def _token(spoken: Spoken) -> Any:
    """The token at the end of an attempt: earlier ones are checkpoints."""
    last = Spoken(spoken.value, spoken.events[-_LAST_EVENTS:], "")
    for value in reversed(_values(last)):
        for candidate in candidates_of(value)[:1]:
            if token := member(candidate, TOKEN, "continuation_token"):
                return token
    return None


def _joined(parts: Iterable[Part]) -> list[Part]:
    """The same parts, those that go on with the one before them told in one."""
    out: list[tuple[Part, list[str]]] = []
    for part in parts:
        if out and _goes_on(out[-1][0], part):
            out[-1][1].append(part["text"])
        else:
            out.append((part, []))
    # Joined once: a long text stays linear.
    return [{**p, "text": "".join([p["text"], *more])} if more else p for p, more in out]


def _goes_on(before: Part, part: Part) -> bool:
    """Whether two parts are one text, or one thought, told in two pieces."""
    plain = before.keys() <= {"text", "thought"} and part.keys() <= {"text", "thought"}
    texts = isinstance(before.get("text"), str) and isinstance(part.get("text"), str)
    return plain and texts and is_text(before) == is_text(part)
