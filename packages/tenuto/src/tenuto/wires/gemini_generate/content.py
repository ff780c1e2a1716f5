"""The model's content on Gemini, part by part, over all attempts of a turn.

A thought signature belongs to its part, so parts with one are never merged with others. Calls for
the caller are left out: they are judged and written separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tenuto.core.answer.parts import Kind, Message
from tenuto.core.deciding.actions import Content
from tenuto.wires.answer import AttemptContent
from tenuto.wires.blocks_content import split_among
from tenuto.wires.json import JsonObject

Part = Mapping[str, Any]

TOKEN = "continuationToken"
"""The token that continues a paused answer. It is a part of its own in the content."""

CITING = frozenset(
    {
        *("groundingMetadata", "grounding_metadata", "citationMetadata", "citation_metadata"),
        *("urlContextMetadata", "url_context_metadata"),
    }
)
"""Members of a candidate with sources: positions within the answer, or the pages that were read."""

SOURCES = "sources"
"""The key under which a message keeps whole candidates with such members. `citations` joins their
content."""

GROWS = frozenset({"logprobsResult"})
"""Members of a candidate that each event continues."""

SIGNATURES = ("thoughtSignature", "thought_signature")


def member(value: JsonObject, *names: str) -> Any:
    """Return a member by any of its spellings: the APIs write camelCase, the SDK's objects
    snake_case.

    >>> member({"finish_reason": "STOP"}, "finishReason", "finish_reason")
    'STOP'
    """
    for name in names:
        if (found := value.get(name)) is not None:
            return found
    return None


def candidates_of(value: JsonObject) -> list[JsonObject]:
    """Return the candidates of a response or an event: often one, none for a blocked prompt."""
    found = value.get("candidates")
    return [c for c in found if isinstance(c, dict)] if isinstance(found, list) else []


def parts_of(candidate: JsonObject) -> list[JsonObject]:
    """Return the parts of a candidate's content, often none (Q12)."""
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return [p for p in parts if isinstance(p, dict)] if isinstance(parts, list) else []


def is_text(part: Part) -> bool:
    """Return whether a part is text of the answer."""
    return isinstance(part.get("text"), str) and part.get("thought") is not True


def is_plain_text(part: Part) -> bool:
    """Return whether a part is only text of the answer or a thought, so that it can be merged with
    others of its kind."""
    return isinstance(part.get("text"), str) and part.keys() <= {"text", "thought"}


def is_call(part: Part) -> bool:
    """Return whether a part is a call for the caller."""
    return "functionCall" in part or "function_call" in part


def is_signed(part: Part) -> bool:
    """Return whether a part has a signature."""
    return any(part.get(key) for key in SIGNATURES)


def merged_content(spoken: Sequence[AttemptContent]) -> Content:
    """Return the parts of all attempts in order, each with its kept text. Consecutive texts are
    merged, unless one is signed. If the provider can go on from the last attempt by itself, the
    token for that comes last.

    >>> from tenuto.core.answer.parts import Opened
    >>> def spoken(came, kept):
    ...     message = Message()
    ...     message.take([Opened((), Kind.TEXT, {"text": came}, "text", came, goes_on=True)])
    ...     return AttemptContent(None, kept, message=message)
    >>> merged_content([spoken("Half of ", "Half "), spoken("half of it.", "of it.")])
    ({'text': 'Half of it.'},)
    """
    merged = _joined(part for one in spoken for part in with_text(_joined(_parts(one)), one.text))
    last = spoken[-1].message if spoken else None
    return (*merged, last.checkpoint) if last is not None and last.checkpoint else tuple(merged)


def as_body(message: Message) -> JsonObject:
    """Return a message as a body, without its parts (`Wire.as_body`)."""
    candidate = {key: item for key, item in message.said.items() if key != SOURCES}
    return {"candidates": [candidate], **message.envelope}


def without_token(content: Iterable[Part]) -> list[Part]:
    """Return only the parts."""
    return [part for part in content if TOKEN not in part]


def token_in(content: Iterable[Part]) -> Any:
    """Return the token of a pause in a content; None: there is none."""
    return next((part[TOKEN] for part in content if TOKEN in part), None)


def with_text(parts: Sequence[Part], text: str) -> list[Part]:
    """Return the parts with `text` split among the text parts, from its end backwards, each taking
    as much as it held. So text that a seam removed is missing at the seam. Excess text goes to the
    beginning of the first one, or into a new part if there is none.

    >>> with_text([{"text": "ab"}, {"x": 1}, {"text": "cd"}], "bcd")
    [{'text': 'b'}, {'x': 1}, {'text': 'cd'}]
    """
    waiting, pieces = split_among([part["text"] if is_text(part) else "" for part in parts], text)
    out: list[Part] = []
    for part, piece in zip(parts, pieces, strict=True):
        if not is_text(part):
            out.append(part)
            continue
        said, waiting = waiting + piece, ""
        if said or is_signed(part):
            out.append({**part, "text": said})
    return [*out, {"text": waiting}] if waiting else out


def _parts(spoken: AttemptContent) -> Iterator[JsonObject]:
    """Return the parts of one attempt, without calls for the caller."""
    parts = spoken.message.parts if spoken.message is not None else ()
    said = (part.whole() for part in parts if part.kind is not Kind.CALL)
    return (part for part in said if not is_call(part))


def _joined(parts: Iterable[Part]) -> list[Part]:
    """Return the same parts, with those that continue the one before them merged."""
    out: list[tuple[Part, list[str]]] = []
    for part in parts:
        if out and _goes_on(out[-1][0], part):
            out[-1][1].append(part["text"])
        else:
            out.append((part, []))
    # Joined once, so that a long text stays linear.
    return [{**p, "text": "".join([p["text"], *more])} if more else p for p, more in out]


def _goes_on(before: Part, part: Part) -> bool:
    """Return whether two parts are two pieces of one text or one thought."""
    return is_plain_text(before) and is_plain_text(part) and is_text(before) == is_text(part)
