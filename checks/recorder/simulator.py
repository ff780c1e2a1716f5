"""The cases of the simulator alone. Nothing of Tenuto stands between, so that a change of the
simulator's inside shows here. Each column is a way to ask:

    case/PLACE/NAME    three requests, each with the answer before it in its history (`body`,
                       `stream`), and with the answer as the last row, where the server goes on
                       with it (`prefill`) and where it refuses it (`reject`)
    named/PLACE/NAME   the same of models whose ways the simulator knows by their names
    step/PLACE/FIELD   answers with a step that no case has to have: every error, ending, oddity
    more/PLACE/every   requests that ask for more, by their place in the table `MORE`
    refused/PLACE/NAME a history that is right, with each member in turn (its place is the column)
                       left out, doubled, and of other types and values, on a server that is strict
                       and on one that is not; and the same with other headers

A place is a wire, or one of the ways to speak it. Ids follow from the requests. Of a Python error
only the kind is kept: its words change with the version of Python.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from functools import partial, reduce
from itertools import product
from operator import getitem
from typing import Any

from checks.recorder.cases import Group, Recorded
from checks.recorder.inside import CASES_ON, Simulated, simulated, steps_on
from checks.recorder.showing import Shown
from checks.recorder.simulator_asks import (
    HINT,
    KEPT,
    MORE,
    PLACES,
    Place,
    ask,
    gone_on,
    with_rows_of,
)

Json = Any
OTHERS: tuple[Json, ...] = (
    *(None, True, 5, 0, -1, 1.5, 20_000, "", " ", "x", "a b", "auto", "any", "required", "user"),
    *("assistant", "model", "tool", "system", [], {}, [5], ["x"], [{}], {"type": "enabled"}),
)
"""What stands in turn for each member of a request."""
FEWER: tuple[Json, ...] = (None, True, 5, -1, 20_000, "x", "any", [], ["x"], {"type": "enabled"})
ADDED = (
    *("seed", "_x", "stream", "stream_options", "n", "tool_choice", "toolConfig", "tools", "store"),
    *("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens"),
    *("max_new_tokens", "num_predict", "stop", "stop_sequences", "system", "thinking", "signature"),
    *("response_format", "format", "text", "background", "conversation", "previous_response_id"),
    *("previous_interaction_id", "continuation_token", "best_of", "grammar", "temperature"),
    *("thinking_level", "prefix", "partial", "reasoning_effort", "enable_thinking", "name", "id"),
    *("tool_calls", "refusal", "inferenceConfig", "generation_config", "generationConfig"),
    *("options", "parameters", "additionalModelRequestFields", "history", "is_error", "status"),
)
"""Members that a body and the objects in it get in turn, where they have none of the name."""
MODELS = (
    *("claude-sonnet-4-5", "claude-opus-4-6", "gemini-2.5-flash", "gemini-3.6-flash", "gpt-5"),
    *("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "amazon.nova-x", "meta.x", "mistral.x"),
)
_PYTHON = re.compile(rb"(?<=has a wrong type: )[^\n]*")


def groups() -> Iterator[Group]:
    """Return the groups of every place that the tree which is played knows."""
    for name, place in PLACES.items():
        if place.wire in CASES_ON:
            yield Group(f"case/{name}", partial(_cases, name, place))
            yield Group(f"named/{name}", partial(_named, name, place))
            yield Group(f"step/{name}", partial(_steps, name, place))
            yield Group(f"more/{name}", partial(_requests, name, place))
            yield Group(f"refused/{name}", partial(_refusals, name, place))


def _cases(name: str, place: Place) -> Iterator[Recorded]:
    for case in CASES_ON[place.wire]:
        yield f"case/{name}/{case}", partial(_conversations, place, case, "sim")


def _named(name: str, place: Place) -> Iterator[Recorded]:
    for model, case in product(MODELS if name in CASES_ON else (), ("length_once", "tool")):
        yield f"named/{name}/{case}:{model}", partial(_conversations, place, case, model)


def _steps(name: str, place: Place) -> Iterator[Recorded]:
    for field, steps in steps_on(place.wire).items():
        yield f"step/{name}/{field}", partial(_stepped, place, steps)


def _requests(name: str, place: Place) -> Iterator[Recorded]:
    if requests := MORE.get(name):
        yield f"more/{name}/every", partial(_more, place, requests)


def _refusals(name: str, place: Place) -> Iterator[Recorded]:
    called = {"think_then_call", "tool", "length_once"} & CASES_ON[place.wire].keys()
    for case in sorted(called - ({"tool"} if len(called) == 3 else set())):
        strict = (True,) if case != "length_once" or name not in CASES_ON else (True, False)
        yield f"refused/{name}/{case}", partial(_refused, place, case, strict)


def _more(place: Place, requests: list[Json]) -> Shown:
    """Requests that ask for more, each as body and as stream; and what the provider keeps."""
    made: Shown = {}
    case = "tool_with_text" if place.question == "cohere-v1" else "think_then_text"
    for stream in (False, True):
        path, headers, body = ask(place, case, stream=stream)
        for number, more in enumerate(requests):
            told = _told(simulated(dialect=place.dialect), [path, headers, {**body, **more}])
            made[str(number)] = made.get(str(number), b"") + told
        if key := KEPT.get(place.question):
            far, body = simulated(), {**body, "store": True}
            first = _told(far, [path, headers, {**body, "stream": False}])
            for id_ in (_document(first)["id"], "nobody"):
                first += _told(far, [path, headers, {**body, "input": HINT, key: id_}])
            made[f"kept-{stream}"] = first
    return made


def _conversations(place: Place, case: str, model: str) -> Shown:
    """Three requests of a case by each way."""
    made: Shown = {}
    for way, prefill in (("body", "restart"), ("prefill", "continue"), ("reject", "reject")):
        whole = ask(place, case, model=model)
        flowing = ask(place, case, model=model, stream=True)
        far = [simulated(prefill, place.dialect) for _ in range(2)]
        told = [b"", b""]
        for _ in range(3 if way == "body" else 2):
            told[0] += _told(far[0], whole)
            told[1] += _told(far[1], flowing)
            rows = gone_on(place.question, whole[2], _document(told[0]), hint=way == "body")
            whole[2], flowing[2] = (
                with_rows_of(place.question, one[2], rows) for one in (whole, flowing)
            )
        made[way], made[f"{way}-stream"] = told
    return made


def _stepped(place: Place, steps: Mapping[str, Any]) -> Shown:
    """One answer with each of the steps, as body and as stream."""
    return {
        name: b"".join(
            _told(simulated("", place.dialect, script=[step]), ask(place, "", stream=stream))
            for stream in (False, True)
        )
        for name, step in steps.items()
    }


def _refused(place: Place, case: str, stricts: Iterable[bool]) -> Shown:
    """The second request of a conversation, and each way to spoil it."""
    path, headers, body = ask(place, case)
    far = simulated("continue", place.dialect)
    told = _told(far, [path, headers, body])
    rows = gone_on(place.question, body, _document(told), hint=True)
    body = with_rows_of(place.question, body, rows)
    made: Shown = {}
    for strict in stricts:
        for where, spoilt in _spoilt(body):
            far = simulated("continue", place.dialect, strict=strict)
            made[where] = made.get(where, b"") + _told(far, [path, headers, spoilt])
    for name in (*headers, "x-tenuto-x"):
        given = {key: said for key, said in headers.items() if key != name}
        given |= {} if name in headers else {name: "1"}
        far = simulated("continue", place.dialect)
        made[f"header:{name}"] = _told(far, [path, given, body])
    return made


def _spoilt(body: Json) -> Iterator[tuple[str, Json]]:
    """A body with each of its members changed in turn, and with members that it has not."""
    for way in _ways_into(body):
        name, inner = ".".join(map(str, way)) or "whole", _at(body, way)
        others = [*OTHERS, inner[::-1], inner * 2] if isinstance(inner, list) else OTHERS
        yield from ((name, _changed(body, way, other)) for other in others)
        if way:
            yield name, _changed(body, way)
        if isinstance(inner, dict):
            # What stands in rows is known by its keys; what stands around them, by its values too.
            pairs = product(ADDED, FEWER) if len(way) < 2 else product(("seed",), ("x",))
            for added, other in pairs:
                if added not in inner:
                    yield name, _changed(body, way, {**inner, added: other})


def _ways_into(value: Json, way: tuple[Json, ...] = ()) -> Iterator[tuple[Json, ...]]:
    yield way
    inner: Iterable[tuple[Json, Json]] = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else inner:
        if key not in ("properties", "description", "required"):  # of the schema of a tool
            yield from _ways_into(item, (*way, key))


def _at(value: Json, way: tuple[Json, ...]) -> Json:
    return reduce(getitem, way, value)


def _changed(body: Json, way: tuple[Json, ...], *other: Json) -> Json:
    """A copy with another member there, or with none."""
    if not way:
        return other[0]
    made = deepcopy(body)
    within = _at(made, way[:-1])
    if other:
        within[way[-1]] = other[0]
    else:
        del within[way[-1]]
    return made


def _told(far: Simulated, asked: list[Json]) -> bytes:
    """What answers a request, as bytes."""
    path, headers, body = asked
    try:
        made = far.answer(path, headers, json.dumps(body).encode())
    except Exception as error:  # noqa: BLE001 - what it raises is told
        return f"[raised {type(error).__name__}]\n".encode()
    said = made.body if made.events is None else b"".join(made.events)
    told = f"{made.status} {dict(made.headers)} {made.ending} {made.writes} {made.last_event!r}"
    return b"%s\n%s\n" % (told.encode(), _PYTHON.sub(b"", said))


def _document(told: bytes) -> Json:
    """The document of the last answer, None where it was another thing."""
    try:
        return json.loads(told.rstrip().rpartition(b"\n")[2])
    except ValueError:
        return None
