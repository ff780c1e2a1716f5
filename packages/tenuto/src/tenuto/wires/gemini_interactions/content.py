"""The model's content on Gemini's Interactions, step by step, over all attempts of a turn.

A whole body is made of it. A continuation carries its signed thoughts and what the provider ran.
Calls for the caller are left out: they are judged and written separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tenuto.core.answer.parts import Kind, Part
from tenuto.core.deciding.actions import Content
from tenuto.wires.answer import AttemptContent
from tenuto.wires.gemini_interactions.steps import (
    CALL,
    INPUT,
    OUTPUT,
    THOUGHT,
    kind_of,
    parts_of,
    text_in,
)
from tenuto.wires.items_content import Speech, parts_in_order
from tenuto.wires.json import JsonObject

TOKEN = "continuation_token"
"""The token that continues a paused answer. It is a step of its own in the content, with the id of
the interaction that gave it."""


def merged_content(spoken: Sequence[AttemptContent]) -> Content:
    """Return the steps of all attempts in order, each with its kept text. If the provider can go on
    from the last attempt by itself, the token for that comes last.

    >>> from tenuto.core.answer.parts import Message, Opened
    >>> def spoken(came, kept):
    ...     step, message = {"type": "model_output", "content": [{"text": came}]}, Message()
    ...     message.take([Opened((0,), Kind.TEXT, step)])
    ...     return AttemptContent(None, kept, message=message)
    >>> merged = merged_content([spoken("Half of ", "Half "), spoken("half of it.", "of it.")])
    >>> len(merged), merged[0]["content"][0]["text"]
    (1, 'Half of it.')
    """
    merged = SPEECH.merged(spoken, _steps)
    last = spoken[-1].message if spoken else None
    return (*merged, last.checkpoint) if last is not None and last.checkpoint else tuple(merged)


def without_token(content: Iterable[Mapping[str, Any]]) -> list[JsonObject]:
    """Return only the steps."""
    return [dict(step) for step in content if TOKEN not in step]


def pause_in(content: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the token of a pause in a content, with the id beside it; None: there is none."""
    return next((step for step in content if TOKEN in step), None)


def output(text: str) -> JsonObject:
    """Return a model step with a text."""
    return {"type": OUTPUT, "content": [{"type": "text", "text": text}]}


def _is_plain_text(part: JsonObject) -> bool:
    """Return whether text can continue in a part: not in a cut text with annotations (C28a)."""
    return text_in(part) is not None and not part.get("annotations")


SPEECH = Speech(
    kind_of=kind_of,
    output=OUTPUT,
    thought=THOUGHT,
    parts_of=parts_of,
    text_in=text_in,
    is_open=_is_plain_text,
    longer=lambda last, part: {**last, "text": last["text"] + part["text"]},
    cut=lambda part, text, _: {**part, "text": text},
    new=output,
)


def said_steps(text: str, content: Content) -> list[JsonObject]:
    """Return the model's content so far, as steps that may be sent back. A thought is sent only
    with its signature, and a tool of the provider's only with its result.

    >>> thought, signed = {"type": "thought"}, {"type": "thought", "signature": "gA=="}
    >>> [kind_of(step) for step in said_steps("Hi", (thought, signed))]
    ['thought', 'model_output']
    """
    steps = SPEECH.with_text(without_token(content), text)
    results = [step for step in steps if kind_of(step).endswith("_result")]
    run = [step.get("call_id") for step in results]  # of whatever type: an odd one fits no call
    return [step for step in steps if _may_go_back(step, run)]


def _may_go_back(step: JsonObject, run: list[Any]) -> bool:
    kind = kind_of(step)
    if kind == THOUGHT:
        return bool(step.get("signature"))
    if kind == OUTPUT:  # white space alone is refused
        return any((text := text_in(part)) is None or text.strip() for part in parts_of(step))
    return not kind.endswith("_call") or step.get("id") in run


# --- the steps of one attempt -------------------------------------------------------------------


def _steps(spoken: AttemptContent) -> list[JsonObject]:
    """Return the steps of one attempt, without calls for the caller and the user's input."""
    steps = [_step(part) for part in parts_in_order(spoken) if part.kind is not Kind.CALL]
    return [step for step in steps if kind_of(step) not in (CALL, INPUT)]


def _step(part: Part) -> JsonObject:
    """Return a step as in a body."""
    step, said = dict(part.native), 0
    pieces = part.pieces if part.kind is Kind.TEXT else []
    for behind, (delta,) in zip(part.behind, part.grown.get("deltas", ()), strict=True):
        _settle(step, pieces[said:behind])
        _add(step, delta)
        said = behind
    _settle(step, pieces[said:])
    return step


def _settle(step: JsonObject, pieces: Sequence[str]) -> None:
    """Add a text that arrived in pieces, joined once, so that a long one stays linear."""
    if not pieces:
        return
    text, parts = "".join(pieces), parts_of(step)
    if parts and (held := text_in(parts[-1])) is not None and not parts[-1].get("annotations"):
        parts[-1] = {**parts[-1], "text": held + text}
    else:
        parts.append({"type": "text", "text": text})
    step["content"] = parts


def _add(step: JsonObject, delta: JsonObject) -> None:
    """Add a piece that is no text."""
    match kind_of(delta):
        case "thought_summary":
            content = delta.get("content")
            step["summary"] = [*parts_of(step, "summary"), content] if content else []
        case "thought_signature":
            step["signature"] = delta.get("signature")
        case "text_annotation_delta":
            parts = parts_of(step)
            if parts and isinstance(found := delta.get("annotations"), list):
                held = parts[-1].get("annotations")
                known = held if isinstance(held, list) else []
                step["content"] = [*parts[:-1], {**parts[-1], "annotations": [*known, *found]}]
        case "arguments_delta":
            pass
        case _ if kind_of(step) == OUTPUT:
            step["content"] = [*parts_of(step), delta]
        case _:
            step.update({key: item for key, item in delta.items() if key != "type"})
