"""The cases of the simulator: every fault of every wire, as body and as stream, under each policy,
by every way in; and every place at which a caller can leave."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import tenuto
from checks.recorder import playing
from checks.recorder.cases import Group, Recorded
from checks.recorder.far import Sim, Written
from checks.recorder.inside import CASES_ON
from checks.recorder.questions import QUESTIONS, WIRES, of_case
from checks.recorder.showing import Shown, shown, unwatched

if TYPE_CHECKING:
    from checks.recorder.inside import Case

POLICIES = ("stop", "notice", "error")
"""Values of `on_incomplete`."""

BY_CLIENTS = ("stop", "error")

AT_ONCE: dict[str, Any] = {"backoff_s": 0.0, "retry_after_max_s": 0.0}
"""For the clients, which would wait for real."""


class Place(NamedTuple):
    """Where the cases of a wire are played: a host ("": the provider's own), a model's real name,
    and what the simulator does with a trailing assistant message."""

    wire: str
    host: str = ""
    real: str = ""
    prefill: str = "restart"


ELSEWHERE = {
    "unknown": {wire: Place(wire, "https://host.example") for wire in WIRES},
    "prefill": {
        "openai-chat": Place("openai-chat", "https://api.deepseek.com/beta", "", "continue"),
        "anthropic-messages": Place("anthropic-messages", "", "claude-sonnet-4-5", "continue"),
        "gemini-generate": Place("gemini-generate", "", "gemini-2.5-flash", "continue"),
        "bedrock-converse": Place("bedrock-converse", "", "anthropic.claude-haiku-4", "continue"),
    },
    "prefill-refused": {
        "openai-chat": Place("openai-chat", "https://api.deepseek.com/beta", "", "reject"),
        "anthropic-messages": Place("anthropic-messages", "", "claude-1", "reject"),
    },
}  # fmt: skip
"""Further places, by what is special there."""


def groups() -> Iterator[Group]:
    """Return the groups of every wire."""
    for wire in WIRES:
        yield Group(f"sim/{wire}", partial(_cases, Place(wire), f"sim/{wire}"))
        yield Group(f"close/{wire}", partial(_closes, Place(wire)))
        yield Group(f"cancel/{wire}", partial(_cancels, Place(wire)))
    for kind, places in ELSEWHERE.items():
        for wire, place in places.items():
            name = f"sim-{kind}/{wire}"
            yield Group(name, partial(_elsewhere, place, name))


def far(place: Place) -> Sim:
    """Return a simulator that has seen nothing."""
    return Sim(QUESTIONS[place.wire].before, prefill=place.prefill)


def _each(wire: str) -> Iterator[tuple[Case, str]]:
    for case in CASES_ON[wire].values():
        for mode in sorted(case.modes):
            yield case, mode


def _cases(place: Place, name: str) -> Iterator[Recorded]:
    for case, mode in _each(place.wire):
        for policy in POLICIES:
            yield (
                f"{name}/{case.name}/{mode}/{policy}",
                partial(_every_way, place, case, mode, policy),
            )


def _elsewhere(place: Place, name: str) -> Iterator[Recorded]:
    for case, mode in _each(place.wire):
        yield f"{name}/{case.name}/{mode}", partial(_one_way, place, case, mode, "stop")


def _one_way(place: Place, case: Case, mode: str, policy: str) -> Shown:
    asked = of_case(place.wire, case, stream=mode == "stream", host=place.host, real=place.real)
    made = playing.by_turn(far(place), asked, tenuto.Policy(on_incomplete=policy))  # type: ignore[arg-type]
    return shown(made, "sent", "received", "progress", "reported", "provider")


def _every_way(place: Place, case: Case, mode: str, policy: str) -> Shown:
    """By the turn, with a listener and without, and by clients in both ways."""
    made = _one_way(place, case, mode, policy)
    asked = of_case(place.wire, case, stream=mode == "stream", host=place.host, real=place.real)
    quiet = tenuto.Policy(on_incomplete=policy)  # type: ignore[arg-type]
    made["quiet"] = unwatched(playing.by_turn(far(place), asked, quiet, watched=False))
    if policy not in BY_CLIENTS:
        return made
    quick: Any = tenuto.Policy(on_incomplete=policy, **AT_ONCE)  # type: ignore[arg-type]
    ways = {
        "sync": playing.by_client(far(place), asked, quick, watched=False),
        "async": playing.by_async_client(far(place), asked, quick, watched=True),
    }
    for way, played in ways.items():
        of_way = shown(played, "sent", "received")
        made[way] = b"\n".join(of_way.values())
    return made


EVERYWHERE = frozenset({"normal", "length_once", "tool_with_text"})
"""Cases of which a caller leaves at every piece; of the others at some."""

CANCELLED = EVERYWHERE | {"tool", "call_cut_length", "drop", "length_overlap", "length_preamble"}


def _closes(place: Place) -> Iterator[Recorded]:
    for case, mode in _each(place.wire):
        if mode == "stream":
            yield f"close/{place.wire}/{case.name}", partial(_closed_everywhere, place, case)


def _closed_everywhere(place: Place, case: Case) -> Shown:
    """A turn that its caller leaves after none, one, two pieces, and so on to the last; of most
    cases only around the places where something begins or ends, and some between."""
    asked = of_case(place.wire, case, stream=True)
    first = playing.by_turn(far(place), asked, tenuto.Policy())
    columns = ("sent", "received", "reported")
    whole: dict[str, list[bytes]] = {column: [] for column in (*columns, "quiet")}
    for number in _left_at(case, first):
        again = [Written(*first.said) if first.said else far(place) for _ in range(2)]
        played = playing.by_turn(again[0], asked, tenuto.Policy(), number)
        quiet = playing.by_turn(again[1], asked, tenuto.Policy(), number, watched=False)
        for column, text in {**shown(played, *columns), "quiet": unwatched(quiet)}.items():
            whole[column].append(b"[left behind piece %d]\n%s" % (number, text))
    return {column: b"\n".join(texts) for column, texts in whole.items()}


def _left_at(case: Case, first: playing.Played) -> list[int]:
    """Behind which pieces: all, or those around the places where something begins or ends."""
    every = range(first.written + 1)
    if case.name in EVERYWHERE:
        return list(every)
    near = {at + more for at in (*first.begun_at, first.written) for more in range(-1, 3)}
    return sorted((near | set(range(0, first.written, 50))) & set(every))


def _cancels(place: Place) -> Iterator[Recorded]:
    for case, mode in _each(place.wire):
        if mode == "stream" and case.name in CANCELLED:
            name = f"cancel/{place.wire}/{case.name}"
            yield name, partial(_cancelled_everywhere, place, case)


def _cancelled_everywhere(place: Place, case: Case) -> Shown:
    """Clients that are closed, and tasks that are cancelled, behind every piece."""
    asked = of_case(place.wire, case, stream=True)
    policy = tenuto.Policy(**AT_ONCE)
    first = playing.by_turn(far(place), asked, policy)
    whole: dict[str, list[bytes]] = {"sync": [], "async": []}
    for number in _left_at(case, first):
        made = (
            playing.by_client(
                Written(*first.said), asked, policy, watched=True, close_behind=number
            ),
            playing.by_async_client(
                Written(*first.said), asked, policy, watched=True, stays_at=number
            ),
        )
        for way, played in zip(whole, made, strict=True):
            text = b"\n".join(shown(played, "sent", "received", "reported").values())
            whole[way].append(b"[left at piece %d]\n%s" % (number, text))
    return {way: b"\n".join(texts) for way, texts in whole.items()}
