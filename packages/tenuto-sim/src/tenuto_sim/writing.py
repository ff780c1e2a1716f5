"""What the writers of all wires share: how to cut a text, interleave calls in a stream, show broken
arguments in a body, and write oddities that are the same everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, zip_longest
from typing import Any, TypeVar

from tenuto_sim.case import CUT_SHORT, Ending, Odd, Shape, Step
from tenuto_sim.reply import Reply

Made = TypeVar("Made")


def pieces(text: str, size: int) -> list[str]:
    """Return a text in pieces of this many characters.

    >>> pieces("Hello", 2)
    ['He', 'll', 'o']
    """
    return [text[at : at + size] for at in range(0, len(text), size)]


def together(written: Iterable[list[Made]], shape: Shape) -> Iterator[Made]:
    """Yield the events of one part after another, or of all parts in turn if interleaved.

    >>> list(together([[1, 2], [3]], Shape.INTERLEAVED))
    [1, 3, 2]
    """
    if shape is not Shape.INTERLEAVED:
        return chain.from_iterable(written)
    return (made for row in zip_longest(*written) for made in row if made is not None)


def parts_in_turn(
    written: Iterable[Iterable[Made]], shape: Shape, *, cut_short: bool
) -> Iterator[Made]:
    """Yield the events of each part; if the answer is cut short, the last part isn't closed.

    >>> list(parts_in_turn([[1, 2], [3, 4]], Shape.NORMAL, cut_short=True))
    [1, 2, 3]
    """
    parts = [list(events) for events in written]
    if cut_short and parts:
        parts[-1].pop()
    return together(parts, shape)


def place(name: str, index: int, shape: Shape) -> dict[str, Any]:
    """Return the member that says which part an event belongs to.

    >>> place("index", 2, Shape.NORMAL), place("index", 2, Shape.NO_INDEX)
    ({'index': 2}, {})
    """
    if shape is Shape.NO_INDEX:
        return {}
    return {name: 0 if shape is Shape.WRONG_INDEX else index}


def in_the_middle(events: list[Made], odd: Made) -> list[Made]:
    """Return the events with one more in the middle.

    >>> in_the_middle(["a", "b"], "?")
    ['a', '?', 'b']
    """
    at = len(events) // 2
    return [*events[:at], odd, *events[at:]]


def marks(step: Step) -> int:
    """Return how many end marks a stream has.

    >>> marks(Step()), marks(Step(odd=Odd.DOUBLE_DONE)), marks(Step(ending=Ending.DROP))
    (1, 2, 0)
    """
    if step.ending in CUT_SHORT or step.ending is Ending.NO_DONE:
        return 0
    return 2 if step.odd is Odd.DOUBLE_DONE else 1


def end_again(payloads: list[Any], **changed: Any) -> list[Any]:
    """Return the payloads with the last one repeated, changed in these members.

    >>> end_again([{"delta": {"stop": "a", "n": 1}}], delta={"stop": "b"})[1]
    {'delta': {'stop': 'b', 'n': 1}}
    """
    end = payloads[-1]
    inner = {
        name: end[name] | item if isinstance(item, dict) else item for name, item in changed.items()
    }
    return [*payloads, end | inner]


def end_before(payloads: list[Any], pieces: int, head: int = 0) -> list[Any]:
    """Return the payloads with the last one moved before this many others, but after the head.

    >>> end_before(["head", "a", "b", "end"], 1)
    ['head', 'a', 'end', 'b']
    """
    at = max(head, len(payloads) - 1 - pieces)
    return [*payloads[:at], payloads[-1], *payloads[at:-1]]


def stop_in(stops: Mapping[str, str], reply: Reply, step: Step, refused: str) -> str | None:
    """Return the stop of a reply in Anthropic's terms; `refused` is the stop of a refusal.

    >>> stop_in({"length": "max_tokens"}, Reply("Hi.", (), "LENGTH", 3, 1), Step(), "refusal")
    'MAX_TOKENS'
    """
    finish = reply.finish
    if finish is None:
        return None
    if reply.refusal is not None:
        return refused
    if step.context_window_tokens and finish == "length":
        return "model_context_window_exceeded"
    stop = stops.get(finish.lower(), finish)
    return stop.upper() if finish.isupper() else stop


def decoded(arguments: Any) -> Any:
    """Return a call's arguments as a body holds them, decoded; of cut arguments, the pairs that
    arrived
    whole.

    >>> decoded('{"path": "a", "content": "b'), decoded('{"pa'), decoded('[1]')
    ({'path': 'a'}, {}, [1])
    """
    if not isinstance(arguments, str):
        return arguments
    commas = (at for at in range(len(arguments) - 1, 0, -1) if arguments[at] == ",")
    for whole in (arguments, *(arguments[:at] + "}" for at in commas)):
        try:
            return json.loads(whole)
        except ValueError:
            continue
    return {}
