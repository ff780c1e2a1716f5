"""The model's content on OpenAI Responses, item by item, over all attempts of a turn.

A whole body is made of it, and a continuation carries what the provider ran. Calls for the caller
are left out: they are judged and written separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tenuto.core.answer.parts import Kind, Part
from tenuto.core.deciding.actions import Content
from tenuto.wires.answer import AttemptContent
from tenuto.wires.items_content import Speech, parts_in_order
from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in
from tenuto.wires.openai_responses.items import SUMMARY, kind_of, parts_of


def merged_content(spoken: Sequence[AttemptContent]) -> Content:
    """Return the items of all attempts in order, each with its kept text.

    The reasoning and the message id of a continuation are left out, since many programs read only
    the last message. Annotations stay with their words. If a seam removed the words, annotations of
    a separate part are left out.

    >>> from tenuto.core.answer.parts import Message, Opened
    >>> def spoken(came, kept):
    ...     part, message = {"type": "output_text", "text": ""}, Message()
    ...     message.take([Opened((0,), Kind.GROUP, {"type": "message"}),
    ...                   Opened((0, 0), Kind.TEXT, part, "text", came)])
    ...     return AttemptContent(None, kept, message=message)
    >>> merged = merged_content([spoken("Half of ", "Half "), spoken("half of it.", "of it.")])
    >>> len(merged), merged[0]["content"][0]["text"]
    (1, 'Half of it.')
    """
    last = spoken[-1] if spoken else None
    items = SPEECH.merged(spoken, lambda one: _items(one) if one is last else led(_items(one)))
    return tuple(map(_within, items))


def led(items: list[JsonObject]) -> list[JsonObject]:
    """Return items without reasoning at the end, which led to none of them. OpenAI refuses it
    without what followed it.

    >>> [item["type"] for item in led([{"type": "message"}, {"type": "reasoning"}])]
    ['message']
    """
    last = max((n for n, item in enumerate(items) if kind_of(item) != "reasoning"), default=-1)
    return items[: last + 1]


def goes_on(part: JsonObject) -> bool:
    """Return whether text can continue in a part at the end: not if it has log probabilities."""
    is_text = part.get("type") == "output_text" and isinstance(part.get("text"), str)
    return is_text and not part.get("logprobs")


def moved(annotations: object, by: int) -> list[Any]:
    """Return annotations whose words have moved by a number of characters.

    >>> moved([{"start_index": 0, "end_index": 5}, {"file_id": "f"}], 15)
    [{'start_index': 15, 'end_index': 20}, {'file_id': 'f'}]
    """
    return [
        {k: v + by if k in _PLACES and type(v) is int else v for k, v in one.items()}
        if isinstance(one, dict)
        else one
        for one in list_in(annotations)
    ]


_PLACES = ("start_index", "end_index")


def is_within(annotation: object, text: str) -> bool:
    """Return whether an annotation points into a text, or nowhere.

    >>> is_within({"start_index": 0, "end_index": 2}, "Hi"), is_within({"start_index": -1}, "Hi")
    (True, False)
    """
    if not isinstance(annotation, dict):
        return True
    return all(0 <= place <= len(text) for k in _PLACES if type(place := annotation.get(k)) is int)


def _within(item: JsonObject) -> JsonObject:
    """Return an item without annotations of missing words."""
    if kind_of(item) != "message":
        return item
    parts = [
        {**part, "annotations": [a for a in part["annotations"] if is_within(a, part["text"])]}
        if isinstance(part.get("annotations"), list) and isinstance(part.get("text"), str)
        else part
        for part in parts_of(item)
    ]
    return {**item, "content": parts} if parts else item


def _longer(last: JsonObject, part: JsonObject) -> JsonObject:
    tied = moved(part.get("annotations"), len(last["text"]))
    annotations = {"annotations": [*last.get("annotations", ()), *tied]} if tied else {}
    return {**last, "text": last["text"] + part["text"], **annotations}


def _cut(part: JsonObject, text: str, by: int) -> JsonObject:
    """Return a part with another text, whose words have moved by a number of characters."""
    tied = {"annotations": moved(part["annotations"], by)} if part.get("annotations") else {}
    return {**part, "text": text, **tied}


def _text_in(part: JsonObject) -> str | None:
    return text if isinstance(text := part.get("text"), str) else None


def message(text: str, item_id: str = "msg_tenuto") -> JsonObject:
    """Return a model message with a text.

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


SPEECH = Speech(
    kind_of=kind_of,
    output="message",
    thought="reasoning",
    parts_of=parts_of,
    text_in=_text_in,
    is_open=goes_on,
    longer=_longer,
    cut=_cut,
    new=message,
)


def said_items(text: str, content: Content) -> list[JsonObject]:
    """Return the model's content so far, as rows that stand alone. What the provider ran goes back
    unchanged, with the reasoning that led to it. Other reasoning belongs to items whose ids are
    left out, and goes back if it is encrypted, so that the provider can read it (H5b).

    >>> said_items("Hi", ())
    [{'role': 'assistant', 'content': 'Hi'}]
    """
    items = SPEECH.with_text(content, text)
    rows: list[JsonObject] = []
    thoughts: list[JsonObject] = []
    for item in items:
        kind = kind_of(item)
        if kind == "reasoning":
            thoughts.append(item)
        elif kind == "message":
            led_here, thoughts = sealed(thoughts), []
            words = "".join(str(part.get("text") or "") for part in parts_of(item))
            phase = {"phase": item["phase"]} if isinstance(item.get("phase"), str) else {}
            row = {"role": "assistant", "content": words, **phase}
            rows += [*led_here, row] if words.strip() else []
        else:
            rows += [*thoughts, item] if item.get("status", "completed") == "completed" else []
            thoughts = []
    return rows


def sealed(items: Iterable[JsonObject]) -> list[JsonObject]:
    """Return the items that are encrypted reasoning.

    >>> sealed([{"type": "reasoning", "encrypted_content": "x"}, {"type": "reasoning"}])
    [{'type': 'reasoning', 'encrypted_content': 'x'}]
    """
    return [
        item for item in items if kind_of(item) == "reasoning" and item.get("encrypted_content")
    ]


def thoughts_before_calls(content: Content) -> list[JsonObject]:
    """Return the encrypted reasoning that ends the content, which led to the calls."""
    return sealed(map(dict, content[len(led([*map(dict, content)])) :]))


# --- the items of one attempt -------------------------------------------------------------------


def _items(spoken: AttemptContent) -> list[JsonObject]:
    """Return the items of one attempt, without calls for the caller. Of several with one number the
    last counts."""
    last = {part.place: part for part in parts_in_order(spoken) if len(part.place) == 1}
    return [_item(part) for part in last.values() if part.kind is not Kind.CALL]


def _item(group: Part) -> JsonObject:
    """Return an item with its parts in place."""
    item = group.whole()
    lists: dict[str, list[JsonObject]] = {}
    for part in group.parts.values():
        _, *within, number = part.place
        member = SUMMARY if within else "content"
        if isinstance(number, int):
            if member not in lists:
                lists[member] = parts_of(item, member)
            lists[member][number : number + 1] = [part.whole()]
    return item | lists
