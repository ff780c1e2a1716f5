"""Which keys of a request may be left out when a provider refuses them by name (H5).

Theory of operation
-------------------
A caller's keys are its contract. A provider that refuses one has the last word, and its error goes
to the client, unless `KEYS` says of the key and its value that the answer is the same without it.
`Policy.drop_unsupported` adds names to the table.

An error names a key bare (`user`) or by the way to it (`messages.1.assistant.annotations`), and
each provider writes that way differently. So the whole request is searched. A place is written as
the names on the way to it, without the numbers of elements; what stands under `SETTINGS` counts as
top-level, since each wire keeps its settings elsewhere. Schemas, arguments and results are the
caller's own words and are not searched.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tenuto.core.policy import NEVER_LEFT_OUT
from tenuto.wires.base import Dialect
from tenuto.wires.json import decode_object
from tenuto.wires.members import listed, members_of, path_of, rows_of, value_of, with_members

Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Values:
    """Values of a key that may go: a test, and the same in words."""

    words: str
    hold: Callable[[Any], bool]


def _exactly(*wanted: Any) -> Values:
    """These values alone; `true` is no 1."""

    def hold(value: Any) -> bool:
        return any(value == w and isinstance(value, bool) is isinstance(w, bool) for w in wanted)

    return Values(" or ".join(f"`{msgspec.json.encode(w).decode()}`" for w in wanted), hold)


ANY = Values("any", lambda value: True)
NULL = _exactly(None)
EMPTY = _exactly([], "", None)
_TEXT = _exactly({"type": "text"}, None)
_ONLY_HINTS = Values(
    "an object of these two alone",
    lambda value: (
        isinstance(value, dict) and value.keys() <= {"include_usage", "include_obfuscation"}
    ),
)


@dataclass(frozen=True, slots=True)
class Droppable:
    """One row of the table.

    Attributes:
        places: where the key stands; one that begins with "*." stands anywhere.
        values: which of its values may go.
        why: what kind of key it is.
        wires: the wires on which that holds; (): all.
        providers: the providers with whom it holds; (): all.
        said: whether only rows of the assistant are meant.
    """

    places: tuple[str, ...]
    values: Values
    why: str
    wires: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    said: bool = False


HINT, NOTHING, ECHO = "a hint", "empty, or the default", "an echo of a response"

_ONE_IS_DEFAULT = (
    *("openai", "openai-responses", "azure-openai", "azure-openai-responses"),
    *("groq", "deepseek", "deepseek-beta", "xai"),
)
"""Who documents 1 as the default of both `temperature` and `top_p`."""


def _echo(name: str, values: Values) -> Droppable:
    return Droppable((f"messages.{name}", f"input.{name}"), values, ECHO, said=True)


KEYS: tuple[Droppable, ...] = (
    Droppable(("stream_options.include_usage",), ANY, HINT),
    Droppable(("stream_options.include_obfuscation",), ANY, HINT),
    Droppable(("stream_options",), _ONLY_HINTS, HINT),
    Droppable(("prompt_cache_key",), ANY, HINT),
    Droppable(("*.cache_control",), ANY, HINT),
    # With Responses and Anthropic it can be asked for again, or counts for billing.
    Droppable(("metadata",), ANY, HINT, wires=("openai-chat",)),
    Droppable(("user",), ANY, HINT),
    Droppable(("stop", "stop_sequences", "stopSequences"), EMPTY, NOTHING),
    Droppable(("tools",), EMPTY, NOTHING),
    Droppable(("n", "candidate_count", "candidateCount"), _exactly(1), NOTHING),
    Droppable(("temperature",), _exactly(1), NOTHING, providers=(*_ONE_IS_DEFAULT, "anthropic")),
    Droppable(("top_p",), _exactly(1), NOTHING, providers=_ONE_IS_DEFAULT),
    Droppable(
        ("frequency_penalty", "presence_penalty", "frequencyPenalty", "presencePenalty"),
        _exactly(0),
        NOTHING,
    ),
    Droppable(("logprobs", "response_logprobs", "responseLogprobs"), _exactly(False), NOTHING),
    Droppable(("parallel_tool_calls",), _exactly(True), NOTHING),
    Droppable(("tool_choice",), _exactly("auto", {"type": "auto"}), NOTHING),
    Droppable(("response_format", "text.format"), _TEXT, NOTHING),
    Droppable(("service_tier",), _exactly("auto"), NOTHING),
    Droppable(
        (
            "tools.strict",
            "tools.function.strict",
            "response_format.json_schema.strict",
            "text.format.strict",
        ),
        _exactly(False),
        NOTHING,
    ),
    Droppable(("store",), _exactly(False), NOTHING, wires=("openai-chat",)),
    Droppable(("*.*",), NULL, NOTHING),
    _echo("reasoning_content", ANY),
    _echo("reasoning", ANY),
    _echo("annotations", ANY),
    Droppable(("input.content.annotations",), ANY, ECHO, said=True),
    # One with words may be all that the row says.
    _echo("refusal", NULL),
    _echo("audio", NULL),
    _echo("function_call", NULL),
)
"""What may go, and where: with any other key or value the answer could be another one."""

SETTINGS = frozenset(
    {"parameters", "options", "generationConfig", "generation_config", "inferenceConfig"}
    | {"additionalModelRequestFields"}
)
"""Members under which wires keep what others have at the top."""

_FOREIGN = frozenset(
    {"parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema"}
    | {"responseSchema", "responseJsonSchema", "response_schema", "schema", "properties", "json"}
    | {"arguments", "args", "input", "response", "output", "metadata", "result"}
)
"""Members, below the top, whose keys are the caller's own words."""

LIMITS = ("max_completion_tokens", "max_tokens")
"""The two names of one output limit. It is a cap on cost, so that it is not lost with its name."""

_BOTH_LIMITS = ("openai-chat", "watsonx")
"""Wires that have both names."""


@dataclass(slots=True)
class _Named:
    """One key that an error names: its last name, and what stands at the top of the way to it."""

    name: str
    top: str | None
    found: bool = False


@dataclass(frozen=True, slots=True)
class Unsupported:
    """What may be left out of one caller's request.

    Attributes:
        wire, dialect: the format and the form of it that it is sent in.
        opted: `Policy.drop_unsupported`.
        own: the bytes that the caller sent. What stands in no place of these is ours, and may go.

    >>> rules = Unsupported("openai-chat", Dialect(), frozenset(), b'{"user": "me", "seed": 1}')
    >>> rules.may_go(rules.own, ["user"]), rules.may_go(rules.own, ["seed"])
    (('user',), None)
    >>> rules.without(rules.own, ["user"])
    b'{"seed":1}'
    """

    wire: str
    dialect: Dialect
    opted: frozenset[str]
    own: bytes

    def may_go(self, sent: bytes, keys: Iterable[str]) -> tuple[str, ...] | None:
        """The caller's places that go with these keys, often one; None where one of the keys may
        not go, or does not stand in `sent`: nothing is left out then."""
        search = self._search(keys)
        with contextlib.suppress(msgspec.DecodeError):
            search.cut(sent, (), None)
            if search.named and all(named.found for named in search.named):
                return tuple(dict.fromkeys(".".join(place) for place in search.gone))
        return None

    def without(self, sent: bytes, keys: Iterable[str]) -> bytes:
        """The request without them. Half a surrogate pair in what the model said cannot be taken
        apart: the request then stays as it is, and the provider has the last word."""
        search = self._search(keys)
        if not search.named:
            return sent
        with contextlib.suppress(msgspec.DecodeError):
            return search.cut(sent, (), None)
        return sent

    def _search(self, keys: Iterable[str]) -> _Search:
        named: list[_Named] = []
        for key in keys:
            steps = [step for step in path_of(key) if not step.isdecimal()]
            steps = steps[1:] if steps[:1] == ["body"] and len(steps) > 1 else steps
            if steps:
                named.append(_Named(steps[-1], steps[0] if len(steps) > 1 else None))
        return _Search(self, named)

    def holds(self, place: Place, name: str, value: Any, role: object) -> bool:
        """Whether a value that the caller sent may go from its place."""
        way = ".".join(place)
        if name in NEVER_LEFT_OUT:
            return False
        if name in self.opted or way in self.opted:
            return True
        if self.dialect.reasoning_key == name:
            return False  # it is wanted back
        return any(self._is_meant(row, way, name, role) and row.values.hold(value) for row in KEYS)

    def _is_meant(self, row: Droppable, way: str, name: str, role: object) -> bool:
        if row.said and role != "assistant":
            return False
        if self.wire not in (row.wires or (self.wire,)):
            return False
        if self.dialect.name not in (row.providers or (self.dialect.name,)):
            return False
        return any(place in (way, f"*.{name}", "*.*") for place in row.places)


@dataclass(slots=True)
class _Search:
    """A walk over a request that leaves out what is named and may go.

    Attributes:
        gone: the caller's places that went.
    """

    rules: Unsupported
    named: list[_Named]
    gone: list[Place] = field(default_factory=list)
    _ours: frozenset[Place] | None = None

    def cut(self, raw: bytes, place: Place, role: object) -> bytes:
        """JSON without it, the same bytes where nothing went."""
        if raw.startswith(b"["):
            rows = rows_of(raw)
            kept = [self.cut(row, place, role) for row in rows]
            return listed(kept) if kept != rows else raw
        if place and not raw.startswith(b"{"):
            return raw
        members = members_of(raw)
        role = value_of(members["role"]) if "role" in members else role
        changes: dict[str, bytes | None] = {}
        for name, value in members.items():
            here = (*place, name)
            if self._goes(here, name, value, role, members, changes):
                changes[name] = None
            elif not (place and name in _FOREIGN) and value[:1] in (b"{", b"["):
                less = self.cut(value, here, role)
                if less != value:
                    changes[name] = None if less == b"{}" and name == "stream_options" else less
        return with_members(raw, changes) if changes else raw

    def _goes(
        self,
        here: Place,
        name: str,
        raw: bytes,
        role: object,
        beside: Mapping[str, bytes],
        changes: dict[str, bytes | None],
    ) -> bool:
        meant = [n for n in self.named if n.name == name and n.top in (None, here[0])]
        if not meant:
            return False
        place = _counted(here)
        if place[-1] in LIMITS and len(place) == 1 and self.rules.wire in _BOTH_LIMITS:
            (other,) = (key for key in LIMITS if key != name)
            if any(n.name == other for n in self.named):
                return False
            if other not in beside:
                changes[other] = raw
        elif not self._is_ours(place):
            if not self.rules.holds(place, name, decode_object(raw), role):
                return False
            self.gone.append(place)
        for named in meant:
            named.found = True
        return True

    def _is_ours(self, place: Place) -> bool:
        """Whether it was added by an edit."""
        if self._ours is None:
            self._ours = frozenset(_places(self.rules.own, (), {n.name for n in self.named}))
        return place not in self._ours and place[-1] not in NEVER_LEFT_OUT


def _places(raw: bytes, place: Place, names: set[str]) -> Iterable[Place]:
    """Where these names stand in a request."""
    if raw.startswith(b"["):
        for row in rows_of(raw):
            yield from _places(row, place, names)
    elif not place or raw.startswith(b"{"):
        for name, value in members_of(raw).items():
            here = (*place, name)
            if name in names:
                yield _counted(here)
            if value[:1] in (b"{", b"["):
                yield from _places(value, here, names)


def _counted(place: Place) -> Place:
    """A place as the table counts it."""
    if len(place) > 1 and (place[0] in SETTINGS or place[:2] == ("input", "messages")):
        return place[1:]
    return place
