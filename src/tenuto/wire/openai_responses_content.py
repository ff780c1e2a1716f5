"""What a model said on OpenAI Responses, item by item, over all attempts of a turn.

A whole body is made of it, and a continuation carries of it what the provider ran. Calls for the
caller stay out: they are judged and written by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tenuto.core.actions import Content
from tenuto.wire.base import JsonObject, Spoken
from tenuto.wire.json import count, decode_object
from tenuto.wire.openai_responses_items import is_client_call, kind_of, parts_of

_WAITING = ("queued", "in_progress")


def merged_content(spoken: Sequence[Spoken]) -> Content:
    """The items of all attempts in order, with the text that is kept of each.

    A continuation's text goes on in the part that was cut. What it thought before is left out
    together with the id of its message: the reader of the answer would see one sentence in two
    messages, and many read the last one alone. Annotations go with their words; those whose words
    a seam took away from before a part of its own are left out.

    >>> def body(text):
    ...     part = {"type": "output_text", "text": text}
    ...     return {"output": [{"type": "message", "content": [part]}]}
    >>> merged = merged_content([
    ...     Spoken(body("Half of "), (), "Half "), Spoken(body("half of it."), (), "of it.")])
    >>> len(merged), merged[0]["content"][0]["text"]
    (1, 'Half of it.')
    """
    merged: list[JsonObject] = []
    for one in spoken:
        items = with_text(_items(one), one.text)
        if not one.apart and merged and goes_on(merged[-1]):
            items = _joined(merged, items)
        merged.extend(items)
    return tuple(_within(item) for item in merged)


def goes_on(item: Mapping[str, Any]) -> bool:
    """Whether an item ends in text that can be gone on in: a probability is one of each token."""
    parts = parts_of(dict(item)) if kind_of(item) == "message" else []
    last = parts[-1] if parts else {}
    is_text = last.get("type") == "output_text" and isinstance(last.get("text"), str)
    return is_text and not last.get("logprobs")


def moved(annotations: object, by: int) -> list[Any]:
    """Annotations whose words stand so many characters further on.

    >>> moved([{"start_index": 0, "end_index": 5}, {"file_id": "f"}], 15)
    [{'start_index': 15, 'end_index': 20}, {'file_id': 'f'}]
    """
    return [
        {k: v + by if k in _PLACES and type(v) is int else v for k, v in one.items()}
        if isinstance(one, dict)
        else one
        for one in (annotations if isinstance(annotations, list) else ())
    ]


_PLACES = ("start_index", "end_index")


def is_within(annotation: object, text: str) -> bool:
    """Whether an annotation points into a text, as far as it points anywhere.

    >>> is_within({"start_index": 0, "end_index": 2}, "Hi"), is_within({"start_index": -1}, "Hi")
    (True, False)
    """
    if not isinstance(annotation, dict):
        return True
    return all(0 <= place <= len(text) for k in _PLACES if type(place := annotation.get(k)) is int)


def _within(item: JsonObject) -> JsonObject:
    """An item without annotations of words that are not there."""
    if kind_of(item) != "message":
        return item
    parts = [
        {**part, "annotations": [a for a in part["annotations"] if is_within(a, part["text"])]}
        if isinstance(part.get("annotations"), list) and isinstance(part.get("text"), str)
        else part
        for part in parts_of(item)
    ]
    return {**item, "content": parts} if parts else item


def _joined(merged: list[JsonObject], items: list[JsonObject]) -> list[JsonObject]:
    """Let the first text of further items go on in the last part; returns the other items."""
    after = [item for item in items if kind_of(item) != "reasoning"]
    if after and goes_on(after[0]) and len(parts_of(after[0])) == 1:
        number = items.index(after[0])
        merged[-1] = _longer(merged[-1], parts_of(after[0])[0])
        return items[number + 1 :]
    return items


def _longer(item: JsonObject, part: JsonObject) -> JsonObject:
    *parts, last = parts_of(item)
    tied = moved(part.get("annotations"), len(last["text"]))
    annotations = {"annotations": [*last.get("annotations", ()), *tied]} if tied else {}
    longer = {**last, "text": last["text"] + part["text"], **annotations}
    return {**item, "content": [*parts, longer]}


def with_text(items: Sequence[Mapping[str, Any]], text: str) -> list[JsonObject]:
    """The items with `text` dealt out to their parts of text, from its end backwards and to each as
    much as it held: what a seam took away is missed where the seam was. Messages that are left
    without anything go; what does not fit is a message of its own.

    >>> with_text([], "Hi")[0]["content"][0]["text"]
    'Hi'
    """
    out: list[JsonObject] = []
    rest = text
    surplus: int | None = None
    for item in reversed(items):
        if kind_of(item) != "message":
            out.append(dict(item))
            continue
        parts: list[JsonObject] = []
        for part in reversed(parts_of(dict(item))):
            if not isinstance(held := part.get("text"), str):
                parts.append(part)
                continue
            if surplus is None:
                surplus = len(held) - len(held.rstrip())
            cut = max(len(rest) - max(len(held) - surplus, 0), 0)
            piece, rest = rest[cut:], rest[:cut]
            surplus = 0
            if piece:
                parts.append(_cut(part, piece, len(piece.rstrip()) - len(held.rstrip())))
        if parts:
            out.append({**item, "content": parts[::-1]})
    out.reverse()
    if rest:
        first = next((i for i in out if kind_of(i) == "message" and _begins_in_text(i)), None)
        if first is None:
            out.append(message(rest))
        else:
            parts = parts_of(first)
            parts[0] = _cut(parts[0], rest + parts[0]["text"], len(rest))
            out[out.index(first)] = {**first, "content": parts}
    return out


def _cut(part: JsonObject, text: str, by: int) -> JsonObject:
    """A part with another text, in which its words stand so many characters further on."""
    tied = {"annotations": moved(part["annotations"], by)} if part.get("annotations") else {}
    return {**part, "text": text, **tied}


def _begins_in_text(item: JsonObject) -> bool:
    return any(isinstance(part.get("text"), str) for part in parts_of(item)[:1])


def message(text: str, item_id: str = "msg_tenuto") -> JsonObject:
    """A message of the model's that holds a text.

    >>> message("Hi")["role"]
    'assistant'
    """
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {
        "id": item_id,
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }


def said_items(text: str, content: Content) -> list[JsonObject]:
    """What the model has said, as rows that stand for themselves. What the provider ran goes with
    them as it came, and so does the reasoning that led to it; other reasoning belongs to items
    whose ids are left out.

    >>> said_items("Hi", ())
    [{'role': 'assistant', 'content': 'Hi'}]
    """
    items = with_text(content, text)
    rows: list[JsonObject] = []
    thoughts: list[JsonObject] = []
    for item in items:
        kind = kind_of(item)
        if kind == "reasoning":
            thoughts.append(item)
        elif kind == "message":
            thoughts = []
            words = "".join(str(part.get("text") or "") for part in parts_of(item))
            phase = {"phase": item["phase"]} if isinstance(item.get("phase"), str) else {}
            rows += [{"role": "assistant", "content": words, **phase}] if words.strip() else []
        else:
            rows += [*thoughts, item] if item.get("status", "completed") == "completed" else []
            thoughts = []
    return rows


def _items(spoken: Spoken) -> list[JsonObject]:
    """The items of one attempt, without calls for the caller."""
    if spoken.value is not None:
        output = spoken.value.get("output")
        waiting = spoken.value.get("status") in _WAITING
        found = output if isinstance(output, list) and not waiting else []
    else:
        found = _from_events(spoken.events)
    return [dict(i) for i in found if isinstance(i, dict) and not is_client_call(i)]


def _from_events(events: Iterable[bytes]) -> list[JsonObject]:
    """The items that the events of a stream build, as a body would hold them."""
    items: dict[Any, JsonObject] = {}
    texts: dict[Any, list[str]] = {}
    for data in events:
        event = decode_object(data)
        if not isinstance(event, dict):
            continue
        index, item = count(event.get("output_index")), event.get("item")
        part = (index, count(event.get("content_index")))
        match event.get("type"):
            case "response.output_item.added" | "response.output_item.done":
                if isinstance(item, dict):
                    items[index] = dict(item)
            case "response.content_part.added" | "response.content_part.done":
                _set_part(items.get(index), part[1], event.get("part"))
            case "response.output_text.delta" if isinstance(event.get("delta"), str):
                texts.setdefault(part, []).append(event["delta"])
    for (index, number), pieces in texts.items():
        _fill(items.get(index), number, "".join(pieces))
    return [item for _, item in sorted(items.items(), key=lambda pair: (pair[0] is None, pair[0]))]


def _set_part(item: JsonObject | None, number: int | None, part: object) -> None:
    if item is None or not isinstance(part, dict) or number is None:
        return
    parts = parts_of(item)
    item["content"] = [*parts[:number], dict(part), *parts[number + 1 :]]


def _fill(item: JsonObject | None, number: int | None, text: str) -> None:
    """Give a part that was never closed the text that came."""
    if item is None or number is None or kind_of(item) != "message":
        return
    parts = parts_of(item)
    if number < len(parts) and not parts[number].get("text"):
        parts[number] = {**parts[number], "text": text}
        item["content"] = parts
