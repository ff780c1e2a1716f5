"""Which keys of a request may be removed when a provider refuses them by name (H5).

Theory of operation
-------------------
A caller's keys are its contract. If a provider refuses one, its error goes to the client, unless
`KEYS` says that the answer is the same without this key and value. `Policy.drop_unsupported` adds
names to the table.

An error names a key bare (`user`) or by its path (`messages.1.assistant.annotations`), and each
provider writes paths differently. So the whole request is searched. A place is written as the names
on its path, without the numbers of elements. Members of `SETTINGS` count as top-level, since each
wire keeps its settings elsewhere. Schemas, arguments and results are the caller's own content and
are not searched.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from tenuto.core.settings.rule import NEVER_LEFT_OUT
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import decode_object
from tenuto.wires.members import listed, members_of, path_of, rows_of, value_of, with_members

Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Values:
    """Values of a key that may be removed: a test, and the same in words."""

    words: str
    hold: Callable[[Any], bool]


def _exactly(*wanted: Any) -> Values:
    """Return a test for exactly these values; `true` is not 1."""

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
        places: where the key stands. One that begins with "*." matches anywhere.
        values: the values that may be removed.
        why: what kind of key it is.
        wires: the wires that it applies to; (): all.
        providers: the providers that it applies to; (): all.
        said: whether it applies only to assistant rows.
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
"""Providers that document 1 as the default of both `temperature` and `top_p`."""


def _echo(name: str, values: Values) -> Droppable:
    return Droppable((f"messages.{name}", f"input.{name}"), values, ECHO, said=True)


KEYS: tuple[Droppable, ...] = (
    Droppable(("stream_options.include_usage",), ANY, HINT),
    Droppable(("stream_options.include_obfuscation",), ANY, HINT),
    Droppable(("stream_options",), _ONLY_HINTS, HINT),
    Droppable(("prompt_cache_key",), ANY, HINT),
    Droppable(("*.cache_control",), ANY, HINT),
    # With Responses and Anthropic, metadata can be read back later, or matters for billing.
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
"""What may be removed, and where. Without any other key or value the answer could differ."""

SETTINGS = frozenset(
    {"parameters", "options", "generationConfig", "generation_config", "inferenceConfig"}
    | {"additionalModelRequestFields"}
)
"""Members in which wires keep what others have at the top."""

FOREIGN = frozenset(
    {"parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema"}
    | {"responseSchema", "responseJsonSchema", "response_schema", "schema", "properties", "json"}
    | {"arguments", "args", "input", "response", "output", "metadata", "result"}
)
"""Members below the top whose keys are the caller's own words."""

LIMITS = ("max_completion_tokens", "max_tokens")
"""The two names of one output limit. It limits cost, so it must not be lost with its name."""

_LIMIT_PLACES = tuple((limit,) for limit in LIMITS)

_BOTH_LIMITS = ("openai-chat", "watsonx")
"""Wires that have both names."""


Changes = dict[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Key:
    """A key at its place in a request.

    Attributes:
        way: the names on the path to it, its own last.
        raw: its value.
        role: the role of its row.
        beside: all members of its object.
    """

    way: Place
    raw: bytes
    role: object
    beside: Mapping[str, bytes]

    @property
    def name(self) -> str:
        """The key's own name."""
        return self.way[-1]

    @property
    def place(self) -> Place:
        """The place, as the table writes it."""
        way = self.way
        is_lower = way[0] in SETTINGS or way[:2] == ("input", "messages")
        return way[1:] if is_lower and len(way) > 1 else way


@dataclass(frozen=True, slots=True)
class Unsupported:
    """What may be removed from one caller's request.

    Attributes:
        wire, dialect: the format, and the provider's variant of it.
        opted: `Policy.drop_unsupported`.
        own: the bytes that the caller sent. What stands in none of their places is Tenuto's own,
            and may be removed.

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
        """Return the caller's places that are removed with these keys, often one. None: one of the
        keys must stay, or is not in `sent`, so nothing is removed."""
        search = _Search(self, keys)
        with contextlib.suppress(msgspec.DecodeError):
            _cut(sent, search.changes)
            if search.named and search.found == search.named:
                return tuple(dict.fromkeys(".".join(place) for place in search.gone))
        return None

    def without(self, sent: bytes, keys: Iterable[str]) -> bytes:
        """Return the request without these keys. If the model's text has half a surrogate pair, the
        request can't be taken apart and stays as it is."""
        with contextlib.suppress(msgspec.DecodeError):
            return _cut(sent, _Search(self, keys).changes)
        return sent

    def holds(self, key: Key) -> bool:
        """Return whether a key that the caller sent may be removed from its place."""
        way = ".".join(key.place)
        if key.name in NEVER_LEFT_OUT:
            return False
        if key.name in self.opted or way in self.opted:
            return True
        if self.dialect.reasoning_key == key.name:
            return False  # the provider wants it back
        value = decode_object(key.raw)
        return any(self._is_meant(row, way, key) and row.values.hold(value) for row in KEYS)

    def _is_meant(self, row: Droppable, way: str, key: Key) -> bool:
        if row.said and key.role != "assistant":
            return False
        if self.wire not in (row.wires or (self.wire,)):
            return False
        if self.dialect.name not in (row.providers or (self.dialect.name,)):
            return False
        return any(place in (way, f"*.{key.name}", "*.*") for place in row.places)


class _Search:
    """A search for the keys that an error names.

    Attributes:
        named: the keys: the top-level name on the path to each, if the error gives it, and its own
            name.
        found: those that can be removed.
        gone: the caller's places that were removed.
    """

    def __init__(self, rules: Unsupported, keys: Iterable[str]) -> None:
        self._rules = rules
        self.named: set[tuple[str | None, str]] = set()
        self.found: set[tuple[str | None, str]] = set()
        self.gone: list[Place] = []
        for key in keys:
            steps = [step for step in path_of(key) if not step.isdecimal()]
            steps = steps[1:] if steps[:1] == ["body"] and len(steps) > 1 else steps
            if steps:
                self.named.add((steps[0] if len(steps) > 1 else None, steps[-1]))

    def changes(self, key: Key) -> Changes:
        """Return the changes to an object's members that remove one of its keys; nothing if it
        stays."""
        meant = {(top, key.name) for top in (None, key.way[0])} & self.named
        if not meant:
            return {}
        changes: Changes = {key.name: None}
        if key.place in _LIMIT_PLACES and self._rules.wire in _BOTH_LIMITS:
            (other,) = (limit for limit in LIMITS if limit != key.name)
            if any(name == other for _, name in self.named):
                return {}
            if other not in key.beside:
                changes[other] = key.raw
        elif key.place in self._own or key.name in NEVER_LEFT_OUT:
            if not self._rules.holds(key):
                return {}
            self.gone.append(key.place)
        self.found |= meant
        return changes

    @cached_property
    def _own(self) -> set[Place]:
        """Return all places in the request that the caller sent; edits added the others."""
        places: set[Place] = set()

        def note(key: Key) -> Changes:
            places.add(key.place)
            return {}

        _cut(self._rules.own, note)
        return places


def _cut(
    raw: bytes, changes_for: Callable[[Key], Changes], way: Place = (), role: object = None
) -> bytes:
    """Return JSON with these changes; the same bytes if there are none."""
    if raw.startswith(b"["):
        rows = rows_of(raw)
        kept = [_cut(row, changes_for, way, role) for row in rows]
        return listed(kept) if kept != rows else raw
    if way and not raw.startswith(b"{"):
        return raw
    members = members_of(raw)
    role = value_of(members["role"]) if "role" in members else role
    changes: Changes = {}
    for name, value in members.items():
        here = (*way, name)
        if found := changes_for(Key(here, value, role, members)):
            changes |= found
        elif not (way and name in FOREIGN) and value[:1] in (b"{", b"["):
            less = _cut(value, changes_for, here, role)
            if less != value:
                changes[name] = None if less == b"{}" and name == "stream_options" else less
    return with_members(raw, changes) if changes else raw
